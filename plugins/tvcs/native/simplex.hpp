// Network simplex (Cunningham 1976): flows of least cost on the graph of groups, from any flow.
#pragma once

#include "link_graph.hpp"

namespace optiframe::tvcs {

// As `scale_costs`, to the end: no arc with room costs less than 0 by cost + potential[tail] - potential[head], and
// what is given as `potential` is added to. False, with nothing changed, where that takes more than so much work:
// looks at arcs, and at nodes of the tree.
bool solve_by_simplex(std::span<Link> links, std::span<i64> excess, std::span<i64> potential, i64 budget,
                      Effort& effort);

} // namespace optiframe::tvcs
