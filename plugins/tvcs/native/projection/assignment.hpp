// Bounds of 1 on every row and column of a full matrix: the assignment problem, whole or of so many, on a dense
// matrix.
#pragma once

#include "candidates.hpp"
#include "layout.hpp"

namespace optiframe::tvcs {

// The support of greatest worth and its prices (Jonker, Volgenant 1987: augmenting row reduction, then shortest
// augmenting paths). Where the total binds, dummies take the rows and columns that stay without (Dell'Amico, Martello
// 1997), and `prices` of columns are those to begin with. What breaks ties lies above multiples of `common`, if that is
// more than 1. O(rows * elements) time at worst, and 8 bytes an element, or up to 18 with dummies. Needs
// `Layout::assignment`.
void assign(const Layout& layout, const Elements& all, double common, double limit, Prices& prices, Effort& effort);

} // namespace optiframe::tvcs
