// Network simplex (Cunningham 1976): flows of least cost on the graph of groups, from any flow.
#pragma once

#include "flow.hpp"
#include "link_graph.hpp"

namespace optiframe::tvcs {

// As `scale_costs`, to the end: no arc with room costs less than 0 by cost + potential[tail] - potential[head], and
// what is given as `potential` is added to. False, with nothing changed, where that takes more than so much work,
// looks at arcs and at nodes of the tree, or where costs are too large for sums of them.
bool solve_by_simplex(std::span<Link> links, std::span<i64> excess, std::span<i64> potential, i64 budget,
                      Effort& effort);

// Carries every excess of the flow to a lack on a list of elements, whose choice and prices are best then. False, with
// nothing changed, where that takes more than so much work, or where costs are too large for sums of them.
bool carry_by_simplex(Flow& flow, const List& list, std::span<u8> chosen, i64 budget, Effort& effort);

} // namespace optiframe::tvcs
