#include "flow.hpp"

#include <optiframe/interrupt.hpp>

#include "shortest.hpp"

namespace optiframe::tvcs {

namespace {

constexpr i64 few_units = 12, few_of = 4; // so many, or one for so many groups, are carried one by one

} // namespace

Flow::Flow(const Bounds& bounds, const Prices& prices)
    : bounds(bounds), rows(static_cast<i64>(bounds.rows.size())),
      columns(static_cast<i64>(bounds.columns.size())), source(rows + columns), sink(source + 1), phi(sink + 1),
      excess(sink + 1), fed(rows), drained(columns) {
    set_prices(prices);
}

void Flow::set_prices(const Prices& prices) {
    for (i64 i = 0; i < rows; ++i) phi[i] = prices.y0 + prices.u[i];
    for (i64 j = 0; j < columns; ++j) phi[rows + j] = -prices.w[j];
    phi[source] = prices.y0;
    phi[sink] = 0.0;
}

void Flow::read_prices(double limit, Prices& prices) const {
    for (i64 i = 0; i < rows; ++i) prices.u[i] = std::min(std::max(0.0, phi[i] - phi[source]), limit);
    for (i64 j = 0; j < columns; ++j) prices.w[j] = std::min(std::max(0.0, phi[sink] - phi[rows + j]), limit);
    prices.y0 = std::max(0.0, phi[source] - phi[sink]);
}

void Flow::start(const Counts& counts) {
    // Full where the potential falls along the arc, empty where it rises.
    const auto along = [](double from, double to, i64 full, i64 between) {
        return to > from ? full : to < from ? 0 : between;
    };
    i64 into_rows = 0, into_sink = 0;
    for (i64 i = 0; i < rows; ++i) {
        fed[i] = along(phi[source], phi[i], bounds.rows[i], std::min(counts.rows[i], bounds.rows[i]));
        excess[i] = fed[i] - counts.rows[i];
        into_rows += fed[i];
    }
    for (i64 j = 0; j < columns; ++j) {
        drained[j] =
            along(phi[rows + j], phi[sink], bounds.columns[j], std::min(counts.columns[j], bounds.columns[j]));
        excess[rows + j] = counts.columns[j] - drained[j];
        into_sink += drained[j];
    }
    back = along(phi[sink], phi[source], bounds.total, std::min(bounds.total, into_sink));
    excess[source] = back - into_rows;
    excess[sink] = into_sink - back;
}

i64 Flow::units() const {
    i64 found = 0;
    for (const i64 each : excess) found += std::max<i64>(each, 0);
    return found;
}

void drain(Flow& flow, const Arcs& arcs, Effort& effort) {
    Residual residual(flow, arcs);
    interrupt::Pace pace;
    const i64 nodes = flow.nodes();
    Vector<i64> level(nodes), at(nodes), queue, path;
    i64 before;
    do {
        interrupt::poll();
        before = flow.units();
        std::ranges::fill(level, -1);
        queue.clear();
        for (i64 v = 0; v < nodes; ++v)
            if (flow.excess[v] > 0) {
                level[v] = 0;
                queue.push_back(v);
            }
        i64 depth = -1; // of the nearest lacks
        for (std::size_t head = 0; head < queue.size(); ++head) {
            const i64 v = queue[head];
            if (depth >= 0 && level[v] >= depth) break;
            effort.arcs += residual.degree(v);
            pace.after(residual.degree(v));
            residual.visit<true>(
                v, 0, [&](i64 u, double length) { return level[u] < 0 && length == 0.0; },
                [&](i64 u, double, i64) {
                    level[u] = level[v] + 1;
                    queue.push_back(u);
                    if (flow.excess[u] < 0) depth = level[u];
                    return false;
                });
        }
        if (depth < 0) return;
        std::ranges::fill(at, 0);
        for (const i64 start : queue) {
            if (level[start] > 0) break;
            path.assign(1, start);
            while (flow.excess[start] > 0) {
                const i64 v = path.back();
                if (path.size() > 1 && flow.excess[v] < 0) {
                    i64 units = std::min(flow.excess[start], -flow.excess[v]);
                    for (std::size_t s = 0; s + 1 < path.size(); ++s)
                        units = std::min(units, residual.room(path[s], path[s + 1]));
                    for (std::size_t s = 0; s + 1 < path.size(); ++s)
                        residual.push(path[s], path[s + 1], path[s], at[path[s]], units);
                    flow.excess[start] -= units;
                    flow.excess[v] += units;
                    ++effort.paths;
                    path.erase(path.begin() + 1, path.end());
                    continue;
                }
                i64 next = -1;
                const i64 k =
                    level[v] == depth
                        ? residual.degree(v)
                        : residual.visit<true>(
                              v, at[v],
                              [&](i64 u, double length) { return level[u] == level[v] + 1 && length == 0.0; },
                              [&](i64 u, double, i64) {
                                  next = u;
                                  return true;
                              });
                effort.arcs += 1 + k - at[v];
                pace.after(1 + k - at[v]);
                at[v] = k;
                if (next >= 0) {
                    path.push_back(next);
                } else if (path.size() == 1) {
                    break;
                } else {
                    level[v] = -2; // leads nowhere in this round
                    path.pop_back();
                }
            }
        }
    } while (2 * flow.units() < before);
}

Carried carry_all(Flow& flow, const Arcs& arcs, i64 budget, Effort& effort) {
    const i64 began = effort.arcs;
    const double all = static_cast<double>(flow.units());
    const i64 few = std::max(few_units, std::min(flow.rows, flow.columns) / few_of);
    while (flow.units() > few) {
        drain(flow, arcs, effort);
        if (flow.units() <= few) break;
        const double carried = all - static_cast<double>(flow.units());
        if (is_slow(effort.arcs - began, budget, carried, all)) return Carried::too_much_work;
        if (!move_towards_half(flow, arcs, effort)) return Carried::no_path;
    }
    return carry_each(flow, arcs, budget - (effort.arcs - began), effort);
}

} // namespace optiframe::tvcs
