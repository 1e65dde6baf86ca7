// A step of linearized Bregman iteration.
#pragma once

#include "merging.hpp"

namespace optiframe::hodgerank {

// What a step reads and writes of each row.
struct Bregman {
    std::span<const double> weight;
    std::span<double> dual; // z, which changes in place
    std::span<const double> outliers;
    std::span<double> after; // the new outliers
};

// One step of Algorithm 4 on a block of rows, (16a) to (16d): what pulls at each item goes to `into`; gives
// the largest residual. Codes are checked on the way.
double bregman_block(const Comparisons& rows, const Bregman& of_rows, std::span<const double> scores, double dt,
                     double kappa, std::span<double> into);

} // namespace optiframe::hodgerank
