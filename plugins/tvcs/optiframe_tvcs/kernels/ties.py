"""Compiled kernels for worths with ties: many arcs of length zero, carried by a blocking flow at once."""

# mypy: disable-error-code="no-untyped-def"
# Compiled code is not annotated: numba takes the types from the call.

from __future__ import annotations

import numpy as np

from optiframe_tvcs.kernels.jit import compiled


@compiled
def common_unit(whole):
    """The largest number that divides all worths, from a few of them, checked on all; else 1."""
    p = len(whole)
    step = max(1, p // 64)
    g = np.int64(0)
    for k in range(0, p, step):
        a = np.int64(whole[k])
        while a:
            g, a = a, g % a
        if g == 1:
            return 1.0
    if g <= 1:
        return 1.0
    unit = float(g)
    for k in range(p):
        if whole[k] != unit * np.floor(whole[k] / unit):
            return 1.0
    return unit


@compiled
def drain(
    first, col, worth, chosen, cfirst, crow, cworth, cplace, phi, row_caps, column_caps, total, fs,
    ft, back, excess, record,
):  # fmt: skip
    """Carry as much excess to lacks as arcs of length zero allow (blocking flows by levels)."""
    rows = len(row_caps)
    columns = len(column_caps)
    source = rows + columns
    sink = source + 1
    nodes = sink + 1
    level = np.empty(nodes, np.int64)
    at = np.empty(nodes, np.int64)
    queue = np.empty(nodes, np.int64)
    path = np.empty(nodes + 1, np.int64)
    while True:
        level[:] = -1
        tail = 0
        for v in range(nodes):
            if excess[v] > 0:
                level[v] = 0
                queue[tail] = v
                tail += 1
        head = 0
        depth = -1
        while head < tail:
            v = queue[head]
            head += 1
            if depth >= 0 and level[v] >= depth:
                break
            d = level[v] + 1
            before = tail
            if v < rows:
                p = phi[v]
                record[1] += first[v + 1] - first[v]
                for a in range(first[v], first[v + 1]):
                    u = rows + col[a]
                    if level[u] < 0 and worth[a] == p - phi[u] and chosen[a] == 0:
                        level[u] = d
                        queue[tail] = u
                        tail += 1
                if fs[v] > 0 and level[source] < 0 and p == phi[source]:
                    level[source] = d
                    queue[tail] = source
                    tail += 1
            elif v < source:
                p = phi[v]
                j = v - rows
                record[1] += cfirst[j + 1] - cfirst[j]
                for a in range(cfirst[j], cfirst[j + 1]):
                    u = crow[a]
                    if level[u] < 0 and cworth[a] == phi[u] - p and chosen[cplace[a]] == 1:
                        level[u] = d
                        queue[tail] = u
                        tail += 1
                if ft[j] < column_caps[j] and level[sink] < 0 and p == phi[sink]:
                    level[sink] = d
                    queue[tail] = sink
                    tail += 1
            elif v == source:
                record[1] += rows
                for i in range(rows):
                    if level[i] < 0 and fs[i] < row_caps[i] and phi[i] == phi[source]:
                        level[i] = d
                        queue[tail] = i
                        tail += 1
                if back > 0 and level[sink] < 0 and phi[source] == phi[sink]:
                    level[sink] = d
                    queue[tail] = sink
                    tail += 1
            else:
                record[1] += columns
                for j in range(columns):
                    if level[rows + j] < 0 and ft[j] > 0 and phi[rows + j] == phi[sink]:
                        level[rows + j] = d
                        queue[tail] = rows + j
                        tail += 1
                if back < total and level[source] < 0 and phi[source] == phi[sink]:
                    level[source] = d
                    queue[tail] = source
                    tail += 1
            if depth < 0:
                for k in range(before, tail):
                    if excess[queue[k]] < 0:
                        depth = d
        if depth < 0:
            return back
        at[:] = 0
        record[2] += 1
        for q in range(tail):
            start = queue[q]
            if level[start] > 0:
                break
            length = 0
            path[0] = start
            while excess[start] > 0:
                v = path[length]
                if length > 0 and excess[v] < 0:
                    amount = min(excess[start], -excess[v])
                    for s in range(length):
                        a = path[s]
                        b = path[s + 1]
                        if a == source:
                            room = back if b == sink else row_caps[b] - fs[b]
                        elif a == sink:
                            room = total - back if b == source else ft[b - rows]
                        elif b == source:
                            room = fs[a]
                        elif b == sink:
                            room = column_caps[a - rows] - ft[a - rows]
                        else:
                            room = 1
                        amount = min(amount, room)
                    for s in range(length):
                        a = path[s]
                        b = path[s + 1]
                        if a == source:
                            if b == sink:
                                back -= amount
                            else:
                                fs[b] += amount
                        elif a == sink:
                            if b == source:
                                back += amount
                            else:
                                ft[b - rows] -= amount
                        elif b == source:
                            fs[a] -= amount
                        elif b == sink:
                            ft[a - rows] += amount
                        elif a < rows:
                            chosen[first[a] + at[a]] = 1
                        else:
                            chosen[cplace[cfirst[a - rows] + at[a]]] = 0
                    excess[start] -= amount
                    excess[v] += amount
                    record[0] += 1
                    length = 0
                    continue
                k = at[v]
                found = -1
                d = level[v] + 1
                p = phi[v]
                if d <= depth:
                    if v < rows:
                        a = first[v] + k
                        b = first[v + 1]
                        while a < b:
                            u = rows + col[a]
                            if level[u] == d and worth[a] == p - phi[u] and chosen[a] == 0:
                                found = u
                                break
                            a += 1
                        k = a - first[v]
                        if a == b and level[source] == d and fs[v] > 0 and p == phi[source]:
                            found = source
                    elif v < source:
                        j = v - rows
                        a = cfirst[j] + k
                        b = cfirst[j + 1]
                        while a < b:
                            u = np.int64(crow[a])
                            if level[u] == d and cworth[a] == phi[u] - p and chosen[cplace[a]] == 1:
                                found = u
                                break
                            a += 1
                        k = a - cfirst[j]
                        if a == b and level[sink] == d and ft[j] < column_caps[j] and p == phi[sink]:
                            found = sink
                    elif v == source:
                        while k < rows:
                            if level[k] == d and fs[k] < row_caps[k] and phi[k] == p:
                                found = k
                                break
                            k += 1
                        if k == rows and level[sink] == d and back > 0 and p == phi[sink]:
                            found = sink
                    else:
                        while k < columns:
                            if level[rows + k] == d and ft[k] > 0 and phi[rows + k] == p:
                                found = rows + k
                                break
                            k += 1
                        if k == columns and level[source] == d and back < total and p == phi[source]:
                            found = source
                record[1] += 1 + k - at[v]
                at[v] = k
                if found >= 0:
                    length += 1
                    path[length] = found
                elif length == 0:
                    break
                else:
                    level[v] = -2  # leads nowhere in this round
                    length -= 1
