// At most a few groups in one view: shortest paths over these alone.
#pragma once

#include "candidates.hpp"
#include "layout.hpp"

namespace optiframe::tvcs {

// How many groups, that of elements in none included, one view may have.
inline constexpr i64 few_groups = 4;

// Whether one view has so few groups, and the other many.
bool has_few_groups(i64 rows, i64 columns);
inline bool has_few_groups(const Layout& layout) {
    return std::min(layout.rows(), layout.columns()) > 1 && has_few_groups(layout.rows(), layout.columns());
}

// From prices to the support of greatest worth and its prices. The groups of the other view choose for themselves
// by the prices of the few, and what is then missing is carried along shortest paths between the few. The length
// of an arc is that of the best change in any group of the other view: the top of a heap, from which what has
// changed meanwhile is dropped when it comes up. O(p) at first and O(log p) for each unit; 40 bytes an element.
void solve_few_groups(const Elements& all, const Bounds& bounds, double limit, Prices& prices, Effort& effort);

} // namespace optiframe::tvcs
