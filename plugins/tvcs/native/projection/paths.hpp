// Flows of least cost by shortest paths between groups, where source and sink take what comes.
#pragma once

#include "link_graph.hpp"

namespace optiframe::tvcs {

// Carries all excess to lacks and leaves no cycle that saves anything, from any flow with potentials 0; adds new ones
// to `potential`. Costs times three times the nodes must be below 2^61. Gives false, and changes nothing, where some
// excess reaches no lack or where more than `budget` looks at arcs are needed.
//
// A path from one group to another may go by source and sink, so that searches would go through the whole graph. While
// these keep their potentials, they take any excess and fill any lack, and searches end nearby (Ahuja, Magnanti, Orlin
// 1993, Sec. 9.7: successive shortest paths). What is then too much at the source and too little at the sink falls as
// the source's potential does: that is moved until both are even, each time with a repair of what it changed.
bool carry_by_paths(std::span<Link> links, std::span<i64> excess, std::span<i64> potential, const Ends& ends,
                    i64 budget, Effort& effort);

} // namespace optiframe::tvcs
