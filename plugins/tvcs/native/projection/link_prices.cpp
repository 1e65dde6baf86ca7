#include "link_prices.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "certify.hpp"
#include "few_chosen.hpp"
#include "few_groups.hpp"
#include "search.hpp"
#include "simplex.hpp"
#include "smoothing.hpp"
#include "sweeps.hpp"

namespace optiframe::tvcs {

namespace {

constexpr double largest = 0x1p50; // of a worth
constexpr i64 many = 20'000; // elements: of so many a simplex settles what smoothed prices leave open
// Looks a link, before the repair is given up; with more units than half the links at a group it takes long.
constexpr i64 looks = 120, few_looks = 20, simplex_looks = 200;
// Units in links at a group, with which the repair would be given up. Or of those chosen, and one a node, with which a
// simplex is as quick without prices.
constexpr double most_of_links = 2.0, most_of_chosen = 0.75;
// Times what an element of a fixed group is worth more: two groups, the total, and half as much for its cost.
constexpr double most_worth = 3.5;
constexpr i64 nearly_all = 99;      // of 100 links, that cost as much as the one before: prices say nothing
constexpr int few_steps = 6;      // where one view has a few groups: paths between these are quick
constexpr int steps = 24;         // with one ramp for all groups, and then with one for each: elements a group on it
constexpr double each_widths[] = {1.5, 1.5, 1.2, 1.2, 1.0, 1.0, 0.8, 0.6, 0.4, 0.3, 0.2, 0.1};

// The groups of one view: their bounds, and what an element of each is worth more.
struct Groups {
    Vector<i64> bound;
    Vector<double> more;

    i64 add(double by) {
        bound.push_back(0);
        more.push_back(by);
        return static_cast<i64>(bound.size()) - 1;
    }
    // By the link of its bound.
    void free(i64 g, const Link& link, int cut) {
        bound[g] += link.room;
        more[g] = -static_cast<double>(link.cost >> cut);
    }
};

// The links as a list of elements with bounds: of what costs the least, times 2^-cut, most is worth most.
struct Listed {
    Listed(std::span<const Link> links, const Ends& ends, double more, int cut)
        : more(more), cut(cut), group(ends.node.size(), -1) {
        total.add(more);
        for (const Link& link : links) {
            if (!link.is_element()) continue;
            const i64 i = group_of(ends, link.tail), j = group_of(ends, link.head), one = link.back;
            if (i + 1 == static_cast<i64>(list.first.size())) list.first.push_back(0);
            ++list.first[i + 1];
            list.column.push_back(static_cast<i32>(j));
            list.chosen.push_back(static_cast<u8>(one));
            rows.bound[i] += one;
            columns.bound[j] += one;
            total.bound[0] += one;
        }
        std::partial_sum(list.first.begin(), list.first.end(), list.first.begin());
        // Those in no group may all be chosen.
        for (std::size_t v = 0; v < group.size(); ++v)
            if (group[v] >= 0 && ends.node[v] >= ends.source())
                (ends.node[v] == ends.source() ? rows : columns).bound[group[v]] = list.size();
        for (const Link& link : links) {
            if (link.is_element()) continue;
            if (ends.node[link.tail] == ends.sink())
                total.free(0, link, cut);
            else if (ends.node[link.tail] == ends.source())
                rows.free(group_of(ends, link.head), link, cut);
            else
                columns.free(group_of(ends, link.tail), link, cut);
        }
        list.first.resize(rows.bound.size() + 1, list.first.back());
        for (const Link& link : links) {
            if (!link.is_element()) continue;
            const double worth = rows.more[group[link.tail]] + columns.more[group[link.head]] + total.more[0] -
                                 static_cast<double>(link.cost >> cut);
            list.worth.push_back(worth > 0 ? worth : -inf);
        }
    }

    // In the order of the elements.
    i64 group_of(const Ends& ends, i32 v) {
        Groups& of = ends.node[v] < ends.rows || ends.node[v] == ends.source() ? rows : columns;
        if (group[v] < 0) group[v] = of.add(ends.node[v] >= ends.source() ? 0.0 : more);
        return group[v];
    }

    Bounds bounds() const { return {rows.bound, columns.bound, total.bound[0]}; }
    i64 across() const { return static_cast<i64>(columns.bound.size()); }

    // By how much prices raise the potential of a node.
    i64 raised(const Ends& ends, i64 v, const Prices& prices) const {
        const i64 g = group[v];
        const i64 of = ends.node[v], source = ends.source();
        if (g < 0 && of < source) return 0; // a group without links may have any price
        const double by = of < ends.rows ? prices.y0 + prices.u[g] - rows.more[g] - total.more[0]
                          : of < source  ? columns.more[g] - prices.w[g]
                          : of == source ? prices.y0 - total.more[0]
                                         : 0.0;
        return static_cast<i64>(by) * (i64{1} << cut);
    }

    double more; // that an element of a group is worth whose bound is fixed
    int cut;
    Groups rows, columns, total;
    Vector<i64> group; // of each node
    List list{{0}, {}, {}, {}, {}};
};

// Best prices and what they choose, but for a few elements. False where the prices found leave too many in the wrong
// groups.
bool find_prices(Listed& of, double at_group, bool large, i64 nodes, Prices& prices, Effort& effort) {
    List& list = of.list;
    const View view = list.view();
    const Bounds bounds = of.bounds();
    const i64 n = list.size(), across = of.across();
    const Elements all{view, list.worth, list.chosen, across};
    const bool few_groups = has_few_groups(view.groups(), across);
    if (!few_groups && are_few_chosen(n, view.groups(), across, static_cast<double>(bounds.total))) {
        Effort own; // which counts the candidates of the projection anew
        const bool proved = solve_few_chosen(all, bounds, 1.0, 2.0 * largest, prices, own);
        effort.arcs += own.arcs;
        for (u8& each : list.chosen) each &= chosen_bit; // the proof's states, which are the choice again
        return proved;
    }
    const Columns columns = by_columns(view, list.worth, across);
    const Side row_side{view, list.worth, {}, {}, bounds.rows, {}, {}};
    const Side column_side{columns.view(), columns.worth, {}, {}, bounds.columns, {}, {}};
    anneal(row_side, column_side, bounds.total, prices, of.more, widths_for_ties(few_groups ? few_steps : steps));
    if (few_groups) {
        round_to(1.0, prices);
        solve_few_groups(all, bounds, 2.0 * largest, prices, effort);
        return true;
    }
    const double near = each_widths[0] * static_cast<double>(view.groups() + across);
    const double ramp = 2.0 * near_width(view, list.worth, prices, near);
    anneal_each(row_side, column_side, bounds.total, prices, std::max(2.0, ramp), each_widths);
    round_to(1.0, prices);
    const Sure none{Vector<i64>(view.groups()), Vector<i64>(across)};
    const Counts counts = choose({view, list.worth, list.chosen, none}, bounds, prices);
    Flow flow(bounds, prices);
    flow.start(counts);
    const double units = static_cast<double>(flow.units());
    const double of_chosen = most_of_chosen * static_cast<double>(bounds.total);
    const double most = large ? std::min(of_chosen, static_cast<double>(nodes)) : most_of_links * at_group;
    if (units > most) return false;
    const Arcs arcs{view, list.worth, columns.view(), columns.worth, columns.place, list.chosen};
    carry_all(flow, arcs, (large && units > 0.5 * at_group ? few_looks : looks) * n, effort);
    flow.read_prices(2.0 * largest, prices);
    return true;
}

} // namespace

bool solve_by_prices(std::span<Link> links, std::span<i64> potential, const Ends& ends, double at_group, bool rough,
                     Effort& effort) {
    const i64 nodes = static_cast<i64>(ends.node.size());
    const i64 n = std::ranges::count_if(links, &Link::is_element);
    i64 low = 0, high = 0, alike = 0;
    for (std::size_t m = 0; m < links.size(); ++m) {
        low = std::min(low, links[m].cost);
        high = std::max(high, links[m].cost);
        alike += m > 0 && links[m].cost == links[m - 1].cost;
    }
    double more = 2.0 * static_cast<double>(high - low) + 1.0; // of a group that is fixed
    int cut = 0;
    for (; most_worth * more > largest; more = std::ceil(0.5 * more)) ++cut;
    const bool large = n >= many;
    if (cut > 0 && !(rough && large)) return false;
    Listed listed(links, ends, more, cut);
    const bool few_groups = has_few_groups(listed.list.view().groups(), listed.across());
    if (!few_groups && large && 100 * alike > nearly_all * n) return false;
    Prices prices{std::max(listed.total.more[0], 0.0), listed.rows.more, listed.columns.more};
    for (double& u : prices.u) u = std::max(u, 0.0);
    for (double& w : prices.w) w = std::max(w, 0.0);
    if (!find_prices(listed, at_group, large, nodes, prices, effort)) return false;
    Vector<i64> found(nodes), left(nodes);
    for (i64 v = 0; v < nodes; ++v) found[v] = listed.raised(ends, v, prices);

    // What they leave open, a simplex settles, to which the links cost what is left of their costs.
    Vector<Link> rest(links.begin(), links.end());
    Vector<i64> excess(nodes);
    bool done = true;
    i64 k = 0;
    for (Link& link : rest) {
        link.cost += found[link.tail] - found[link.head];
        const i64 lack = ends.node[link.tail] == ends.source() ? -excess[link.head] : excess[link.tail];
        const i64 by = link.is_element()  ? listed.list.chosen[k++] - link.back
                       : link.cost < 0   ? link.room
                       : link.cost > 0   ? -link.back
                                         : std::clamp<i64>(lack, -link.back, link.room);
        link.room -= static_cast<i32>(by);
        link.back += static_cast<i32>(by);
        excess[link.tail] -= by;
        excess[link.head] += by;
        done &= link.cost >= 0 || link.room == 0;
        done &= link.cost <= 0 || link.back == 0;
    }
    done &= std::ranges::all_of(excess, [](i64 each) { return each == 0; });
    const i64 most = simplex_looks * static_cast<i64>(rest.size());
    if (!done && !(large && solve_by_simplex(rest, excess, left, most, effort))) return false;
    for (std::size_t m = 0; m < rest.size(); ++m) {
        links[m].room = rest[m].room;
        links[m].back = rest[m].back;
    }
    for (i64 v = 0; v < nodes; ++v) potential[v] = found[v] + left[v];
    return true;
}

} // namespace optiframe::tvcs
