"""Prices from those of a similar projection: one list around the old thresholds, and a few Newton steps."""

# mypy: disable-error-code="no-untyped-def, assignment"
# Compiled code is not annotated: numba takes the types from the call, and whole numbers widen.

from __future__ import annotations

import numpy as np

from optiframe_tvcs.kernels.candidates import CHUNK, columns_of, gather, look_up, mark, near_width
from optiframe_tvcs.kernels.jit import NO, compiled
from optiframe_tvcs.kernels.newton import anneal
from optiframe_tvcs.kernels.search import round_to

LISTS = 24.0  # elements a group in the width that all are measured by
NEED, SPREAD = 8.0, 0.5  # elements in a window, and for the root of the group: as counts vary
WIDEST = 64.0  # of these widths in a window
FAR = 0.25  # of the candidates in the wrong place: beginning anew is then quicker
RAMP = 6.0  # elements a group on the first ramp
# And on those after each step: many short ones cost less than the paths they save.
WIDTHS = np.array([4.0, 3.0, 2.0, 1.5, 1.0, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.25, 0.2, 0.15, 0.1])


@compiled
def near_each(first, col, whole, rho, b, width, near_r, near_c):
    """How many elements of each group lie within the width of their threshold."""
    near_c[:] = 0.0
    price = np.empty(CHUNK)
    near = np.empty(CHUNK, np.uint8)
    for i in range(len(rho)):
        theta = rho[i]
        n = 0
        for start in range(first[i], first[i + 1], CHUNK):
            end = min(start + CHUNK, first[i + 1])
            columns, worth = col[start:end], whole[start:end]
            look_up(b, columns, price)
            for k in range(len(worth)):
                near[k] = 1 if abs(worth[k] - theta - price[k]) <= width else 0
            for k in range(len(worth)):
                n += near[k]
                near_c[columns[k]] += near[k]
        near_r[i] = n


@compiled
def misplaced(base, lfirst, chosen_of, caps, price):
    """Units by which the groups of one view miss their bounds, those without a price from above only."""
    off = 0.0
    for g in range(len(caps)):
        over = base[g] + chosen_of[g] - caps[g]
        off += abs(over) if price[g] > 0 else max(over, 0)
    return off


@compiled
def warm_start(
    first, col, whole, column_length, row_caps, column_caps, total, unit, y0, u, w,
    window_r, window_c, state, base_r, base_c, listed_r,
):  # fmt: skip
    """Given prices moved to fit; gives whether that was near enough, y0, and the list.

    Each group's window holds about as many elements: next to the threshold of a group that may keep one
    element of a thousand they lie a hundred times further apart than in the middle of another.
    """
    rows = len(u)
    columns = len(w)
    groups = rows + columns
    y0 = round_to(unit, y0, u, w)
    width = near_width(first, col, whole, y0 + u, w, LISTS * groups)
    near_each(first, col, whole, y0 + u, w, width, window_r, window_c)
    for i in range(rows):
        need = NEED + SPREAD * np.sqrt(first[i + 1] - first[i])
        window_r[i] = max(width * min(need / max(window_r[i], 0.5), WIDEST), unit)
    for j in range(columns):
        need = NEED + SPREAD * np.sqrt(column_length[j])
        window_c[j] = max(width * min(need / max(window_c[j], 0.5), WIDEST), unit)
    n, _ = mark(first, col, whole, y0 + u, w, window_r, window_c, state, base_r, base_c, listed_r, NO)
    lfirst, lcol, lworth, lplace, chosen = gather(first, col, whole, state, listed_r)
    count_r = np.zeros(rows, np.int64)
    count_c = np.zeros(columns, np.int64)
    for i in range(rows):
        for k in range(lfirst[i], lfirst[i + 1]):
            count_r[i] += chosen[k]
            count_c[lcol[k]] += chosen[k]
    off = misplaced(base_r, lfirst, count_r, row_caps, u) + misplaced(base_c, lfirst, count_c, column_caps, w)
    if off > FAR * n:
        return False, y0, (lfirst, lcol, lworth, lplace, chosen)
    cfirst, crow, cworth, _ = columns_of(lfirst, lcol, lworth, columns)
    y0 = anneal(
        lfirst, lcol, lworth, cfirst, crow, cworth, base_r.astype(np.float64), base_c.astype(np.float64),
        row_caps, column_caps, total, y0, u, w, max(2.0, 2.0 * width * RAMP / LISTS), WIDTHS,
        y0 + u, y0 + w, window_r, window_c, np.empty(max(rows, columns)),
    )  # fmt: skip
    y0 = round_to(unit, y0, u, w)
    for i in range(rows):
        for k in range(lfirst[i], lfirst[i + 1]):
            chosen[k] = lworth[k] - y0 - u[i] - w[lcol[k]] > 0
    return True, y0, (lfirst, lcol, lworth, lplace, chosen)
