#include "one_list.hpp"

#include <algorithm>

#include "certify.hpp"
#include "first_prices.hpp"

namespace optiframe::tvcs {

namespace {

constexpr double tiny = 10.0; // elements a group
// Units times what a search for one looks at, an element, and elements a group, from which on there are more steps.
constexpr i64 many_left = 3, few_each = 5;
// Prices of another point: where they leave some units, steps on all elements take less time than to search for these;
// where still as many are left, or one of so many elements in tiny groups, to begin anew does.
constexpr i64 some_units = 10, many_units = 20, one_of = 32;
// Elements a group on the first ramp of these steps, and on the others.
constexpr double given_ramp = 6.0, given_widths[] = {3.0, 2.0, 1.4, 1.0, 0.7, 0.5, 0.35};
// Before many units are repaired in a list of all elements, one is made of so many of each group as are nearest to its
// threshold, if the former is so much longer: each unit is searched for in all of it.
constexpr double nearest_each = 24.0, much_longer = 4.0;

} // namespace

bool has_tiny_groups(const Elements& all) {
    return static_cast<double>(all.whole.size()) <= tiny * static_cast<double>(all.view.groups() + all.columns);
}

OneList::OneList(const Elements& all, const Bounds& bounds, i64 work, double limit, Prices& prices, Effort& effort)
    : all(all), bounds(bounds), work(work), limit(limit), prices(prices), effort(effort),
      worth(all.whole.begin(), all.whole.end()), none{Vector<i64>(all.view.groups()), Vector<i64>(all.columns)},
      flow(bounds, prices), small(all.view.elements() <= most_for_one_list), tiny_groups(has_tiny_groups(all)) {
    for (double& q : worth)
        if (q <= 0) q = -inf; // of an arc: what is worth nothing is never chosen
}

bool OneList::solve_from_nothing() {
    if (tiny_groups && !small) {
        sweep();
    } else {
        first_prices(all, worth, by_column(), bounds, widths, prices);
        choose_at_prices();
        improve(choice(), 1.0, true, prices, counts, flow);
        if (needs_more_steps()) step_more();
    }
    const double all_listed = nearest_each * static_cast<double>(flow.source);
    if (flow.units() <= many_units || static_cast<double>(worth.size()) <= much_longer * all_listed) return carry();
    Found found = nearest(all, bounds, nearest_each, prices);
    return certify(all, bounds, found, 1.0, work, limit, Carry::by_paths, prices, effort);
}

bool OneList::solve_from_given() {
    choose_at_prices();
    if (!tiny_groups && flow.units() > some_units) {
        const double ramp = near_width(all.view, worth, prices, given_ramp * static_cast<double>(flow.source));
        step_on_all(all, worth, by_column(), bounds, std::max(2.0, 2.0 * ramp), given_widths, prices);
        choose_at_prices();
    }
    if (!tiny_groups && flow.units() > many_units) return solve_anew();
    improve(choice(), 1.0, false, prices, counts, flow);
    if (tiny_groups && small && flow.units() * one_of > all.view.elements()) return solve_anew();
    const bool few_enough = worth_carrying(flow, budget());
    if (carry()) return true;
    // Prices that a long repair has moved may be bad ones for the fallback, too.
    return !small && few_enough && solve_anew();
}

bool OneList::solve_from_near() {
    choose_at_prices();
    improve(choice(), 1.0, true, prices, counts, flow);
    return carry();
}

bool OneList::solve_one_view() {
    sweep();
    return carry();
}

bool OneList::solve_anew() {
    prices = no_prices(flow.rows, flow.columns);
    return solve_from_nothing();
}

const Columns& OneList::by_column() {
    if (columns.first.empty()) columns = by_columns(all.view, worth, all.columns);
    return columns;
}

void OneList::choose_at_prices() {
    round_to(1.0, prices);
    counts = choose(choice(), bounds, prices);
    flow.set_prices(prices);
    flow.start(counts);
}

void OneList::sweep() {
    counts = choose_by_sweeps(choice(), bounds, true, prices);
    flow.set_prices(prices);
    flow.start(counts);
}

// Where each unit is searched for among all groups and the elements of one, many take longer than more steps.
bool OneList::needs_more_steps() const {
    const i64 n = all.view.elements(), each = flow.source + n / std::min(flow.rows, flow.columns);
    return n > few_each * flow.source && flow.units() * each > many_left * n;
}

void OneList::step_more() {
    const Vector<u8> before(all.state.begin(), all.state.end());
    Prices tried = no_prices(flow.rows, flow.columns);
    first_prices(all, worth, by_column(), bounds, narrow_widths, tried);
    round_to(1.0, tried);
    Counts found = choose(choice(), bounds, tried);
    take_better(choice(), before, 1.0, tried, found, prices, counts, flow);
}

i64 OneList::budget() const { return small && tiny_groups ? work_for(worth.size()) : work; }

bool OneList::carry() {
    effort.units = flow.units();
    effort.candidates = static_cast<i64>(worth.size());
    effort.rounds = 1;
    bool carried = effort.units == 0;
    if (!carried && worth_carrying(flow, budget())) {
        const Columns& across = by_column();
        const Arcs arcs{all.view, worth, across.view(), across.worth, across.place, all.state};
        carried = carry_all(flow, arcs, budget(), effort) == Carried::all;
    }
    flow.read_prices(limit, prices);
    return carried && failures(all, bounds, prices) == 0;
}

} // namespace optiframe::tvcs
