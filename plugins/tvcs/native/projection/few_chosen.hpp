// A few elements chosen of many: these are among the first of their groups, of which a sample says nothing.
#pragma once

#include "candidates.hpp"

namespace optiframe::tvcs {

// Whether so few are chosen at most.
bool are_few_chosen(i64 elements, i64 rows, i64 columns, double most_chosen);

// From nothing: prices by an exact sweep, a list of the elements nearest to the thresholds that these make, and a
// network simplex on it. Gives whether the prices prove the choice; soon false where a sweep says little.
bool solve_few_chosen(const Elements& all, const Bounds& bounds, double unit, double limit, Prices& prices,
                      Effort& effort);

} // namespace optiframe::tvcs
