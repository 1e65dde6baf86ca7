#include "project.hpp"

#include <algorithm>
#include <cmath>

#include <optiframe/dispatch.hpp>
#include <optiframe/interrupt.hpp>
#include <optiframe/memory.hpp>

#include "assignment.hpp"
#include "certify.hpp"
#include "few_chosen.hpp"
#include "few_groups.hpp"
#include "first_prices.hpp"
#include "one_list.hpp"
#include "smoothing.hpp"
#include "worths.hpp"

namespace optiframe::tvcs {

namespace {

constexpr i64 chunk = 2048; // elements at a time: their states stay in the cache
// With the mean worth so many times the median, steps between worths are small. Shortest paths do not mind that;
// smoothing sees the largest alone, and cost scaling has many digits to go through, so that a repair may take so much
// longer. Where the total does not bind, or groups are tiny, what comes after it is quick, and it gets so much less.
constexpr double far = 0x1p16;
constexpr i64 patience = 20, hurry = 5, some_hurry = 2;
// Of a few elements far above all prices the worth says nothing: worths are cut so many times above the one that the
// tightest bound would leave out of like groups. A cut that saves few bits is none.
constexpr int bits_above = 8, fewest_saved = 4;
constexpr int alike_steps = 64; // on all elements, where worths are all alike,
constexpr i64 fewer_looks = 4;  // and at arcs: from good prices cost scaling is short
// Before steps on all elements, so much less work. Where worths tie many units are carried at once, with much work.
constexpr i64 first_hurry = 4;
constexpr i64 warm_hurry = 5; // and less again with prices given
// If a few long groups hold all elements, a count a group says little: two steps, on ramps half as wide each time.
constexpr double halved[] = {0.0, 0.0};

bool are_far_apart(std::span<const double> whole, i64 positive) {
    return rank_value(whole, positive / 2) * far < mean_of(whole);
}

// How many bits of the largest worths may be cut off, so that those next to the prices have as many more.
int spare_bits(const Layout& layout, std::span<const double> whole, i64 positive) {
    const double all = static_cast<double>(whole.size()), half = 0.5 * static_cast<double>(positive);
    const double rank = std::min(layout.tightest * all, half);
    const double next = rank_value(whole, static_cast<i64>(rank));
    const int spare = 50 - bits_above - std::ilogb(std::max(next, 1.0));
    return spare < fewest_saved ? 0 : spare & ~1;
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

Report choose_nothing(const Layout& layout, const Point& point, const Into& into) {
    const Units units = units_for(point.top, point.squared);
    Prices prices = no_prices(layout.rows(), layout.columns());
    if (point.top > 0.0) prices.y0 = units.limit;
    write(layout, point, Vector<u8>(point.values.size()), prices, into);
    return {false, units.unit, {}};
}

// One projection: worths, prices and states as the ways leave them to one another, and the choice among the ways.
class Projection {
public:
    Projection(const Layout& layout, const Point& point, const Start& start, bool forced)
        : layout(layout), point(point), bounds(layout.bounds()), warm(!start.prices.empty()), forced(forced),
          worths(room<double>(point.values.size())), whole(worths.get(), point.values.size()),
          state(point.values.size()), open_in(layout.rows()),
          all{layout.view(), whole, state, layout.columns(), open_in},
          prices(no_prices(layout.rows(), layout.columns())), units(units_for(point.top, point.squared)) {
        count_worths();
        if (warm) read_start(start);
    }
    Projection(const Projection&) = delete;

    // False where prices given did not help: then another one begins without.
    bool solve() {
        bool proved = !forced && prove();
        if (cut > 0 && !(proved && chooses_all_cut())) {
            proved = false;
            undo_cut();
        }
        if (!proved) return fall_back();
        const Vector<OpenElement> open = open_elements(all, prices);
        report.effort.open = static_cast<i64>(open.size());
        settle(layout, point, units.unit, ties, open, state, prices, all.within(), report.effort);
        return true;
    }

    Report write_into(const Into& into) {
        write(layout, point, state, prices, into);
        report.unit = units.unit;
        return report;
    }

    const Effort& effort() const { return report.effort; }

private:
    // Worths as whole numbers, with what breaks ties where one list or an assignment solves them, and what decides on
    // the way.
    void count_worths() {
        const i64 positive = quantise(point.values, point.squared, layout.rank, units, whole);
        common = common_unit(whole);
        const bool tiny_groups = has_tiny_groups(all);
        const bool may_cut = !forced && common == 1.0 && layout.elements() > most_for_steps && !tiny_groups &&
                             !has_few_groups(layout, some_groups);
        cut = may_cut ? spare_bits(layout, whole, positive) : 0;
        uncut = units;
        if (cut > 0) {
            units = units_for(std::ldexp(point.top, point.squared ? -cut / 2 : -cut), point.squared);
            quantise(point.values, point.squared, layout.rank, units, whole);
        }
        one_list = layout.elements() <= most_for_one_list || tiny_groups || are_far_apart(whole, positive);
        const bool one = common == units.limit; // worth for all
        if (one_list || one || layout.assignment)
            ties = add_ties(point.values, point.squared, layout.rank, units.unit, common,
                            layout.rows() + layout.columns() + 2, whole);
        if (ties) units.limit += common;
        alike = one && ties;
        grain = ties ? 1.0 : common;
    }

    // Prices to begin with, in whole units: none below zero, none above the highest that is needed.
    void read_start(const Start& start) {
        const auto in_units = [&](double price) {
            return price > 0 ? std::min(std::rint(std::ldexp(price, start.unit - units.unit)), units.limit) : 0.0;
        };
        const std::size_t row_groups = prices.u.size() - 1; // the last has no bound, and no price
        const auto rows = start.prices.subspan(1, row_groups), columns = start.prices.subspan(1 + row_groups);
        prices.y0 = in_units(start.prices[0]);
        std::ranges::transform(rows, prices.u.begin(), in_units);
        std::ranges::transform(columns, prices.w.begin(), in_units);
    }

    // Each way gives whether the prices prove what is chosen.
    bool prove() {
        if (layout.assignment) return by_assignment();
        if (has_few_groups(layout)) return by_few_groups();
        if (one_list ? by_one_list() : by_candidates()) return true;
        return has_few_groups(layout, common > 1.0 ? some_tied_groups : some_groups) && by_some_groups();
    }

    bool by_assignment() {
        const bool limited = bounds.total < std::min(layout.rows(), layout.columns()) - 1;
        // From given prices a path for each row that these leave without takes longer on a large matrix than steps.
        // Where worths tie, columns begin with prices that fall as what breaks the ties does.
        if (limited && !ties && (!warm || layout.elements() > most_for_steps)) {
            const bool some = layout.elements() <= most_for_one_list;
            first_prices(all, whole, by_columns(all.view, whole, all.columns), bounds,
                         some ? std::span<const double>(widths) : narrow_widths, prices);
        }
        round_to(1.0, prices);
        assign(layout, all, ties ? common : 1.0, units.limit, prices, report.effort);
        return failures(all, bounds, prices) == 0;
    }

    bool by_few_groups() {
        if (!warm) {
            prices.y0 = rank_value(whole, bounds.total);
            const double ramp = 2.0 * deviation(whole, mean_of(whole)) + 2.0;
            step_on_all(all, whole, by_columns(all.view, whole, all.columns), bounds, ramp, halved, prices);
        }
        return by_paths_between_few();
    }

    bool by_some_groups() {
        first_prices(all, whole, by_columns(all.view, whole, all.columns), bounds, widths, prices);
        return by_paths_between_few();
    }

    bool by_paths_between_few() {
        round_to(1.0, prices);
        solve_few_groups(all, bounds, units.limit, prices, report.effort);
        return failures(all, bounds, prices) == 0;
    }

    OneList list_of_all(i64 work) { return {all, bounds, work, units.limit, prices, report.effort}; }
    bool is_one_view() const { return std::min(layout.rows(), layout.columns()) == 1; }

    bool by_one_list() {
        const i64 usual = work_for(whole.size());
        if (is_one_view()) return list_of_all(usual).solve_one_view();
        const i64 work = has_tiny_groups(all) ? usual / some_hurry : usual * patience;
        OneList list = list_of_all(work / (layout.total_binds ? 1 : hurry));
        return warm ? list.solve_from_given() : list.solve_from_nothing();
    }

    // From prices given; from a sweep where a few are chosen of many, else from samples; from steps on all elements.
    // Each soon gives up where the next is quicker.
    bool by_candidates() {
        const bool stepped = alike || layout.elements() <= most_for_steps;
        const i64 work = work_for(whole.size()), looks = alike ? work / fewer_looks : work;
        const i64 soon = stepped || grain > 1.0 ? looks : work / first_hurry;
        if (warm) {
            if (near_given(soon / warm_hurry)) return true;
            prices = no_prices(layout.rows(), layout.columns());
        }
        const bool few_chosen =
            are_few_chosen(layout.elements(), layout.rows(), layout.columns(), layout.most_chosen);
        if (few_chosen && solve_few_chosen(all, bounds, grain, units.limit, prices, report.effort)) return true;
        if (few_chosen) prices = no_prices(layout.rows(), layout.columns());
        if (!few_chosen && !stepped && near_samples(soon)) return true;
        if (is_one_view() && list_of_all(work).solve_one_view()) return true;
        if (near_steps(looks)) return true;
        return !alike && list_of_all(work).solve_from_near();
    }

    bool near_given(i64 work) {
        Found found;
        return follow(all, layout, grain, true, prices, found) && repair(found, work);
    }

    bool near_samples(i64 work) {
        Found found = search(all, layout, grain, prices);
        return repair(found, work);
    }

    bool near_steps(i64 work) {
        const Vector<double> for_ties = widths_for_ties(alike_steps);
        first_prices(all, whole, by_columns(all.view, whole, all.columns), bounds,
                     alike ? std::span<const double>(for_ties) : narrow_widths, prices);
        Found found;
        if (!follow(all, layout, grain, false, prices, found)) return false;
        return repair(found, work);
    }

    bool repair(Found& found, i64 work) {
        return certify(all, bounds, found, grain, work, units.limit, Carry::by_paths, prices, report.effort);
    }

    // Whether elements of worths that were cut are chosen whatever these are.
    bool chooses_all_cut() const {
        return prices.y0 + std::ranges::max(prices.u) + std::ranges::max(prices.w) + all.within() < units.limit;
    }

    void undo_cut() {
        const auto in_units = [this](double price) { return std::rint(std::ldexp(price, -cut)); };
        prices.y0 = in_units(prices.y0);
        std::ranges::transform(prices.u, prices.u.begin(), in_units);
        std::ranges::transform(prices.w, prices.w.begin(), in_units);
        units = uncut;
        quantise(point.values, point.squared, layout.rank, units, whole);
    }

    // From prices or, without paths, from those of exact sweeps.
    bool fall_back() {
        // From prices of another point cost scaling may look at three hundred times as many arcs as from none.
        const Ways ways = forced ? Ways::but_paths : warm && one_list ? Ways::but_scaling : Ways::all;
        report.effort.fallback = true;
        const Sure none{Vector<i64>(layout.rows()), Vector<i64>(layout.columns())};
        std::ranges::fill(state, 0);
        const Choice list{all.view, whole, state, none};
        forced ? choose_by_sweeps(list, bounds, true, prices) : choose(list, bounds, prices);
        for (i64 k = 0; k < layout.elements(); ++k)
            if (whole[k] <= 0) state[k] = 0;
        return settle_all(layout, point, units.unit, alike && !forced ? ties : std::nullopt, ways, all, units.limit,
                          prices, report.effort);
    }

    const Layout& layout;
    const Point& point;
    const Bounds bounds;
    const bool warm, forced;
    const Room<double> worths;
    const std::span<double> whole; // in units
    Vector<u8> state;
    Vector<i64> open_in; // of each row
    const Elements all;
    Prices prices;
    Units units, uncut;
    int cut;                 // bits of the largest worths that are left out
    double common, grain;    // divide all worths, without and with what breaks ties
    std::optional<int> ties; // the place of what breaks them, where worths hold it
    bool one_list;           // of all elements is quickest
    bool alike;              // is what is worth something, but for what breaks ties: smoothing does not mind that
    Report report;
};

Report solve(const Layout& layout, const Point& point, const Start& start, bool forced, const Into& into) {
    if (point.top == 0.0 || layout.total == 0) return choose_nothing(layout, point, into);
    Projection projection(layout, point, start, forced);
    if (projection.solve()) return projection.write_into(into);
    Report anew = solve(layout, point, {}, forced, into);
    anew.effort.arcs += projection.effort().arcs;
    return anew;
}

} // namespace

Report project(const Layout& layout, std::span<const double> values, bool squared, const Start& start, bool forced,
               const Into& into) {
    const Point point{values, squared, largest_value(values, squared)};
    if (point.top < 0.0) return {true, 0, {}};
    if (point.top == 0.0 || !are_alike(values, squared, point.top)) return solve(layout, point, start, forced, into);
    // Ones in their place have few bits, which leaves room below for what breaks ties.
    Vector<double> ones(values.size());
    for (std::size_t k = 0; k < ones.size(); ++k)
        ones[k] = (squared ? values[k] != 0.0 : values[k] > 0.0) ? 1.0 : 0.0;
    Report report = solve(layout, {ones, squared, 1.0}, {}, forced, into);
    const Units units = units_for(point.top, squared);
    const double each = units.limit / units_for(1.0, squared).limit;
    for (double& price : into.prices) price = std::min(std::rint(price * each), units.limit);
    for (std::size_t k = 0; k < into.kept.size(); ++k) into.kept[k] = into.kept[k] != 0.0 ? values[k] : 0.0;
    report.unit = units.unit;
    return report;
}

} // namespace optiframe::tvcs
