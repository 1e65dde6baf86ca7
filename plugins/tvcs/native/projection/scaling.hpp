// Cost scaling (Goldberg 1997): flows of least cost on the graph of groups, from any flow and any potentials.
#pragma once

#include "link_graph.hpp"

namespace optiframe::tvcs {

// Carries all excess to lacks, and leaves no cycle along which a unit saves `last` or more for each of its arcs.
// Fills `potential` (in the units of the costs): no arc with room costs less than -last by cost + potential[tail] -
// potential[head]. Costs times three times the nodes must be below 2^61. `first` is the width of the first phase,
// 0: the largest saving on an arc. Gives false where some excess reaches no lack.
bool scale_costs(std::span<Link> links, std::span<i64> excess, std::span<i64> potential, i64 first, i64 last,
                 Effort& effort);

} // namespace optiframe::tvcs
