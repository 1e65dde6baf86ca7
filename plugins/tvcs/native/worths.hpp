// Worths as whole numbers, so that every sum of a proof is exact.
#pragma once

#include "instance.hpp"

namespace optiframe::tvcs {

// The largest worth, at least 0, or -1 where a value is not finite, or its square no ordinary number.
double largest_worth(std::span<const double> values, bool squared);

struct Units {
    double scale; // units in one of the real worth: the largest worth comes just below 2^50
    double limit; // the highest price that is needed
};
Units units_for(double top);

// Whole-number worths in the order of the rows (an empty order: as they come); what is positive stays
// so. Gives how many are.
// None is above the limit, whatever another thread makes of the values meanwhile.
i64 quantise(std::span<const double> values, bool squared, std::span<const i32> order, const Units& units,
             std::span<double> whole);

// The largest number that divides all worths, from a few of them, checked on all; else 1.
double common_unit(std::span<const double> whole);

} // namespace optiframe::tvcs
