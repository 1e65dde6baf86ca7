#include "smoothing.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include <optiframe/dispatch.hpp>
#include <optiframe/interrupt.hpp>
#include <optiframe/lanes.hpp>

namespace optiframe::tvcs {

namespace {

constexpr double counted = 3.0; // elements on a ramp; fewer say nothing of how far apart they lie
constexpr double narrower = 0.05, wider = 8.0; // a ramp becomes in a step, at most
// Newton steps and halvings, before a threshold is taken as it is: halvings alone end after 57, from 2^50 units on the
// narrowest ramp to a hundredth of it. That of the total is no better known than those of the groups.
constexpr int most_steps = 80, most_for_total = 60;
constexpr double known = 0.01; // of a ramp: so well is a threshold known
constexpr double at_end = 0.9; // of a window: a threshold there would have moved further, and the next is as wide again
// A window holds about so many elements for each that it needs, after steps by what they miss but for these limits.
constexpr double fewest_held = 0.75, most_held = 1.4, aimed_at = 1.1, least_step = 0.3, most_step = 4.0;
constexpr int steps_to_spread = 20;
constexpr i64 few_left = 3; // elements of a group: up to so many, one by one takes less time than eight at once
constexpr double widest_for_ties = 64.0, narrowest_for_ties = 0.7;

// Elements of one group: how far each is above something, and how many it stands for (null: one). Groups of lists and
// samples are short: with the last elements of one, what follows is read and left out, of `room` from its first on.
struct Part {
    const double* t;
    const double* copies;
    i64 n, room;

    bool holds_lanes(i64 k) const { return k + few_left < n && k + lanes <= room; }
};

// Leaves so many of the lanes as they are.
[[gnu::always_inline]] inline void keep_first(i64 n, double others, Lanes& z) {
    const Lanes order = {0, 1, 2, 3, 4, 5, 6, 7}, rest = Lanes{} + others;
    if (n < lanes) z = order < Lanes{} + static_cast<double>(n) ? z : rest;
}

struct Count {
    double above, slope;
};

// How many of some elements are above a threshold by a ramp of width tau, and minus the derivative.
[[gnu::always_inline]] inline Count ramp_count(const Part& part, double theta, double tau) {
    const double inverse = 1.0 / tau, shift = 0.5 - theta * inverse;
    Lanes above = {}, on = {};
    const Lanes none = {}, whole = none + 1.0;
    i64 k = 0;
    for (; part.holds_lanes(k); k += lanes) {
        Lanes z, each = whole;
        load(part.t + k, z);
        if (part.copies) load(part.copies + k, each);
        z = z * inverse + shift;
        keep_first(part.n - k, -1.0, z);
        const Lanes up = z > none ? z : none;
        const Lanes c = up < whole ? up : whole;
        above += each * c;
        on += z == c ? each : none;
    }
    Count found{sum(above), sum(on)};
    for (; k < part.n; ++k) {
        const double z = part.t[k] * inverse + shift, c = std::min(std::max(z, 0.0), 1.0);
        const double each = part.copies ? part.copies[k] : 1.0;
        found.above += each * c;
        found.slope += z == c ? each : 0.0;
    }
    found.slope *= inverse;
    return found;
}

struct Extent {
    double low = inf, high = -inf, weight = 0.0;
};

// The least and the largest of some elements, and how many they stand for.
[[gnu::always_inline]] inline Extent extent(const Part& part) {
    Extent found;
    Lanes low = {}, high = {}, weight = {};
    low += inf;
    high -= inf;
    i64 k = 0;
    for (; part.holds_lanes(k); k += lanes) {
        Lanes z, each = {};
        load(part.t + k, z);
        if (part.copies) load(part.copies + k, each);
        Lanes other = z;
        keep_first(part.n - k, inf, z);
        keep_first(part.n - k, -inf, other);
        keep_first(part.n - k, 0.0, each);
        low = z < low ? z : low;
        high = other > high ? other : high;
        weight += each;
    }
    for (i64 l = 0; l < lanes; ++l) {
        found.low = std::min(found.low, low[l]);
        found.high = std::max(found.high, high[l]);
    }
    found.weight = part.copies ? sum(weight) : static_cast<double>(part.n);
    for (; k < part.n; ++k) {
        found.low = std::min(found.low, part.t[k]);
        found.high = std::max(found.high, part.t[k]);
        if (part.copies) found.weight += part.copies[k];
    }
    return found;
}

// How many of some elements are at most so far away.
[[gnu::always_inline]] inline double count_within(const Part& part, double far) {
    Lanes within = {};
    const Lanes none = {}, whole = none + 1.0;
    i64 k = 0;
    for (; part.holds_lanes(k); k += lanes) {
        Lanes z, each = whole;
        load(part.t + k, z);
        if (part.copies) load(part.copies + k, each);
        keep_first(part.n - k, inf, z);
        within += z <= far ? each : none;
    }
    double found = sum(within);
    for (; k < part.n; ++k) found += part.t[k] <= far ? (part.copies ? part.copies[k] : 1.0) : 0.0;
    return found;
}

Part part_of(const Side& side, i64 g, const double* t) {
    const i64 begin = side.view.first[g];
    return {t + begin, side.copies.empty() ? nullptr : side.copies.data() + begin, side.view.first[g + 1] - begin,
            side.view.elements() - begin};
}

// Where the elements chosen for sure and the ramp count meet the bound; within [low, high].
[[gnu::always_inline]] inline double threshold(const Part& part, double sure, double bound, double low, double high,
                                               double guess, double tau, double close) {
    double theta = std::min(std::max(guess, low), high);
    for (int step_number = 0; step_number < most_steps; ++step_number) {
        const Count count = ramp_count(part, theta, tau);
        const double over = sure + count.above - bound;
        if (std::abs(over) <= close) break;
        (over > 0 ? low : high) = theta;
        double step = count.slope > 0 ? theta + over / count.slope : low - 1.0;
        if (!(low < step && step < high)) {
            step = 0.5 * (low + high);
            if (step <= low || step >= high || high - low < known * tau) return step;
        }
        theta = step;
    }
    return theta;
}

// Of each group how wide its ramp is, and how many elements lie on it.
struct Ramps {
    Vector<double> width, on;

    explicit Ramps(Vector<double> each) : width(std::move(each)), on(width.size()) {}
    double elements() const { return std::reduce(on.begin(), on.end()); }
    // Wider or narrower, so that about `want` elements lie on it, after it was made for `before`.
    void resize(double want, double before) {
        for (std::size_t g = 0; g < width.size(); ++g) {
            const double change = want / (want < counted ? std::min(before, counted) : std::max(on[g], 0.5));
            width[g] = std::max(2.0, width[g] * std::clamp(change, narrower, wider));
        }
    }
};

// Where so many of some elements are above, however far that is.
double threshold_of(i64 n, const double* worth, const i32* other, const double* price, i64 above) {
    if (above >= n) return -1.0;
    Vector<double> left(n);
    for (i64 k = 0; k < n; ++k) left[k] = worth[k] - price[other[k]];
    above = std::max<i64>(above, 0);
    std::ranges::nth_element(left, left.begin() + above, std::greater<>());
    const double next = left[above];
    return above == 0 ? next : 0.5 * (next + *std::min_element(left.begin(), left.begin() + above));
}

// How many elements of one group are above its threshold by a ramp, in prices of the other view's groups, and how many
// lie on it. The groups of a run follow one another. Groups of a list are short: with the last of one, what follows is
// read and left out, of `room` elements from its first on.
template <bool run>
[[gnu::always_inline]] inline Count left_on_ramp(i64 n, i64 room, const double* worth, const i32* other,
                                                 const double* price, double inverse, double shift) {
    Lanes above = {}, on = {};
    const Lanes none = {}, whole = none + 1.0;
    i64 k = 0;
    for (; k + few_left < n && k + lanes <= room; k += lanes) {
        Lanes q, each;
        load(worth + k, q);
        if constexpr (run) {
            load(price + k, each);
            q -= each;
        } else {
            for (i64 l = 0; l < lanes; ++l) q[l] -= price[other[k + l]];
        }
        Lanes z = q * inverse + shift;
        keep_first(n - k, -1.0, z);
        const Lanes up = z > none ? z : none;
        const Lanes c = up < whole ? up : whole;
        above += c;
        on += z == c ? whole : none;
    }
    Count found{sum(above), sum(on)};
    for (; k < n; ++k) {
        const double z = (worth[k] - price[run ? k : other[k]]) * inverse + shift;
        const double c = std::min(std::max(z, 0.0), 1.0);
        found.above += c;
        found.slope += z == c;
    }
    return found;
}

// One Newton step for y0 and the prices of one view; gives y0. A step is no longer than the ramp is wide, or with
// `exact` goes all the way.
OPTIFRAME_CLONES double newton_block(const Side& side, i64 total, double y0, double* price,
                                     const double* other_price, bool exact, Ramps& ramps, double* star) {
    const i64 groups = side.view.groups(), elements = side.view.elements();
    const i32* other = side.view.other.data();
    const double* worth = side.worth.data();
    double held = 0.0, slope = 0.0, on_ramp = 0.0;
    for (i64 g = 0; g < groups; ++g) {
        const double width = ramps.width[g], inverse = 1.0 / width;
        const double theta = y0 + price[g], shift = 0.5 - theta * inverse;
        const i64 begin = side.view.first[g], size = side.view.first[g + 1] - begin;
        const double* mine = worth + begin;
        const i32* others = other + begin;
        const auto [of_list, on] =
            side.view.runs && size > 0
                ? left_on_ramp<true>(size, size, mine, nullptr, other_price + others[0], inverse, shift)
                : left_on_ramp<false>(size, elements - begin, mine, others, other_price, inverse, shift);
        const double n = of_list + side.sure_of(g), d = on;
        ramps.on[g] = d;
        const double bound = static_cast<double>(side.bounds[g]), over = n - bound;
        const double step = d > 0.0 ? over / d : over;
        star[g] = theta + std::min(std::max(step, -1.0), 1.0) * width;
        if (exact && price[g] == 0.0 && over <= 0.0)
            star[g] = -1.0; // the bound does not bind
        else if (exact && std::abs(over) > d)
            star[g] = threshold_of(size, mine, others, other_price,
                                   side.bounds[g] - (side.sure.empty() ? 0 : side.sure[g]));
        star[g] = std::min(std::max(star[g], side.lowest(g)), side.highest(g));
        if (star[g] > y0) {
            held += bound;
        } else {
            held += n;
            on_ramp += d;
            slope += d * inverse;
        }
    }
    const double over = held - static_cast<double>(total);
    const double step = slope > 0.0 ? std::clamp(over, -on_ramp, on_ramp) / slope
                                    : std::clamp(over, -1.0, 1.0) * *std::ranges::min_element(ramps.width);
    y0 = std::max(y0 + step, 0.0);
    for (i64 g = 0; g < groups; ++g) price[g] = std::max(0.0, star[g] - y0);
    return y0;
}

OPTIFRAME_CLONES double minimise(const Side& side, i64 total, double y0, double* price,
                                 const double* other_price, double tau, double close, double* t, double* star) {
    const i64 groups = side.view.groups();
    const i64* first = side.view.first.data();
    double top = 0.0;
    for (i64 g = 0; g < groups; ++g) {
        const i64 begin = first[g], end = first[g + 1];
        for (i64 k = begin; k < end; ++k) t[k] = side.worth[k] - other_price[side.view.other[k]];
        const Part part = part_of(side, g, t);
        const auto [low, high, weight] = extent(part);
        const double sure = side.sure_of(g), bound = static_cast<double>(side.bounds[g]);
        if (end == begin || sure + weight <= bound)
            star[g] = std::max(-1.0, side.lowest(g)); // the bound cannot bind
        else
            star[g] = threshold(part, sure, bound, std::max(low - 0.5 * tau, side.lowest(g)),
                                std::min(high + 0.5 * tau, side.highest(g)), y0 + price[g], tau, close);
        top = std::max(top, high);
    }
    // y0: where the counts, each limited by its group's bound, meet the total.
    double low = 0.0, high = top + tau, y = y0;
    bool tried_zero = false;
    for (int step_number = 0; step_number < most_for_total; ++step_number) {
        double held = 0.0, slope = 0.0;
        for (i64 g = 0; g < groups; ++g) {
            if (star[g] > y) {
                held += static_cast<double>(side.bounds[g]);
            } else {
                const Count count = ramp_count(part_of(side, g, t), y, tau);
                held += side.sure_of(g) + count.above;
                slope += count.slope;
            }
        }
        const double over = held - static_cast<double>(total);
        if ((y == 0.0 && over <= 0) || std::abs(over) <= close) break;
        (over > 0 ? low : high) = y;
        double step = slope > 0 ? y + over / slope : low - 1.0;
        if (step <= 0.0 && low == 0.0 && !tried_zero) {
            tried_zero = true;
            y = 0.0;
            continue;
        }
        if (!(low < step && step < high)) {
            step = 0.5 * (low + high);
            if (high - low < known * tau) break;
        }
        y = step;
    }
    for (i64 g = 0; g < groups; ++g) price[g] = std::max(0.0, star[g] - y);
    return y;
}

OPTIFRAME_CLONES void spread_into(const Side& side, double y0, const double* price, const double* other_price,
                                  const double* need, std::span<const double> old, double* t, double* out) {
    for (i64 g = 0; g < side.view.groups(); ++g) {
        const i64 begin = side.view.first[g], end = side.view.first[g + 1];
        const double theta = y0 + price[g], widest = old.empty() ? inf : old[g];
        const double moved = side.centre.empty() ? 0.0 : std::abs(theta - side.centre[g]);
        if (moved > at_end * widest) {
            out[g] = 2.0 * widest; // it would have moved further
            continue;
        }
        for (i64 k = begin; k < end; ++k) t[k] = std::abs(side.worth[k] - other_price[side.view.other[k]] - theta);
        const Part part = part_of(side, g, t);
        const auto [least, largest, weight] = extent(part);
        if (weight <= need[g]) {
            out[g] = std::min(begin == end ? inf : largest, 1.5 * widest);
            continue;
        }
        // Near the threshold the count grows about in proportion to the distance.
        double h = std::min(largest, widest) * std::min(1.0, need[g] / weight);
        for (int step = 0; step < steps_to_spread; ++step) {
            const double n = count_within(part, h);
            if (fewest_held * need[g] <= n && n <= most_held * need[g]) break;
            h *= std::clamp(aimed_at * need[g] / std::max(n, 0.1), least_step, most_step);
        }
        out[g] = std::min(h, 1.5 * widest);
    }
}

} // namespace

double deviation(std::span<const double> worth, double mean) {
    double sum = 0.0;
    for (const double q : worth) sum += std::abs(q - mean);
    return sum / static_cast<double>(worth.size());
}

double minimise_block(const Side& side, i64 total, double y0, std::span<double> price,
                      std::span<const double> other_price, double tau, double close,
                      std::span<double> scratch) {
    Vector<double> star(price.size());
    return minimise(side, total, y0, price.data(), other_price.data(), tau, close, scratch.data(), star.data());
}

Vector<double> spread(const Side& side, double y0, std::span<const double> price,
                           std::span<const double> other_price, std::span<const double> need,
                           std::span<const double> old, std::span<double> scratch) {
    Vector<double> out(price.size());
    spread_into(side, y0, price.data(), other_price.data(), need.data(), old, scratch.data(), out.data());
    return out;
}

Vector<double> widths_for_ties(int steps) {
    Vector<double> found;
    for (int k = 0; k < steps; ++k) {
        const double share = static_cast<double>(k) / (steps - 1);
        found.push_back(widest_for_ties * std::pow(narrowest_for_ties / widest_for_ties, share));
    }
    return found;
}

void anneal(const Side& rows, const Side& columns, i64 total, Prices& prices, double tau,
            std::span<const double> widths) {
    const double groups = static_cast<double>(rows.view.groups() + columns.view.groups());
    Vector<double> star(std::max(prices.u.size(), prices.w.size()));
    Ramps row_ramps(Vector<double>(prices.u.size(), tau)), column_ramps(Vector<double>(prices.w.size(), tau));
    interrupt::Pace pace;
    for (const double width : widths) {
        pace.after(2 * rows.view.elements());
        double *u = prices.u.data(), *w = prices.w.data();
        prices.y0 = newton_block(rows, total, prices.y0, u, w, false, row_ramps, star.data());
        prices.y0 = newton_block(columns, total, prices.y0, w, u, false, column_ramps, star.data());
        // Where few elements lie on it the ramp is not narrowed further than by half.
        const double on = std::max(column_ramps.elements(), 1.0);
        tau = std::max(2.0, tau * std::min(1.0, std::max(width * groups / on, 0.5)));
        std::ranges::fill(row_ramps.width, tau);
        std::ranges::fill(column_ramps.width, tau);
    }
}

void anneal_each(const Side& rows, const Side& columns, i64 total, Prices& prices, double tau,
                 std::span<const double> widths) {
    Vector<double> star(std::max(prices.u.size(), prices.w.size()));
    Ramps row_ramps(Vector<double>(prices.u.size(), tau)), column_ramps(Vector<double>(prices.w.size(), tau));
    double before = inf;
    interrupt::Pace pace;
    for (const double width : widths) {
        pace.after(2 * rows.view.elements());
        if (before < inf) {
            row_ramps.resize(width, before);
            column_ramps.resize(width, before);
        }
        double *u = prices.u.data(), *w = prices.w.data();
        prices.y0 = newton_block(rows, total, prices.y0, u, w, true, row_ramps, star.data());
        prices.y0 = newton_block(columns, total, prices.y0, w, u, true, column_ramps, star.data());
        before = width;
    }
}

} // namespace optiframe::tvcs
