#include "simplex.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <optiframe/interrupt.hpp>

namespace optiframe::tvcs {

namespace {

constexpr i32 unbounded = std::numeric_limits<i32>::max();
constexpr i64 fewest_in_block = 20;
// Elements between two groups, on average, from which on they are bundled: of many and of fewer in all.
constexpr i64 many_to_bundle = 20'000, few_in_bundle = 2, many_in_bundle = 20;
constexpr i64 beyond_all = i64{1} << 61; // costs more than any way

// No way costs more: it enters and leaves each node once, so at most the sum of the dearest link at each.
double dearest_way(std::span<const Link> links, i64 nodes) {
    Vector<double> dearest(nodes);
    for (const Link& link : links)
        for (const i32 v : {link.tail, link.head})
            dearest[v] = std::max(dearest[v], std::abs(static_cast<double>(link.cost)));
    return std::reduce(dearest.begin(), dearest.end());
}

// A spanning tree of arcs whose flow may lie between its bounds, hung from a node of its own, the root. All other
// arcs are empty: a full one is turned round. Every node begins on an arc to the root, or from it where it lacks
// something; the latter cost more than any way without them.
class Tree {
public:
    Tree(std::span<const Link> links, std::span<const i64> excess, i64 beyond)
        : nodes(static_cast<i32>(excess.size())), root(nodes), potential(nodes + 1), node(nodes + 1) {
        bundle(links);
        for (const Link& link : links) {
            if (!bundles.empty() && link.is_element()) continue;
            // A bound that is partly used is two arcs.
            if (link.room > 0) add({link.cost, link.tail, link.head}, {0, link.room, false});
            if (link.back > 0) add({-link.cost, link.head, link.tail}, {0, link.back, false});
        }
        real = static_cast<i64>(arcs.size());
        for (i32 v = 0; v < nodes; ++v) {
            const bool lacks = excess[v] < 0;
            lacks ? add({beyond, root, v}, {static_cast<i32>(-excess[v]), unbounded, false})
                  : add({0, v, root}, {static_cast<i32>(excess[v]), unbounded, false});
            potential[v] = lacks ? beyond : 0;
            node[v] = {root, static_cast<i32>(real + v), -1, v + 1 < nodes ? v + 1 : -1, v - 1, 1, lacks ? down : up};
        }
        node[root] = {-1, -1, nodes > 0 ? 0 : -1, -1, -1, 0, up};
        block = std::max(static_cast<i64>(std::sqrt(static_cast<double>(real))), fewest_in_block);
    }

    // Pivots until no arc saves anything; false where that takes too much work.
    bool solve(i64 budget) {
        if (!pivot_all(budget)) return false;
        // What is left of the arcs to and from the root carries nothing, and may cost nothing by now.
        for (i32 v = 0; v < nodes; ++v) {
            const i64 k = real + v;
            if (fill[k].flow > 0) return false;
            fill[k].room = 0;
            if (node[v].arc != k || arcs[k].cost == 0) continue;
            arcs[k].cost = 0;
            shift(v, -potential[v]);
        }
        return pivot_all(budget);
    }

    void write(std::span<Link> links, std::span<i64> potentials) const {
        std::size_t k = 2 * bundles.size();
        for (std::size_t b = 0; b < bundles.size(); ++b) {
            const i32 chosen = bundles[b].chosen + fill[2 * b].flow - fill[2 * b + 1].flow;
            for (i32 n = bundles[b].first; n < bundles[b].end; ++n) {
                Link& link = links[strand[n].link];
                link.back = n < chosen;
                link.room = 1 - link.back;
            }
        }
        for (Link& link : links) {
            if (!bundles.empty() && link.is_element()) continue;
            i32 moved = 0;
            if (link.room > 0) moved += written(k++);
            if (link.back > 0) moved -= written(k++);
            link.room -= moved;
            link.back += moved;
        }
        for (i32 v = 0; v < nodes; ++v) potentials[v] += potential[v];
    }

    i64 work = 0;

private:
    enum Way : signed char { down = -1, up = 1 }; // of the arc between a node and its parent

    struct Arc {
        i64 cost;
        i32 tail, head;
    };
    struct Fill {
        i32 flow, room; // of which `flow` is taken
        bool turned;    // as against the way it was added
    };
    struct Node {
        i32 parent, arc, child, next, before; // first child; the next one of the same parent, and the one before
        i32 depth;
        Way way;
    };

    // The elements of one group in each view, the cheapest first: of these the first are chosen. Two arcs stand for
    // them, one for the next ones that cost the same, and one back for the last.
    struct Bundle {
        i32 tail, head;
        i32 first, end, chosen;
    };
    struct Strand {
        i64 cost;
        i32 link;
        i32 begin, end; // of those that cost the same
    };

    // Where many elements lie between the same two groups; to bundle a few takes longer than to solve them.
    void bundle(std::span<const Link> links) {
        const i64 elements = std::ranges::count_if(links, &Link::is_element);
        Vector<i32> at(nodes, -1); // of each head the bundle of the last tail
        for (const Link& link : links) {
            if (!link.is_element()) continue;
            i32& b = at[link.head];
            if (b < 0 || bundles[b].tail != link.tail) {
                b = static_cast<i32>(bundles.size());
                bundles.push_back({link.tail, link.head, 0, 0, 0});
            }
            ++bundles[b].end;
            bundles[b].chosen += link.back;
        }
        const i64 least = elements >= many_to_bundle ? few_in_bundle : many_in_bundle;
        if (static_cast<i64>(bundles.size()) * least > elements) return bundles.clear();
        i32 next = 0;
        for (Bundle& each : bundles) {
            each.first = next;
            next += std::exchange(each.end, next);
            each.chosen += each.first;
        }
        strand.resize(static_cast<std::size_t>(elements));
        std::ranges::fill(at, -1);
        i32 last = -1;
        for (std::size_t k = 0; k < links.size(); ++k) {
            if (!links[k].is_element()) continue;
            i32& b = at[links[k].head];
            if (b < 0 || bundles[b].tail != links[k].tail) b = ++last;
            strand[bundles[b].end++] = {links[k].cost, static_cast<i32>(k), 0, 0};
        }
        for (const Bundle& each : bundles) {
            const auto begin = strand.begin() + each.first, end = strand.begin() + each.end;
            std::sort(begin, end, [](const Strand& one, const Strand& other) {
                return one.cost != other.cost ? one.cost < other.cost : one.link < other.link;
            });
            for (auto one = begin; one != end;) {
                auto other = one;
                while (other != end && other->cost == one->cost) ++other;
                for (auto k = one; k != other; ++k) {
                    k->begin = static_cast<i32>(one - strand.begin());
                    k->end = static_cast<i32>(other - strand.begin());
                }
                one = other;
            }
            add({}, {});
            add({}, {});
            put_arcs(static_cast<i32>(&each - bundles.data()));
        }
    }

    // The arcs of a bundle, empty: by how many are chosen.
    void put_arcs(i32 b) {
        const Bundle& of = bundles[b];
        const bool next = of.chosen < of.end, last = of.chosen > of.first;
        arcs[2 * b] = {next ? strand[of.chosen].cost : beyond_all, of.tail, of.head};
        fill[2 * b] = {0, next ? strand[of.chosen].end - of.chosen : 0, false};
        arcs[2 * b + 1] = {last ? -strand[of.chosen - 1].cost : beyond_all, of.head, of.tail};
        fill[2 * b + 1] = {0, last ? of.chosen - strand[of.chosen - 1].begin : 0, false};
    }

    void add(const Arc& arc, const Fill& filled) {
        arcs.push_back(arc);
        fill.push_back(filled);
    }

    // Units on an arc the way it was added.
    i32 written(std::size_t k) const { return fill[k].turned ? fill[k].room - fill[k].flow : fill[k].flow; }

    bool pivot_all(i64 budget) {
        i64 scanned = 0; // since the last pivot
        while (scanned < real) {
            i64 best = 0, entering = -1;
            const i64 end = std::min(at + block, real);
            for (i64 k = at; k < end; ++k) {
                const i64 cost = arcs[k].cost + potential[arcs[k].tail] - potential[arcs[k].head];
                if (cost < best) { // those in the tree cost 0
                    best = cost;
                    entering = k;
                }
            }
            scanned += end - at;
            work += end - at;
            pace.after(end - at);
            at = end == real ? 0 : end;
            if (entering < 0) continue;
            pivot(static_cast<i32>(entering));
            scanned = 0;
            if (work > budget) return false;
        }
        return true;
    }

    // Takes an arc into the tree: units go round by it, and what they fill or empty last leaves the tree, so that
    // every node may still send a unit to the root (Cunningham 1976), which keeps pivots from going in circles.
    void pivot(i32 entering) {
        const i32 first = arcs[entering].tail, second = arcs[entering].head;
        i32 units = fill[entering].room, leaving = -1, u = first, v = second;
        bool on_first = false;
        while (u != v) {
            ++work;
            if (node[u].depth >= node[v].depth) {
                const Fill& of = fill[node[u].arc];
                const i32 fits = node[u].way == up ? of.flow : of.room - of.flow;
                if (fits < units) {
                    units = fits;
                    leaving = u;
                    on_first = true;
                }
                u = node[u].parent;
            } else {
                const Fill& of = fill[node[v].arc];
                const i32 fits = node[v].way == down ? of.flow : of.room - of.flow;
                if (fits <= units) {
                    units = fits;
                    leaving = v;
                    on_first = false;
                }
                v = node[v].parent;
            }
        }
        if (units > 0) {
            const i32 join = u;
            fill[entering].flow += units;
            for (u = first; u != join; u = node[u].parent) fill[node[u].arc].flow -= node[u].way * units;
            for (v = second; v != join; v = node[v].parent) fill[node[v].arc].flow += node[v].way * units;
        }
        if (leaving < 0) return turn(entering);
        if (fill[node[leaving].arc].flow > 0) turn(node[leaving].arc);
        const i32 below = on_first ? first : second, above = on_first ? second : first;
        hang(below, above, entering, leaving);
        shift(below, potential[above] - potential[below] - node[below].way * arcs[entering].cost);
    }

    // A full arc becomes an empty one the other way.
    void turn(i32 k) {
        if (k < 2 * static_cast<i32>(bundles.size())) {
            bundles[k / 2].chosen += k % 2 == 0 ? fill[k].flow : -fill[k].flow;
            return put_arcs(k / 2);
        }
        Arc& arc = arcs[k];
        arc = {-arc.cost, arc.head, arc.tail};
        fill[k].flow = 0;
        fill[k].turned = !fill[k].turned;
    }

    // Hangs the part of the tree below `leaving` by another of its nodes, on an arc to a node of the rest.
    void hang(i32 below, i32 above, i32 entering, i32 leaving) {
        i32 v = below, parent = above, arc = entering;
        Way way = arcs[entering].tail == below ? up : down;
        while (true) {
            const Node old = node[v];
            take_off(v);
            put(v, parent);
            node[v].arc = arc;
            node[v].way = way;
            if (v == leaving) return;
            parent = v;
            arc = old.arc;
            way = old.way == up ? down : up;
            v = old.parent;
        }
    }

    void take_off(i32 v) {
        const Node& of = node[v];
        (of.before >= 0 ? node[of.before].next : node[of.parent].child) = of.next;
        if (of.next >= 0) node[of.next].before = of.before;
    }

    void put(i32 v, i32 parent) {
        Node& of = node[v];
        of.parent = parent;
        of.before = -1;
        of.next = node[parent].child;
        if (of.next >= 0) node[of.next].before = v;
        node[parent].child = v;
    }

    // Moves the potentials at a node and below, and writes how deep they lie.
    void shift(i32 top, i64 by) {
        i32 v = top;
        while (true) {
            ++work;
            potential[v] += by;
            node[v].depth = node[node[v].parent].depth + 1;
            if (node[v].child >= 0) {
                v = node[v].child;
                continue;
            }
            while (v != top && node[v].next < 0) v = node[v].parent;
            if (v == top) return;
            v = node[v].next;
        }
    }

    const i32 nodes, root;
    Vector<i64> potential;
    Vector<Node> node;
    Vector<Arc> arcs;
    Vector<Fill> fill;
    Vector<Bundle> bundles; // their arcs come first
    Vector<Strand> strand;
    i64 real, block, at = 0;
    interrupt::Pace pace;
};

} // namespace

bool solve_by_simplex(std::span<Link> links, std::span<i64> excess, std::span<i64> potential, i64 budget,
                      Effort& effort) {
    const double dearest = dearest_way(links, static_cast<i64>(excess.size()));
    if (dearest > 0x1p59) return false; // sums of three ways stay below `beyond_all`
    const bool balanced = std::ranges::all_of(excess, [](i64 each) { return each == 0; });
    Tree tree(links, excess, balanced ? 0 : static_cast<i64>(dearest) + 1);
    const bool done = tree.solve(budget);
    effort.arcs += tree.work;
    if (!done) return false;
    tree.write(links, potential);
    std::ranges::fill(excess, 0);
    return true;
}

bool carry_by_simplex(Flow& flow, const List& list, std::span<u8> chosen, i64 budget, Effort& effort) {
    Vector<Link> links;
    links.reserve(list.size() + flow.nodes());
    const auto add = [&](i64 tail, i64 head, double worth, i64 room, i64 back, i64 element) {
        const i64 cost = static_cast<i64>(flow.phi[tail] - flow.phi[head] - worth);
        links.push_back({static_cast<i32>(tail), static_cast<i32>(head), static_cast<i32>(room),
                         static_cast<i32>(back), cost, static_cast<i32>(element)});
    };
    for (i64 i = 0; i < flow.rows; ++i)
        for (i64 k = list.first[i]; k < list.first[i + 1]; ++k)
            if (list.worth[k] > 0)
                add(i, flow.rows + list.column[k], list.worth[k], !chosen[k], chosen[k], k);
    for (i64 i = 0; i < flow.rows; ++i)
        add(flow.source, i, 0.0, flow.bounds.rows[i] - flow.fed[i], flow.fed[i], -1);
    for (i64 j = 0; j < flow.columns; ++j)
        add(flow.rows + j, flow.sink, 0.0, flow.bounds.columns[j] - flow.drained[j], flow.drained[j], -1);
    add(flow.sink, flow.source, 0.0, flow.bounds.total - flow.back, flow.back, -1);
    Vector<i64> moved(flow.nodes());
    if (!solve_by_simplex(links, flow.excess, moved, budget, effort)) return false;
    for (i64 v = 0; v < flow.nodes(); ++v) flow.phi[v] += static_cast<double>(moved[v]);
    for (const Link& link : links) {
        if (link.element >= 0)
            chosen[link.element] = static_cast<u8>(link.back);
        else if (link.tail == flow.source)
            flow.fed[link.head] = link.back;
        else if (link.head == flow.sink)
            flow.drained[link.tail - flow.rows] = link.back;
        else
            flow.back = link.back;
    }
    return true;
}

} // namespace optiframe::tvcs
