// A step of linearized Bregman iteration.
#pragma once

#include "merging.hpp"

namespace optiframe::hodgerank {

// One step of Algorithm 4 on a block of rows, (16a) to (16d): `dual` changes in place, the new outliers
// go to `after`, what pulls at each item to `into`; gives the largest residual.
double bregman_block(const Comparisons& rows, std::span<const double> weight, std::span<const double> scores,
                     std::span<double> dual, std::span<const double> outliers, std::span<double> after, double dt,
                     double kappa, std::span<double> into);

} // namespace optiframe::hodgerank
