"""Compiled shortest-path repair on the graph of groups: exact, in whole numbers.

Nodes are the row groups (0 to R - 1), the column groups (R to R + C - 1), a source S and a sink
T. An element is an arc from its row to its column with room for one unit; S feeds each row up
to its bound, each column feeds T up to its bound, and T feeds S up to the total. With a
potential for each node, an element of worth q has reduced worth ``q - phi[row] + phi[column]``.

Chosen are the elements of positive and none of negative reduced worth. What is then missing for
a flow is an excess at some nodes and a lack at others; each is carried along a shortest path, and
the potentials move with the distances, so that the signs stay right (successive shortest paths).
All numbers are whole and below 2**53, so nothing is rounded.
"""

# mypy: disable-error-code="no-untyped-def"
# Compiled code is not annotated: numba takes the types from the call.

from __future__ import annotations

import numpy as np

from optiframe_tvcs.kernels.jit import compiled

NO_PATH = 1
TOO_MUCH_WORK = 2


@compiled
def heap_pop(heap, place, dist, size):
    """Takes the nearest node off the heap, whose size is then one less."""
    top = heap[0]
    place[top] = -2
    size -= 1
    if size > 0:
        v = heap[size]
        d = dist[v]
        k = 0
        while True:
            child = 2 * k + 1
            if child >= size:
                break
            if child + 1 < size and dist[heap[child + 1]] < dist[heap[child]]:
                child += 1
            if dist[heap[child]] >= d:
                break
            heap[k] = heap[child]
            place[heap[k]] = k
            k = child
        heap[k] = v
        place[v] = k
    return top


@compiled
def repair(
    first, col, worth, chosen,
    cfirst, crow, cworth, cplace,
    phi, row_caps, column_caps, total, fs, ft, back, excess, budget, together, record,
):  # fmt: skip
    """Carry every excess to a lack, one shortest path at a time; gives (status, flow from T to S).

    With `together` one search starts from all nodes with an excess, and the call ends after one
    path. `record` counts paths and arcs looked at.
    """
    rows = len(row_caps)
    columns = len(column_caps)
    source = rows + columns
    sink = source + 1
    nodes = sink + 1
    dist = np.full(nodes, np.inf)
    key = np.empty(nodes)
    place = np.full(nodes, -1, np.int32)
    heap = np.empty(nodes, np.int32)
    before = np.empty(nodes, np.int32)
    arc = np.empty(nodes, np.int32)
    touched = np.empty(nodes, np.int32)
    most = nodes + 1  # arcs of a node, S and T included
    for i in range(rows):
        most = max(most, first[i + 1] - first[i] + 1)
    for j in range(columns):
        most = max(most, cfirst[j + 1] - cfirst[j] + 1)
    nearer = np.empty(most, np.int32)
    work = 0
    start = 0
    while start < nodes:
        if excess[start] <= 0:
            start += 1
            continue
        if work > budget:
            record[1] += work
            return TOO_MUCH_WORK, back
        # Dijkstra from `start` to the nearest node with a lack
        size = 0
        for v in range(start, nodes if together else start + 1):
            if excess[v] > 0:
                dist[v] = 0.0
                key[v] = 0.0
                before[v] = -1
                heap[size] = v
                place[v] = size
                touched[size] = v
                size += 1
        seen = size
        limit = np.inf
        end = -1
        while size > 0:
            v = heap_pop(heap, place, key, size)
            size -= 1
            d = dist[v]
            if excess[v] < 0:
                end = v
                break
            found = 0
            if v < rows:
                p = phi[v] + d
                a = first[v]
                b = first[v + 1]
                work += b - a
                for k in range(a, b):
                    u = rows + col[k]
                    nd = p - phi[u] - worth[k]
                    if nd < dist[u] and nd < limit and chosen[k] == 0:
                        dist[u] = nd
                        before[u] = v
                        arc[u] = k
                        nearer[found] = u
                        found += 1
                        if excess[u] < 0:
                            limit = nd
                if fs[v] > 0:
                    u = source
                    nd = p - phi[u]
                    if nd < dist[u] and nd < limit:
                        dist[u] = nd
                        before[u] = v
                        nearer[found] = u
                        found += 1
                        if excess[u] < 0:
                            limit = nd
            elif v < source:
                j = v - rows
                p = phi[v] + d
                a = cfirst[j]
                b = cfirst[j + 1]
                work += b - a
                for k in range(a, b):
                    u = crow[k]
                    nd = cworth[k] - phi[u] + p
                    if nd < dist[u] and nd < limit and chosen[cplace[k]] == 1:
                        dist[u] = nd
                        before[u] = v
                        arc[u] = cplace[k]
                        nearer[found] = u
                        found += 1
                        if excess[u] < 0:
                            limit = nd
                if ft[j] < column_caps[j]:
                    u = sink
                    nd = p - phi[u]
                    if nd < dist[u] and nd < limit:
                        dist[u] = nd
                        before[u] = v
                        nearer[found] = u
                        found += 1
                        if excess[u] < 0:
                            limit = nd
            else:
                p = phi[v] + d
                is_source = v == source
                lowest = 0 if is_source else rows
                count = rows if is_source else columns
                work += count
                for g in range(count + 1):
                    if g < count:
                        u = lowest + g
                        if is_source:
                            if fs[g] >= row_caps[g]:
                                continue
                        elif ft[g] <= 0:
                            continue
                    elif is_source:
                        u = sink
                        if back <= 0:
                            continue
                    else:
                        u = source
                        if back >= total:
                            continue
                    nd = p - phi[u]
                    if nd < dist[u] and nd < limit:
                        dist[u] = nd
                        before[u] = v
                        nearer[found] = u
                        found += 1
                        if excess[u] < 0:
                            limit = nd
            for q in range(found):
                u = nearer[q]
                k = place[u]
                if k == -1:
                    touched[seen] = u
                    seen += 1
                    k = size
                    size += 1
                # The heap orders by a copy, so that one key changes at a time.
                d = dist[u]
                key[u] = d
                while k > 0:
                    above = heap[(k - 1) >> 1]
                    if key[above] <= d:
                        break
                    heap[k] = above
                    place[above] = k
                    k = (k - 1) >> 1
                heap[k] = u
                place[u] = k
        if end >= 0:
            # how much fits
            amount = -excess[end]
            u = end
            while before[u] >= 0:
                v = before[u]
                if v == source:
                    amount = min(amount, back if u == sink else row_caps[u] - fs[u])
                elif v == sink:
                    amount = min(amount, total - back if u == source else ft[u - rows])
                elif u == source:
                    amount = min(amount, fs[v])
                elif u == sink:
                    amount = min(amount, column_caps[v - rows] - ft[v - rows])
                else:
                    amount = min(amount, 1)  # an element
                u = v
            amount = min(amount, excess[u])
            excess[u] -= amount
            excess[end] += amount
            u = end
            while before[u] >= 0:
                v = before[u]
                if v == source:
                    if u == sink:
                        back -= amount
                    else:
                        fs[u] += amount
                elif v == sink:
                    if u == source:
                        back += amount
                    else:
                        ft[u - rows] -= amount
                elif u == source:
                    fs[v] -= amount
                elif u == sink:
                    ft[v - rows] += amount
                else:
                    chosen[arc[u]] = 1 - chosen[arc[u]]
                u = v
            reach = dist[end]
            record[0] += 1
            for k in range(seen):
                u = touched[k]
                if dist[u] < reach:
                    phi[u] -= reach - dist[u]
        for k in range(seen):
            u = touched[k]
            dist[u] = np.inf
            place[u] = -1
        if end < 0:
            record[1] += work
            return NO_PATH, back
        if together:
            break
    record[1] += work
    return 0, back
