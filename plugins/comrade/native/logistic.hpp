// The logistic loss of a block of rows and its derivatives.
#pragma once

#include <span>

namespace optiframe::comrade {

struct Derivatives {
    std::span<double> slopes; // of each row's loss
    std::span<double> roots;  // of its second derivative
};

// Sum of log(1 + exp(-y z)).
double logistic(std::span<const double> predictions, std::span<const double> target, Derivatives into);

// Rows times a number each, rounded to single precision.
void scale(const double* block, std::span<const double> roots, float* into, std::size_t columns);

} // namespace optiframe::comrade
