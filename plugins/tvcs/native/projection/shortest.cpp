#include "shortest.hpp"

#include <queue>
#include <tuple>
#include <utility>

#include <optiframe/interrupt.hpp>

namespace optiframe::tvcs {

namespace {

// Nodes by their distance from where a search began.
class Reached {
public:
    explicit Reached(i64 nodes) : node(nodes) {}

    double distance(i64 v) const { return node[v].distance; }
    i64 next(i64 v) const { return node[v].next; } // the node it was reached from, below 0: none,
    i64 arc(i64 v) const { return node[v].arc; }   // and that node's arc
    double radius() const { return so_far; }       // of the last node taken
    std::size_t ahead() const { return level.size() + heap.size(); }

    void begin(i64 v) { reach(v, 0.0, -1, -1); }

    void reach(i64 v, double distance, i64 next, i64 k) {
        if (node[v].distance == inf) touched.push_back(static_cast<i32>(v));
        node[v] = {distance, static_cast<i32>(next), static_cast<i32>(k), false};
        if (distance == so_far)
            level.push_back(static_cast<i32>(v));
        else
            heap.emplace(distance, static_cast<i32>(v));
    }

    // The distance of the node to be taken next.
    double nearest() {
        while (!level.empty() && node[level.back()].done) level.pop_back();
        if (!level.empty()) return so_far;
        while (!heap.empty() && node[heap.top().second].done) heap.pop();
        return heap.empty() ? inf : heap.top().first;
    }

    // After nearest() found one.
    i64 take() {
        i64 v;
        if (!level.empty()) {
            v = level.back();
            level.pop_back();
        } else {
            std::tie(so_far, v) = heap.top();
            heap.pop();
        }
        node[v].done = true;
        return v;
    }

    // Moves the potentials of what is nearer than a reach, by how much it is nearer.
    void move(double reach, double sign, std::span<double> phi) const {
        for (const i32 v : touched)
            if (node[v].distance < reach) phi[v] += sign * (reach - node[v].distance);
    }

    void clear() {
        for (const i32 v : touched) node[v] = {};
        touched.clear();
        level.clear();
        heap = {};
        so_far = 0.0;
    }

private:
    struct Node {
        double distance = inf;
        i32 next = -1, arc = -1;
        bool done = false;
    };
    using Entry = std::pair<double, i32>;

    Vector<Node> node;
    Vector<i32> touched;
    Vector<i32> level; // as near as the last one: no heap is needed for these, and they are many
    std::priority_queue<Entry, Vector<Entry>, std::greater<>> heap;
    double so_far = 0.0;
};

// A shortest path from a node with an excess to any lack, by two searches that meet: each looks at much less than half
// of what one alone would, as there are more nodes the further it is.
class TwoSearches {
public:
    TwoSearches(Flow& flow, const Arcs& arcs) : flow(flow), residual(flow, arcs), from(flow.nodes()), to(flow.nodes()) {
        for (i64 v = 0; v < flow.nodes(); ++v)
            if (flow.excess[v] < 0) lacks.push_back(v);
    }

    bool carry(i64 start) {
        interrupt::poll();
        from.begin(start);
        for (const i64 v : lacks)
            if (flow.excess[v] < 0) to.begin(v);
        shortest = inf;
        double next;
        while ((next = from.nearest()) + to.nearest() < shortest)
            from.ahead() <= to.ahead() ? grow<true>(from, to) : grow<false>(to, from);
        const bool found = shortest < inf;
        if (found) {
            // What is nearer than these is known: nodes further than the other search leaves room for were passed over.
            const double reach = std::max(shortest - next, to.radius());
            from.move(shortest - reach, -1.0, flow.phi);
            to.move(reach, 1.0, flow.phi);
            carry_along(start);
        }
        from.clear();
        to.clear();
        return found;
    }

    i64 looks = 0; // at arcs

private:
    struct Step {
        i64 tail, head, by, k;
    };

    template <bool forward> void grow(Reached& mine, const Reached& other) {
        const i64 v = mine.take();
        const double d = mine.distance(v);
        looks += residual.degree(v);
        pace.after(residual.degree(v));
        residual.visit<forward>(
            v, 0,
            [&](i64 u, double length) {
                return d + length < mine.distance(u) && d + length + other.radius() < shortest;
            },
            [&](i64 u, double length, i64 k) {
                mine.reach(u, d + length, v, k);
                if (d + length + other.distance(u) < shortest) {
                    shortest = d + length + other.distance(u);
                    meeting = u;
                }
                return false;
            });
    }

    void carry_along(i64 start) {
        // The halves meet nowhere else: such a node was reached from both ends before, and by it the way is no longer.
        path.clear();
        for (i64 v = meeting; v != start; v = from.next(v))
            path.push_back({from.next(v), v, from.next(v), from.arc(v)});
        i64 end = meeting;
        for (; to.next(end) >= 0; end = to.next(end))
            path.push_back({end, to.next(end), to.next(end), to.arc(end)});
        i64 units = std::min(flow.excess[start], -flow.excess[end]);
        for (const Step& step : path) units = std::min(units, residual.room(step.tail, step.head));
        for (const Step& step : path) residual.push(step.tail, step.head, step.by, step.k, units);
        flow.excess[start] -= units;
        flow.excess[end] += units;
    }

    Flow& flow;
    Residual residual;
    Reached from, to; // the start, the lacks
    Vector<i64> lacks;
    double shortest = inf; // path so far,
    i64 meeting = -1;      // and where its halves meet
    Vector<Step> path;
    interrupt::Pace pace;
};

} // namespace

bool move_towards_half(Flow& flow, const Arcs& arcs, Effort& effort) {
    const Residual residual(flow, arcs);
    Reached from(flow.nodes());
    for (i64 v = 0; v < flow.nodes(); ++v)
        if (flow.excess[v] > 0) from.begin(v);
    interrupt::Pace pace;
    double reach = -1.0;
    for (i64 wanted = (flow.units() + 1) / 2; wanted > 0 && from.nearest() < inf;) {
        const i64 v = from.take();
        const double d = from.distance(v);
        if (flow.excess[v] < 0) {
            reach = d;
            wanted += flow.excess[v];
        }
        effort.arcs += residual.degree(v);
        pace.after(residual.degree(v));
        residual.visit<true>(
            v, 0, [&](i64 u, double length) { return d + length < from.distance(u); },
            [&](i64 u, double length, i64 k) {
                from.reach(u, d + length, v, k);
                return false;
            });
    }
    from.move(reach, -1.0, flow.phi);
    return reach >= 0.0;
}

Carried carry_each(Flow& flow, const Arcs& arcs, i64 budget, Effort& effort) {
    TwoSearches paths(flow, arcs);
    Carried how = Carried::all;
    for (i64 start = 0; start < flow.nodes() && how == Carried::all; ++start)
        while (flow.excess[start] > 0 && how == Carried::all) {
            how = paths.looks > budget ? Carried::too_much_work : paths.carry(start) ? Carried::all : Carried::no_path;
            effort.paths += how == Carried::all;
        }
    effort.arcs += paths.looks;
    return how;
}

} // namespace optiframe::tvcs
