#include "best_support.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <optiframe/dispatch.hpp>
#include <optiframe/interrupt.hpp>

namespace optiframe::tvcs::fits {

namespace {

constexpr double alike = 1e-7; // of a diagonal entry: with less beyond the columns taken, rounding decides
constexpr double rounding = 1e-9; // of what many entries gain together

OPTIFRAME_CLONES void subtract(double times, const double* __restrict a, const double* __restrict from,
                               double* __restrict into, std::size_t n) {
    for (std::size_t j = 0; j < n; ++j) into[j] = from[j] - times * a[j];
}

// What each of n columns gains beside the column of this row, and what is left of its diagonal entry.
OPTIFRAME_CLONES void gains_beside(const double* __restrict row, double pivot, double slope,
                                   const double* __restrict slopes, double* __restrict diagonal,
                                   double* __restrict gains, std::size_t n) {
    for (std::size_t j = 0; j < n; ++j) {
        const double times = row[j] / pivot, rest = slopes[j] - times * slope;
        diagonal[j] -= times * row[j];
        gains[j] = rest * rest / diagonal[j];
    }
}

// Entries are numbered from the one that gains most by itself. Level d of the tree holds the Hessian and the slopes of
// what is left when d entries are taken: the upper half, by rows, and the slope at the end of each.
class Tree {
public:
    Tree(const KnownRows& rows, std::span<const double> right, const Indices& among, std::size_t size, bool free,
         GroupBounds bounds, double gain, std::int64_t products, const std::function<bool()>& out_of_time)
        : columns(right.size()), groups(std::move(bounds)), best(2 * gain), left(products), out_of_time(out_of_time) {
        const std::size_t last = columns - free;
        const double pivot = free ? rows.of(last)[last] : 0.0, against = pivot > 0 ? right[last] / pivot : 0.0;
        const auto share = [&](std::size_t j) { return pivot > 0 ? rows.of(j)[last] / pivot : 0.0; };
        Numbers gains(last), slopes(last);
        for (const std::int32_t j : among) {
            if (!has_room(j)) continue;
            const double own = rows.of(j)[j], beside = own - share(j) * share(j) * pivot;
            slopes[j] = right[j] - share(j) * pivot * against;
            const double gained = slopes[j] * slopes[j] / beside;
            if (beside > alike * own && std::isfinite(gained)) gains[j] = gained;
            order.push_back(j);
        }
        std::stable_sort(order.begin(), order.end(), [&](auto i, auto j) { return gains[i] > gains[j]; });
        p = order.size();
        stride = p + 1;
        size = std::min(size, p);
        spend(p * p);
        if (size == 0 || left < 0) return;
        for (const std::int32_t j : order) whole.push_back(rows.of(j)[j]);
        levels.assign(size, {});
        suffixes.assign(size, Numbers(stride));
        diagonal = all_gains = next_slopes = Numbers(stride);
        Numbers& first = levels[0] = Numbers(stride * stride);
        for (std::size_t i = 0; i < p; ++i) {
            const double *row = rows.of(order[i]), times = share(order[i]) * pivot;
            for (std::size_t j = i; j < p; ++j) first[i * stride + j] = row[order[j]] - times * share(order[j]);
            first[i * stride + p] = slopes[order[i]];
        }
        look(0, 0, size, against * against * pivot);
    }

    Compared found() const { return {at, all && left >= 0}; }

private:
    // Supports of the entries taken and at most `more` from `begin` on.
    void look(std::size_t depth, std::size_t begin, std::size_t more, double gained) {
        const Numbers& m = levels[depth];
        Numbers& suffix = suffixes[depth];
        if (more > 2) gains_together(m, begin, suffix);
        for (std::size_t i = begin; i < p && left >= 0; ++i) {
            if (more > 2 && gained + suffix[i] * (1.0 + rounding) <= best) return;
            if (!has_room(order[i]) || is_taken_up(i, m[i * (stride + 1)])) continue;
            const double *row = &m[i * stride], ahead = gained + row[p] * row[p] / row[i];
            take(i, 1);
            if (ahead > best) keep(ahead);
            if (more == 2) pairs(m, i, ahead);
            if (more > 2) {
                Numbers& next = levels[depth + 1];
                next.resize(stride * stride);
                for (std::size_t j = i + 1; j < p; ++j)
                    subtract(row[j] / row[i], row + j, &m[j * (stride + 1)], &next[j * (stride + 1)], stride - j);
                spend((p - i) * (p - i) / 2);
                look(depth + 1, i + 1, more - 1, ahead);
            }
            take(i, -1);
        }
    }

    // Supports of the entries taken, the last of them i, and one more.
    void pairs(const Numbers& m, std::size_t i, double gained) {
        const std::size_t n = p - i - 1;
        for (std::size_t j = 0; j < n; ++j) {
            diagonal[j] = m[(i + 1 + j) * (stride + 1)];
            next_slopes[j] = m[(i + 1 + j) * stride + p];
        }
        const double* row = &m[i * stride];
        gains_beside(row + i + 1, row[i], row[p], next_slopes.data(), diagonal.data(), all_gains.data(), n);
        spend(n);
        for (std::size_t j = 0; j < n; ++j) {
            const std::size_t other = i + 1 + j;
            if (is_taken_up(other, diagonal[j]) || gained + all_gains[j] <= best || !has_room(order[other])) continue;
            take(other, 1);
            keep(gained + all_gains[j]);
            take(other, -1);
        }
    }

    // What the entries from each one on gain together; no fewer of them gain more.
    void gains_together(const Numbers& m, std::size_t begin, Numbers& suffix) {
        const std::size_t n = p - begin;
        spend(n * n * n / 6);
        if (left < 0) return;
        rest = m;
        double sum = 0.0;
        for (std::size_t j = p; j-- > begin;) {
            const double pivot = rest[j * (stride + 1)], slope = rest[j * stride + p];
            const bool known = pivot > alike * whole[j];
            sum += known ? slope * slope / pivot : whole[j] > 0 ? std::numeric_limits<double>::infinity() : 0.0;
            suffix[j] = sum;
            for (std::size_t i = begin; i < j && known; ++i) {
                const double times = rest[i * stride + j] / pivot;
                for (std::size_t k = i; k < j; ++k) rest[i * stride + k] -= times * rest[k * stride + j];
                rest[i * stride + p] -= times * slope;
            }
        }
    }

    // Whether those taken leave next to nothing of an entry. Then a support with it is not compared.
    bool is_taken_up(std::size_t i, double beyond) {
        const bool gone = !(beyond > alike * whole[i]);
        all = all && !(gone && whole[i] > 0);
        return gone;
    }

    bool has_room(std::size_t column) const {
        return groups.room[groups.labels[column]] > 0 && groups.room[groups.labels[columns + column]] > 0;
    }
    void take(std::size_t i, int count) {
        groups.room[groups.labels[order[i]]] -= count;
        groups.room[groups.labels[columns + order[i]]] -= count;
        if (count > 0) taken.push_back(order[i]);
        else taken.pop_back();
    }
    void keep(double gain) {
        best = gain;
        at = taken;
    }
    void spend(std::size_t products) {
        left -= static_cast<std::int64_t>(products);
        if (pace.after(static_cast<std::int64_t>(products)) && out_of_time()) left = -1;
    }

    std::size_t columns, p = 0, stride = 0;
    GroupBounds groups;
    double best; // twice what a support must gain to be better
    std::int64_t left; // products; below 0 the search ends
    const std::function<bool()>& out_of_time;
    Indices order, taken, at;
    std::vector<Numbers> levels, suffixes;
    Numbers whole, rest, diagonal, next_slopes, all_gains;
    bool all = true;
    interrupt::Pace pace;
};

} // namespace

Indices near_support(const KnownRows& rows, std::span<const double> right, const Indices& at, bool free,
                     const Lapack& lapack, std::size_t others) {
    const std::size_t k = at.size(), own = k - free;
    if (own == 0) return {};
    Numbers among(k * k), values(k), products(k), turned(k), worths(right.size(), 0.0);
    for (std::size_t i = 0; i < k; ++i)
        for (std::size_t j = 0; j < k; ++j) among[i * k + j] = rows.of(at[i])[at[j]];
    const std::optional<Numbers> inverse = lapack.inverse(std::move(among), k);
    if (!inverse) return {};
    const auto times = [&](const Numbers& vector, Numbers& into) {
        for (std::size_t i = 0; i < k; ++i) into[i] = dot(vector, &(*inverse)[i * k]);
    };
    for (std::size_t i = 0; i < k; ++i) products[i] = right[at[i]];
    times(products, values);
    Indices found;
    for (std::size_t j = 0; j < right.size() - free; ++j) {
        if (std::binary_search(at.begin(), at.end(), static_cast<std::int32_t>(j))) continue;
        for (std::size_t i = 0; i < k; ++i) products[i] = rows.of(at[i])[j];
        times(products, turned);
        const double whole = rows.of(j)[j], beyond = whole - dot(products, turned.data());
        if (!(beyond > alike * whole)) continue;
        const double slope = right[j] - dot(products, values.data());
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < own; ++i) {
            const double after = values[i] - turned[i] * slope / beyond;
            least = std::min(least, after * after / ((*inverse)[i * (k + 1)] + turned[i] * turned[i] / beyond));
        }
        const double worth = slope * slope / beyond - least;
        if (!std::isfinite(worth)) continue;
        worths[j] = worth;
        found.push_back(static_cast<std::int32_t>(j));
    }
    others = std::min(others, found.size());
    std::partial_sort(found.begin(), found.begin() + others, found.end(), [&](auto i, auto j) {
        return worths[i] > worths[j] || (worths[i] == worths[j] && i < j);
    });
    found.resize(others);
    found.insert(found.end(), at.begin(), at.begin() + own);
    return found;
}

Compared best_support(const KnownRows& rows, std::span<const double> right, const Indices& among, std::size_t size,
                      bool free, GroupBounds groups, double gain, std::int64_t products,
                      const std::function<bool()>& out_of_time) {
    Compared found = Tree(rows, right, among, size, free, std::move(groups), gain, products, out_of_time).found();
    if (free && !found.at.empty()) found.at.push_back(static_cast<std::int32_t>(right.size()) - 1);
    std::sort(found.at.begin(), found.at.end());
    return found;
}

} // namespace optiframe::tvcs::fits
