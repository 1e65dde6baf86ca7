// From prices near the best ones and a list of candidates to a support that is proved.
#pragma once

#include "flow.hpp"
#include "search.hpp"

namespace optiframe::tvcs {

// Complementary slackness over all elements and bounds: how many fail. 0 proves the support best for the
// worths in whole numbers.
i64 failures(const Elements& all, const Bounds& bounds, const Prices& prices);

// Arcs that a repair may look at.
i64 work_for(std::size_t elements);

// Whether a repair is likely to do with so much: a search that comes by the source or the sink looks at all groups.
bool worth_carrying(const Flow& flow, i64 work);

// How units are carried: along shortest paths; or many at once by a network simplex, which ends soon on a short list.
// Then prices that leave half of what is chosen in the wrong groups are given up.
enum class Carry { by_paths, by_simplex };

// Repairs the list, prices all elements, and goes on with what was wrong. Fills the prices and the state of each
// element; false where it takes too much work, or is not to be tried.
bool certify(const Elements& all, const Bounds& bounds, Found& found, double common, i64 work, double limit,
             Carry carry, Prices& prices, Effort& effort);

} // namespace optiframe::tvcs
