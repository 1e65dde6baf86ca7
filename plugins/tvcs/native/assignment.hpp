// Bounds of 1 on every row and column of a full matrix: the assignment problem, on a dense matrix.
#pragma once

#include "candidates.hpp"
#include "layout.hpp"

namespace optiframe::tvcs {

// The support of greatest worth and its prices (Jonker, Volgenant 1987: augmenting row reduction, then shortest
// augmenting paths). O(rows * elements) time at worst, and 8 bytes an element where there are more rows than columns.
// Needs `Layout::assignment`.
void assign(const Layout& layout, const Elements& all, Prices& prices, Effort& effort);

} // namespace optiframe::tvcs
