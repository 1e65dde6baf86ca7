"""Compiled lists of candidates: the elements near the thresholds of their groups."""

# mypy: disable-error-code="no-untyped-def"
# Compiled code is not annotated: numba takes the types from the call.

from __future__ import annotations

import numpy as np

from optiframe_tvcs.kernels.jit import compiled
from optiframe_tvcs.kernels.scan import CHOSEN, LISTED

CHUNK = 2048  # elements at a time: what is looked up for them stays in the cache


@compiled
def look_up(of_columns, columns, found):
    """What the columns have; a loop of its own leaves the next one vectorised."""
    for k in range(len(columns)):
        found[k] = of_columns[columns[k]]


@compiled
def mark(first, col, whole, rho, b, window_r, window_c, state, base_r, base_c, listed_r, again):
    """Chosen by sign of the reduced worth; listed when within the windows.

    Gives how many are listed, and, with `again`, how many changed sides that were not listed before.

    Also counts, for each group, the chosen elements that are not listed.
    """
    base_c[:] = 0
    n = 0
    wrong = 0
    price = np.empty(CHUNK)
    window = np.empty(CHUNK)
    now = np.empty(CHUNK, np.uint8)
    for i in range(len(rho)):
        theta = rho[i]
        h = window_r[i]
        above = 0
        inside = 0
        for start in range(first[i], first[i + 1], CHUNK):
            end = min(start + CHUNK, first[i + 1])
            columns, worth, old = col[start:end], whole[start:end], state[start:end]
            look_up(b, columns, price)
            look_up(window_c, columns, window)
            for k in range(len(worth)):
                z = worth[k] - theta - price[k]
                near = abs(z) <= max(h, window[k]) and worth[k] > 0
                now[k] = (CHOSEN if z > 0 else 0) + (LISTED if near else 0)
            for k in range(len(worth)):
                wrong += 1 if old[k] < LISTED and now[k] & CHOSEN != old[k] else 0
                inside += now[k] // LISTED
                above += 1 if now[k] == CHOSEN else 0
                old[k] = now[k]
            for k in range(len(worth)):
                base_c[columns[k]] += now[k] == CHOSEN
        base_r[i] = above
        listed_r[i] = inside
        n += inside
    return n, wrong if again else 0


@compiled
def gather(first, col, whole, state, listed_r):
    """The listed elements row by row: first, column, worth, place, chosen."""
    n = listed_r.sum()
    lfirst = np.zeros(len(listed_r) + 1, np.int64)
    lplace = np.empty(n + 1, np.int32)
    m = 0
    for i in range(len(listed_r)):
        if listed_r[i] > 0:
            for k in range(first[i], first[i + 1]):
                lplace[m] = k
                m += state[k] >> 1
        lfirst[i + 1] = m
    lplace = lplace[:n]
    lcol = np.empty(n, np.int32)
    lworth = np.empty(n)
    chosen = np.empty(n, np.uint8)
    for m in range(n):
        k = lplace[m]
        lcol[m] = col[k]
        lworth[m] = whole[k]
        chosen[m] = state[k] & CHOSEN
    return lfirst, lcol, lworth, lplace, chosen


@compiled
def columns_of(lfirst, lcol, lworth, columns):
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
def price_out(first, col, whole, phi, state, listed_r, excess, window_r, window_c, widened):
    """Correct elements outside the list by the sign of their reduced worth; the corrected join the list.

    So do those within `widened` times their window; give -1 for none. Gives how many were wrong.
    """
    rows = len(listed_r)
    wrong = 0
    for i in range(rows):
        theta = phi[i]
        joined = 0
        for k in range(first[i], first[i + 1]):
            s = state[k]
            if s >= LISTED:
                continue
            q = whole[k]
            z = q - theta + phi[rows + col[k]]
            width = widened * max(window_r[i], window_c[col[k]])
            if s == 0:
                if z > 0 and q > 0:
                    state[k] = LISTED | CHOSEN
                    excess[i] -= 1
                    excess[rows + col[k]] += 1
                    joined += 1
                    wrong += 1
                elif z >= -width and q > 0:
                    state[k] = LISTED
                    joined += 1
            elif z < 0:
                state[k] = LISTED
                excess[i] += 1
                excess[rows + col[k]] -= 1
                joined += 1
                wrong += 1
            elif z <= width:
                state[k] = LISTED | CHOSEN
                joined += 1
        listed_r[i] += joined
    return wrong


@compiled
def rank_value(whole, rank):
    """About the worth above which `rank` elements lie, from some 1,000 of them."""
    step = max(1, len(whole) // min(1000, max(64, len(whole) // 16)))
    values = np.sort(whole[::step])
    at = len(values) - 1 - np.int64(rank / step)
    return values[at] if at >= 0 else 0.0


@compiled
def near_width(lfirst, lcol, lworth, rho, b, want):
    """A width within which about `want` elements of the list lie, from a sample of at most some 1,000."""
    n = len(lcol)
    step = max(1, n // min(1000, max(64, n // 16)))  # sorting them is not to take longer than using them
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
