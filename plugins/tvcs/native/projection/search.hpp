// From nothing, or from the prices of a similar projection, to prices near the best ones and a list of
// candidates.
#pragma once

#include "candidates.hpp"
#include "instance.hpp"
#include "layout.hpp"

namespace optiframe::tvcs {

struct Found {
    List list;
    Sure sure;
    Windows windows;
    Vector<i64> listed; // of each row
    Columns columns;    // of the list, where they are known
};

// Rounds prices to the unit of the worths.
void round_to(double unit, Prices& prices);

// Prices from nothing: by samples of the elements first, then on those near the thresholds.
Found search(const Elements& all, const Layout& layout, double unit, Prices& prices);

// So many of each group as are nearest to its threshold, where prices are about exact.
Found nearest(const Elements& all, const Bounds& bounds, double each, const Prices& prices);

// The same from prices moved to fit: one list around the old thresholds, and a few Newton steps. Each
// group's window holds about as many elements: next to the threshold of a group that may keep one element
// of a thousand they lie a hundred times further apart than in the middle of another. Gives whether the
// prices were near enough. Those `given` are from another point: the list is made again where thresholds leave it.
bool follow(const Elements& all, const Layout& layout, double unit, bool given, Prices& prices, Found& found);

} // namespace optiframe::tvcs
