// Shortest paths on the graph of groups, from what has an excess to what lacks some. Potentials move with the
// distances, so that no arc on which a unit may go becomes shorter than 0.
#pragma once

#include "flow.hpp"

namespace optiframe::tvcs {

// Moves potentials by one search from all nodes with an excess, which ends when it has reached lacks for half of it, so
// that arcs of length zero lead there. False: there is no path.
bool move_towards_half(Flow& flow, const Arcs& arcs, Effort& effort);

// Carries every excess to a lack, one shortest path at a time (successive shortest paths). Gives up where it looks at
// more than `budget` arcs.
Carried carry_each(Flow& flow, const Arcs& arcs, i64 budget, Effort& effort);

} // namespace optiframe::tvcs
