#include "scaling.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <queue>

#include <optiframe/interrupt.hpp>

namespace optiframe::tvcs {

namespace {

constexpr i64 factor = 8;        // between the widths of two phases
constexpr i64 looks_to_fit = 4;  // looks at arcs, times all arcs, before potentials are given up
constexpr i64 looks_a_rise = 4;  // looks at arcs, times all arcs, between two updates of all potentials
constexpr i64 few_arcs = 4, many_arcs = 32; // of a node that looks at all of them in each pass
constexpr i64 looks_at_all = 16; // at a node's arcs, before it gives away all its excess in one pass
constexpr i64 patience = 6;      // updates in the first phase: after more, its width is too small for the way that
constexpr i64 wider = 512;       // excess has to go, and a wider one comes first

enum class Ended { balanced, early, no_way };

// A flow and potentials that come nearer to the best, phase by phase.
class Scaling : LinkGraph {
public:
    Scaling(std::span<Link> links, std::span<i64> excess, std::span<i64> potential, Effort& effort)
        : LinkGraph(links, static_cast<i64>(excess.size())), links(links), excess(excess), potential(potential),
          effort(effort), nodes(static_cast<i64>(excess.size())) {}

    i64 largest_saving() const {
        i64 most = 0;
        for (i64 v = 0; v < nodes; ++v)
            for (i64 k = first[v]; k < first[v + 1]; ++k)
                if (half[k].room > 0) most = std::max(most, -reduced(v, half[k]));
        return most;
    }

    // A phase: afterwards no half with room costs less than -width, and nothing is in excess. It ends early after so
    // many updates of all potentials.
    Ended phase(i64 width, i64 updates) {
        for (i64 v = 0; v < nodes; ++v)
            for (i64 k = first[v]; k < first[v + 1]; ++k)
                if ((half[k].room > 0) & (reduced(v, half[k]) < -width)) push(v, k, half[k].room);
        rewind();
        queue.clear();
        queued.assign(nodes, false);
        for (i64 v = 0; v < nodes; ++v)
            if (excess[v] > 0) enqueue(v);
        if (queue.empty()) return Ended::balanced;
        if (!update(width)) return Ended::no_way;
        i64 looks = 0;
        const i64 between = looks_a_rise * static_cast<i64>(half.size()) + nodes;
        for (std::size_t next = 0; next < queue.size(); ++next) {
            const i64 v = queue[next];
            queued[v] = false;
            looks += discharge(v, width);
            if (next > 2 * static_cast<std::size_t>(nodes) && 2 * next > queue.size()) {
                queue.erase(queue.begin(), queue.begin() + static_cast<std::ptrdiff_t>(next) + 1);
                next = static_cast<std::size_t>(-1);
            }
            if (looks > between) {
                looks = 0;
                if (--updates == 0) return Ended::early;
                if (!update(width)) return Ended::no_way;
            }
        }
        return Ended::balanced;
    }

    // Looks for potentials by which no half with room costs less than -width, with the flow as it is (Bellman and
    // Ford's method, given up after some looks): then no phase of that width is needed (Goldberg 1997: price
    // refinement). Where worths lie in a thin band, or tie, half of the phases are not.
    bool fits(i64 width) {
        distance.assign(nodes, 0);
        queued.assign(nodes, false);
        queue.clear();
        for (i64 v = 0; v < nodes; ++v)
            for (i64 k = first[v]; k < first[v + 1]; ++k)
                if ((half[k].room > 0) & (reduced(v, half[k]) < -width)) {
                    enqueue(v);
                    break;
                }
        i64 looks = 0;
        const i64 most = looks_to_fit * static_cast<i64>(half.size());
        for (std::size_t next = 0; next < queue.size(); ++next) {
            const i64 v = queue[next];
            queued[v] = false;
            looks += first[v + 1] - first[v];
            if (looks > most) break;
            for (i64 k = first[v]; k < first[v + 1]; ++k) {
                const i64 u = half[k].head, through = distance[v] + reduced(v, half[k]) + width;
                if ((half[k].room <= 0) | (through >= distance[u])) continue;
                distance[u] = through;
                enqueue(u);
            }
        }
        effort.arcs += looks;
        pace.after(looks);
        if (looks > most) return false;
        for (i64 v = 0; v < nodes; ++v) potential[v] += distance[v];
        return true;
    }

    bool balanced() const {
        return std::ranges::all_of(excess, [](i64 each) { return each == 0; });
    }

    void write() { write_rooms(links); }

private:
    i64 reduced(i64 v, const Half& arc) const { return arc.cost + potential[v] - potential[arc.head]; }

    void push(i64 v, i64 k, i64 units) {
        Half& arc = half[k];
        arc.room -= static_cast<i32>(units);
        half[arc.other].room += static_cast<i32>(units);
        excess[v] -= units;
        excess[arc.head] += units;
    }

    // As much as fits, of what a node has too much of.
    void give(i64 v, i64 k) {
        push(v, k, std::min<i64>(excess[v], half[k].room));
        if (excess[half[k].head] > 0) enqueue(half[k].head);
    }

    void enqueue(i64 v) {
        if (queued[v]) return;
        queued[v] = true;
        queue.push_back(static_cast<i32>(v));
    }

    // Pushes what a node has too much of, and lowers its potential where it must; gives the looks at arcs.
    i64 discharge(i64 v, i64 width) {
        const i64 begin = first[v], end = first[v + 1];
        const bool several = few_arcs <= end - begin && end - begin <= many_arcs;
        const i64 looks = several ? discharge_by_all(v, begin, end, width) : discharge_by_last(v, begin, end, width);
        effort.arcs += looks;
        pace.after(looks);
        return looks;
    }

    // Looks at all arcs in each pass: what costs less than 0 is filled, and the best of the others, which says how far
    // to go down, comes first afterwards. With two or three arcs this pushes too much at once, and takes more passes.
    i64 discharge_by_all(i64 v, i64 begin, i64 end, i64 width) {
        i64 looks = 0;
        while (true) {
            const i64 p = potential[v];
            i64 best = nowhere, at_best = begin;
            for (i64 k = begin; k < end; ++k) {
                if (half[k].room <= 0) continue;
                const i64 through = potential[half[k].head] - half[k].cost;
                if (through > p) {
                    give(v, k);
                    if (excess[v] == 0) return looks + k - begin + 1;
                } else if (through > best) {
                    best = through;
                    at_best = k;
                }
            }
            looks += end - begin;
            if (best == nowhere) return looks; // found out by the next update
            potential[v] = best - width;
            give(v, at_best);
            if (excess[v] == 0) return looks;
        }
    }

    // Goes on from the arc that was looked at last.
    i64 discharge_by_last(i64 v, i64 begin, i64 end, i64 width) {
        i64 looks = 0;
        while (excess[v] > 0) {
            i64 k = at[v];
            for (; k < end; ++k) {
                if ((half[k].room <= 0) | (reduced(v, half[k]) >= 0)) continue;
                give(v, k);
                if (excess[v] == 0) break;
            }
            looks += k - at[v] + 1;
            at[v] = k;
            if (excess[v] == 0) break;
            i64 best = nowhere;
            for (i64 j = begin; j < end; ++j)
                if (const i64 through = potential[half[j].head] - half[j].cost; (half[j].room > 0) & (through > best)) {
                    best = through;
                    at[v] = j;
                }
            looks += end - begin;
            if (best == nowhere) break; // found out by the next update
            potential[v] = best - width;
            if (looks > crowded + looks_at_all * (end - begin)) {
                looks += give_away(v, width);
                break;
            }
        }
        return looks;
    }

    // Pushes what a node has too much of by the best of its arcs with room, all in one pass: where many units are to
    // go, a look at all arcs for each of them would take too long.
    i64 give_away(i64 v, i64 width) {
        ways.clear();
        for (i64 k = first[v]; k < first[v + 1]; ++k)
            if (half[k].room > 0) ways.emplace_back(potential[half[k].head] - half[k].cost, k);
        std::ranges::make_heap(ways);
        for (; excess[v] > 0 && !ways.empty(); ways.pop_back()) {
            std::ranges::pop_heap(ways);
            const auto [through, k] = ways.back();
            if (through <= potential[v]) potential[v] = through - width;
            give(v, k);
        }
        at[v] = first[v];
        return first[v + 1] - first[v];
    }

    // Lowers potentials by distances to the nearest lack in whole widths, so that excess finds its way; false
    // where some finds none. Nodes at each of the smaller distances wait in a list, those further away in a heap.
    bool update(i64 width) {
        interrupt::poll();
        const int shift = std::countr_zero(static_cast<std::uint64_t>(width));
        distance.assign(nodes, far);
        done.assign(nodes, false);
        for (Vector<i32>& list : lists) list.clear();
        heap = {};
        const auto wait = [&](i64 v, i64 d) {
            distance[v] = d;
            if (d >= listed) {
                heap.emplace(d, static_cast<i32>(v));
                return;
            }
            if (d >= static_cast<i64>(lists.size())) lists.resize(d + 1);
            lists[d].push_back(static_cast<i32>(v));
        };
        i64 left = 0;
        for (i64 v = 0; v < nodes; ++v) {
            left += excess[v] > 0;
            if (excess[v] < 0) wait(v, 0);
        }
        i64 last = 0; // the distance of the node looked at last
        const auto look = [&](i64 v, i64 d) {
            if (done[v]) return; // it was nearer, too
            done[v] = true;
            last = d;
            left -= excess[v] > 0;
            pace.after(first[v + 1] - first[v]);
            effort.arcs += first[v + 1] - first[v];
            for (i64 j = first[v]; j < first[v + 1]; ++j) {
                const i64 u = half[j].head;
                if (done[u] | (half[j].room == half[j].both)) continue; // nothing may come back
                const i64 cost = -reduced(v, half[j]), through = d + (cost < 0 ? 0 : (cost >> shift) + 1);
                if (through < distance[u]) wait(u, through);
            }
        };
        for (i64 d = 0; d < static_cast<i64>(lists.size()) && left > 0; ++d)
            for (std::size_t k = 0; k < lists[d].size() && left > 0; ++k) look(lists[d][k], d);
        while (!heap.empty() && left > 0) {
            const auto [d, v] = heap.top();
            heap.pop();
            look(v, d);
        }
        for (i64 v = 0; v < nodes; ++v) potential[v] -= (done[v] ? distance[v] : last) * width;
        rewind();
        return left == 0;
    }

    using Waiting = std::pair<i64, i32>; // a distance, and a node at it
    static constexpr i64 nowhere = std::numeric_limits<i64>::min();
    static constexpr i64 far = std::numeric_limits<i64>::max();
    static constexpr i64 crowded = 500; // looks for a node before all its arcs are sorted
    static constexpr i64 listed = 4096; // distances that have lists

    std::span<Link> links;
    std::span<i64> excess, potential;
    Effort& effort;
    const i64 nodes;
    Vector<i32> queue;
    Vector<u8> queued, done;
    Vector<i64> distance;
    Vector<std::pair<i64, i64>> ways; // from a node: the potential that a half leads to, and the half
    Vector<Vector<i32>> lists; // of nodes at each of the smaller distances,
    std::priority_queue<Waiting, Vector<Waiting>, std::greater<>> heap; // and those further away
    interrupt::Pace pace;
};

} // namespace

bool scale_costs(std::span<Link> links, std::span<i64> excess, std::span<i64> potential, i64 first, i64 last,
                 Effort& effort) {
    Scaling scaling(links, excess, potential, effort);
    const i64 widest = std::max(first > 0 ? first : scaling.largest_saving() / factor, last);
    bool moved = !scaling.balanced(); // since potentials were looked for that fit the last width at once
    bool done = !moved && scaling.fits(last);
    i64 most = 0; // of a cost, over the next wider width
    for (const Link& link : links) most = std::max(most, std::abs(link.cost) / wider);
    bool begun = first > 0;
    for (i64 width = static_cast<i64>(std::bit_floor(static_cast<std::uint64_t>(widest))); !done;
         width = std::max(width / factor, last)) {
        done = width == last;
        const Vector<i64> before(potential.begin(), potential.end());
        if (!scaling.balanced() || !scaling.fits(width)) {
            begun |= width > most;
            const Ended how = scaling.phase(width, begun ? std::numeric_limits<i64>::max() : patience);
            if (how == Ended::no_way) return false;
            begun = how == Ended::balanced;
            if (!begun) {
                width *= factor * wider;
                done = false;
            }
            moved = true;
        } else if (moved && !done) {
            const Vector<i64> fitting(potential.begin(), potential.end());
            std::ranges::copy(before, potential.begin()); // the last ones are nearer to these
            done = scaling.fits(last);
            if (!done) std::ranges::copy(fitting, potential.begin());
            moved = false;
        }
    }
    scaling.write();
    return true;
}

} // namespace optiframe::tvcs
