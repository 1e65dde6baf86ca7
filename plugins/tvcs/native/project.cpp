#include "project.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "flow.hpp"
#include "smoothing.hpp"
#include "sweeps.hpp"
#include "worths.hpp"

namespace optiframe::tvcs {

namespace {

constexpr i64 few = 3000; // elements up to which all are one list
// Elements a group on the ramp, step by step. More steps save fewer paths than they cost.
constexpr double widths[] = {8.0, 4.0, 4.0, 2.0, 1.0, 0.7};

// All elements as one list: no samples and no windows. A few Newton steps bring the prices near, and
// shortest paths do the rest. With p elements and G groups there are at most p + G units to carry, and a
// search looks at no more than 2 p + 4 G arcs, so that no input needs a fallback.
Proof direct(const Elements& all, const Bounds& bounds, bool warm, double limit, Prices& prices,
             Effort& effort) {
    std::vector<double> worth(all.whole.begin(), all.whole.end());
    for (double& q : worth)
        if (q <= 0) q = -inf; // of an arc: what is worth nothing is never chosen
    const Columns columns = by_columns(all.view, worth, all.columns);
    if (!warm) {
        const double mean = std::reduce(all.whole.begin(), all.whole.end()) / static_cast<double>(worth.size());
        prices.y0 = mean;
        const Side rows{all.view, worth, {}, {}, bounds.rows, {}, {}};
        const Side others{columns.view(), columns.worth, {}, {}, bounds.columns, {}, {}};
        anneal(rows, others, bounds.total, prices, 2.0 * mean, widths);
    }
    round_to(1.0, prices);
    const Sure none{std::vector<i64>(all.view.groups()), std::vector<i64>(all.columns)};
    const Choice list{all.view, worth, all.state, none};
    Counts counts = choose(list, bounds, prices);
    Flow flow(bounds, prices);
    flow.start(counts);
    improve(list, prices, counts, flow);
    effort.units = flow.units();
    effort.candidates = static_cast<i64>(worth.size());
    effort.rounds = 1;
    const Arcs arcs{all.view, worth, columns.view(), columns.worth, columns.place, all.state};
    repair(flow, arcs, std::numeric_limits<i64>::max(), false, effort);
    flow.read_prices(limit, prices);
    return verify(all, bounds, prices);
}

// Prices to begin with, in whole units: none below zero, none above the highest that is needed.
void read_start(std::span<const double> start, const Units& units, Prices& prices) {
    const auto whole = [&](double price) {
        return price > 0 ? std::min(price * units.scale, units.limit) : 0.0;
    };
    const std::size_t row_groups = prices.u.size() - 1; // the last has no bound, and no price
    const auto rows = start.subspan(1, row_groups), columns = start.subspan(1 + row_groups);
    prices.y0 = whole(start[0]);
    std::ranges::transform(rows, prices.u.begin(), whole);
    std::ranges::transform(columns, prices.w.begin(), whole);
}

// The answer, in the order and the units of the values.
void write(const Layout& layout, const Point& point, std::span<const u8> state, const Prices& prices,
           double scale, const Into& into) {
    const double unit = 1.0 / scale; // a power of two
    const std::size_t rows = layout.rows() - 1, columns = layout.columns() - 1;
    into.prices[0] = prices.y0 * unit;
    for (std::size_t i = 0; i < rows; ++i) into.prices[1 + i] = prices.u[i] * unit;
    for (std::size_t j = 0; j < columns; ++j) into.prices[1 + rows + j] = prices.w[j] * unit;
    const i64 n = layout.elements();
    if (!into.support.empty())
        for (i64 k = 0; k < n; ++k) into.support[layout.place(k)] = state[k];
    if (!into.kept.empty())
        for (i64 k = 0; k < n; ++k) {
            const i64 at = layout.place(k);
            into.kept[at] = state[k] ? point.values[at] : 0.0;
        }
}

} // namespace

Report project(const Layout& layout, const Point& point, std::span<const double> start, bool forced,
               const Into& into) {
    Report report;
    const double top = largest_worth(point.values, point.squared);
    if (top < 0.0) {
        report.proof.failures = -1;
        return report;
    }
    const Bounds bounds = layout.bounds();
    const Units units = units_for(top);
    report.scale = units.scale;
    std::vector<u8> state(point.values.size());
    Prices prices{0.0, std::vector<double>(layout.rows()), std::vector<double>(layout.columns())};
    if (top == 0.0 || bounds.total == 0) {
        prices.y0 = units.limit;
        write(layout, point, state, prices, units.scale, into);
        return report;
    }
    std::vector<double> whole(point.values.size());
    report.positive = quantise(point.values, point.squared, layout.order, units, whole);
    const Elements all{layout.view(), whole, state, layout.columns()};
    const bool warm = !start.empty();
    if (warm) read_start(start, units, prices);
    if (layout.elements() <= few && !forced) {
        report.proof = direct(all, bounds, warm, units.limit, prices, report.effort);
    } else {
        const double unit = common_unit(whole);
        Found found{{}, {}, {0, 0}, {}};
        if (!warm || !follow(all, layout, unit, prices, found)) found = search(all, layout, unit, prices);
        report.proof = certify(all, bounds, found, unit, units.limit, forced, prices, report.effort);
    }
    for (u8& each : state) report.held += each &= chosen_bit;
    if (report.proof.worst >= 0) report.proof.worst = layout.place(report.proof.worst);
    write(layout, point, state, prices, units.scale, into);
    return report;
}

} // namespace optiframe::tvcs
