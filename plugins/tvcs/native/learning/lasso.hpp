// Quadratics with an l1 penalty, by coordinate descent.
#pragma once

#include "second_order.hpp"

namespace optiframe::tvcs::fits {

// Lowers x' H x / 2 - right' x + sum of penalty_j |x_j| by passes over the entries that are not zero or should not be,
// until no step of a pass, times its diagonal entry of H, is longer than `close`.
void lasso(const KnownRows& hessian, std::span<const double> right, std::span<const double> penalty,
           std::span<double> x, double close, int passes);

} // namespace optiframe::tvcs::fits
