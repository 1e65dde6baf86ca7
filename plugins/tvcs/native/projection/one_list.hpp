// All elements as one list: no samples, no windows, and nothing to add to it.
#pragma once

#include "candidates.hpp"
#include "flow.hpp"
#include "sweeps.hpp"

namespace optiframe::tvcs {

inline constexpr i64 most_for_one_list = 3000; // elements, up to which one list is quickest

// Whether groups hold so few elements that smoothing says little, and candidates are nearly all.
bool has_tiny_groups(const Elements& all);

// Prices that leave a few units in the wrong groups, and shortest paths that carry these. With more than a few
// elements, or in tiny groups, it gives up where it would look at more than `work` arcs. Where a way says true the
// prices prove what is chosen; call one of them, once.
class OneList {
public:
    OneList(const Elements& all, const Bounds& bounds, i64 work, double limit, Prices& prices, Effort& effort);
    OneList(const OneList&) = delete;

    // Newton steps first, or sweeps where groups are tiny.
    bool solve_from_nothing();

    // From prices of another point; where these do not help, it starts again without prices.
    bool solve_from_given();

    // From prices that were near enough for candidates, which took too much work.
    bool solve_from_near();

    // With one view alone a sweep finds the best prices, and only elements at their price may be in the wrong group.
    bool solve_one_view();

private:
    bool solve_anew();
    const Columns& by_column();
    Choice choice() const { return {all.view, worth, all.state, none}; }
    void choose_at_prices();
    void sweep();
    bool needs_more_steps() const;
    void step_more();
    i64 budget() const;
    bool carry();

    const Elements& all;
    const Bounds& bounds;
    const i64 work;
    const double limit;
    Prices& prices;
    Effort& effort;
    Vector<double> worth;
    Columns columns; // empty until they are asked for
    const Sure none;
    Counts counts;
    Flow flow;
    const bool small, tiny_groups;
};

} // namespace optiframe::tvcs
