#include "sweeps.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include <optiframe/dispatch.hpp>
#include <optiframe/interrupt.hpp>

namespace optiframe::tvcs {

namespace {

constexpr int sweeps = 2; // over both views, and as many again from no prices; more leave hardly fewer units
// Units times what a search looks at, all groups and the elements of one, over the elements that a sweep
// looks at: from here on sweeps come first. Smoothed prices leave 10 to 80 times as many units where
// groups are tiny.
constexpr double swept = 8.0;

struct Row {
    i64 above, level;
};

// Elements of one row above their threshold, and at it.
OPTIFRAME_CLONES Row choose_row(i64 n, const double* worth, const i32* column, double threshold,
                                const double* price, u8* chosen) {
    i64 above = 0, level = 0;
    for (i64 k = 0; k < n; ++k) {
        const double z = worth[k] - threshold - price[column[k]];
        chosen[k] = z > 0;
        above += z > 0;
        level += z == 0;
    }
    return {above, level};
}

} // namespace

Counts choose(const Choice& list, const Bounds& bounds, const Prices& prices) {
    const View& view = list.view;
    Counts counts{list.sure.rows, list.sure.columns};
    i64 held = std::reduce(counts.rows.begin(), counts.rows.end()), level = 0;
    for (i64 i = 0; i < view.groups(); ++i) {
        const i64 first = view.first[i], n = view.first[i + 1] - first;
        const Row row = choose_row(n, list.worth.data() + first, view.other.data() + first,
                                   prices.y0 + prices.u[i], prices.w.data(), list.chosen.data() + first);
        for (i64 k = first; k < first + n; ++k) counts.columns[view.other[k]] += list.chosen[k];
        counts.rows[i] += row.above;
        held += row.above;
        level += row.level;
    }
    if (level == 0) return counts;
    for (i64 i = 0; i < view.groups(); ++i)
        for (i64 k = view.first[i]; k < view.first[i + 1]; ++k) {
            const i32 j = view.other[k];
            const bool fits =
                held < bounds.total && counts.rows[i] < bounds.rows[i] && counts.columns[j] < bounds.columns[j];
            if (fits && list.worth[k] > 0 && list.worth[k] - (prices.y0 + prices.u[i]) - prices.w[j] == 0) {
                list.chosen[k] = 1;
                ++counts.rows[i];
                ++counts.columns[j];
                ++held;
            }
        }
    return counts;
}

double exact_sweep(const View& view, std::span<const double> worth, std::span<const i64> bounds, i64 total,
                   std::span<const double> other_price, std::span<double> price) {
    Vector<double> kept, value;
    kept.reserve(view.elements());
    for (i64 g = 0; g < view.groups(); ++g) {
        if (bounds[g] == 1 && view.first[g] < view.first[g + 1]) {
            double best = -inf, second = -inf;
            for (i64 k = view.first[g]; k < view.first[g + 1]; ++k) {
                const double left = worth[k] - other_price[view.other[k]];
                second = std::max(second, std::min(best, left));
                best = std::max(best, left);
            }
            price[g] = second;
            kept.push_back(best);
            continue;
        }
        value.clear();
        for (i64 k = view.first[g]; k < view.first[g + 1]; ++k)
            value.push_back(worth[k] - other_price[view.other[k]]);
        const i64 n = static_cast<i64>(value.size()), bound = std::min(bounds[g], n);
        price[g] = 0.0;
        if (bound < n) {
            std::ranges::nth_element(value, value.begin() + bound, std::greater<>());
            price[g] = value[bound];
        }
        kept.insert(kept.end(), value.begin(), value.begin() + bound);
    }
    double y0 = 0.0;
    if (total < static_cast<i64>(kept.size())) {
        std::ranges::nth_element(kept, kept.begin() + total, std::greater<>());
        y0 = std::max(kept[total], 0.0);
    }
    for (double& each : price) each = std::max(each - y0, 0.0);
    return y0;
}

Counts choose_by_sweeps(const Choice& list, const Bounds& bounds, bool anew, Prices& prices) {
    Vector<i64> rows(bounds.rows.begin(), bounds.rows.end()),
        columns(bounds.columns.begin(), bounds.columns.end());
    i64 total = bounds.total;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        total -= list.sure.rows[i];
        rows[i] = std::max<i64>(rows[i] - list.sure.rows[i], 0);
    }
    for (std::size_t j = 0; j < columns.size(); ++j)
        columns[j] = std::max<i64>(columns[j] - list.sure.columns[j], 0);
    total = std::max<i64>(total, 0);
    const bool by_rows = rows.size() > 1 || columns.size() == 1, both = by_rows && columns.size() > 1;
    Columns by_column;
    if (columns.size() > 1) by_column = by_columns(list.view, list.worth, static_cast<i64>(columns.size()));
    if (anew || !both) std::ranges::fill(prices.w, 0.0);
    if (!both) std::ranges::fill(prices.u, 0.0);
    for (int sweep = 0; sweep < (!both ? 1 : anew ? 2 * sweeps : sweeps); ++sweep) { // one view alone: the best prices
        interrupt::poll();
        if (by_rows) prices.y0 = exact_sweep(list.view, list.worth, rows, total, prices.w, prices.u);
        if (columns.size() > 1)
            prices.y0 = exact_sweep(by_column.view(), by_column.worth, columns, total, prices.u, prices.w);
    }
    return choose(list, bounds, prices);
}

void improve(const Choice& list, double most, bool anew, Prices& prices, Counts& counts, Flow& flow) {
    const double elements = static_cast<double>(list.worth.size());
    const double a_search =
        static_cast<double>(flow.source) + elements / static_cast<double>(std::min(flow.rows, flow.columns));
    for (const bool from_none : {false, true}) {
        if ((from_none && !anew) || static_cast<double>(flow.units()) * a_search <= swept * elements) break;
        Prices tried = prices;
        const Vector<u8> before(list.chosen.begin(), list.chosen.end());
        Counts found = choose_by_sweeps(list, flow.bounds, from_none, tried);
        take_better(list, before, most, tried, found, prices, counts, flow);
    }
}

void take_better(const Choice& list, std::span<const u8> before, double most, Prices& tried, Counts& found,
                 Prices& prices, Counts& counts, Flow& flow) {
    const i64 units = flow.units();
    flow.set_prices(tried);
    flow.start(found);
    if (static_cast<double>(flow.units()) <= most * static_cast<double>(units)) {
        prices = std::move(tried);
        counts = std::move(found);
        return;
    }
    std::ranges::copy(before, list.chosen.begin());
    flow.set_prices(prices);
    flow.start(counts);
}

} // namespace optiframe::tvcs
