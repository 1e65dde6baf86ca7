// Cost scaling (Goldberg 1997): flows of least cost on the graph of groups, from any flow and any potentials.
#pragma once

#include "instance.hpp"

namespace optiframe::tvcs {

// An arc with room for so many units forwards and back. A unit forwards costs `cost`, and one back earns it.
struct Link {
    i32 tail, head;
    i32 room, back;
    i64 cost;
    i32 element; // its number among those that are open; below zero: the bound of a group or of all
};

// The nodes of links: which group each is, the rows first, then the columns, the source and the sink. Elements in no
// row begin at the source, those in no column end at the sink.
struct Ends {
    std::span<const i32> node;
    i64 rows, columns;

    i64 source() const { return rows + columns; }
    i64 sink() const { return source() + 1; }
};

// Carries all excess to lacks, and leaves no cycle along which a unit saves `last` or more for each of its arcs.
// Fills `potential` (in the units of the costs): no arc with room costs less than -last by cost + potential[tail] -
// potential[head]. Costs times three times the nodes must be below 2^61. `first` is the width of the first phase,
// 0: the largest saving on an arc. Gives false where some excess reaches no lack.
bool scale_costs(std::span<Link> links, std::span<i64> excess, std::span<i64> potential, i64 first, i64 last,
                 Effort& effort);

} // namespace optiframe::tvcs
