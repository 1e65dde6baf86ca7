// The best of all supports for a quadratic, by branch and bound.
#pragma once

#include <functional>
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

// The entries of a point's support but the last where it is free, and the so many others that fit best in place of one
// of them; empty where columns are alike.
Indices near_support(const KnownRows& rows, std::span<const double> right, const Indices& at, bool free,
                     const Lapack& lapack, std::size_t others);

// Of supports of at most `size` of these entries within the bounds, and the last entry besides where it is free, the
// one on which right' x - x' H x / 2 rises most: by more than `gain`, else none. Ends after so many products, and
// where the caller, asked every 50 ms, has no time left.
Compared best_support(const KnownRows& rows, std::span<const double> right, const Indices& among, std::size_t size,
                      bool free, GroupBounds groups, double gain, std::int64_t products,
                      const std::function<bool()>& out_of_time);

} // namespace optiframe::tvcs::fits
