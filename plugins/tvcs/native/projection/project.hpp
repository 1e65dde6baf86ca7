// The projection: from values to a support of greatest worth, its prices, and the proof.
#pragma once

#include "settle.hpp"

namespace optiframe::tvcs {

// What a projection writes: prices y0, u, w, which are 1 and a number for each group of the two views, in
// whole units; and of each element whether it is chosen, and its value where it is. The last two may be left out.
struct Into {
    std::span<double> prices;
    std::span<bool> support;
    std::span<double> kept;
};

// Prices to begin with, in units of 2^unit; none where they are empty.
struct Start {
    std::span<const double> prices;
    int unit;
};

struct Report {
    bool refused = false; // a value is not finite; nothing is written
    int unit = 0;         // a worth of 2^unit is a unit of the prices
    Effort effort;
};

// With `forced` cost scaling answers, or the network simplex.
Report project(const Layout& layout, std::span<const double> values, bool squared, const Start& start, bool forced,
               const Into& into);

} // namespace optiframe::tvcs
