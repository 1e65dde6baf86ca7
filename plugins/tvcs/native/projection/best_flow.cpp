#include "best_flow.hpp"

#include <optiframe/arrays.hpp>

#include "few_groups.hpp"
#include "link_prices.hpp"
#include "paths.hpp"
#include "scaling.hpp"
#include "simplex.hpp"

namespace optiframe::tvcs {

namespace {

// The network simplex needs fewer looks a link than cost scaling where its trees are flat: with few nodes, more where
// no units are to be carried, or where the total does not bind, so that no path need go by the source and the sink.
// With more it hardly ever ends in time.
constexpr i64 fewest_nodes = 1000, few_nodes = 4500, loose_nodes = 20'000;
constexpr i64 much_work = 300, some_work = 100; // looks a link, before it is given up
constexpr i64 work_for_paths = 120;             // and before paths between groups are
// Links at a group, on average: with a few, paths come before a simplex; with many, it ends soon or not.
constexpr double few_links = 8.0, many_links = 64.0;
// Excess times these, a link: up to here paths come first too, and above they would take long.
constexpr double light_load = 1.5, heavy_load = 8.0;

// Elements that are open, in all and a node, from which on smoothed prices are tried first: they see little below.
constexpr i64 many_elements = 3000, many_each = 10;
// Where one view has a few groups, so many suffice. A simplex comes first, which ends at once or not: ties are often
// left as they are.
constexpr i64 some_elements = 300, few_looks = 10;

bool have_few_groups(const Ends& ends) {
    const i64 of_rows = std::ranges::count_if(ends.node, [&](i32 v) { return v < ends.rows || v == ends.source(); });
    return has_few_groups(of_rows, static_cast<i64>(ends.node.size()) - of_rows);
}

bool suit_prices(std::span<const Link> links, const Ends& ends) {
    const i64 many = std::max(many_elements, many_each * static_cast<i64>(ends.node.size()));
    const i64 elements = std::ranges::count_if(links, &Link::is_element);
    return elements >= (have_few_groups(ends) ? some_elements : many);
}

struct Load {
    double at_group; // links, on average
    double a_link;   // how many of these searches from all excess come to
};

// Where units go wherever they cost less than 0.
Load load_of_paths(std::span<const Link> links, std::span<const i64> excess, const Ends& ends) {
    Vector<i64> at(ends.node.size()), units(excess.begin(), excess.end());
    for (const Link& link : links) {
        ++at[link.tail];
        ++at[link.head];
        const i64 forwards = link.cost < 0 ? link.room : link.cost > 0 ? -link.back : 0;
        units[link.tail] -= forwards;
        units[link.head] += forwards;
    }
    double found = 0.0, left = 0.0;
    for (std::size_t v = 0; v < at.size(); ++v) {
        if (ends.node[v] >= ends.source()) continue;
        found += static_cast<double>(at[v]) * static_cast<double>(at[v]);
        left += std::abs(static_cast<double>(units[v]));
    }
    const double all = static_cast<double>(links.size()), at_group = found / (2.0 * all);
    return {at_group, left * at_group / all};
}

} // namespace

bool suit_few_groups(std::span<const Link> links, const Ends& ends) {
    return have_few_groups(ends) && suit_prices(links, ends);
}

Solved best_flow(std::span<Link> links, std::span<i64> excess, std::span<i64> moved, const Ends& ends, const Aim& aim,
                 Effort& effort) {
    const i64 nodes = static_cast<i64>(ends.node.size()), n = static_cast<i64>(links.size());
    i64 units = 0;
    for (const i64 each : excess) units += std::max<i64>(each, 0);
    const bool balanced = units == 0;
    const Load load = load_of_paths(links, excess, ends);
    // What prices of worths that are alike leave is quick by paths or cost scaling; many units are by the latter.
    const bool flat_trees = nodes <= fewest_nodes && (balanced || (aim.first > 0 && units <= nodes));
    const auto by_simplex_within = [&](i64 looks) {
        return looks > 0 && solve_by_simplex(links, excess, moved, looks * n, effort);
    };
    const auto by_simplex = [&] {
        const bool few = nodes <= few_nodes, loose = !aim.total_binds && nodes <= loose_nodes;
        const bool flat = flat_trees || loose || (balanced && few && load.at_group <= many_links);
        return by_simplex_within(flat ? much_work : balanced && few ? some_work : 0);
    };
    const auto by_prices = [&] {
        if (!balanced || !suit_prices(links, ends)) return false;
        return (have_few_groups(ends) && by_simplex_within(few_looks)) ||
               solve_by_prices(links, moved, ends, load.at_group, load.a_link > heavy_load, effort);
    };
    const auto by_paths = [&] {
        return aim.ways != Ways::but_paths && load.a_link <= heavy_load &&
               carry_by_paths(links, excess, moved, ends, work_for_paths * n, effort);
    };
    const bool simplex_first = flat_trees && load.at_group > few_links && load.a_link > light_load;
    if (by_prices() || (simplex_first && by_simplex()) || by_paths() || (!simplex_first && by_simplex()))
        return Solved::exactly;
    // From finer units on, flows are best ones of coarser units, which cost scaling soon ends.
    if (aim.ways == Ways::but_scaling && aim.first > 0) return Solved::given_up;
    check(scale_costs(links, excess, moved, aim.first, aim.last, effort), "excess that reaches no lack");
    return Solved::nearly;
}

} // namespace optiframe::tvcs
