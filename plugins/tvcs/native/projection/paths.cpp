#include "paths.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <tuple>
#include <utility>

#include <optiframe/interrupt.hpp>

namespace optiframe::tvcs {

namespace {

constexpr i64 part_to_repair = 4;   // of the budget, before source and sink are even: more tells of long searches
constexpr i64 looks_to_drain = 4;   // in searches, times all links, before arcs of length 0 are followed from all nodes
constexpr i64 few_units = 3;        // between source and sink, so many are carried one by one
constexpr double most_ahead = 8.0;  // times the last move of the source
constexpr i64 highest = i64{1} << 58; // potential of the source: sums of a few are far from 2^63

class Paths : LinkGraph {
public:
    Paths(std::span<const Link> links, std::span<const i64> excess, const Ends& ends, i64 budget)
        : LinkGraph(links, static_cast<i64>(excess.size())), ends_of(ends), nodes(static_cast<i64>(excess.size())),
          most(budget), node(nodes), depth(nodes) {
        for (i64 v = 0; v < nodes; ++v) {
            if (ends.node[v] == ends.source()) source = v;
            if (ends.node[v] == ends.sink()) sink = v;
            node[v].excess = excess[v];
        }
        i64 next = source >= 0 ? first[source] : 0;
        for (const Link& link : links) {
            if (link.element < 0 && link.tail == sink) total = next;
            next += link.tail == source || link.head == source;
        }
    }

    bool solve() {
        for (i64 v = 0; v < nodes; ++v) fill(v);
        const i64 all = std::exchange(most, most / part_to_repair);
        if (!repair()) return false;
        most = all;
        if (source >= 0 && sink >= 0 && !even_out()) return false;
        return std::ranges::all_of(node, [](const Node& each) { return each.excess == 0; });
    }

    void write(std::span<Link> links, std::span<i64> excess, std::span<i64> potential) {
        write_rooms(links);
        for (i64 v = 0; v < nodes; ++v) {
            excess[v] = 0;
            potential[v] += node[v].potential;
        }
    }

    i64 work = 0; // looks at arcs

private:
    struct Node {
        i64 potential = 0, excess = 0;
        i64 distance = far; // in a search
        i32 by = -1;        // the half by which it was reached
        bool done = false;
    };

    static constexpr i64 far = std::numeric_limits<i64>::max();

    i64 reduced(i64 v, const Half& arc) const { return arc.cost + node[v].potential - node[arc.head].potential; }

    bool is_hub(i64 v) const { return v == source || v == sink; }

    // Whether a unit may go from v along an arc or, where paths are followed backwards, come to v against it.
    template <bool forward> static i64 units_on(const Half& arc) { return forward ? arc.room : arc.both - arc.room; }
    template <bool forward> static bool is_open(const Half& arc) { return units_on<forward>(arc) > 0; }
    template <bool forward> i64 length(i64 v, const Half& arc) const {
        return forward ? reduced(v, arc) : -reduced(v, arc);
    }
    // Of a node that is not a hub: whether paths begin there, and whether they end there.
    template <bool forward> bool begins(i64 v) const { return forward ? node[v].excess > 0 : node[v].excess < 0; }
    template <bool forward> bool ends(i64 v) const { return begins<!forward>(v); }

    // Units along an arc of v, or against it.
    template <bool forward> void push(i64 v, i64 k, i64 units) {
        const i64 by = forward ? units : -units;
        Half& arc = half[k];
        arc.room -= static_cast<i32>(by);
        half[arc.other].room += static_cast<i32>(by);
        node[v].excess -= by;
        node[arc.head].excess += by;
    }

    double excess_left() const {
        double found = 0.0;
        for (i64 v = 0; v < nodes; ++v)
            if (!is_hub(v)) found += std::abs(static_cast<double>(node[v].excess));
        return found;
    }

    void look(i64 arcs) {
        work += arcs;
        pace.after(arcs);
    }
    void look_at(i64 v) { look(first[v + 1] - first[v]); }

    // Makes the flow at a node agree with the potentials.
    void fill(i64 v) {
        look_at(v);
        for (i64 k = first[v]; k < first[v + 1]; ++k) {
            const i64 cost = reduced(v, half[k]);
            if (cost < 0 && half[k].room > 0) push<true>(v, k, half[k].room);
            if (cost > 0 && half[k].room < half[k].both) push<false>(v, k, half[k].both - half[k].room);
        }
    }

    // Carries what groups have too much of or lack to or from others or the hubs.
    bool repair() {
        drain_all();
        const double all = excess_left();
        const i64 began = work;
        i64 drained = work;
        carried = 0;
        for (i64 v = 0; v < nodes; ++v) {
            if (is_hub(v)) continue;
            while (node[v].excess != 0) {
                if (!(node[v].excess > 0 ? search<true>(v) : search<false>(v))) return false;
                if (is_slow(work - began, most, static_cast<double>(carried), all)) return false;
                if (work - drained <= looks_to_drain * static_cast<i64>(half.size() / 2)) continue;
                drain_all();
                drained = work;
            }
        }
        return true;
    }

    // Moves the potential of the source until nothing is left there and at the sink. Between a place where too much is
    // left and one where too little is, the next is in proportion; beside one alone, it goes on as the last move did.
    bool even_out() {
        i64 beyond[2] = {far, far}, left[2] = {0, 0}; // how far it is to either of these, and the units left there
        i64 moved = 0, gone = 0;                      // by the last move
        bool tied = false;                            // maybe, at a place that the last move passed or stopped before
        while (node[source].excess != 0) {
            const i64 before = node[source].potential, units = std::abs(node[source].excess);
            const bool down = node[source].excess > 0;
            if (work > most || std::abs(before) > highest || units != std::abs(node[sink].excess)) return false;
            left[down] = units;
            i64& there = beyond[!down];
            const i64 step = there != far             ? share(there, units, units + left[!down])
                             : moved > 0 && gone > 0 ? share(moved, units, gone)
                                                      : far;
            const bool by_path = units <= few_units || tied;
            if (!(down ? move_source<true>(by_path, step) : move_source<false>(by_path, step))) return false;
            moved = std::abs(node[source].potential - before);
            gone = by_path ? 0 : units - std::abs(node[source].excess);
            tied = !by_path && (gone == 0 || (node[source].excess > 0) != down);
            if (there != far) there = std::max<i64>(there - moved, 0);
            beyond[down] = (node[source].excess > 0) == down ? 0 : moved;
        }
        return true;
    }

    static i64 share(i64 whole, i64 part, i64 of) {
        const double by = std::min(static_cast<double>(part) / static_cast<double>(of), most_ahead);
        return static_cast<i64>(std::min(static_cast<double>(whole) * by, static_cast<double>(highest)));
    }

    // By a step, and with it rows that are less than that apart; `far`: as the shortest ways to the sink suggest. Or to
    // the next place where a path of length 0 leads to the sink.
    template <bool forward> bool move_source(bool by_path, i64 step) {
        const i64 units = std::abs(node[source].excess);
        if (step == far && !by_path) step = first_step<forward>(units);
        if (total >= 0 && is_open<forward>(half[total])) {
            const i64 direct = length<forward>(source, half[total]);
            if (direct == 0) {
                push<forward>(source, total, std::min(units, units_on<forward>(half[total])));
                return true;
            }
            step = std::min(step, direct);
        }
        if (by_path || step == far) {
            if (!search<forward>(source)) return false;
            drain<forward>(true);
            return true;
        }
        if (step == 0) {
            drain<forward>(true);
            if (std::abs(node[source].excess) < units) return true;
            step = 1;
        }
        const i64 by = forward ? -step : step;
        moving.clear();
        for (i64 k = first[source]; k < first[source + 1]; ++k) {
            const i64 u = half[k].head, apart = length<forward>(source, half[k]);
            if (ends_of.node[u] >= ends_of.rows || !is_open<forward>(half[k]) || apart >= step) continue;
            node[u].potential += by + (forward ? apart : -apart);
            moving.push_back(static_cast<i32>(u));
        }
        node[source].potential += by;
        fill(source);
        for (const i32 v : moving) fill(v);
        return repair();
    }

    // How long a way from source to sink by at most one element is, after so many shorter ones.
    template <bool forward> i64 first_step(i64 units) {
        Vector<i64>& to_sink = distances;
        to_sink.assign(nodes, far);
        for (i64 k = first[sink]; k < first[sink + 1]; ++k)
            if (is_open<!forward>(half[k])) to_sink[half[k].head] = length<!forward>(sink, half[k]);
        to_sink[sink] = 0;
        lengths.clear();
        for (i64 k = first[source]; k < first[source + 1]; ++k) {
            if (k == total || !is_open<forward>(half[k])) continue;
            const i64 v = half[k].head, from_source = length<forward>(source, half[k]);
            if (v == sink) lengths.push_back(from_source);
            if (v == sink) continue;
            look_at(v);
            for (i64 j = first[v]; j < first[v + 1]; ++j)
                if (is_open<forward>(half[j]) && half[j].head != source && to_sink[half[j].head] != far)
                    lengths.push_back(from_source + length<forward>(v, half[j]) + to_sink[half[j].head]);
        }
        if (lengths.empty()) return far;
        const i64 rank = std::min(units, static_cast<i64>(lengths.size()) - 1);
        std::ranges::nth_element(lengths, lengths.begin() + rank);
        return lengths[rank];
    }

    // Carries units along a shortest path from a node with an excess to the nearest lack or hub, or backwards.
    template <bool forward> bool search(i64 start) {
        if (work > most) return false;
        const auto is_end = [&](i64 v) { return v != start && (is_hub(v) || ends<forward>(v)); };
        heap.clear();
        reached.assign(1, static_cast<i32>(start));
        level.assign(1, static_cast<i32>(start));
        node[start].distance = 0;
        i64 end = -1, d = 0, limit = far; // what is not nearer than an end is of no use
        while (true) {
            i64 v;
            if (!level.empty()) { // as near as the last one
                v = level.back();
                level.pop_back();
            } else if (!heap.empty()) {
                std::ranges::pop_heap(heap, std::greater<>());
                std::tie(d, v) = heap.back();
                heap.pop_back();
            } else {
                break;
            }
            if (node[v].done) continue;
            node[v].done = true;
            if (is_end(v)) {
                end = v;
                break;
            }
            look_at(v);
            for (i64 k = first[v]; k < first[v + 1]; ++k) {
                const Half& arc = half[k];
                if (!is_open<forward>(arc)) continue;
                const i64 through = d + length<forward>(v, arc);
                Node& to = node[arc.head];
                if (through >= to.distance || through >= limit) continue;
                if (to.distance == far) reached.push_back(arc.head);
                to.distance = through;
                to.by = static_cast<i32>(k);
                if (is_end(arc.head)) limit = through;
                if (through == d) {
                    level.push_back(arc.head);
                } else {
                    heap.emplace_back(through, arc.head);
                    std::ranges::push_heap(heap, std::greater<>());
                }
            }
        }
        if (end >= 0) {
            const i64 reach = node[end].distance;
            i64 units = std::abs(node[start].excess);
            if (is_hub(start) || !is_hub(end)) units = std::min(units, std::abs(node[end].excess));
            for (i64 v = end; v != start; v = half[half[node[v].by].other].head)
                units = std::min(units, units_on<forward>(half[node[v].by]));
            carried += is_hub(end) ? units : 2 * units;
            for (i64 v = end; v != start;) {
                const i64 k = node[v].by;
                v = half[half[k].other].head;
                push<forward>(v, k, units);
            }
            for (const i32 v : reached)
                if (node[v].distance < reach) node[v].potential -= (forward ? 1 : -1) * (reach - node[v].distance);
        }
        for (const i32 v : reached) {
            node[v].distance = far;
            node[v].done = false;
        }
        return end >= 0;
    }

    void drain_all() {
        drain<true>(false);
        drain<false>(false);
    }

    // Carries as much as arcs of length zero allow, from all nodes with an excess, or from the source to the sink; or
    // backwards (blocking flows by levels).
    template <bool forward> void drain(bool hubs) {
        const auto wants = [&](i64 v) { return is_hub(v) == hubs && begins<forward>(v); };
        const auto takes = [&](i64 v) { return is_hub(v) == hubs ? ends<forward>(v) : !hubs; };
        const auto is_level = [&](i64 v, const Half& arc) { return is_open<forward>(arc) && reduced(v, arc) == 0; };
        constexpr i32 none = std::numeric_limits<i32>::max();
        while (work <= most) {
            look(nodes / 4);
            reached.clear();
            for (i64 v = 0; v < nodes; ++v) {
                depth[v] = none;
                if (!wants(v)) continue;
                depth[v] = 0;
                reached.push_back(static_cast<i32>(v));
            }
            i32 last = none; // the depth of the nearest ends
            for (std::size_t next = 0; next < reached.size() && depth[reached[next]] < last; ++next) {
                const i64 v = reached[next];
                look_at(v);
                for (i64 k = first[v]; k < first[v + 1]; ++k) {
                    const i64 u = half[k].head;
                    if (depth[u] != none || !is_level(v, half[k])) continue;
                    depth[u] = depth[v] + 1;
                    reached.push_back(static_cast<i32>(u));
                    if (takes(u)) last = depth[u];
                }
            }
            if (last == none) return;
            rewind();
            for (const i32 start : reached) {
                if (depth[start] > 0) break;
                level.assign(1, start);
                while (wants(start) && !level.empty()) {
                    const i64 v = level.back();
                    if (v != start && takes(v)) {
                        i64 units = std::abs(node[start].excess);
                        if (hubs || !is_hub(v)) units = std::min(units, std::abs(node[v].excess));
                        level.pop_back();
                        for (const i32 u : level) units = std::min(units, units_on<forward>(half[at[u]]));
                        for (const i32 u : level) push<forward>(u, at[u], units);
                        level.assign(1, start);
                        continue;
                    }
                    i64& k = at[v];
                    const i64 from = k, end = depth[v] < last ? first[v + 1] : k;
                    while (k < end && !(depth[half[k].head] == depth[v] + 1 && is_level(v, half[k]))) ++k;
                    look(1 + k - from);
                    if (k < end) {
                        level.push_back(half[k].head);
                    } else {
                        depth[v] = none; // leads nowhere
                        level.pop_back();
                    }
                }
            }
        }
    }

    const Ends& ends_of;
    const i64 nodes;
    i64 most;        // looks at arcs
    i64 carried = 0; // of excess and lacks
    i64 source = -1, sink = -1, total = -1; // where they are there; the half at the source of the bound of all
    Vector<Node> node;
    Vector<std::pair<i64, i32>> heap; // of nodes by their distance
    Vector<i32> level, reached, moving, depth;
    Vector<i64> distances, lengths;
    interrupt::Pace pace;
};

} // namespace

bool carry_by_paths(std::span<Link> links, std::span<i64> excess, std::span<i64> potential, const Ends& ends,
                    i64 budget, Effort& effort) {
    Paths paths(links, excess, ends, budget);
    const bool done = paths.solve();
    effort.arcs += paths.work;
    if (done) paths.write(links, excess, potential);
    return done;
}

} // namespace optiframe::tvcs
