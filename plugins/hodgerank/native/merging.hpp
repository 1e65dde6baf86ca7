// Equal comparisons become one weighted row.
#pragma once

#include "by_pair.hpp"

#include <span>

namespace optiframe::hodgerank {

// Who was compared with whom, and y of left over right.
struct Comparisons {
    std::span<const i64> left, right;
    std::span<const double> margin;

    i64 rows() const { return static_cast<i64>(margin.size()); }
    Pair pair(i64 row, i64 items) const {
        return {static_cast<u32>(place(left, row, items)), static_cast<u32>(place(right, row, items))};
    }
};

// Distinct rows with left < right, sorted by left, right and margin, and the way back to the given ones.
struct Merged {
    std::vector<i64> left, right;
    std::vector<double> margin, weight;
    std::vector<i64> count;            // given rows of each
    Room<i64> inverse;                 // of each given row its merged one
    Room<bool> flipped;                // whether the given row has left and right the other way round
};

// Merges rows of equal pair and equal y, whose codes must be below items; `weight` is empty where each counts 1.
Merged merge(i64 items, const Comparisons& rows, std::span<const double> weight);

} // namespace optiframe::hodgerank
