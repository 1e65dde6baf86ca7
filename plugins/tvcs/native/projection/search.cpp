#include "search.hpp"

#include <algorithm>
#include <numeric>

#include <optiframe/interrupt.hpp>

#include "first_prices.hpp"
#include "smoothing.hpp"
#include "sweeps.hpp"

namespace optiframe::tvcs {

namespace {

constexpr int stages = 6;     // lists of candidates made before what is wrong is left to the repair
constexpr double keep = 24.0; // candidates a group for the repair
// Standard deviations of a sampled price in which elements stay candidates.
constexpr double sampled_window = 2.5;

// Widths of the ramp in a stage, as elements a group within it: averaging over more elements moves
// faster, fewer leave less to repair.
constexpr double wide[] = {8.0};
constexpr double first_widths[] = {16.0};
constexpr double last_widths[] = {3.0, 0.7};
constexpr double from_nothing = 0.2; // of the worths' deviation: wide enough for Newton steps, narrow beside the values
constexpr double most_of_list = 0.3; // on a ramp: a wider one would average over values that decide nothing

// For prices from those of a similar projection: elements a group in the width that all are measured by,
// elements in a window and for the root of the group (as counts vary), and the widest of these widths.
constexpr double followed = 24.0, need_each = 8.0, need_root = 0.5, widest = 64.0;
constexpr double far_off = 0.25;   // of the candidates in the wrong place: beginning anew is then quicker,
constexpr double far_gone = 0.02;  // or with such a share of the thresholds at the ends of their windows:
constexpr int tries = 3;           // lists before that
constexpr double gone_from = 0.95, wider = 4.0; // from there on, and those become so much wider
constexpr double first_ramp = 6.0; // elements a group on the first ramp
// And on those after each step: many short ones cost less than the paths they save. Prices given are nearer.
constexpr double stepped_widths[] = {4.0, 3.0, 2.0, 1.5,  1.0, 0.8,  0.7, 0.6,
                                     0.5, 0.4, 0.3, 0.25, 0.2, 0.15, 0.1};
constexpr double given_widths[] = {3.0, 2.0, 1.4, 1.0, 0.7, 0.5, 0.35, 0.25, 0.15, 0.1};
// Units times the groups that a search passes, over the candidates: from here on more steps take less time than paths.
constexpr double worth_steps = 0.75;
constexpr double each_widths[] = {6.0, 5.0, 4.0, 3.0, 2.5, 2.0, 1.5, 1.0, 0.6, 0.3, 0.1}; // on that of each group

// A list and its columns as smoothing takes them, with what they need beside.
struct Smoothed {
    Side rows, columns;
    Vector<double> centre_r, centre_c, scratch, copies_across;
    Columns by_column;

    // Of elements that stand for one each.
    Smoothed(const View& view, std::span<const double> worth, const Bounds& bounds, const Prices& prices)
        : rows{view, worth, {}, {}, bounds.rows, {}, {}}, columns{{}, {}, {}, {}, bounds.columns, {}, {}},
          scratch(worth.size()), by_column(by_columns(view, worth, static_cast<i64>(bounds.columns.size()))) {
        columns.view = by_column.view();
        columns.worth = by_column.worth;
        centre(prices);
    }
    Smoothed(const Sample& sample, std::span<const double> worth, const Bounds& bounds, const Prices& prices)
        : rows{sample.view(), worth, sample.copies, {}, bounds.rows, {}, {}},
          columns{sample.across.view(), {}, {}, {}, bounds.columns, {}, {}}, scratch(worth.size()) {
        by_column.worth.resize(worth.size());
        copies_across.resize(worth.size());
        for (std::size_t k = 0; k < worth.size(); ++k) {
            by_column.worth[k] = worth[sample.across.place[k]];
            copies_across[k] = sample.copies[sample.across.place[k]];
        }
        columns.worth = by_column.worth;
        columns.copies = copies_across;
        centre(prices);
    }
    Smoothed(const Smoothed&) = delete;

    void centre(const Prices& prices) {
        for (const double u : prices.u) centre_r.push_back(prices.y0 + u);
        for (const double w : prices.w) centre_c.push_back(prices.y0 + w);
        rows.centre = centre_r;
        columns.centre = centre_c;
    }

    void within(const Sure& sure, const Windows& windows) {
        rows.sure = sure.rows;
        columns.sure = sure.columns;
        rows.window = windows.rows;
        columns.window = windows.columns;
    }

    // Minimises over (y0, u), then over (y0, w), so many times.
    void sweep(i64 total, double tau, double close, int times, Prices& prices) {
        for (int each = 0; each < times; ++each) {
            interrupt::poll();
            prices.y0 = minimise_block(rows, total, prices.y0, prices.u, prices.w, tau, close, scratch);
            prices.y0 = minimise_block(columns, total, prices.y0, prices.w, prices.u, tau, close, scratch);
        }
    }

    // Prices by the smoothed dual; `widths` are elements a group within the ramp. It is no narrower than the unit of
    // the worths: between two so far apart nothing changes, and searches for a threshold would halve their way.
    void smooth(i64 total, bool cold, std::span<const double> widths, int times, double close, double unit,
                Prices& prices) {
        const double narrowest = std::max(2.0, unit);
        const double n = static_cast<double>(rows.worth.size());
        const double groups = static_cast<double>(prices.u.size() + prices.w.size());
        if (cold) {
            const double mean = std::reduce(rows.worth.begin(), rows.worth.end()) / n;
            const double tau = from_nothing * deviation(rows.worth, mean) + 2.0;
            sweep(total, std::max(tau, narrowest), 0.5, 1, prices);
        }
        for (const double width : widths) {
            const double near = near_width(rows.view, rows.worth, prices, std::min(width * groups, most_of_list * n));
            sweep(total, std::max(narrowest, 2.0 * near), close, times, prices);
        }
    }

    // Windows around the thresholds that hold so many elements of each group.
    Windows spread_windows(const Prices& prices, std::span<const double> need_rows,
                           std::span<const double> need_columns) {
        Windows found(0, 0);
        found.rows = spread(rows, prices.y0, prices.u, prices.w, need_rows, rows.window, scratch);
        found.columns = spread(columns, prices.y0, prices.w, prices.u, need_columns, columns.window, scratch);
        return found;
    }
};

// Prices from a sample, and windows in which the exact ones lie but for rare cases. The count of a group
// of n elements sampled one in m has variance n (m - 1) / 4 at the worst; `sampled_window` of its roots to
// either side of each threshold are kept.
Windows by_sample(std::span<const double> whole, const Sample& sample, const Layout& layout, bool cold, double unit,
                  Prices& prices) {
    const Bounds bounds = layout.bounds();
    Vector<double> worth(sample.place.size());
    for (std::size_t k = 0; k < worth.size(); ++k) worth[k] = whole[sample.place[k]];
    Smoothed list(sample, worth, bounds, prices);
    list.smooth(bounds.total, cold, wide, 2, 0.5, unit, prices);
    const double m =
        std::reduce(sample.copies.begin(), sample.copies.end()) / static_cast<double>(worth.size());
    const auto need = [m](std::span<const double> length) {
        Vector<double> found;
        for (const double n : length) found.push_back(sampled_window * std::sqrt(n * (m - 1)) + m);
        return found;
    };
    return list.spread_windows(prices, need(layout.row_length), need(layout.column_length));
}

// Units by which the groups of one view miss their bounds, those without a price from above only.
double misplaced(std::span<const i64> counts, std::span<const i64> bounds, std::span<const double> price) {
    i64 off = 0;
    for (std::size_t g = 0; g < bounds.size(); ++g) {
        const i64 over = counts[g] - bounds[g];
        off += price[g] > 0 ? std::abs(over) : std::max<i64>(over, 0);
    }
    return static_cast<double>(off);
}

// Lists all of the groups that hold more for sure than they may: their thresholds lie outside their windows. Gives
// whether there are any.
bool widen_overfull(const Sure& sure, const Bounds& bounds, Windows& windows) {
    bool some = false;
    const auto widen = [&](std::span<const i64> held, std::span<const i64> most, std::span<double> width) {
        for (std::size_t g = 0; g < held.size(); ++g)
            if (held[g] > most[g]) {
                width[g] = inf;
                some = true;
            }
    };
    widen(sure.rows, bounds.rows, windows.rows);
    widen(sure.columns, bounds.columns, windows.columns);
    return some;
}

// The units by which groups and the total miss their bounds at these prices.
double off_by(const Bounds& bounds, const Prices& prices, Found& found) {
    List& list = found.list;
    const Counts counts = choose({list.view(), list.worth, list.chosen, found.sure}, bounds, prices);
    const i64 held = std::reduce(counts.rows.begin(), counts.rows.end());
    return misplaced(counts.rows, bounds.rows, prices.u) + misplaced(counts.columns, bounds.columns, prices.w) +
           misplaced({&held, 1}, {&bounds.total, 1}, {&prices.y0, 1});
}

// Groups whose thresholds went to the ends of their windows, where lists are not complete. These become wider.
i64 widen_gone(double y0, std::span<const double> price, std::span<const double> centre, std::span<double> window) {
    i64 found = 0;
    for (std::size_t g = 0; g < price.size(); ++g)
        if (std::abs(y0 + price[g] - centre[g]) > gone_from * window[g]) {
            window[g] *= wider;
            ++found;
        }
    return found;
}

// Better prices by steps on the list with a ramp for each group, where they leave less to repair. After steps on all
// elements, and where worths tie, none are better.
void polish(const Elements& all, const Bounds& bounds, double unit, Smoothed& smoothed, Prices& prices, Found& found) {
    round_to(unit, prices);
    if (unit > 1.0 || all.view.elements() <= most_for_steps) return;
    const double off = off_by(bounds, prices, found);
    const double groups = static_cast<double>(prices.u.size() + prices.w.size());
    if (off * groups < worth_steps * static_cast<double>(found.list.size())) return;
    Prices tried = prices;
    const double ramp = first_ramp * groups;
    const double tau = 2.0 * near_width(found.list.view(), found.list.worth, prices, ramp);
    anneal_each(smoothed.rows, smoothed.columns, bounds.total, tried, std::max(2.0, tau), each_widths);
    round_to(unit, tried);
    if (off_by(bounds, tried, found) < off) prices = std::move(tried);
}

Found nothing(i64 rows, i64 columns) {
    return {{}, {Vector<i64>(rows), Vector<i64>(columns)}, {rows, columns}, Vector<i64>(rows), {}};
}

} // namespace

void round_to(double unit, Prices& prices) {
    const auto rounded = [unit](double x) { return unit * std::rint(x / unit); };
    for (double& u : prices.u) u = rounded(u);
    for (double& w : prices.w) w = rounded(w);
    prices.y0 = rounded(prices.y0);
}

Found search(const Elements& all, const Layout& layout, double unit, Prices& prices) {
    const Bounds bounds = layout.bounds();
    const i64 rows = all.view.groups();
    const double groups = static_cast<double>(rows + all.columns);
    std::ranges::fill(prices.u, 0.0);
    std::ranges::fill(prices.w, 0.0);
    prices.y0 = rank_value(all.whole, bounds.total);
    Found found = nothing(rows, all.columns);
    bool cold = true;
    for (const Sample& sample : layout.samples) {
        if (sample.place.empty()) continue;
        found.windows = by_sample(all.whole, sample, layout, cold, unit, prices);
        cold = false;
    }
    for (int stage = 0;; ++stage) {
        round_to(unit, prices);
        Marked marked = mark(all, prices, found.windows, found.sure, found.listed);
        if (marked.listed == 0 && stage == 0) { // the sample said nothing about these worths
            std::ranges::fill(found.windows.rows, inf);
            marked = mark(all, prices, found.windows, found.sure, found.listed);
        }
        if (widen_overfull(found.sure, bounds, found.windows))
            marked.listed = mark(all, prices, found.windows, found.sure, found.listed).listed;
        const double wrong = stage > 0 ? static_cast<double>(marked.wrong) : 0.0;
        found.list = gather(all, found.listed);
        // Done when the last smoothing left nearly everything outside its list on its side.
        if (marked.listed == 0 || (stage > 1 && wrong <= 0.01 * groups) || stage == stages - 1) {
            if (marked.listed == 0) return found;
            Smoothed list(found.list.view(), found.list.worth, bounds, prices);
            list.within(found.sure, found.windows);
            polish(all, bounds, unit, list, prices, found);
            found.columns = std::move(list.by_column);
            return found;
        }
        Smoothed list(found.list.view(), found.list.worth, bounds, prices);
        const Windows old = found.windows;
        list.within(found.sure, old);
        list.smooth(bounds.total, cold,
                    stage == 0 ? std::span<const double>(first_widths) : std::span<const double>(last_widths),
                    cold ? 1 : 2, stage == 0 ? 0.5 : 0.1, unit, prices);
        cold = false;
        if (stage > 0 && wrong > (stage == 1 ? 2.0 : 0.1) * groups) {
            if (stage > 1) { // the prices moved by more than the windows
                for (double& width : found.windows.rows) width *= 2.0;
                for (double& width : found.windows.columns) width *= 2.0;
            }
        } else if (stage > 0 || keep * groups < static_cast<double>(marked.listed)) {
            // From here on, the so many elements of each group that are nearest to its threshold.
            const auto need = [&](std::span<const double> length) {
                Vector<double> each;
                for (const double n : length)
                    each.push_back((stage > 0 ? 0.5 : 1.5) * std::max(keep, std::sqrt(n)));
                return each;
            };
            found.windows = list.spread_windows(prices, need(layout.row_length), need(layout.column_length));
            if (unit > 1.0)
                for (double& width : found.windows.rows) width = std::max(width, unit);
        } else {
            std::ranges::fill(found.windows.rows, inf);
        }
    }
}

Found nearest(const Elements& all, const Bounds& bounds, double each, const Prices& prices) {
    const i64 rows = all.view.groups();
    Found found = nothing(rows, all.columns);
    Smoothed list(all.view, all.whole, bounds, prices);
    found.windows = list.spread_windows(prices, Vector<double>(rows, each), Vector<double>(all.columns, each));
    mark(all, prices, found.windows, found.sure, found.listed);
    found.list = gather(all, found.listed);
    return found;
}

bool follow(const Elements& all, const Layout& layout, double unit, bool given, Prices& prices, Found& found) {
    const Bounds bounds = layout.bounds();
    const i64 rows = all.view.groups();
    const double groups = static_cast<double>(rows + all.columns);
    found = nothing(rows, all.columns);
    round_to(unit, prices);
    const double width = near_width(all.view, all.whole, prices, followed * groups);
    near_each(all, prices, width, found.windows.rows, found.windows.columns);
    const auto widened = [&](double& near, double length) {
        const double need = need_each + need_root * std::sqrt(length);
        near = std::max(width * std::min(need / std::max(near, 0.5), widest), unit);
    };
    for (i64 i = 0; i < rows; ++i) widened(found.windows.rows[i], layout.row_length[i]);
    for (i64 j = 0; j < all.columns; ++j) widened(found.windows.columns[j], layout.column_length[j]);
    Marked marked = mark(all, prices, found.windows, found.sure, found.listed);
    if (widen_overfull(found.sure, bounds, found.windows))
        marked = mark(all, prices, found.windows, found.sure, found.listed);
    found.list = gather(all, found.listed);
    List& list = found.list;
    Vector<i64> count_r = found.sure.rows, count_c = found.sure.columns;
    for (i64 i = 0; i < rows; ++i)
        for (i64 k = list.first[i]; k < list.first[i + 1]; ++k) {
            count_r[i] += list.chosen[k];
            count_c[list.column[k]] += list.chosen[k];
        }
    const double off = misplaced(count_r, bounds.rows, prices.u) + misplaced(count_c, bounds.columns, prices.w);
    if (off > far_off * static_cast<double>(marked.listed)) return false;
    const std::span<const double> steps = given ? std::span<const double>(given_widths) : stepped_widths;
    for (int left = tries;; --left) {
        Smoothed smoothed(list.view(), list.worth, bounds, prices);
        smoothed.within(found.sure, found.windows);
        const double ramp = std::max(2.0, 2.0 * width * first_ramp / followed);
        anneal(smoothed.rows, smoothed.columns, bounds.total, prices, ramp, steps);
        const i64 gone = given ? widen_gone(prices.y0, prices.u, smoothed.centre_r, found.windows.rows) +
                                     widen_gone(prices.y0, prices.w, smoothed.centre_c, found.windows.columns)
                               : 0;
        if (gone == 0) {
            polish(all, bounds, unit, smoothed, prices, found);
            found.columns = std::move(smoothed.by_column);
            return true;
        }
        if (static_cast<double>(gone) > far_gone * groups || left == 1) return false;
        round_to(unit, prices);
        mark(all, prices, found.windows, found.sure, found.listed);
        list = gather(all, found.listed);
    }
}

} // namespace optiframe::tvcs
