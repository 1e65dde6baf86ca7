// Prices near the best by Newton steps on all elements.
#pragma once

#include "candidates.hpp"

namespace optiframe::tvcs {

inline constexpr i64 most_for_steps = 20'000; // elements: with more, lists of samples take less time than such steps

// Elements a group on the ramp, step by step: for one list, where more steps save fewer paths than they cost,
// and for candidates next to the thresholds.
inline constexpr double widths[] = {8.0, 4.0, 4.0, 2.0, 1.0, 0.7};
inline constexpr double narrow_widths[] = {8.0, 8.0, 8.0, 8.0, 8.0, 8.0, 4.0, 4.0,
                                           4.0, 4.0, 2.0, 2.0, 2.0, 2.0, 1.0, 0.7};

double mean_of(std::span<const double> worth);

// Steps at these widths, on a ramp that begins so wide.
void step_on_all(const Elements& all, std::span<const double> worth, const Columns& columns, const Bounds& bounds,
                 double ramp, std::span<const double> steps, Prices& prices);

// From a total's price at the mean, and a ramp over most of the worths.
void first_prices(const Elements& all, std::span<const double> worth, const Columns& columns, const Bounds& bounds,
                  std::span<const double> steps, Prices& prices);

} // namespace optiframe::tvcs
