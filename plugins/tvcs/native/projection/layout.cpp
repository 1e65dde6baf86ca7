#include "layout.hpp"

#include <algorithm>
#include <numeric>

#include <optiframe/arrays.hpp>

namespace optiframe::tvcs {

namespace {

constexpr double per_group[] = {32.0, 140.0}; // elements of a group in the samples
constexpr double sparse = 0.22;               // of all elements: a larger sample saves nothing
constexpr i64 with_dummies = 4;               // times the matrix: a larger one takes longer than paths of groups

// A number from 0 to below 1 for each element, the same every time (Steele, Lea, Flood 2014: SplitMix64). Only
// the time of a projection depends on it.
double coin(i64 k) {
    std::uint64_t z = (static_cast<std::uint64_t>(k) + 1) * 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

// The group that an element is solved in; -1, no group, is the last. Labels are read once: another thread may
// change them.
i64 group(const i32& label, i64 groups) {
    const i64 given = read(label);
    if (given < -1 || given >= groups - 1) [[unlikely]]
        throw std::invalid_argument("a group is out of range, or another thread changed it");
    return given < 0 ? groups - 1 : given;
}

i64 checked(i64 bound) {
    check(bound >= 0, "a bound is negative");
    return bound;
}

Vector<i64> with_free(std::span<const i64> bounds, i64 free) {
    Vector<i64> found;
    found.reserve(bounds.size() + 1);
    for (const i64& bound : bounds) found.push_back(std::min(checked(read(bound)), free));
    found.push_back(free);
    return found;
}

// How many elements the groups of a view may hold.
double most_in(std::span<const i64> bounds, std::span<const double> lengths) {
    double most = 0.0;
    for (std::size_t g = 0; g < bounds.size(); ++g) most += std::min(static_cast<double>(bounds[g]), lengths[g]);
    return most;
}

// The least share of its elements that a group with a bound above 0 may hold.
double tightest_of(std::span<const i64> bounds, std::span<const double> lengths) {
    double least = 1.0;
    for (std::size_t g = 0; g < bounds.size(); ++g)
        if (bounds[g] > 0 && lengths[g] > 0) least = std::min(least, static_cast<double>(bounds[g]) / lengths[g]);
    return least;
}

} // namespace

Layout::Layout(std::span<const i32> row, std::span<const i32> columns_given,
               std::span<const i64> row_bounds_given, std::span<const i64> column_bounds_given,
               i64 total_given) {
    const i64 n = static_cast<i64>(row.size()), free = n + 1; // more than can be chosen
    row_bounds = with_free(row_bounds_given, free);
    column_bounds = with_free(column_bounds_given, free);
    total = std::min(checked(total_given), free);

    first.resize(rows() + 1);
    column.resize(n); // at first the row of each, as what is counted must be what is put in place
    bool sorted = true;
    i64 before = 0;
    interrupt::in_blocks(n, [&](i64 begin, i64 end) {
        for (i64 k = begin; k < end; ++k) {
            const i64 i = group(row[k], rows());
            sorted &= i >= before;
            before = i;
            ++first[i + 1];
            column[k] = static_cast<i32>(i);
        }
    });
    std::partial_sum(first.begin(), first.end(), first.begin());
    if (!sorted) {
        order.resize(n);
        rank.resize(n);
        Vector<i64> at(first.begin(), first.end() - 1);
        interrupt::in_blocks(n, [&](i64 begin, i64 end) {
            for (i64 k = begin; k < end; ++k) {
                rank[k] = static_cast<i32>(at[column[k]]++);
                order[rank[k]] = static_cast<i32>(k);
            }
        });
    }
    column_length.resize(columns());
    interrupt::in_blocks(n, [&](i64 begin, i64 end) {
        for (i64 k = begin; k < end; ++k) {
            column[k] = static_cast<i32>(group(columns_given[place(k)], columns()));
            ++column_length[column[k]];
        }
    });
    for (i64 i = 0; i < rows() && runs; ++i)
        for (i64 k = first[i] + 1; k < first[i + 1]; ++k) runs &= column[k] == column[k - 1] + 1;
    for (i64 i = 0; i < rows(); ++i) row_length.push_back(static_cast<double>(first[i + 1] - first[i]));
    const double most = std::min(most_in(row_bounds, row_length), most_in(column_bounds, column_length));
    total_binds = static_cast<double>(total) < most;
    most_chosen = std::min(static_cast<double>(total), most);
    tightest = std::min({1.0, tightest_of(row_bounds, row_length), tightest_of(column_bounds, column_length),
                         static_cast<double>(total) / static_cast<double>(std::max<i64>(n, 1))});
    assignment = is_assignment();
    for (const double each : per_group) samples.push_back(sample(each));
}

bool Layout::is_assignment() const {
    const i64 across = columns() - 1, down = rows() - 1;
    if (elements() == 0 || elements() != down * across || 2 * total < std::min(down, across)) return false;
    const i64 side = down + across - total; // of the matrix with dummies
    if (total < std::min(down, across) && side * side > with_dummies * elements()) return false;
    for (i64 i = 0; i < down; ++i)
        if (row_bounds[i] != 1 || first[i] != i * across) return false;
    for (i64 j = 0; j < across; ++j)
        if (column_bounds[j] != 1) return false;
    i64 misplaced = 0;
    for (i64 i = 0; i < down; ++i)
        for (i64 j = 0; j < across; ++j) misplaced += column[i * across + j] != j;
    return misplaced == 0;
}

// So many of each group on average, and all of a group that is smaller.
Sample Layout::sample(double each) const {
    const auto shares = [each](std::span<const double> length) {
        Vector<double> found;
        for (const double n : length) found.push_back(each / std::max(n, 1.0));
        return found;
    };
    const Vector<double> row_share = shares(row_length), column_share = shares(column_length);
    const double most = sparse * static_cast<double>(elements());
    Sample found{{0}, {}, {}, {}, {}};
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
    found.across = by_columns(found.view(), found.copies, columns());
    found.across.worth = {};
    return found;
}

} // namespace optiframe::tvcs
