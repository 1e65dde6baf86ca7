// The graph of groups, and flow on it: exact, in whole numbers.
//
// Nodes are the row groups (0 to R - 1), the column groups (R to R + C - 1), a source S and a sink T. An
// element is an arc from its row to its column with room for one unit; S feeds each row up to its
// bound, each column feeds T up to its bound, and T feeds S up to the total. With a potential for each
// node, an element of worth q has reduced worth q - phi[row] + phi[column].
//
// Chosen are the elements of positive and none of negative reduced worth. What is then missing for a
// flow is an excess at some nodes and a lack at others. All numbers are whole and below 2^53, so
// nothing is rounded.
#pragma once

#include <algorithm>

#include "instance.hpp"

namespace optiframe::tvcs {

// Chosen elements of each group.
struct Counts {
    Vector<i64> rows, columns;
};

class Flow {
public:
    Flow(const Bounds& bounds, const Prices& prices);

    // Makes the flow that agrees with the potentials and with so many chosen elements of each group.
    void start(const Counts& counts);

    // Prices of the bounds from the potentials, none above the largest worth.
    void read_prices(double limit, Prices& prices) const;

    // Sets the potentials to those of prices.
    void set_prices(const Prices& prices);

    i64 units() const; // of excess
    i64 nodes() const { return sink + 1; }

    Bounds bounds;
    i64 rows, columns, source, sink;
    Vector<double> phi;
    Vector<i64> excess;
    Vector<i64> fed, drained; // from S to each row, from each column to T
    i64 back = 0;                  // from T to S
};

// The elements of a list as arcs: both ways round, and whether each is chosen.
struct Arcs {
    View rows;
    std::span<const double> worth;
    View columns;
    std::span<const double> column_worth;
    std::span<const i32> place; // in the list by rows, of each in that by columns
    std::span<u8> chosen;
};

// The arcs of the graph on which a unit may go, forwards or back.
class Residual {
public:
    Residual(Flow& flow, const Arcs& arcs) : flow(flow), arcs(arcs) {}

    // Arcs that a node may have.
    i64 degree(i64 v) const {
        if (v < flow.rows) return arcs.rows.first[v + 1] - arcs.rows.first[v] + 1;
        if (v < flow.source)
            return arcs.columns.first[v - flow.rows + 1] - arcs.columns.first[v - flow.rows] + 1;
        return (v == flow.source ? flow.rows : flow.columns) + 1;
    }

    // Visits the arcs from a node, or to it, from the k-th on, until `take` says true; gives that arc's number, or the
    // degree. `wants(node, length)` says cheaply whether an arc is of interest; `take(node, length, k)` is called for
    // those that are and have room.
    template <bool forward, class Wants, class Take>
    [[gnu::always_inline]] i64 visit(i64 v, i64 k, Wants&& wants, Take&& take) const {
        const Vector<double>& phi = flow.phi;
        const double p = phi[v];
        const auto takes = [&](i64 u) __attribute__((always_inline)) {
            const double length = forward ? p - phi[u] : phi[u] - p;
            return wants(u, length) && take(u, length, k);
        };
        if (v < flow.rows) {
            const i64 first = arcs.rows.first[v], n = arcs.rows.first[v + 1] - first;
            for (; k < n; ++k) {
                const i64 u = flow.rows + arcs.rows.other[first + k];
                const double along = p - phi[u] - arcs.worth[first + k], length = forward ? along : -along;
                if (wants(u, length) && (arcs.chosen[first + k] == 0) == forward && take(u, length, k)) return k;
            }
            if (k == n && (forward ? flow.fed[v] > 0 : flow.fed[v] < flow.bounds.rows[v]) && takes(flow.source))
                return k;
        } else if (v < flow.source) {
            const i64 j = v - flow.rows, first = arcs.columns.first[j], n = arcs.columns.first[j + 1] - first;
            for (; k < n; ++k) {
                const i64 u = arcs.columns.other[first + k];
                const double along = arcs.column_worth[first + k] - phi[u] + p, length = forward ? along : -along;
                if (wants(u, length) && (arcs.chosen[arcs.place[first + k]] != 0) == forward && take(u, length, k))
                    return k;
            }
            if (k == n && (forward ? flow.drained[j] < flow.bounds.columns[j] : flow.drained[j] > 0) &&
                takes(flow.sink))
                return k;
        } else if (v == flow.source) {
            for (; k < flow.rows; ++k)
                if ((forward ? flow.fed[k] < flow.bounds.rows[k] : flow.fed[k] > 0) && takes(k)) return k;
            if (k == flow.rows && (forward ? flow.back > 0 : flow.back < flow.bounds.total) && takes(flow.sink))
                return k;
        } else {
            for (; k < flow.columns; ++k)
                if ((forward ? flow.drained[k] > 0 : flow.drained[k] < flow.bounds.columns[k]) && takes(flow.rows + k))
                    return k;
            if (k == flow.columns && (forward ? flow.back < flow.bounds.total : flow.back > 0) && takes(flow.source))
                return k;
        }
        return degree(v);
    }

    // Units that fit on the arc from v to u.
    i64 room(i64 v, i64 u) const {
        if (v == flow.source) return u == flow.sink ? flow.back : flow.bounds.rows[u] - flow.fed[u];
        if (v == flow.sink)
            return u == flow.source ? flow.bounds.total - flow.back : flow.drained[u - flow.rows];
        if (u == flow.source) return flow.fed[v];
        if (u == flow.sink) return flow.bounds.columns[v - flow.rows] - flow.drained[v - flow.rows];
        return 1; // an element
    }

    // Carries units on the arc from v to u, which is the k-th of `by`, one of these.
    void push(i64 v, i64 u, i64 by, i64 k, i64 units) {
        if (v == flow.source)
            u == flow.sink ? flow.back -= units : flow.fed[u] += units;
        else if (v == flow.sink)
            u == flow.source ? flow.back += units : flow.drained[u - flow.rows] -= units;
        else if (u == flow.source)
            flow.fed[v] -= units;
        else if (u == flow.sink)
            flow.drained[v - flow.rows] += units;
        else if (by < flow.rows)
            arcs.chosen[arcs.rows.first[by] + k] = v < flow.rows;
        else
            arcs.chosen[arcs.place[arcs.columns.first[by - flow.rows] + k]] = v < flow.rows;
    }

    Flow& flow;
    const Arcs& arcs;
};

enum class Carried { all, no_path, too_much_work };

// Carries excess to lacks along arcs of length zero (blocking flows by levels), for as long as a round carries half of
// it: the last rounds are the longest, and where potentials move next, what they would have carried goes with them.
void drain(Flow& flow, const Arcs& arcs, Effort& effort);

// Carries all excess to lacks: much of it together, by searches from all of it and blocking flows along the
// paths that these find, and what is left path by path. Looks at about `budget` arcs at most.
Carried carry_all(Flow& flow, const Arcs& arcs, i64 budget, Effort& effort);

} // namespace optiframe::tvcs
