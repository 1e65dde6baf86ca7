#include "second_order.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <optiframe/dispatch.hpp>

namespace optiframe::tvcs::fits {

namespace {

constexpr double ridges[] = {1e-8, 1e-5}, trust = 0.2, rounding = 1e-12; // as in learning/best_subset/second_order.py
constexpr std::size_t share = 8; // more than one column of so many at once: all of them, by one product

constexpr double alike = 1e-10; // of a diagonal entry: what a column has beyond the support, to come in

OPTIFRAME_CLONES void subtract_products(const double* __restrict a, const double* __restrict b,
                                        double* __restrict from, std::size_t n) {
    for (std::size_t j = 0; j < n; ++j) from[j] -= a[j] * b[j];
}

// Twice the loss where entry i of the support goes out as column j comes in, and i where that is the least so far.
OPTIFRAME_CLONES void drop(std::int64_t i, double value, double variance, const double* __restrict turned,
                           const double* __restrict beyond, const double* __restrict step, double* __restrict least,
                           std::int64_t* __restrict out, std::size_t n) {
    for (std::size_t j = 0; j < n; ++j) {
        const double after = value + turned[j] * step[j];
        const double loss = after * after / (variance + turned[j] * turned[j] / beyond[j]);
        const bool better = loss < least[j];
        least[j] = better ? loss : least[j];
        out[j] = better ? i : out[j];
    }
}

} // namespace

SecondOrder::SecondOrder(const SmallTable& table, const Point& x, const KnownRows& given)
    : table(table), right(table.columns, 0.0), rows(table.columns, nullptr) {
    const Point middle = exact() ? Point() : x;
    if (exact())
        for (std::size_t j = 0; j < table.columns; ++j) rows[j] = given.of(j);
    Numbers slopes;
    value = table.losses(table.predictions(middle), slopes, bends) + table.penalty(middle);
    slope = table.gradient(middle, slopes);
    need(middle.at);
    base = value;
    for (std::size_t j = 0; j < middle.at.size(); ++j) add(middle.values[j], rows[middle.at[j]], right);
    for (std::size_t j = 0; j < middle.at.size(); ++j) {
        level += slope[middle.at[j]] * middle.values[j];
        base += (right[middle.at[j]] / 2 - slope[middle.at[j]]) * middle.values[j];
    }
    add(-1.0, slope.data(), right);
}

void SecondOrder::need(const Indices& at) {
    if (exact()) return;
    Indices missing;
    for (const std::int32_t j : at)
        if (rows[j] == nullptr) missing.push_back(j);
    if (missing.empty()) return;
    if (missing.size() * share > table.columns) {
        missing.clear();
        for (std::size_t j = 0; j < table.columns; ++j)
            if (rows[j] == nullptr) missing.push_back(static_cast<std::int32_t>(j));
    }
    Numbers weighted = table.block(missing);
    for (std::size_t j = 0; j < missing.size(); ++j)
        for (std::size_t i = 0; i < table.rows; ++i) weighted[j * table.rows + i] *= bends[i];
    Numbers& found = room.emplace_back(missing.size() * table.columns);
    const bool by_rows = table.column_step == 1; // then the columns of what lies there are the rows
    table.lapack.product(!by_rows, table.matrix, weighted, table.rows, found);
    for (std::size_t j = 0; j < missing.size(); ++j) {
        rows[missing[j]] = &found[j * table.columns];
        found[j * table.columns + missing[j]] += table.ridge[missing[j]];
    }
}

Numbers SecondOrder::gradient(const Point& x) {
    need(x.at);
    Numbers found(table.columns, 0.0);
    add(-1.0, right.data(), found);
    for (std::size_t j = 0; j < x.at.size(); ++j) add(x.values[j], rows[x.at[j]], found);
    return found;
}

Numbers SecondOrder::among(const Indices& at) {
    need(at);
    const std::size_t k = at.size();
    Numbers found(k * k);
    for (std::size_t j = 0; j < k; ++j)
        for (std::size_t i = j; i < k; ++i) found[j * k + i] = rows[at[j]][at[i]];
    return found;
}

std::optional<Point> SecondOrder::minimum(const Indices& at, bool rough) {
    const std::size_t k = at.size();
    Numbers block = among(at), against(k);
    for (std::size_t j = 0; j < k; ++j) against[j] = right[at[j]];
    std::optional<Numbers> found = k ? table.lapack.solved(block, against, k) : Numbers();
    double mean = 0.0;
    for (std::size_t j = 0; j < k; ++j) mean += block[j * (k + 1)] / static_cast<double>(k);
    for (const double ridge : ridges) {
        if (found || !rough) break;
        Numbers raised(block);
        for (std::size_t j = 0; j < k; ++j) raised[j * (k + 1)] += ridge * mean;
        found = table.lapack.solved(raised, against, k);
    }
    if (!found) return std::nullopt;
    return Point{at, std::move(*found)};
}

SecondOrder::Guess SecondOrder::guess(const Point& minimum) const {
    double against = 0.0, linear = -level;
    for (std::size_t j = 0; j < minimum.at.size(); ++j) {
        against += right[minimum.at[j]] * minimum.values[j];
        linear += slope[minimum.at[j]] * minimum.values[j];
    }
    const double least = base - against / 2;
    if (exact()) return {least, rounding * std::abs(base)};
    return {least, trust * std::max(least - value - linear, 0.0)};
}

Numbers SecondOrder::diagonal() const {
    Numbers found(table.ridge, table.ridge + table.columns);
    if (exact())
        for (std::size_t j = 0; j < table.columns; ++j) found[j] = rows[j][j];
    else
        for (std::size_t i = 0; i < table.rows; ++i)
            for (std::size_t j = 0; j < table.columns; ++j) {
                const double entry = table.matrix[i * table.row_step + j * table.column_step];
                found[j] += bends[i] * entry * entry;
            }
    return found;
}

std::optional<std::vector<SecondOrder::Swap>> SecondOrder::swaps(const Point& x, const Numbers& slope, bool free,
                                                                 std::size_t most) {
    const std::size_t k = x.at.size(), p = table.columns;
    std::vector<Swap> found;
    if (k == 0) return found;
    const std::optional<Numbers> inverse = table.lapack.inverse(among(x.at), k);
    if (!inverse) return std::nullopt;
    Numbers inside(k * p), turned(k * p), least(p, std::numeric_limits<double>::infinity()), step(p);
    for (std::size_t i = 0; i < k; ++i) std::copy_n(rows[x.at[i]], p, &inside[i * p]);
    table.lapack.product(false, inside.data(), *inverse, k, turned);
    const Numbers bend = diagonal();
    Numbers beyond = bend;
    for (std::size_t i = 0; i < k; ++i) subtract_products(&inside[i * p], &turned[i * p], beyond.data(), p);
    for (std::size_t j = 0; j < p; ++j) step[j] = slope[j] / beyond[j];
    std::vector<std::int64_t> out(p, -1);
    for (std::size_t i = 0; i < k; ++i)
        if (!free || static_cast<std::size_t>(x.at[i]) + 1 < p)
            drop(static_cast<std::int64_t>(i), x.values[i], (*inverse)[i * (k + 1)], &turned[i * p], beyond.data(),
                 step.data(), least.data(), out.data(), p);
    for (const std::int32_t j : x.at) beyond[j] = 0.0;
    for (std::size_t j = 0; j < p - free; ++j) {
        const double change = (least[j] - slope[j] * step[j]) / 2;
        if (beyond[j] > alike * bend[j] && change < 0 && out[j] >= 0)
            found.push_back({change, static_cast<std::int32_t>(j), x.at[out[j]]});
    }
    std::stable_sort(found.begin(), found.end(), [](const Swap& a, const Swap& b) { return a.change < b.change; });
    found.resize(std::min(most, found.size()));
    return found;
}

} // namespace optiframe::tvcs::fits
