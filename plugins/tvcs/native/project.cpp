#include "project.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <optiframe/dispatch.hpp>
#include <optiframe/memory.hpp>

#include "assignment.hpp"
#include "certify.hpp"
#include "few_groups.hpp"
#include "flow.hpp"
#include "search.hpp"
#include "smoothing.hpp"
#include "sweeps.hpp"
#include "worths.hpp"

namespace optiframe::tvcs {

namespace {

constexpr i64 chunk = 2048;    // elements at a time: their states stay in the cache
constexpr i64 few = 3000;      // elements up to which all are one list,
constexpr double tiny = 10.0;  // and elements a group: smoothing says little there, and candidates are nearly all
constexpr double far = 0x1p16; // and the mean worth over the median: smoothing sees the largest alone, and cost
constexpr i64 patience = 20;   // scaling has many digits to go through, so that a repair may take so much longer
// Where the total does not bind, or groups are tiny, what comes after a repair is quick, and it gets so much less.
constexpr i64 hurry = 5, some_hurry = 2;
// Of a few elements far above all prices the worth says nothing: worths are cut so many times above the one that the
// tightest bound would leave out of like groups. A cut that saves few bits is none.
constexpr int bits_above = 8, fewest_saved = 4;
constexpr i64 several = 20'000; // up to so many, steps on all elements take less time than lists of samples
// Elements a group on the ramp, step by step: for one list, where more steps save fewer paths than they cost,
// and for candidates next to the thresholds.
constexpr double widths[] = {8.0, 4.0, 4.0, 2.0, 1.0, 0.7};
constexpr double narrow_widths[] = {8.0, 8.0, 8.0, 8.0, 8.0, 8.0, 4.0, 4.0, 4.0, 4.0, 2.0, 2.0, 2.0, 2.0, 1.0, 0.7};
// Elements a group say nothing of a few long ones: there the ramp becomes half as wide, which so few steps do.
constexpr double halved[] = {0.0, 0.0};
constexpr i64 many_left = 3, few_each = 5; // units times a search, an element, and elements a group, for more steps
// Prices of another point: where they leave some units, steps on all elements take less time than to search for these;
// where still as many are left, or one of so many elements in tiny groups, to begin anew does.
constexpr i64 some_units = 10, many_units = 20, one_of = 32;
constexpr double given_ramp = 6.0, given_widths[] = {3.0, 2.0, 1.4, 1.0, 0.7, 0.5, 0.35}; // elements a group
// Before many units are repaired in a list of all elements, one is made of so many of each group as are nearest to its
// threshold, if the former is so much longer: each unit is searched for in all of it.
constexpr double nearest_each = 24.0, much_longer = 4.0;
constexpr int alike_steps = 64; // on all elements, where worths are all alike,
constexpr i64 fewer_looks = 4; // and at arcs: from good prices cost scaling is short
// Before steps on all elements, so much less work. Where worths tie many units are carried at once, with much work.
constexpr i64 first_hurry = 4;
constexpr i64 warm_hurry = 5; // and less again with prices given

double mean_of(std::span<const double> worth) {
    return std::reduce(worth.begin(), worth.end()) / static_cast<double>(worth.size());
}

// Newton steps on all elements, on a ramp that begins so wide.
void step_on_all(const Elements& all, std::span<const double> worth, const Columns& columns, const Bounds& bounds,
                 double ramp, std::span<const double> steps, Prices& prices) {
    const Side rows{all.view, worth, {}, {}, bounds.rows, {}, {}};
    const Side others{columns.view(), columns.worth, {}, {}, bounds.columns, {}, {}};
    anneal(rows, others, bounds.total, prices, ramp, steps);
}

// Prices near the best by a few of these steps.
void first_prices(const Elements& all, std::span<const double> worth, const Columns& columns, const Bounds& bounds,
                  std::span<const double> steps, Prices& prices) {
    prices.y0 = mean_of(all.whole);
    step_on_all(all, worth, columns, bounds, 2.0 * deviation(all.whole, prices.y0) + 2.0, steps, prices);
}

bool has_tiny_groups(const Elements& all) {
    return static_cast<double>(all.whole.size()) <= tiny * static_cast<double>(all.view.groups() + all.columns);
}

bool are_far_apart(std::span<const double> whole, i64 positive) {
    return rank_value(whole, positive / 2) * far < mean_of(whole);
}

// Whether what is left takes longer to repair than more steps: units times what a search for one looks at, all groups
// and the elements of one. Where groups hold a few elements, steps see too little.
bool needs_more_steps(const Flow& flow, const Elements& all) {
    const i64 n = all.view.elements(), groups = flow.source, each = groups + n / std::min(flow.rows, flow.columns);
    return n > few_each * groups && flow.units() * each > many_left * n;
}

// Prices to begin with. Those from here are what a repair left, which had a list of its own.
enum class From { nothing, another_point, here };

// All elements as one list: no samples and no windows. A few Newton steps bring the prices near, or sweeps where
// groups are tiny, and shortest paths do the rest. With more than a few elements, or with tiny groups, it gives up
// where these would take too much work.
bool direct(const Elements& all, const Bounds& bounds, From from, i64 work, double limit, Prices& prices,
            Effort& effort) {
    const bool warm = from != From::nothing;
    Vector<double> worth(all.whole.begin(), all.whole.end());
    for (double& q : worth)
        if (q <= 0) q = -inf; // of an arc: what is worth nothing is never chosen
    const bool small = all.view.elements() <= few; // at most p units and groups, and 2 p + 4 groups arcs a search
    const bool tiny_groups = has_tiny_groups(all);
    const bool swept = !warm && !small && tiny_groups;
    const Columns columns = by_columns(all.view, worth, all.columns);
    if (!warm && !swept) first_prices(all, worth, columns, bounds, widths, prices);
    round_to(1.0, prices);
    const Sure none{Vector<i64>(all.view.groups()), Vector<i64>(all.columns)};
    const Choice list{all.view, worth, all.state, none};
    Counts counts = swept ? choose_by_sweeps(list, bounds, true, prices) : choose(list, bounds, prices);
    Flow flow(bounds, prices);
    flow.start(counts);
    const auto anew = [&] {
        prices = {0.0, Vector<double>(prices.u.size()), Vector<double>(prices.w.size())};
        return direct(all, bounds, From::nothing, work, limit, prices, effort);
    };
    if (from == From::another_point && !tiny_groups) {
        if (flow.units() > some_units) {
            const double ramp = near_width(all.view, worth, prices, given_ramp * static_cast<double>(flow.source));
            step_on_all(all, worth, columns, bounds, std::max(2.0, 2.0 * ramp), given_widths, prices);
            round_to(1.0, prices);
            counts = choose(list, bounds, prices);
            flow.set_prices(prices);
            flow.start(counts);
        }
        if (flow.units() > many_units) return anew();
    }
    if (!swept) improve(list, 1.0, from != From::another_point, prices, counts, flow);
    const bool too_many = tiny_groups && small && flow.units() * one_of > all.view.elements();
    if (from == From::another_point && too_many) return anew();
    if (!warm && !swept && needs_more_steps(flow, all)) {
        Prices tried{0.0, Vector<double>(prices.u.size()), Vector<double>(prices.w.size())};
        const Vector<u8> before(all.state.begin(), all.state.end());
        const i64 units = flow.units();
        first_prices(all, worth, columns, bounds, narrow_widths, tried);
        round_to(1.0, tried);
        const Counts found = choose(list, bounds, tried);
        flow.set_prices(tried);
        flow.start(found);
        if (flow.units() >= units) { // no better
            std::ranges::copy(before, all.state.begin());
            flow.set_prices(prices);
            flow.start(counts);
        }
    }
    effort.units = flow.units();
    effort.candidates = static_cast<i64>(worth.size());
    effort.rounds = 1;
    const double all_listed = nearest_each * static_cast<double>(flow.source);
    const bool longer = static_cast<double>(worth.size()) > much_longer * all_listed;
    if (from == From::nothing && effort.units > many_units && longer) {
        Found found = nearest(all, bounds, nearest_each, prices);
        return certify(all, bounds, found, 1.0, work, limit, prices, effort);
    }
    const Arcs arcs{all.view, worth, columns.view(), columns.worth, columns.place, all.state};
    const i64 enough = tiny_groups ? work_for(worth.size()) : std::numeric_limits<i64>::max() / 2;
    const i64 budget = small ? enough : work;
    const bool began = worth_carrying(flow, budget);
    const bool carried = began && carry_all(flow, arcs, budget, effort) == Carried::all;
    flow.read_prices(limit, prices);
    if (carried && failures(all, bounds, prices) == 0) return true;
    // Prices that a long repair has moved may be bad ones for the fallback, too.
    return from == From::another_point && !small && began && anew();
}

// Candidates next to prices given, or next to those from Newton steps on all elements; without either, from samples.
// Where prices given do not help, to begin anew is quicker: it soon gives up.
bool by_candidates(const Layout& layout, const Elements& all, bool warm, std::span<const double> steps, double common,
                   i64 work, double limit, Prices& prices, Effort& effort) {
    if (!steps.empty())
        first_prices(all, all.whole, by_columns(all.view, all.whole, all.columns), layout.bounds(), steps, prices);
    Found found{{}, {}, {0, 0}, {}};
    const bool followed = (warm || !steps.empty()) && follow(all, layout, common, warm, prices, found);
    if (!followed && warm) return false;
    if (!followed) found = search(all, layout, common, prices);
    return certify(all, layout.bounds(), found, common, work, limit, prices, effort);
}

// One view alone: a sweep finds the best prices, and only elements at their price may be in the wrong group.
bool by_sweep(const Elements& all, const Bounds& bounds, double limit, Prices& prices, Effort& effort) {
    Vector<double> worth(all.whole.begin(), all.whole.end());
    for (double& q : worth)
        if (q <= 0) q = -inf; // of an arc: what is worth nothing is never chosen
    const Sure none{Vector<i64>(all.view.groups()), Vector<i64>(all.columns)};
    const Counts counts = choose_by_sweeps({all.view, worth, all.state, none}, bounds, true, prices);
    Flow flow(bounds, prices);
    flow.start(counts);
    effort.units = flow.units();
    effort.candidates = static_cast<i64>(worth.size());
    effort.rounds = 1;
    if (effort.units > 0) {
        const Columns columns = by_columns(all.view, worth, all.columns);
        const Arcs arcs{all.view, worth, columns.view(), columns.worth, columns.place, all.state};
        if (carry_all(flow, arcs, work_for(worth.size()), effort) != Carried::all) return false;
    }
    flow.read_prices(limit, prices);
    return failures(all, bounds, prices) == 0;
}

// The fallback from prices or, without paths, from those of exact sweeps; false where it is given up.
bool fall_back(const Layout& layout, const Point& point, const Elements& all, const Units& units,
               std::optional<int> ties, Ways ways, Prices& prices, Effort& effort) {
    effort.fallback = true;
    const Sure none{Vector<i64>(all.view.groups()), Vector<i64>(all.columns)};
    for (i64 k = 0; k < layout.elements(); ++k) all.state[k] = 0;
    const Choice list{all.view, all.whole, all.state, none};
    const bool swept = ways == Ways::but_paths;
    swept ? choose_by_sweeps(list, layout.bounds(), true, prices) : choose(list, layout.bounds(), prices);
    for (i64 k = 0; k < layout.elements(); ++k)
        if (all.whole[k] <= 0) all.state[k] = 0;
    return settle_all(layout, point, units.unit, ties, ways, all, units.limit, prices, effort);
}

// How many bits of the largest worths may be cut off, so that those next to the prices have as many more.
int spare_bits(const Layout& layout, std::span<const double> whole, i64 positive) {
    const double all = static_cast<double>(whole.size()), half = 0.5 * static_cast<double>(positive);
    const double rank = std::min(layout.tightest * all, half);
    const double next = rank_value(whole, static_cast<i64>(rank));
    const int spare = 50 - bits_above - std::ilogb(std::max(next, 1.0));
    return spare < fewest_saved ? 0 : spare & ~1;
}

// Whether elements of worths cut to the limit are chosen whatever these are.
bool above_all(const Prices& prices, double limit, double within) {
    return prices.y0 + std::ranges::max(prices.u) + std::ranges::max(prices.w) + within < limit;
}

// Prices to begin with, in whole units: none below zero, none above the highest that is needed.
void read_start(const Start& start, const Units& units, Prices& prices) {
    const auto whole = [&](double price) {
        return price > 0 ? std::min(std::rint(std::ldexp(price, start.unit - units.unit)), units.limit) : 0.0;
    };
    const std::size_t row_groups = prices.u.size() - 1; // the last has no bound, and no price
    const auto rows = start.prices.subspan(1, row_groups), columns = start.prices.subspan(1 + row_groups);
    prices.y0 = whole(start.prices[0]);
    std::ranges::transform(rows, prices.u.begin(), whole);
    std::ranges::transform(columns, prices.w.begin(), whole);
}

// The values of what is chosen: no branches, as the processor guesses these wrong for a third of the elements.
OPTIFRAME_CLONES void keep_chosen(i64 n, const double* values, const u8* state, double* kept) {
    for (i64 k = 0; k < n; ++k) {
        const double value = values[k];
        kept[k] = state[k] & chosen_bit ? value : 0.0;
    }
}

// The answer, in the order of the values.
void write(const Layout& layout, const Point& point, std::span<const u8> state, const Prices& prices,
           const Into& into) {
    const std::size_t rows = layout.rows() - 1, columns = layout.columns() - 1;
    into.prices[0] = prices.y0;
    std::copy_n(prices.u.begin(), rows, into.prices.begin() + 1);
    std::copy_n(prices.w.begin(), columns, into.prices.begin() + 1 + static_cast<std::ptrdiff_t>(rows));
    u8 some[chunk];
    interrupt::in_blocks(layout.elements(), [&](i64 begin, i64 end) {
        for (i64 n; begin < end; begin += n) {
            n = std::min(chunk, end - begin);
            const u8* of = state.data() + begin;
            if (!layout.rank.empty()) {
                for (i64 k = 0; k < n; ++k) some[k] = state[layout.rank[begin + k]];
                of = some;
            }
            if (!into.support.empty())
                for (i64 k = 0; k < n; ++k) into.support[begin + k] = of[k] & chosen_bit;
            if (!into.kept.empty()) keep_chosen(n, point.values.data() + begin, of, into.kept.data() + begin);
        }
    });
}

Report solve(const Layout& layout, const Point& point, double top, const Start& start, bool forced, const Into& into) {
    Report report;
    const Bounds bounds = layout.bounds();
    Units units = units_for(top, point.squared);
    Vector<u8> state(point.values.size());
    Prices prices{0.0, Vector<double>(layout.rows()), Vector<double>(layout.columns())};
    if (top == 0.0 || bounds.total == 0) {
        prices.y0 = top == 0.0 ? 0.0 : units.limit;
        write(layout, point, state, prices, into);
        report.unit = units.unit;
        return report;
    }
    const Room<double> worths = room<double>(point.values.size());
    const std::span<double> whole(worths.get(), point.values.size());
    const i64 positive = quantise(point.values, point.squared, layout.rank, units, whole);
    Vector<i64> open_in(layout.rows());
    const Elements all{layout.view(), whole, state, layout.columns(), open_in};
    const double common = common_unit(whole);
    const bool tiny_groups = has_tiny_groups(all);
    const bool may_cut = !forced && common == 1.0 && layout.elements() > several && !tiny_groups &&
                         !has_few_groups(layout);
    const int cut = may_cut ? spare_bits(layout, whole, positive) : 0;
    const auto cut_to = [&](int bits) {
        units = units_for(std::ldexp(top, point.squared ? -bits / 2 : -bits), point.squared);
        quantise(point.values, point.squared, layout.rank, units, whole);
    };
    if (cut > 0) cut_to(cut);
    // Small steps between worths far apart: shortest paths do not mind them, smoothing does.
    const bool one_list = layout.elements() <= few || tiny_groups || are_far_apart(whole, positive);
    const bool one = common == units.limit; // worth for all
    std::optional<int> ties;
    if (one_list || one || layout.assignment)
        ties = add_ties(point.values, point.squared, layout.rank, units.unit, common,
                        layout.rows() + layout.columns() + 2, whole);
    if (ties) units.limit += common;
    const bool alike = one && ties; // smoothing does not mind what breaks their ties
    const double grain = ties ? 1.0 : common;
    const bool warm = !start.prices.empty();
    if (warm) read_start(start, units, prices);
    bool proved = false;
    if (!forced && layout.assignment) {
        const bool limited = bounds.total < std::min(layout.rows(), layout.columns()) - 1;
        const bool some = layout.elements() <= few;
        const std::span<const double> steps = some ? std::span<const double>(widths) : narrow_widths;
        // From given prices a path for each row that these leave without takes longer on a large matrix than steps.
        if (limited && (!warm || layout.elements() > several))
            first_prices(all, whole, by_columns(all.view, whole, all.columns), bounds, steps, prices);
        round_to(1.0, prices);
        assign(layout, all, ties ? common : 1.0, units.limit, prices, report.effort);
        proved = failures(all, bounds, prices) == 0;
    } else if (!forced && has_few_groups(layout)) {
        if (!warm) {
            prices.y0 = rank_value(whole, bounds.total);
            const double ramp = 2.0 * deviation(whole, mean_of(whole)) + 2.0;
            step_on_all(all, whole, by_columns(all.view, whole, all.columns), bounds, ramp, halved, prices);
        }
        round_to(1.0, prices);
        solve_few_groups(all, bounds, units.limit, prices, report.effort);
        proved = failures(all, bounds, prices) == 0;
    } else if (!forced && one_list) {
        const i64 usual = work_for(whole.size());
        const i64 work = (tiny_groups ? usual / some_hurry : usual * patience) / (layout.total_binds ? 1 : hurry);
        proved = std::min(layout.rows(), layout.columns()) == 1
                     ? by_sweep(all, bounds, units.limit, prices, report.effort)
                     : direct(all, bounds, warm ? From::another_point : From::nothing, work, units.limit, prices,
                              report.effort);
    } else if (!forced) {
        const bool stepped = alike || layout.elements() <= several;
        const Vector<double> narrow(std::begin(narrow_widths), std::end(narrow_widths));
        const Vector<double> steps = alike ? widths_for_ties(alike_steps) : narrow;
        const std::span<const double> first = stepped ? std::span<const double>(steps) : std::span<const double>();
        const i64 work = work_for(whole.size()), looks = alike ? work / fewer_looks : work;
        const i64 soon = stepped || grain > 1.0 ? looks : work / first_hurry;
        if (warm) {
            proved = by_candidates(layout, all, true, {}, grain, soon / warm_hurry, units.limit, prices, report.effort);
            if (!proved) prices = {0.0, Vector<double>(layout.rows()), Vector<double>(layout.columns())};
        }
        if (!proved)
            proved = by_candidates(layout, all, false, first, grain, soon, units.limit, prices, report.effort);
        if (!proved && std::min(layout.rows(), layout.columns()) == 1)
            proved = by_sweep(all, bounds, units.limit, prices, report.effort);
        if (!proved && !stepped)
            proved = by_candidates(layout, all, false, steps, grain, looks, units.limit, prices, report.effort);
        if (!proved && !alike) proved = direct(all, bounds, From::here, work, units.limit, prices, report.effort);
    }
    if (cut > 0 && !(proved && above_all(prices, units.limit, all.within()))) {
        proved = false;
        const auto whole_again = [cut](double price) { return std::rint(std::ldexp(price, -cut)); };
        prices.y0 = whole_again(prices.y0);
        std::ranges::transform(prices.u, prices.u.begin(), whole_again);
        std::ranges::transform(prices.w, prices.w.begin(), whole_again);
        cut_to(0);
    }
    report.unit = units.unit;
    if (proved) {
        const Vector<OpenElement> open = open_elements(all, prices);
        report.effort.open = static_cast<i64>(open.size());
        settle(layout, point, units.unit, ties, open, state, prices, all.within(), report.effort);
    } else {
        // From prices of another point cost scaling may look at three hundred times as many arcs as from none.
        const Ways ways = forced ? Ways::but_paths : warm && one_list ? Ways::but_scaling : Ways::all;
        const std::optional<int> held = alike && !forced ? ties : std::nullopt;
        if (!fall_back(layout, point, all, units, held, ways, prices, report.effort)) {
            Report anew = solve(layout, point, top, {}, forced, into);
            anew.effort.arcs += report.effort.arcs;
            return anew;
        }
    }
    write(layout, point, state, prices, into);
    return report;
}

} // namespace

Report project(const Layout& layout, const Point& point, const Start& start, bool forced, const Into& into) {
    const double top = largest_value(point.values, point.squared);
    if (top < 0.0) return {true, 0, {}};
    if (top == 0.0 || !are_alike(point.values, point.squared, top))
        return solve(layout, point, top, start, forced, into);
    // Ones in their place have few bits, which leaves room below for what breaks ties.
    Vector<double> ones(point.values.size());
    for (std::size_t k = 0; k < ones.size(); ++k)
        ones[k] = (point.squared ? point.values[k] != 0.0 : point.values[k] > 0.0) ? 1.0 : 0.0;
    Report report = solve(layout, {ones, point.squared}, 1.0, {}, forced, into);
    const Units units = units_for(top, point.squared);
    const double each = units.limit / units_for(1.0, point.squared).limit;
    for (double& price : into.prices) price = std::min(std::rint(price * each), units.limit);
    for (std::size_t k = 0; k < into.kept.size(); ++k) into.kept[k] = into.kept[k] != 0.0 ? point.values[k] : 0.0;
    report.unit = units.unit;
    return report;
}

} // namespace optiframe::tvcs
