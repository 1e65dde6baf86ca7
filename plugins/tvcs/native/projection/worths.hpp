// Worths as whole numbers, so that every sum of a proof is exact.
#pragma once

#include <optional>

#include "instance.hpp"

namespace optiframe::tvcs {

// The largest value, or of `squared` ones the largest size, at least 0; -1 where a value is not finite.
double largest_value(std::span<const double> values, bool squared);

// Whether all values that are worth something are `top`, or of that size.
bool are_alike(std::span<const double> values, bool squared, double top);

// Worths are counted in units of 2^unit, of which the largest worth has just below 2^50. Values are scaled by
// `first` and `second` before they are squared: any are ordinary numbers then, or vanish beside the largest.
struct Units {
    int unit;
    double first, second, limit; // the highest price that is needed
};
Units units_for(double largest, bool squared);

// Whole-number worths by rows, where each value has its rank (no ranks: they are as they come); what is positive stays
// so. Gives how many are.
// None is above the limit, whatever another thread makes of the values meanwhile.
i64 quantise(std::span<const double> values, bool squared, std::span<const i32> rank, const Units& units,
             std::span<double> whole);

// The largest number that divides all worths, from a few of them, checked on all; else 1.
double common_unit(std::span<const double> whole);

// Adds to whole worths what breaks their ties, where it fits below the lowest bit that any of them has: supports
// are then as different as those of ordinary numbers. Gives its place; nothing where it does not fit, or `whole`
// is rounded. A sum over `nodes` of them is less than that bit.
std::optional<int> add_ties(std::span<const double> values, bool squared, std::span<const i32> rank, int unit,
                            double common, i64 nodes, std::span<double> whole);

} // namespace optiframe::tvcs
