#include "settle.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

#include <optiframe/arrays.hpp>
#include <optiframe/interrupt.hpp>

#include "flow.hpp"
#include "numbers.hpp"
#include "parts.hpp"

namespace optiframe::tvcs {

namespace {

// Phases of cost scaling go on until so many times the nodes are between their width and the largest cost.
constexpr i64 closer = i64{1} << 24;

constexpr std::size_t most_links = std::size_t{1} << 30; // each is two halves, which 32 bits number

// Costs have so many bits at most: sums over three times all nodes stay below 2^61.
int bits_for(i64 nodes) { return std::min(50, 58 - static_cast<int>(std::bit_width(static_cast<u64>(nodes)))); }
// As many as smoothing takes. Sums stay small, as a path that passes none of a few groups twice has few links.
constexpr int bits_for_few_groups = 46;

// The elements that are open, and the bounds that may be used more or less, as links between groups.
class Open {
public:
    Open(const Layout& layout, const Point& point, int unit, std::span<u8> state, const Prices& prices,
         Ways ways, Effort& effort)
        : layout(layout), point(point), state(state), ways(ways), effort(effort),
          rows(layout.rows()), columns(layout.columns()),
          source(rows + columns), sink(source + 1), unit(unit), potential(sink + 1), excess(sink + 1),
          node(sink + 1) {
        for (i64 v = 0; v <= sink; ++v) node[v] = static_cast<i32>(v);
        const u64 y0 = static_cast<u64>(prices.y0);
        for (i64 i = 0; i < rows; ++i) potential[i] = y0 + static_cast<u64>(prices.u[i]);
        for (i64 j = 0; j < columns; ++j) potential[rows + j] = -static_cast<u64>(prices.w[j]);
        potential[source] = y0;
    }

    void add_element(i64 k, i64 row) {
        const bool chosen = state[k] & chosen_bit;
        // Read once, as another thread may change it: what is no worth by now, or too large a one, is the least.
        const double given = point.values[layout.place(k)], value = point.squared ? std::abs(given) : given;
        links.push_back({static_cast<i32>(row_node(row)), static_cast<i32>(column_node(layout.column[k])), !chosen,
                         chosen, 0, static_cast<i32>(elements.size())});
        elements.push_back(static_cast<i32>(k));
        values.push_back(value > 0 && value <= point.top ? value : std::numeric_limits<double>::denorm_min());
    }

    // The bounds whose prices are at most `within`, used as the counts say; what they are used beside is excess.
    void add_bounds(const Flow& flow, const Prices& prices, double within) {
        const Bounds bounds = layout.bounds();
        const auto add = [&](i64 tail, i64 head, i64 bound, i64 used, double price) {
            if (bound > 0 && price <= within)
                links.push_back({static_cast<i32>(tail), static_cast<i32>(head), static_cast<i32>(bound - used),
                                 static_cast<i32>(used), 0, -1});
        };
        for (i64 i = 0; i + 1 < rows; ++i) add(source, i, bounds.rows[i], flow.fed[i], prices.u[i]);
        for (i64 j = 0; j + 1 < columns; ++j) add(rows + j, sink, bounds.columns[j], flow.drained[j], prices.w[j]);
        add(sink, source, bounds.total, flow.back, prices.y0);
        check(links.size() < most_links, "more than 2^30 elements tie, or nearly do: too many to tell apart");
        std::ranges::copy(flow.excess, excess.begin());
        excess[source] += std::exchange(excess[rows - 1], 0);
        excess[sink] += std::exchange(excess[source - 1], 0);
    }

    // Leaves links on cycles only, and the nodes that they join; whether an element is among them.
    bool prune() {
        const Vector<i32> part = strong_parts(links, static_cast<i64>(potential.size()));
        Vector<i32> now(potential.size(), -1);
        i32 nodes = 0;
        std::size_t kept = 0;
        bool some = false;
        for (const Link& link : links) {
            if (part[link.tail] != part[link.head]) continue;
            for (const i32 v : {link.tail, link.head})
                if (now[v] < 0) {
                    now[v] = nodes++;
                }
            links[kept] = link;
            links[kept].tail = now[link.tail];
            links[kept].head = now[link.head];
            some |= link.is_element();
            ++kept;
        }
        links.resize(kept);
        Vector<u64> potentials(nodes);
        Vector<i32> originals(nodes);
        for (std::size_t v = 0; v < now.size(); ++v)
            if (now[v] >= 0) {
                potentials[now[v]] = potential[v];
                originals[now[v]] = node[v];
            }
        potential = std::move(potentials);
        node = std::move(originals);
        excess.assign(nodes, 0);
        return some;
    }

    // Makes costs in the finest unit in which they fit; false where there is nothing left that decides.
    bool measure() {
        constexpr int none = std::numeric_limits<int>::min();
        int top = none;
        for (const Link& link : links) {
            const i64 cost = cost_of(link);
            const int bits = static_cast<int>(std::bit_width(static_cast<u64>(std::abs(cost))));
            if (cost != 0) top = std::max(top, unit + bits + 1);
            if (link.is_element()) top = std::max(top, rest_below(link.element));
        }
        if (top == none || unit <= ties[1] - static_cast<int>(2 * std::bit_width(potential.size())) - 2) return false;
        const i64 nodes = static_cast<i64>(potential.size());
        const int bits = suit_few_groups(links, ends()) ? bits_for_few_groups : bits_for(nodes);
        count_in(std::min(unit, top - bits));
        return true;
    }

    void count_in(int finer) {
        const int shift = unit - finer;
        for (u64& each : potential) each = shift < 64 ? each << shift : 0;
        unit = finer;
        for (Link& link : links) link.cost = cost_of(link);
    }

    // Makes the flow nearly best for these costs, and leaves the links that may still change. False: it is given up.
    bool solve(i64 first, Vector<double>* raised, int coarse) {
        const i64 nodes = static_cast<i64>(potential.size());
        // So near the best that what may still change costs less than a few times the nodes less.
        const i64 near = std::max<i64>((i64{1} << bits_for(nodes)) / (closer * nodes), 1);
        const i64 last = static_cast<i64>(std::bit_floor(static_cast<std::uint64_t>(near)));
        Vector<i64> moved(nodes);
        const Solved how = best_flow(links, excess, moved, ends(), {layout.total_binds, ways, first, last}, effort);
        if (how == Solved::given_up) return false;
        for (i64 v = 0; v < nodes; ++v) {
            potential[v] += static_cast<u64>(moved[v]);
            if (raised) (*raised)[node[v]] += std::ldexp(static_cast<double>(moved[v]), unit - coarse);
        }
        // A cycle passes no node twice, and numbers are rounded down three times for each of its elements.
        const i64 by_phases = how == Solved::nearly ? nodes * last : 0;
        const i64 within = by_phases + 3 * std::min(nodes, elements_on_cycle(rows, columns)) + 1;
        std::erase_if(links, [&](const Link& link) {
            if (link.is_element()) state[elements[link.element]] = listed_bit | (link.back > 0 ? chosen_bit : 0);
            const i64 cost = link.cost + moved[link.tail] - moved[link.head];
            return cost > within || cost < -within;
        });
        ++effort.levels;
        return true;
    }

    // Where the numbers that break ties are counted.
    void break_ties(int place) {
        ties[0] = place;
        ties[1] = place - bits_of_sum();
    }

    // Goes on in finer units until no element is left.
    void finish(Vector<double>* raised, int coarse, std::optional<int> place = {}) {
        if (!prune()) return;
        if (!place) {
            int lowest = std::numeric_limits<int>::max();
            for (const double value : values) lowest = std::min(lowest, worth_of(value, point.squared).lowest());
            place = lowest - bits_of_sum();
        }
        break_ties(*place);
        do {
            if (!measure()) return;
            solve(0, raised, coarse);
        } while (prune());
    }

private:
    Ends ends() const { return {node, rows, columns}; }

    // What is in no group hangs on the source or the sink itself.
    i64 row_node(i64 row) const { return row + 1 < rows ? row : source; }
    i64 column_node(i64 column) const { return column + 1 < columns ? rows + column : sink; }

    // Of tie breaks.
    int bits_of_sum() const { return 50 + static_cast<int>(std::bit_width(elements.size())) + 1; }

    // What decides between supports, the cost of a link at this unit: the worth, then what breaks ties.
    i64 cost_of(const Link& link) const {
        u64 cost = potential[link.tail] - potential[link.head];
        if (link.is_element()) {
            cost -= worth_of(values[link.element], point.squared).in_units(unit);
            const i64 place = layout.place(elements[link.element]);
            if (unit < ties[0] + 52) cost -= first_tie_break(place, layout.elements(), ties[0]).in_units(unit);
            if (unit < ties[1] + 52) cost -= second_tie_break(place, ties[1]).in_units(unit);
        }
        return static_cast<i64>(cost);
    }
    // The place above the highest bit that this unit leaves out.
    int rest_below(i32 at) const {
        const int rest = worth_of(values[at], point.squared).rest_below(unit);
        if (rest > std::numeric_limits<int>::min()) return rest;
        const i64 place = layout.place(elements[at]);
        const int first = first_tie_break(place, layout.elements(), ties[0]).rest_below(unit);
        return first > std::numeric_limits<int>::min() ? first : second_tie_break(place, ties[1]).rest_below(unit);
    }

    const Layout& layout;
    const Point& point;
    std::span<u8> state;
    const Ways ways;
    Effort& effort;
    Vector<Link> links;
    Vector<i32> elements; // numbers by rows of those that were open at first,
    Vector<double> values; // and their values
    const i64 rows, columns, source, sink;
    int unit; // costs and potentials are counted in 2^unit,
    Vector<u64> potential; // these modulo 2^64: only differences that are small are read
    Vector<i64> excess;
    Vector<i32> node; // of the whole graph
    int ties[2] = {-100'000, -100'000}; // the places of what breaks ties: below all worths
};

Flow used(const Layout& layout, std::span<const u8> state, const Prices& prices, bool as_prices) {
    Counts counts{Vector<i64>(layout.rows()), Vector<i64>(layout.columns())};
    for (i64 i = 0; i < layout.rows(); ++i)
        for (i64 k = layout.first[i]; k < layout.first[i + 1]; ++k) {
            counts.rows[i] += state[k] & chosen_bit;
            counts.columns[layout.column[k]] += state[k] & chosen_bit;
        }
    Flow flow(layout.bounds(), as_prices ? prices : no_prices(layout.rows(), layout.columns()));
    flow.start(counts);
    return flow;
}

// Whether the open elements and the bounds that may be used more or less join no groups in a ring. Then nothing can
// change, which is so after most projections of few elements, and takes less time to find out than what changes.
bool are_forest(const Layout& layout, std::span<const OpenElement> elements, const Prices& prices, double within) {
    const i32 rows = static_cast<i32>(layout.rows()), columns = static_cast<i32>(layout.columns());
    const i32 source = rows + columns, sink = source + 1;
    Vector<i32> above(sink + 1); // of each node one of its tree, at last the root
    std::iota(above.begin(), above.end(), 0);
    const auto root = [&](i32 v) {
        while (above[v] != v) v = above[v] = above[above[v]];
        return v;
    };
    const auto joins = [&](i32 u, i32 v) {
        u = root(u);
        v = root(v);
        above[u] = v;
        return u != v;
    };
    bool forest = prices.y0 > within || joins(source, sink);
    for (i32 i = 0; i < rows && forest; ++i) forest = prices.u[i] > within || joins(source, i);
    for (i32 j = 0; j < columns && forest; ++j) forest = prices.w[j] > within || joins(rows + j, sink);
    for (std::size_t k = 0; k < elements.size() && forest; ++k)
        forest = joins(elements[k].row, rows + layout.column[elements[k].element]);
    return forest;
}

// With one view alone, the open elements are taken one by one where there is room: those of greatest worth first, and
// of equal ones the first.
void settle_one_view(const Layout& layout, const Point& point, std::span<const OpenElement> elements,
                     std::span<u8> state) {
    struct Ranked {
        double size;
        i32 place, element, group;
    };
    const bool by_rows = layout.columns() == 1;
    Vector<Ranked> ranked;
    ranked.reserve(elements.size());
    for (const auto& [k, row] : elements) {
        state[k] &= static_cast<u8>(~chosen_bit);
        // Read once, as another thread may change it: what is no number by now comes last.
        const i32 place = static_cast<i32>(layout.place(k));
        const double given = point.values[place], size = point.squared ? std::abs(given) : given;
        ranked.push_back({size > 0 ? size : 0.0, place, k, by_rows ? row : layout.column[k]});
    }
    Vector<i64> room = by_rows ? layout.row_bounds : layout.column_bounds;
    i64 left = layout.total;
    for (i64 i = 0; i < layout.rows(); ++i)
        for (i64 k = layout.first[i]; k < layout.first[i + 1]; ++k) {
            const i64 chosen = state[k] & chosen_bit;
            room[by_rows ? i : layout.column[k]] -= chosen;
            left -= chosen;
        }
    std::ranges::sort(ranked, [](const Ranked& one, const Ranked& other) {
        return one.size != other.size ? one.size > other.size : one.place < other.place;
    });
    for (const Ranked& each : ranked) {
        if (left == 0) break;
        if (room[each.group] == 0) continue;
        state[each.element] |= chosen_bit;
        --room[each.group];
        --left;
    }
}

} // namespace

Vector<OpenElement> open_elements(const Elements& all, const Prices& prices) {
    Vector<OpenElement> found;
    const double within = all.within();
    interrupt::Pace pace;
    for (i64 i = 0; i < all.view.groups(); ++i) {
        if (all.open[i] == 0) continue;
        pace.after(all.view.first[i + 1] - all.view.first[i]);
        const double threshold = prices.y0 + prices.u[i];
        for (i64 k = all.view.first[i]; k < all.view.first[i + 1]; ++k) {
            const double z = all.whole[k] - threshold - prices.w[all.view.other[k]];
            if (std::abs(z) <= within && all.whole[k] > 0)
                found.push_back({static_cast<i32>(k), static_cast<i32>(i)});
        }
    }
    return found;
}

void settle(const Layout& layout, const Point& point, int unit, std::optional<int> ties,
            std::span<const OpenElement> elements, std::span<u8> state, const Prices& prices, double within,
            Effort& effort) {
    if (are_forest(layout, elements, prices, within)) return;
    if (std::min(layout.rows(), layout.columns()) == 1) return settle_one_view(layout, point, elements, state);
    Open open(layout, point, unit, state, prices, Ways::all, effort);
    for (const OpenElement& each : elements) open.add_element(each.element, each.row);
    open.add_bounds(used(layout, state, prices, false), prices, within);
    open.finish(nullptr, unit, ties);
}

bool settle_all(const Layout& layout, const Point& point, int unit, std::optional<int> ties, Ways ways,
                const Elements& all, double limit, Prices& prices, Effort& effort) {
    const i64 rows = layout.rows(), columns = layout.columns(), nodes = rows + columns + 2;
    const int coarse = std::max(unit, unit + 50 - bits_for(nodes));
    const double step = std::ldexp(1.0, coarse - unit);
    const auto rounded = [step](double price) { return std::rint(price / step); };
    prices.y0 = rounded(prices.y0);
    std::ranges::transform(prices.u, prices.u.begin(), rounded);
    std::ranges::transform(prices.w, prices.w.begin(), rounded);
    Open open(layout, point, coarse, all.state, prices, ways, effort);
    for (i64 i = 0; i < rows; ++i)
        for (i64 k = layout.first[i]; k < layout.first[i + 1]; ++k)
            if (all.whole[k] > 0) open.add_element(k, i);
    open.add_bounds(used(layout, all.state, prices, true), prices, inf);
    Vector<double> phi(nodes);
    for (i64 i = 0; i < rows; ++i) phi[i] = prices.y0 + prices.u[i];
    for (i64 j = 0; j < columns; ++j) phi[rows + j] = -prices.w[j];
    phi[rows + columns] = prices.y0;
    if (ties) open.break_ties(*ties);
    open.count_in(coarse);
    // With prices of worths that are alike, from the largest saving that they leave.
    const i64 first = ties ? 0 : std::max<i64>(static_cast<i64>(std::ldexp(limit, unit - coarse - 9)), 1);
    if (!open.solve(first, &phi, coarse)) return false;
    open.finish(&phi, coarse, ties);
    for (double& each : phi) each = std::rint(each * step);
    const double source = phi[rows + columns], sink = phi[rows + columns + 1];
    for (i64 i = 0; i + 1 < rows; ++i) prices.u[i] = std::clamp(phi[i] - source, 0.0, limit);
    for (i64 j = 0; j + 1 < columns; ++j) prices.w[j] = std::clamp(sink - phi[rows + j], 0.0, limit);
    prices.y0 = std::clamp(source - sink, 0.0, limit);
    return true;
}

} // namespace optiframe::tvcs
