#include "splicing.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>

#include <optiframe/interrupt.hpp>

#include "../projection/numbers.hpp"

namespace optiframe::tvcs::fits {

namespace {

struct Undecided {}; // thrown where columns are so alike that a fit needs another method

constexpr double least_fall = 1e-10, far = 3.0; // as in learning/best_subset/search.py, which says why
constexpr std::size_t seen = 4;
constexpr double accuracy = 1e-9, rough = 1e-2; // as in learning/restricted.py and trials.py
constexpr double flattest = 1e-12;

bool is_better(double ahead, double value) { return ahead < value - least_fall * std::abs(value); }

std::uint64_t digest(const Indices& at) {
    std::uint64_t sum = 0;
    for (const std::int32_t j : at) sum += scrambled(j);
    return sum;
}

} // namespace

// One search from a point for a better one.
class Search {
public:
    Search(Splicing& run, const Found& from, double seconds)
        : run(run), table(run.table), from(from), end(Clock::now() + duration(seconds)),
          model(around(run, from.x)) {}

    std::optional<Found> pursued() {
        std::optional<Found> best;
        double least = from.value;
        Point z = from.x;
        std::unordered_set<std::uint64_t> met{digest(z.at)};
        Numbers dear; // values after fits that no model could replace
        for (int step = 0; step < run.pursuit; ++step) {
            if (dear.size() >= seen && lowest(dear) > least) break;
            Numbers slope = gradient(z);
            for (double& each : slope) each = std::abs(each);
            Indices wide = largest(slope, 2 * run.size), joined;
            std::set_union(wide.begin(), wide.end(), z.at.begin(), z.at.end(), std::back_inserter(joined));
            if (joined.size() >= table.rows || out_of_time() || !run.fitted.insert(digest(joined)).second) break;
            z = cut(fitted_wide(joined, z));
            if (strayed) dear.push_back(table.value(z));
            if (!met.insert(digest(z.at)).second) continue;
            std::optional<Found> trial = fit(z.at, z, least);
            if (trial && is_better(trial->value, least)) {
                least = trial->value;
                best = std::move(trial);
            }
        }
        return best;
    }

    std::optional<Found> exchanged() {
        const std::size_t p = table.columns;
        Numbers slope = gradient(from.x), worths(p), inner(p, 0.0), bend = model.diagonal();
        const double steepest = *std::max_element(bend.begin(), bend.end());
        for (double& each : bend) each = steepest * flattest > 0 ? std::sqrt(std::max(each, steepest * flattest)) : 1.0;
        for (std::size_t j = 0; j < p; ++j) worths[j] = std::abs(slope[j]) / bend[j];
        std::vector<bool> inside(p);
        for (std::size_t j = 0; j < from.x.at.size(); ++j) {
            const std::int32_t at = from.x.at[j];
            inside[at] = true;
            inner[at] = worths[at] = std::abs(from.x.values[j]) * bend[at];
        }
        Indices order;
        for (std::size_t j = 0; j < p; ++j)
            if (!inside[j] && worths[j] > 0) order.push_back(static_cast<std::int32_t>(j));
        const std::size_t most = std::min(std::max<std::size_t>(1, from.x.at.size()), order.size());
        std::partial_sort(order.begin(), order.begin() + most, order.end(), [&](auto i, auto j) {
            return worths[i] > worths[j] || (worths[i] == worths[j] && i < j);
        });
        const double above = 2.0 * std::sqrt(dot(worths, worths.data())); // outweighs all others together
        std::unordered_set<std::uint64_t> met{digest(from.x.at)};
        const auto attempt = [&](const Indices& kept) -> std::optional<Found> {
            if (!met.insert(digest(kept)).second || out_of_time()) return std::nullopt;
            std::optional<Found> trial = fit(kept, from.x, from.value);
            return trial && is_better(trial->value, from.value) ? trial : std::nullopt;
        };
        const auto exchange = [&](std::size_t count, Numbers point) {
            for (std::size_t i = 0; i < count; ++i) point[order[i]] = above;
            return attempt(largest(point, run.size));
        };
        std::optional<Found> found = exchange(0, worths);
        for (std::size_t count = most; count > 0 && !found; count /= 2) found = exchange(count, inner);
        if (found) return found;
        const auto swaps = model.swaps(from.x, slope, run.free, run.width);
        if (!swaps) throw Undecided();
        for (const auto& [change, in, out] : *swaps) {
            Indices kept;
            for (const std::int32_t j : from.x.at)
                if (j != out) kept.push_back(j);
            kept.insert(std::lower_bound(kept.begin(), kept.end(), in), in);
            if ((found = attempt(kept))) break;
        }
        return found;
    }

private:
    using Clock = std::chrono::steady_clock;

    // Of least squares one model serves a whole run.
    static SecondOrder& around(Splicing& run, const Point& x) {
        const bool serves = run.model && run.model->exact();
        return serves ? *run.model : run.model.emplace(run.table, x, run.known);
    }

    static Clock::duration duration(double seconds) {
        return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(std::min(seconds, 1e9)));
    }
    bool out_of_time() const {
        interrupt::poll();
        return Clock::now() >= end;
    }

    static double lowest(const Numbers& values) {
        const double mean = std::reduce(values.begin(), values.end()) / static_cast<double>(values.size());
        double square = 0.0;
        for (const double each : values) square += (each - mean) * (each - mean);
        return mean - far * std::sqrt(square / static_cast<double>(values.size()));
    }

    // Where the `count` largest of numbers of at least 0 are, of equals the first ones, and the last where it is free.
    Indices largest(const Numbers& sizes, std::size_t count) const {
        const std::size_t p = sizes.size() - run.free;
        count = std::min(count, p);
        double level = 0.0;
        std::size_t tied = 0;
        if (count > 0 && count < p) {
            Numbers sorted(sizes.begin(), sizes.begin() + p);
            std::nth_element(sorted.begin(), sorted.begin() + (count - 1), sorted.end(), std::greater<>());
            level = sorted[count - 1];
            tied = std::count(sorted.begin(), sorted.begin() + count, level);
        }
        Indices found;
        for (std::size_t j = 0; j < p && count > 0; ++j) {
            const bool equal = sizes[j] == level && tied > 0;
            if (sizes[j] > 0 && (sizes[j] > level || equal)) found.push_back(static_cast<std::int32_t>(j));
            tied -= equal;
        }
        if (run.free && sizes[p] > 0) found.push_back(static_cast<std::int32_t>(p));
        return found;
    }

    // The point of the set next to this one.
    Point cut(const Point& x) const {
        Numbers sizes(table.columns, 0.0), values(table.columns, 0.0);
        for (std::size_t j = 0; j < x.at.size(); ++j) sizes[x.at[j]] = std::abs(values[x.at[j]] = x.values[j]);
        Point found{largest(sizes, run.size), {}};
        for (const std::int32_t j : found.at) found.values.push_back(values[j]);
        return found;
    }

    // The entries of a point over other columns.
    static Point over(const Indices& at, const Point& x) {
        Point found{at, Numbers(at.size(), 0.0)};
        for (std::size_t i = 0, j = 0; i < at.size(); ++i) {
            while (j < x.at.size() && x.at[j] < at[i]) ++j;
            if (j < x.at.size() && x.at[j] == at[i]) found.values[i] = x.values[j];
        }
        return found;
    }

    Numbers gradient(const Point& x) {
        if (!strayed) return model.gradient(x);
        Numbers slopes, bends;
        table.losses(table.predictions(x), slopes, bends);
        return table.gradient(x, slopes);
    }

    Point fitted_directly(const Indices& at, const Point& start, double goal, double least, Numbers hessian = {}) {
        if (model.exact()) throw Undecided();
        std::optional<Point> found = table.fit(over(at, start), goal, least, std::move(hessian));
        if (!found) throw Undecided();
        return *found;
    }

    Point fitted_wide(const Indices& at, const Point& start) {
        std::optional<Point> found = model.minimum(at, true);
        if (found && !model.exact()) strayed = !is_near(*found, model.guess(*found));
        return found && !strayed ? *found : fitted_directly(at, start, rough, infinite);
    }

    // The minimum on a support; none, or a worse one, where it is not below `least`.
    std::optional<Found> fit(const Indices& at, const Point& start, double least) {
        std::optional<Point> found = model.minimum(at, false);
        if (found) {
            const SecondOrder::Guess guess = model.guess(*found);
            if (guess.value - guess.doubt >= least) return std::nullopt;
            if (!model.exact())
                found = is_near(*found, guess) ? fitted_directly(at, *found, accuracy, least, model.among(at))
                                               : fitted_directly(at, start, accuracy, least);
        } else {
            found = fitted_directly(at, start, accuracy, least);
        }
        const double value = table.value(*found);
        return Found{std::move(*found), value};
    }

    bool is_near(const Point& x, const SecondOrder::Guess& guess) const {
        return std::abs(table.value(x) - guess.value) <= guess.doubt;
    }

    static constexpr double infinite = std::numeric_limits<double>::infinity();

    Splicing& run;
    const SmallTable& table;
    const Found& from;
    Clock::time_point end;
    SecondOrder& model;
    bool strayed = false; // whether the last wide fit was one of the objective itself
};

double Splicing::improved(std::span<double> x, double value, double seconds) {
    Found from{{}, value};
    for (std::size_t j = 0; j < x.size(); ++j) {
        if (x[j] == 0) continue;
        from.x.at.push_back(static_cast<std::int32_t>(j));
        from.x.values.push_back(x[j]);
    }
    try {
        Search search(*this, from, seconds);
        std::optional<Found> found = exchanging ? search.exchanged() : search.pursued();
        if (!found) {
            exchanging = !exchanging;
            found = exchanging ? search.exchanged() : search.pursued();
        }
        exchanging = found && exchanging;
        if (!found) return value;
        std::fill(x.begin(), x.end(), 0.0);
        for (std::size_t j = 0; j < found->x.at.size(); ++j) x[found->x.at[j]] = found->x.values[j];
        return found->value;
    } catch (const Undecided&) {
        return std::numeric_limits<double>::quiet_NaN();
    }
}

} // namespace optiframe::tvcs::fits
