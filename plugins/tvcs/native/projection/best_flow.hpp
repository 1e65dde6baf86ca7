// Flows of least cost on links between groups, in the way that suits them.
#pragma once

#include "link_graph.hpp"

namespace optiframe::tvcs {

// By paths between groups, a network simplex and cost scaling, whose effort is bounded by how far prices are off; or
// without the last, or, to test the others, without the first.
enum class Ways { all, but_scaling, but_paths };

struct Aim {
    bool total_binds; // else no path need go by the source and the sink
    Ways ways;
    i64 first, last; // widths of the phases of cost scaling: see `scale_costs`
};

enum class Solved { exactly, nearly, given_up };

// Carries all excess to lacks and fills `moved` with potentials. No link with room costs less than 0 then or, with
// `nearly`, than -last. Gives up where the other ways were, and cost scaling is not to follow; then nothing changes.
Solved best_flow(std::span<Link> links, std::span<i64> excess, std::span<i64> moved, const Ends& ends, const Aim& aim,
                 Effort& effort);

// Whether one view has a few groups, the other many, and elements are enough for smoothed prices.
bool suit_few_groups(std::span<const Link> links, const Ends& ends);

} // namespace optiframe::tvcs
