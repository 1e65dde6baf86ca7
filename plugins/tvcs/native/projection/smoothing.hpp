// Prices near their optimum, by smoothing the dual.
//
// The dual of the support program is total y0 + r u + k w + sum max(0, q - y0 - u - w). With the kink
// at 0 replaced by a ramp of some width the sums over elements become smooth in each price. What is
// proved never depends on these estimates.
#pragma once

#include "instance.hpp"

namespace optiframe::tvcs {

// One view of a list as smoothing sees it: its elements, what they are worth, how many elements each
// stands for (empty: one), and of its groups the elements chosen for sure beside the list (empty:
// none), the bounds, and how far from its centre a threshold may move: beyond, the list is not
// complete (empty: as far as it likes).
struct Side {
    View view;
    std::span<const double> worth, copies;
    std::span<const i64> sure;
    std::span<const i64> bounds;
    std::span<const double> centre, window;

    double sure_of(i64 g) const { return sure.empty() ? 0.0 : static_cast<double>(sure[g]); }
    double lowest(i64 g) const { return window.empty() ? -inf : centre[g] - window[g]; }
    double highest(i64 g) const { return window.empty() ? inf : centre[g] + window[g]; }
};

// How far worths are from their mean, on average: the width that a first ramp is measured by. Worths that are all
// about the same have hardly any.
double deviation(std::span<const double> worth, double mean);

// Minimises the smoothed dual over y0 and the prices of one view; gives y0. Each group has a threshold
// at which its bound is met but for `close` elements, found by Newton steps inside a bracket. `scratch`
// has room for the elements.
double minimise_block(const Side& side, i64 total, double y0, std::span<double> price,
                      std::span<const double> other_price, double tau, double close, std::span<double> scratch);

// For each group, the distance from its threshold within which need[g] elements lie. Beyond the old
// windows a list holds only what other groups wanted, so that none grows beyond 1.5 times its old one.
Vector<double> spread(const Side& side, double y0, std::span<const double> price,
                           std::span<const double> other_price, std::span<const double> need,
                           std::span<const double> old, std::span<double> scratch);

// One Newton step for each view at each of the widths (elements a group on the ramp), which narrows as
// prices settle. A step is no longer than the ramp is wide, so that a group whose count does not change
// yet walks and does not jump.
void anneal(const Side& rows, const Side& columns, i64 total, Prices& prices, double tau,
            std::span<const double> widths);

// The same with a ramp of its own for each group after the first step: next to the threshold of a group that may keep
// one element of a thousand, worths lie further apart than in the middle of another, and one width for both leaves
// ten times as many units to repair.
void anneal_each(const Side& rows, const Side& columns, i64 total, Prices& prices, double tau,
                 std::span<const double> widths);

// So many widths for what breaks ties: it falls with the index, so that prices have far to go.
Vector<double> widths_for_ties(int steps);

} // namespace optiframe::tvcs
