// The projection: from values to a support of greatest worth, its prices, and the proof.
#pragma once

#include "certify.hpp"
#include "layout.hpp"

namespace optiframe::tvcs {

// What is projected. Worths are the values, or their squares.
struct Point {
    std::span<const double> values;
    bool squared;
};

// What a projection writes: prices y0, u, w, which are 1 and a number for each group of the two views, in
// the units of the worths; and of each element whether it is chosen, and its value where it is. The last two
// are empty where they are not wanted.
struct Into {
    std::span<double> prices;
    std::span<bool> support;
    std::span<double> kept;
};

struct Report {
    double scale = 1.0;         // units in one of the real worth
    i64 positive = 0, held = 0; // elements that are worth something, and those chosen
    Effort effort;
    Proof proof; // -1 failures: a value is not finite, or its square no ordinary number; nothing is written
};

// Begins with the prices `start` in the units of the worths, or with none. With `forced` the fallback
// answers.
Report project(const Layout& layout, const Point& point, std::span<const double> start, bool forced,
               const Into& into);

} // namespace optiframe::tvcs
