#include "links.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "certify.hpp"
#include "few_groups.hpp"
#include "search.hpp"
#include "smoothing.hpp"
#include "sweeps.hpp"

namespace optiframe::tvcs {

namespace {

constexpr double largest = 0x1p50; // of a worth
constexpr i64 looks = 120;        // a link, before it is given up
constexpr double most_left = 2.0; // units, in links at a group: with more it would be
constexpr int few_steps = 6;      // where one view has a few groups: paths between these are quick
constexpr int steps = 24;         // with one ramp for all groups, and then with one for each: elements a group on it
constexpr double each_widths[] = {1.5, 1.5, 1.2, 1.2, 1.0, 1.0, 0.8, 0.6, 0.4, 0.3, 0.2, 0.1};

// The groups of one view: their bounds, and what an element of each is worth more.
struct Groups {
    std::vector<i64> bound;
    std::vector<double> more;
    std::vector<u8> fixed; // holds as many as its bound says
    std::vector<i64> count;

    i64 add(double by) {
        bound.push_back(0);
        more.push_back(by);
        fixed.push_back(1);
        count.push_back(0);
        return static_cast<i64>(bound.size()) - 1;
    }
    // By the link of its bound.
    void free(i64 g, const Link& link) {
        bound[g] += link.room;
        more[g] = -static_cast<double>(link.cost);
        fixed[g] = 0;
    }
    bool keeps(i64 g) const { return !fixed[g] || count[g] == bound[g]; }
};

} // namespace

bool solve_by_prices(std::span<Link> links, std::span<i64> potential, const Ends& ends, double at_group,
                     Effort& effort) {
    const i64 source = ends.source(), sink = ends.sink();
    const auto is_element = [](const Link& link) { return link.element >= 0; };
    const i64 n = std::ranges::count_if(links, is_element);
    i64 low = 0, high = 0;
    for (const Link& link : links) {
        low = std::min(low, link.cost);
        high = std::max(high, link.cost);
    }
    const double more = 2.0 * static_cast<double>(high - low) + 1.0; // of a group that is fixed
    if (3.5 * more > largest) return false;

    // Groups, in the order of the elements.
    Groups rows, columns, total;
    total.add(more);
    std::vector<i64> group(ends.node.size(), -1);
    const auto group_of = [&](i32 v) {
        const bool none = ends.node[v] >= source;
        Groups& of = ends.node[v] < ends.rows || ends.node[v] == source ? rows : columns;
        if (group[v] < 0) {
            group[v] = of.add(none ? 0.0 : more);
            if (none) {
                of.bound.back() = n;
                of.fixed.back() = 0;
            }
        }
        return group[v];
    };
    List list{{0}, {}, {}, {}, {}};
    for (const Link& link : links) {
        if (!is_element(link)) continue;
        const i64 i = group_of(link.tail), j = group_of(link.head), one = link.back;
        if (i + 1 == static_cast<i64>(list.first.size())) list.first.push_back(0);
        ++list.first[i + 1];
        list.column.push_back(static_cast<i32>(j));
        list.chosen.push_back(static_cast<u8>(one));
        rows.bound[i] += one;
        columns.bound[j] += one;
        total.bound[0] += one;
    }
    const i64 began = total.bound[0];
    const std::vector<i64> row_began = rows.bound, column_began = columns.bound;
    std::partial_sum(list.first.begin(), list.first.end(), list.first.begin());
    for (const Link& link : links) {
        if (is_element(link)) continue;
        if (ends.node[link.tail] == sink)
            total.free(0, link);
        else if (ends.node[link.tail] == source)
            rows.free(group_of(link.head), link);
        else
            columns.free(group_of(link.tail), link);
    }
    list.first.resize(rows.bound.size() + 1, list.first.back());
    for (const Link& link : links) {
        if (!is_element(link)) continue;
        const double worth = rows.more[group[link.tail]] + columns.more[group[link.head]] + total.more[0] -
                             static_cast<double>(link.cost);
        list.worth.push_back(worth > 0 ? worth : -inf);
    }

    const View view = list.view();
    const i64 across = static_cast<i64>(columns.bound.size());
    const Columns by_column = by_columns(view, list.worth, across);
    const Bounds bounds{rows.bound, columns.bound, total.bound[0]};
    Prices prices{std::max(total.more[0], 0.0), rows.more, columns.more};
    for (double& u : prices.u) u = std::max(u, 0.0);
    for (double& w : prices.w) w = std::max(w, 0.0);
    const Side row_side{view, list.worth, {}, {}, bounds.rows, {}, {}};
    const Side column_side{by_column.view(), by_column.worth, {}, {}, bounds.columns, {}, {}};
    const bool few = has_few_groups(view.groups(), across);
    anneal(row_side, column_side, bounds.total, prices, more, widths_for_ties(few ? few_steps : steps));
    if (!few) {
        const double near = each_widths[0] * static_cast<double>(view.groups() + across);
        const double ramp = 2.0 * near_width(view, list.worth, prices, near);
        anneal_each(row_side, column_side, bounds.total, prices, std::max(2.0, ramp), each_widths);
    }
    round_to(1.0, prices);

    if (few) {
        solve_few_groups({view, list.worth, list.chosen, across}, bounds, 2.0 * largest, prices, effort);
    } else {
        // The flow that they leave, and its repair.
        const Sure none{std::vector<i64>(view.groups()), std::vector<i64>(across)};
        const Counts counts = choose({view, list.worth, list.chosen, none}, bounds, prices);
        Flow flow(bounds, prices);
        flow.start(counts);
        const Arcs arcs{view, list.worth, by_column.view(), by_column.worth, by_column.place, list.chosen};
        if (static_cast<double>(flow.units()) > most_left * at_group ||
            carry_all(flow, arcs, looks * n, effort) != Carried::all)
            return false;
        flow.read_prices(2.0 * largest, prices);
    }
    if (failures({view, list.worth, list.chosen, across}, bounds, prices) > 0) return false;
    for (i64 i = 0; i < view.groups(); ++i)
        for (i64 m = view.first[i]; m < view.first[i + 1]; ++m) {
            rows.count[i] += list.chosen[m];
            columns.count[view.other[m]] += list.chosen[m];
            total.count[0] += list.chosen[m];
        }
    for (i64 i = 0; i < view.groups(); ++i)
        if (!rows.keeps(i)) return false;
    for (i64 j = 0; j < across; ++j)
        if (!columns.keeps(j)) return false;
    if (!total.keeps(0)) return false;

    i64 k = 0;
    for (Link& link : links) {
        i64 change;
        if (is_element(link)) change = list.chosen[k++] - link.back;
        else if (ends.node[link.tail] == sink) change = total.count[0] - began;
        else if (ends.node[link.tail] == source) change = rows.count[group[link.head]] - row_began[group[link.head]];
        else change = columns.count[group[link.tail]] - column_began[group[link.tail]];
        link.room -= static_cast<i32>(change);
        link.back += static_cast<i32>(change);
    }
    for (std::size_t v = 0; v < group.size(); ++v) {
        const i64 g = group[v];
        const double by = ends.node[v] < ends.rows ? prices.y0 + prices.u[g] - rows.more[g] - total.more[0]
                          : ends.node[v] < source  ? columns.more[g] - prices.w[g]
                          : ends.node[v] == source ? prices.y0 - total.more[0]
                                                   : 0.0;
        potential[v] = static_cast<i64>(by);
    }
    return true;
}

} // namespace optiframe::tvcs
