// The best of all supports for a quadratic, by branch and bound.
#pragma once

#include <vector>

#include "second_order.hpp"

namespace optiframe::tvcs::fits {

// Groups of two views, numbered together, and how many entries each may hold.
struct GroupBounds {
    std::vector<std::int64_t> labels, room; // labels: of one view's columns, then of the other's
};

struct Compared {
    Indices at; // the best support found; empty where none gains more than was asked
    bool all;   // whether no other support gains more
};

// Of supports of at most `size` entries within the bounds, and the last entry besides where it is free, the one on
// which right' x - x' H x / 2 rises most: by more than `gain`, else none. Ends after so many products.
Compared best_support(const KnownRows& rows, std::span<const double> right, std::size_t size, bool free,
                      GroupBounds groups, double gain, std::int64_t products);

} // namespace optiframe::tvcs::fits
