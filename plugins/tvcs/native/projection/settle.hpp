// The exact answer: what rounding the worths has left open is solved again in finer units, until nothing is
// left or what is left are ties, which the index breaks.
#pragma once

#include <optional>

#include "best_flow.hpp"
#include "candidates.hpp"
#include "layout.hpp"

namespace optiframe::tvcs {

// Values whose worths they are, or whose squares are; none was above `top`, or of squared ones further from 0.
struct Point {
    std::span<const double> values;
    bool squared;
    double top;
};

struct OpenElement {
    i32 element, row;
};

// The elements whose reduced worth is at most so far from 0.
Vector<OpenElement> open_elements(const Elements& all, const Prices& prices);

// Makes a support that is best for the rounded worths best for the real ones. The prices prove the first, and
// rounding changed no worth by more than a unit, 2^unit. A reduced worth of more units than a cycle of groups
// can have elements decides for good; `elements` are the others, `within` that number. Of those only the
// ones on a cycle matter. Their state is written.
// `ties` is the place of what breaks ties where the rounded worths hold it already.
void settle(const Layout& layout, const Point& point, int unit, std::optional<int> ties,
            std::span<const OpenElement> elements, std::span<u8> state, const Prices& prices, double within,
            Effort& effort);

// The same with nothing decided, from any prices and what their signs choose. With the place of `ties`, which the
// worths of `all` then hold, the prices are taken for good ones. Prices are written that are as good as whole units
// allow, but for a few of them. False where the other ways were given up and cost scaling is not to follow.
bool settle_all(const Layout& layout, const Point& point, int unit, std::optional<int> ties, Ways ways,
                const Elements& all, double limit, Prices& prices, Effort& effort);

} // namespace optiframe::tvcs
