"""Compiled passes over all elements: quantising, lists of candidates, pricing, the final check."""

from __future__ import annotations

import numpy as np

from optiframe_tvcs.jit import compiled

CHOSEN = 1  # bits of an element's state
LISTED = 2


@compiled
def largest_of(weights):  # type: ignore[no-untyped-def]
    """The largest weight, at least 0, or nan when one is not finite."""
    top = 0.0
    total = 0.0
    for k in range(len(weights)):
        top = max(top, weights[k])
        total += weights[k] * 0.0  # 0, or nan
    return top if total == 0.0 else np.nan


@compiled
def quantised(weights, order, scale, whole):  # type: ignore[no-untyped-def]
    """Whole-number worths in the order of the rows; the positive stay positive."""
    if len(order) == 0:
        for k in range(len(weights)):
            w = weights[k]
            q = np.rint(w * scale)
            whole[k] = max(q, 1.0) if w > 0 else 0.0
    else:
        for k in range(len(weights)):
            w = weights[order[k]]
            q = np.rint(w * scale)
            whole[k] = max(q, 1.0) if w > 0 else 0.0


@compiled
def mark(first, col, whole, rho, b, window_r, window_c, state, base_r, base_c, listed_r):  # type: ignore[no-untyped-def]
    """Chosen by sign of the reduced worth; listed when within the windows. Gives how many are listed.

    Also counts, for each group, the chosen elements that are not listed.
    """
    base_c[:] = 0
    n = 0
    for i in range(len(rho)):
        theta = rho[i]
        h = window_r[i]
        above = 0
        inside = 0
        for k in range(first[i], first[i + 1]):
            q = whole[k]
            j = col[k]
            z = q - theta - b[j]
            w = h + window_c[j]
            s = 1 if z > 0 else 0
            if abs(z) <= w and q > 0:
                s |= LISTED
                inside += 1
            elif s == 1:
                above += 1
                base_c[j] += 1
            state[k] = s
        base_r[i] = above
        listed_r[i] = inside
        n += inside
    return n


@compiled
def narrow(lfirst, lcol, lworth, lplace, rho, b, width, state, base_r, base_c, listed_r):  # type: ignore[no-untyped-def]
    """Keep of a list what lies within `width` of its threshold; the rest is fixed by sign."""
    n = 0
    for i in range(len(rho)):
        inside = 0
        for k in range(lfirst[i], lfirst[i + 1]):
            z = lworth[k] - rho[i] - b[lcol[k]]
            s = 1 if z > 0 else 0
            if abs(z) <= width:
                s |= LISTED
                inside += 1
            elif s == 1:
                base_r[i] += 1
                base_c[lcol[k]] += 1
            state[lplace[k]] = s
        listed_r[i] = inside
        n += inside
    return n


@compiled
def gather(first, col, whole, state, listed_r, n):  # type: ignore[no-untyped-def]
    """The listed elements row by row: first, column, worth, place, chosen."""
    lfirst = np.zeros(len(listed_r) + 1, np.int64)
    lcol = np.empty(n, np.int32)
    lworth = np.empty(n)
    lplace = np.empty(n, np.int32)
    chosen = np.empty(n, np.uint8)
    m = 0
    for i in range(len(listed_r)):
        if listed_r[i] > 0:
            for k in range(first[i], first[i + 1]):
                if state[k] >= LISTED:
                    lcol[m] = col[k]
                    lworth[m] = whole[k]
                    lplace[m] = k
                    chosen[m] = state[k] & CHOSEN
                    m += 1
        lfirst[i + 1] = m
    return lfirst, lcol, lworth, lplace, chosen


@compiled
def columns_of(lfirst, lcol, lworth, columns):  # type: ignore[no-untyped-def]
    """The list column by column: first, row, worth, and the place in the list."""
    n = len(lcol)
    start = np.zeros(columns + 1, np.int64)
    for k in range(n):
        start[lcol[k] + 1] += 1
    for j in range(columns):
        start[j + 1] += start[j]
    at = start[:-1].copy()
    row = np.empty(n, np.int32)
    value = np.empty(n)
    place = np.empty(n, np.int32)
    for i in range(len(lfirst) - 1):
        for k in range(lfirst[i], lfirst[i + 1]):
            j = at[lcol[k]]
            at[lcol[k]] = j + 1
            row[j] = i
            value[j] = lworth[k]
            place[j] = k
    return start, row, value, place


@compiled
def price_out(first, col, whole, rho, b, state, listed_r, excess, rows):  # type: ignore[no-untyped-def]
    """Elements outside the list whose state no longer agrees with the potentials join it, corrected."""
    joined = 0
    for i in range(len(rho)):
        theta = rho[i]
        for k in range(first[i], first[i + 1]):
            s = state[k]
            if s >= LISTED:
                continue
            z = whole[k] - theta - b[col[k]]
            if s == 0:
                if z > 0 and whole[k] > 0:
                    state[k] = LISTED | CHOSEN
                    excess[i] -= 1
                    excess[rows + col[k]] += 1
                    listed_r[i] += 1
                    joined += 1
            elif z < 0:
                state[k] = LISTED
                excess[i] += 1
                excess[rows + col[k]] -= 1
                listed_r[i] += 1
                joined += 1
    return joined


@compiled
def near_width(lfirst, lcol, lworth, rho, b, want):  # type: ignore[no-untyped-def]
    """A width within which about `want` elements of the list lie, from at most 4,096 of them."""
    n = len(lcol)
    step = max(1, n // 4096)
    z = np.empty(n // step + 1)
    m = 0
    i = 0
    for k in range(0, n, step):
        while lfirst[i + 1] <= k:
            i += 1
        z[m] = abs(lworth[k] - rho[i] - b[lcol[k]])
        m += 1
    z = np.sort(z[:m])
    at = int(want / n * m) if n > 0 else 0
    return z[min(at, m - 1)] if m > 0 else 0.0
