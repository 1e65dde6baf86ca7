// Exact block minimisation over the prices of one view: slower than smoothing, and blind to its weak spots.
//
// Where groups hold only a few elements, or worths lie close together, a ramp over several elements of a
// group says little about the one at its threshold, and smoothed prices leave many units in the wrong
// group.
#pragma once

#include "flow.hpp"
#include "instance.hpp"

namespace optiframe::tvcs {

// A list to choose from: its elements, and what is chosen for sure beside it.
struct Choice {
    View view;
    std::span<const double> worth;
    std::span<u8> chosen;
    const Sure& sure;
};

// Every element on the side of its reduced worth; of those at their threshold, what fits. Gives the
// chosen of each group, those chosen for sure included.
Counts choose(const Choice& list, const Bounds& bounds, const Prices& prices);

// The best y0 and prices of one view for fixed prices of the other; fills price, gives y0. A group keeps
// as many as its bound allows of what its elements are worth beyond the other view's price; y0 is the
// first of all these that the total leaves out, and a group's price what its own first one left out is
// worth beyond that. O(p) time on average and 16 bytes an element.
double exact_sweep(const View& view, std::span<const double> worth, std::span<const i64> bounds, i64 total,
                   std::span<const double> other_price, std::span<double> price);

// Prices by exact sweeps on one list, beginning with the prices w or `anew` with none, and what they
// choose.
Counts choose_by_sweeps(const Choice& list, const Bounds& bounds, bool anew, Prices& prices);

// Sweeps where much would be left to repair; they begin with the given prices, and with `anew` then with none, where
// those are no help. Prices, choice and flow change where at most the share `most` of the units is left.
void improve(const Choice& list, double most, bool anew, Prices& prices, Counts& counts, Flow& flow);

// Other prices, what they chose and how many of each group, where they leave at most the share `most` of the units that
// the flow has; else goes back to those that it has, which chose what was `before`.
void take_better(const Choice& list, std::span<const u8> before, double most, Prices& tried, Counts& found,
                 Prices& prices, Counts& counts, Flow& flow);

} // namespace optiframe::tvcs
