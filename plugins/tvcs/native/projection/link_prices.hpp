// Flows of least cost on links that tie or nearly tie, by smoothed prices: what a projection does, on a few elements.
#pragma once

#include "flow.hpp"
#include "link_graph.hpp"

namespace optiframe::tvcs {

// From a flow without excess, with links of elements row by row, to one of least cost. A group whose bound is no link
// keeps its count: each of its elements is worth so much more that as many are chosen. Fills `potential` such that no
// link with room costs less than 0, and changes nothing where it gives false: where that takes too much work, or the
// worth added does not suffice. `at_group` is how many links a group has, on average over links: the fewer groups hold
// nearly all of them, the more units are carried at once.
bool solve_by_prices(std::span<Link> links, std::span<i64> potential, const Ends& ends, double at_group, bool rough,
                     Effort& effort);

} // namespace optiframe::tvcs
