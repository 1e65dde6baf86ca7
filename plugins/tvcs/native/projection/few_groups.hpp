// Few groups in one view: shortest paths over these alone.
#pragma once

#include "candidates.hpp"
#include "layout.hpp"

namespace optiframe::tvcs {

// How many groups, that of elements in none included, one view may have: with a few these paths are the quickest way,
// with some they still are quicker than cost scaling, up to fifty times. More groups take a heap for each two, and ties
// leave many units to carry.
inline constexpr i64 few_groups = 4, some_tied_groups = 9, some_groups = 17;

// Whether one view has at most so many groups, and the other many.
bool has_few_groups(i64 rows, i64 columns, i64 most = few_groups);
inline bool has_few_groups(const Layout& layout, i64 most = few_groups) {
    return std::min(layout.rows(), layout.columns()) > 1 && has_few_groups(layout.rows(), layout.columns(), most);
}

// From prices to the support of greatest worth and its prices. The groups of the other view choose for themselves
// by the prices of the few, and what is then missing is carried along shortest paths between the few. The length
// of an arc is that of the best change in any group of the other view: the top of a heap, from which what has
// changed meanwhile is dropped when it comes up. Heaps hold what lies near the prices, and more when that is not
// enough. O(p) at first and O(log p) for each unit; 30 to 60 bytes an element.
void solve_few_groups(const Elements& all, const Bounds& bounds, double limit, Prices& prices, Effort& effort);

} // namespace optiframe::tvcs
