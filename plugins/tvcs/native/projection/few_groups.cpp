#include "few_groups.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include <optiframe/arrays.hpp>
#include <optiframe/interrupt.hpp>

namespace optiframe::tvcs {

namespace {

// Heaps hold changes that cost no more than such a share of the elements lies off the prices, and where no lack is
// found so many times as far.
constexpr double near = 0.2, further = 4.0;

// A change in one of the many groups, which costs so much.
struct Change {
    double cost;
    i32 group;
};

struct Dearer {
    bool operator()(const Change& one, const Change& other) const { return one.cost > other.cost; }
};

struct Heap {
    Vector<Change> changes;
    bool made = false;
};

class FewGroups {
    static constexpr i64 most = some_groups + 2;
    using Few = std::array<double, most>; // a number for each of the few, the source and the sink

public:
    // The few groups are the columns where `columns` says so, else the rows.
    FewGroups(const Elements& all, const Bounds& of, bool columns, double limit, Prices& prices, Effort& effort)
        : all(all), limit(limit), few_bounds(columns ? of.columns : of.rows), bounds(columns ? of.rows : of.columns),
          total(of.total), prices(prices), price(columns ? prices.w : prices.u),
          other_price(columns ? prices.u : prices.w), effort(effort), few(static_cast<i64>(few_bounds.size())),
          many(static_cast<i64>(bounds.size())), source(few), sink(few + 1), first(many * few + 1),
          element(all.view.elements()), held(many * few), used(many) {
        const auto segment = [&](i64 i, i64 k) {
            return columns ? i * few + all.view.other[k] : all.view.other[k] * few + i;
        };
        each_element(all.view, [&](i64 i, i64 k) { first[segment(i, k) + 1] += all.whole[k] > 0; });
        std::partial_sum(first.begin(), first.end(), first.begin());
        Vector<i32> at(first.begin(), first.end() - 1);
        each_element(all.view, [&](i64 i, i64 k) {
            if (all.whole[k] > 0) element[at[segment(i, k)]++] = static_cast<i32>(k);
        });
        for (std::size_t s = 0; s + 1 < first.size(); ++s)
            if (first[s + 1] - first[s] > 1)
                std::sort(element.begin() + first[s], element.begin() + first[s + 1],
                          [&](i32 a, i32 b) { return all.whole[a] > all.whole[b]; });
    }

    void solve() {
        potential.assign(sink + 1, prices.y0);
        for (i64 r = 0; r < few; ++r) potential[r] += price[r];
        potential[sink] = 0.0;
        for (i64 j = 0; j < many; ++j) choose(j);
        start();
        const double some = near * static_cast<double>(all.view.elements());
        look_within(std::max(1.0, near_width(all.view, all.whole, prices, some)));
        for (i64 v = 0; v <= sink; ++v)
            while (excess[v] > 0)
                if (!carry(v)) look_within(reach < further * limit ? further * reach : inf);
        write();
    }

private:
    template <class Visit> static void each_element(const View& view, Visit visit) {
        interrupt::Pace pace;
        for (i64 i = 0; i < view.groups(); ++i) {
            pace.after(view.first[i + 1] - view.first[i]);
            for (i64 k = view.first[i]; k < view.first[i + 1]; ++k) visit(i, k);
        }
    }

    double worth(i64 at) const { return all.whole[element[at]]; }
    i64 segment(i64 j, i64 r) const { return j * few + r; }

    // The best that group j does not hold of the few group r, and the worst that it does.
    double best(i64 j, i64 r) const {
        const i64 at = first[segment(j, r)] + held[segment(j, r)];
        return at < first[segment(j, r) + 1] ? worth(at) : -inf;
    }
    double worst(i64 j, i64 r) const {
        const i64 n = held[segment(j, r)];
        return n > 0 ? worth(first[segment(j, r)] + n - 1) : inf;
    }

    // Group j takes what is worth more than its price, the best first, as far as its bound allows.
    void choose(i64 j) {
        while (used[j] < bounds[j]) {
            double most = 0.0;
            i64 of = -1;
            for (i64 r = 0; r < few; ++r)
                if (const double left = best(j, r) - potential[r]; left > most) {
                    most = left;
                    of = r;
                }
            if (of < 0) return;
            ++held[segment(j, of)];
            ++used[j];
        }
    }

    void start() {
        Vector<i64> count(few);
        for (i64 j = 0; j < many; ++j)
            for (i64 r = 0; r < few; ++r) count[r] += held[segment(j, r)];
        fed.resize(few);
        excess.assign(sink + 1, 0);
        i64 into = 0, out = 0;
        for (i64 r = 0; r < few; ++r) {
            fed[r] = potential[r] > potential[source] ? few_bounds[r] : std::min(count[r], few_bounds[r]);
            excess[r] = fed[r] - count[r];
            into += fed[r];
            out += count[r];
        }
        back = potential[source] > 0.0 ? total : std::min(total, out);
        excess[source] = back - into;
        excess[sink] = out - back;
        for (const i64 each : excess) effort.units += std::max<i64>(each, 0);
    }

    // What a unit from one node to another costs by a change in group j: elements taken or left.
    double cost(i64 from, i64 to, i64 j) const {
        if (to == sink) return used[j] < bounds[j] ? -best(j, from) : inf;
        if (from == sink) return worst(j, to);
        return worst(j, to) - best(j, from); // inf where there is none
    }

    // Puts what group j can change on the heaps that there are.
    void offer(i64 j) {
        Few take, leave; // what it costs to take the best of each, and to leave the worst
        for (i64 r = 0; r < few; ++r) {
            take[r] = -best(j, r);
            leave[r] = worst(j, r);
        }
        take[source] = leave[source] = inf;
        take[sink] = 0.0;
        leave[sink] = used[j] < bounds[j] ? 0.0 : inf;
        for (i64 from = 0; from <= sink; ++from) {
            if (take[from] == inf) continue;
            for (i64 to = 0; to <= sink; ++to) {
                Heap& heap = heaps[from][to];
                const double now = take[from] + leave[to];
                if (!heap.made || !is_within(from, to, now)) continue;
                heap.changes.push_back({now, static_cast<i32>(j)});
                std::push_heap(heap.changes.begin(), heap.changes.end(), Dearer());
            }
        }
    }

    // From here on heaps hold all changes that cost at most so much beyond the potentials.
    void look_within(double far) {
        reach = far;
        highest = potential;
        for (auto& row : heaps)
            for (Heap& heap : row) heap = {};
    }
    bool is_within(i64 from, i64 to, double cost) const { return cost + potential[from] - potential[to] <= reach; }

    // The changes from one node to another, put in order when they are first asked for.
    Vector<Change>& changes(i64 from, i64 to) {
        Heap& heap = heaps[from][to];
        if (!heap.made) {
            for (i64 j = 0; j < many; ++j)
                if (const double now = cost(from, to, j); now < inf && is_within(from, to, now))
                    heap.changes.push_back({now, static_cast<i32>(j)});
            std::make_heap(heap.changes.begin(), heap.changes.end(), Dearer());
            heap.made = true;
        }
        return heap.changes;
    }

    // The cheapest change, or what the bounds allow.
    Change cheapest(i64 from, i64 to) {
        if (from == source) {
            const bool room = to == sink ? back > 0 : fed[to] < few_bounds[to];
            return {room ? 0.0 : inf, -1};
        }
        if (to == source) {
            const bool room = from == sink ? back < total : fed[from] > 0;
            return {room ? 0.0 : inf, -1};
        }
        Vector<Change>& of = changes(from, to);
        while (!of.empty() && cost(from, to, of.front().group) != of.front().cost) {
            std::pop_heap(of.begin(), of.end(), Dearer());
            of.pop_back();
        }
        return of.empty() ? Change{inf, -1} : of.front();
    }

    // One unit to the nearest lack; false where it may lie further away than what the heaps hold.
    bool carry(i64 from) {
        Few distance;
        std::array<i64, most> before{};
        std::array<Change, most> by{};
        std::array<bool, most> done{};
        distance.fill(inf);
        distance[from] = 0.0;
        i64 end = -1;
        while (true) {
            i64 v = -1;
            for (i64 u = 0; u <= sink; ++u)
                if (!done[u] && distance[u] < inf && (v < 0 || distance[u] < distance[v])) v = u;
            check(v >= 0 || reach < inf, "excess that reaches no lack");
            if (v < 0) return false;
            done[v] = true;
            if (excess[v] < 0) {
                end = v;
                break;
            }
            for (i64 u = 0; u <= sink; ++u) {
                if (done[u]) continue;
                const Change change = cheapest(v, u);
                const double through = distance[v] + change.cost + potential[v] - potential[u];
                if (through < distance[u]) {
                    distance[u] = through;
                    before[u] = v;
                    by[u] = change;
                }
            }
        }
        const double length = distance[end];
        double fallen = 0.0; // so much nearer has come what the heaps do not hold
        for (i64 v = 0; v <= sink; ++v) fallen = std::max(fallen, highest[v] - potential[v]);
        if (length + fallen > reach) return false;
        for (i64 v = 0; v <= sink; ++v)
            if (distance[v] < length) potential[v] -= length - distance[v];
        --excess[from];
        ++excess[end];
        std::array<i64, most> changed{};
        i64 changes = 0;
        for (i64 v = end; v != from; v = before[v]) {
            push(before[v], v, by[v].group);
            if (by[v].group >= 0) changed[changes++] = by[v].group;
        }
        for (i64 k = 0; k < changes; ++k) offer(changed[k]);
        ++effort.paths;
        pace.after(few * few);
        return true;
    }

    void push(i64 from, i64 to, i64 j) {
        if (from == source) return void(to == sink ? --back : ++fed[to]);
        if (to == source) return void(from == sink ? ++back : --fed[from]);
        if (from != sink) {
            ++held[segment(j, from)];
            ++used[j];
        }
        if (to != sink) {
            --held[segment(j, to)];
            --used[j];
        }
    }

    void write() {
        prices.y0 = std::clamp(potential[source] - potential[sink], 0.0, limit);
        for (i64 r = 0; r < few; ++r) price[r] = std::clamp(potential[r] - potential[source], 0.0, limit);
        std::ranges::fill(all.state, 0);
        for (i64 j = 0; j < many; ++j) {
            double left = 0.0;
            for (i64 r = 0; r < few; ++r) {
                for (i64 n = 0; n < held[segment(j, r)]; ++n)
                    all.state[element[first[segment(j, r)] + n]] = chosen_bit;
                left = std::max(left, best(j, r) - (potential[r] - potential[sink]));
            }
            other_price[j] = used[j] == bounds[j] ? left : 0.0;
        }
    }

    const Elements& all;
    const double limit; // the highest price that is needed
    const std::span<const i64> few_bounds, bounds;
    const i64 total;
    Prices& prices;
    Vector<double>&price, &other_price;
    Effort& effort;
    const i64 few, many, source, sink;
    Vector<i32> first, element; // of each of the many groups those of each of the few, the best first
    Vector<i32> held;           // how many of these are chosen
    Vector<i64> used;           // how many each of the many groups holds
    Vector<double> potential, highest; // by now, and when heaps were made: they only fall
    double reach = inf;                // of the heaps
    Vector<i64> excess, fed;
    i64 back = 0;
    std::array<std::array<Heap, most>, most> heaps;
    interrupt::Pace pace;
};

} // namespace

bool has_few_groups(i64 rows, i64 columns, i64 most) {
    const i64 fewer = std::min(rows, columns), more = std::max(rows, columns);
    return fewer <= most && more > 4 * fewer;
}

void solve_few_groups(const Elements& all, const Bounds& bounds, double limit, Prices& prices, Effort& effort) {
    const bool columns = bounds.columns.size() < bounds.rows.size();
    FewGroups(all, bounds, columns, limit, prices, effort).solve();
}

} // namespace optiframe::tvcs
