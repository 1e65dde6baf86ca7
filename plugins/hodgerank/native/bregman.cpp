#include "bregman.hpp"

#include <algorithm>
#include <cmath>

namespace optiframe::hodgerank {

double bregman_block(const Comparisons& rows, std::span<const double> weight, std::span<const double> scores,
                     std::span<double> dual, std::span<const double> outliers, std::span<double> after, double dt,
                     double kappa, std::span<double> into) {
    std::ranges::fill(into, 0.0);
    double largest = 0.0;
    for (i64 e = 0; e < rows.rows(); ++e) {
        const i64 i = rows.left[e], j = rows.right[e];
        const double rest = rows.margin[e] - (scores[i] - scores[j]) - outliers[e];
        const double z = dual[e] += dt * rest;
        after[e] = kappa * (z - std::copysign(std::min(std::abs(z), 1.0), z));
        largest = std::max(largest, std::abs(rest));
        const double pull = weight[e] * rest;
        into[i] += pull;
        into[j] -= pull;
    }
    return largest;
}

} // namespace optiframe::hodgerank
