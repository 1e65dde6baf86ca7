// Lists of candidates: the elements near the thresholds of their groups.
#pragma once

#include "instance.hpp"

namespace optiframe::tvcs {

// How far from its threshold an element of each group is a candidate; one within either of its two
// groups' windows is.
struct Windows {
    Vector<double> rows, columns;

    Windows() = default;
    Windows(i64 row_groups, i64 column_groups, double width = inf)
        : rows(row_groups, width), columns(column_groups, width) {}
};

// All elements, sorted by rows: each has its worth, and a state of `chosen_bit` and `listed_bit`.
struct Elements {
    View view;
    std::span<const double> whole;
    std::span<u8> state;
    i64 columns;
    std::span<i64> open = {}; // how many of each row may still change, as the last proof counted; empty: not counted

    // A cycle passes no group twice, and each of its elements was rounded by at most a unit: what is further from its
    // threshold cannot change.
    double within() const { return static_cast<double>(elements_on_cycle(view.groups(), columns)); }
};

struct Marked {
    i64 listed;
    i64 wrong; // that changed sides and were not listed before
};

// Counts, in the groups of the other view, elements of one group whose state has these bits of those.
void count_alike(const View& view, i64 begin, i64 end, const u8* state, u8 of, u8 alike, std::span<i64> counts);

// Chosen by the sign of the reduced worth, listed when within the windows. Also counts, for each group,
// the chosen elements that are not listed, and those of each row that are.
Marked mark(const Elements& all, const Prices& prices, const Windows& windows, Sure& sure,
            Vector<i64>& listed);

// The listed elements.
List gather(const Elements& all, std::span<const i64> listed);

// Adds to the list what is on the wrong side at these potentials, and what is within `widened` times its window
// (negative: none). Gives how many elements join it.
i64 price_out(const Elements& all, std::span<const double> phi, const Windows& windows, double widened,
              Vector<i64>& listed);

// About the worth above which `rank` elements lie, from some 1,000 of them.
double rank_value(std::span<const double> whole, i64 rank);

// A width around the thresholds within which about `want` elements lie, from some 1,000 of them.
double near_width(const View& view, std::span<const double> worth, const Prices& prices, double want);

// How many elements of each group lie within a width of their threshold.
void near_each(const Elements& all, const Prices& prices, double width, std::span<double> rows,
               std::span<double> columns);

} // namespace optiframe::tvcs
