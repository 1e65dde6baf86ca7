// From prices near the best ones and a list of candidates to a support that is proved.
#pragma once

#include "search.hpp"

namespace optiframe::tvcs {

// The worth of the support and the bound by the prices, each as a count of 2^26 and a rest, so that nothing
// is rounded; then the worst element and its failure. Where nothing fails the two are equal: each chosen
// element's worth is its prices and what is left, and each price is paid as often as its bound says.
struct Proof {
    i64 failures = 0;
    i64 worth_high = 0, worth_low = 0, bound_high = 0, bound_low = 0;
    i64 worst = -1, failure = 0;
};

// Complementary slackness over all elements and bounds.
Proof verify(const Elements& all, const Bounds& bounds, const Prices& prices);

// Repairs the list, prices all elements, and goes on with what was wrong, or, when that takes too much
// work or where it is `forced`, by the fallback. Fills the prices and the state of each element.
Proof certify(const Elements& all, const Bounds& bounds, Found& found, double unit, double limit, bool forced,
              Prices& prices, Effort& effort);

// The fallback with a worst-case bound: worths bit by bit, each time exact. With the worths cut to their
// leading bits the problem is small numbers and ties. One more bit doubles the potentials, and only
// elements of reduced worth 0 may change sides (by 1); shortest paths are then at most a few units a group
// long. With G groups and worths of B bits this takes at most B rounds of O(G) shortest-path searches,
// each followed by blocking flows.
void bit_scaling(const Elements& all, const Bounds& bounds, double limit, Prices& prices, Effort& effort);

} // namespace optiframe::tvcs
