#include "layout.hpp"

#include <algorithm>
#include <numeric>

#include <optiframe/interrupt.hpp>

namespace optiframe::tvcs {

namespace {

constexpr double per_group[] = {32.0, 140.0}; // elements of a group in the samples
constexpr double sparse = 0.22;               // of all elements: a larger sample saves nothing

// A number from 0 to below 1 for each element, the same every time (Steele, Lea, Flood 2014: SplitMix64). Only
// the time of a projection depends on it.
double coin(i64 k) {
    std::uint64_t z = (static_cast<std::uint64_t>(k) + 1) * 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

// The group of each view that an element is solved in; -1, no group, is the last.
i64 group(i32 label, i64 groups) { return label < 0 ? groups - 1 : label; }

std::vector<i64> with_free(std::span<const i64> bounds, i64 free) {
    std::vector<i64> found;
    found.reserve(bounds.size() + 1);
    for (const i64 bound : bounds) found.push_back(std::min(bound, free));
    found.push_back(free);
    return found;
}

} // namespace

Layout::Layout(std::span<const i32> row, std::span<const i32> columns_given,
               std::span<const i64> row_bounds_given, std::span<const i64> column_bounds_given,
               i64 total_given) {
    const i64 n = static_cast<i64>(row.size()), free = n + 1; // more than can be chosen
    row_bounds = with_free(row_bounds_given, free);
    column_bounds = with_free(column_bounds_given, free);
    total = std::min(total_given, free);

    first.resize(rows() + 1);
    bool sorted = true;
    i64 before = 0;
    for (const i32 label : row) {
        const i64 i = group(label, rows());
        sorted &= i >= before;
        before = i;
        ++first[i + 1];
    }
    std::partial_sum(first.begin(), first.end(), first.begin());
    interrupt::poll();
    if (!sorted) {
        order.resize(n);
        std::vector<i64> at(first.begin(), first.end() - 1);
        for (i64 k = 0; k < n; ++k) order[at[group(row[k], rows())]++] = static_cast<i32>(k);
        interrupt::poll();
    }
    column.resize(n);
    for (i64 k = 0; k < n; ++k) column[k] = static_cast<i32>(group(columns_given[place(k)], columns()));
    interrupt::poll();

    for (i64 i = 0; i < rows(); ++i) row_length.push_back(static_cast<double>(first[i + 1] - first[i]));
    column_length.resize(columns());
    for (const i32 j : column) ++column_length[j];
    for (const double each : per_group) samples.push_back(sample(each));
}

// So many of each group on average, and all of a group that is smaller.
Sample Layout::sample(double each) const {
    const auto shares = [each](std::span<const double> length) {
        std::vector<double> found;
        for (const double n : length) found.push_back(each / std::max(n, 1.0));
        return found;
    };
    const std::vector<double> row_share = shares(row_length), column_share = shares(column_length);
    const double most = sparse * static_cast<double>(elements());
    Sample found{{0}, {}, {}, {}};
    interrupt::Pace pace;
    for (i64 i = 0; i < rows(); ++i) {
        pace.after(first[i + 1] - first[i]);
        for (i64 k = first[i]; k < first[i + 1]; ++k) {
            const double chance = std::max(row_share[i], column_share[column[k]]);
            if (coin(k) >= chance) continue;
            found.column.push_back(column[k]);
            found.place.push_back(static_cast<i32>(k));
            found.copies.push_back(1.0 / std::min(chance, 1.0));
        }
        if (static_cast<double>(found.place.size()) > most) return {};
        found.first.push_back(static_cast<i64>(found.place.size()));
    }
    return found;
}

} // namespace optiframe::tvcs
