// Strongly connected parts of links between groups.
#pragma once

#include "link_graph.hpp"

namespace optiframe::tvcs {

// For each node the part that it lies in: a cycle of links with room joins all of a part, and none two (Tarjan 1972).
Vector<i32> strong_parts(std::span<const Link> links, i64 nodes);

} // namespace optiframe::tvcs
