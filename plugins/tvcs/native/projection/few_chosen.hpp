// A few elements chosen of many: the best of their groups, which a sample of a group would miss.
#pragma once

#include "candidates.hpp"

namespace optiframe::tvcs {

// Whether so few are chosen at most.
bool are_few_chosen(i64 elements, i64 rows, i64 columns, double most_chosen);

// From nothing: prices by one exact sweep over each view, a list of the elements nearest to the thresholds that these
// make, and a network simplex on it. Gives whether the prices prove the choice; soon false where the sweep leaves half
// of what is chosen in the wrong groups.
bool solve_few_chosen(const Elements& all, const Bounds& bounds, double unit, double limit, Prices& prices,
                      Effort& effort);

} // namespace optiframe::tvcs
