// What a projection is about: groups of elements, prices of their bounds, lists of candidates.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "vector.hpp"

namespace optiframe::tvcs {

using i64 = std::int64_t;
using i32 = std::int32_t;
using u8 = std::uint8_t;

inline constexpr double inf = std::numeric_limits<double>::infinity();

// Bits of an element's state.
inline constexpr u8 chosen_bit = 1;
inline constexpr u8 listed_bit = 2;

// Elements group by group: those of group g are first[g] to first[g + 1], each with its group in the
// other view.
struct View {
    std::span<const i64> first;
    std::span<const i32> other;
    bool runs = false; // the elements of a group lie in groups that follow one another

    i64 groups() const { return static_cast<i64>(first.size()) - 1; }
    i64 elements() const { return static_cast<i64>(other.size()); }

    // What their groups have of some elements of one group: in `room`, or where it is already.
    const double* of_groups(std::span<const double> numbers, i64 begin, i64 end, double* room) const {
        if (runs) return numbers.data() + other[begin];
        for (i64 k = begin; k < end; ++k) room[k - begin] = numbers[other[k]];
        return room;
    }
};

// So many elements at most lie on a cycle of groups: it passes none twice.
inline i64 elements_on_cycle(i64 rows, i64 columns) { return 2 * std::min(rows, columns); }

// How many elements may be chosen: of each group of the two views, and of all.
struct Bounds {
    std::span<const i64> rows, columns;
    i64 total;
};

// What bounds cost: y0 of the total, u of the rows, w of the columns.
struct Prices {
    double y0 = 0.0;
    Vector<double> u, w;
};

inline Prices no_prices(i64 rows, i64 columns) { return {0.0, Vector<double>(rows), Vector<double>(columns)}; }

// Some of the elements row by row: column, worth, place among all, and whether each is chosen.
struct List {
    Vector<i64> first;
    Vector<i32> column;
    Vector<double> worth;
    Vector<i32> place;
    Vector<u8> chosen;

    View view() const { return {first, column}; }
    i64 size() const { return static_cast<i64>(column.size()); }
};

// The elements of a list column by column: row, worth, and the place in the list.
struct Columns {
    Vector<i64> first;
    Vector<i32> row;
    Vector<double> worth;
    Vector<i32> place;
    bool runs = false; // the rows of each column follow one another

    View view() const { return {first, row, runs}; }
};

Columns by_columns(const View& rows, std::span<const double> worth, i64 columns);

// Elements that are chosen for sure and are not in the list, by group.
struct Sure {
    Vector<i64> rows, columns;
};

// What a projection took; see kernels/answers.py.
struct Effort {
    i64 candidates = 0, units = 0, paths = 0, arcs = 0, rounds = 0, open = 0, levels = 0;
    bool fallback = false;
};

// Whether what has carried so many units of all is likely to need more work than the most: asked from an eighth of that
// on, which tells enough.
inline bool is_slow(i64 work, i64 most, double carried, double all) {
    const double taken = static_cast<double>(work), limit = static_cast<double>(most);
    return taken > limit || (taken > 0.125 * limit && taken * all > limit * carried);
}

} // namespace optiframe::tvcs
