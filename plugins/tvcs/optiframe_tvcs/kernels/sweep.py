"""Exact block minimisation over the prices of one view: slower than smoothing, and blind to its weak spots.

Where groups hold only a few elements, or worths lie close together, a ramp over several elements of a group
says little about the one at its threshold, and smoothed prices leave many units in the wrong group.
"""

# mypy: disable-error-code="no-untyped-def, assignment"
# Compiled code is not annotated: numba takes the types from the call, and whole numbers widen.

from __future__ import annotations

import numpy as np

from optiframe_tvcs.kernels.candidates import columns_of
from optiframe_tvcs.kernels.flow import start_flow
from optiframe_tvcs.kernels.jit import compiled
from optiframe_tvcs.kernels.scan import CHOSEN, potentials_of

SWEEPS = 2  # over both views, and as many again from no prices; more leave hardly fewer units
# Units times what a search looks at, all groups and the elements of one, over the elements that a sweep
# sorts: from here on sweeps come first. Smoothed prices leave 10 to 80 times as many units where groups
# are tiny.
SWEPT = 8.0


@compiled
def choose(first, col, whole, y0, u, w, row_caps, column_caps, total, state, count_r, count_c):
    """Every element on the side of its reduced worth; of those at their threshold, what fits."""
    held = 0
    level = 0  # elements at their threshold
    count_r[:] = 0
    count_c[:] = 0
    for i in range(len(u)):
        rho = y0 + u[i]
        above = 0
        for k in range(first[i], first[i + 1]):
            z = whole[k] - rho - w[col[k]]
            x = np.uint8(z > 0)
            state[k] = x
            above += x
            count_c[col[k]] += x
            level += np.int64(z == 0)
        count_r[i] = above
        held += above
    if level == 0:
        return
    for i in range(len(u)):
        rho = y0 + u[i]
        for k in range(first[i], first[i + 1]):
            j = col[k]
            fits = held < total and count_r[i] < row_caps[i] and count_c[j] < column_caps[j]
            if fits and whole[k] > 0 and whole[k] - rho - w[j] == 0:
                state[k] = CHOSEN
                count_r[i] += 1
                count_c[j] += 1
                held += 1


@compiled
def exact_sweep(first, other, worth, caps, total, other_price, price):
    """The best y0 and prices of one view for fixed prices of the other; fills price, gives y0.

    A group keeps as many as its bound allows of what its elements are worth beyond the other view's
    price; y0 is the first of all these that the total leaves out, and a group's price what its own first
    one left out is worth beyond that. Sorts: O(p log p) time and 16 bytes an element.
    """
    groups = len(caps)
    kept = np.empty(len(worth))
    held = 0
    for g in range(groups):
        a = first[g]
        value = np.empty(first[g + 1] - a)
        for k in range(len(value)):
            value[k] = worth[a + k] - other_price[other[a + k]]
        value.sort()
        cap = min(caps[g], len(value))
        price[g] = value[len(value) - 1 - cap] if cap < len(value) else 0.0
        for k in range(len(value) - cap, len(value)):
            kept[held] = value[k]
            held += 1
    y0 = 0.0
    if total < held:
        best = np.sort(kept[:held])
        y0 = max(best[held - 1 - total], 0.0)
    for g in range(groups):
        price[g] = max(price[g] - y0, 0.0)
    return y0


@compiled
def choose_by_sweeps(
    first, col, worth, base_r, base_c, row_caps, column_caps, total, anew, u, w, chosen, count_r, count_c,
):  # fmt: skip
    """Prices by exact sweeps on one list, and what they choose; fills u, w, chosen and the counts, gives y0.

    They begin with the prices w, or `anew` with none. `base_r` and `base_c` count the elements chosen for
    sure that are not in the list.
    """
    caps_r = np.maximum(row_caps - base_r, 0)
    caps_c = np.maximum(column_caps - base_c, 0)
    left = max(total - base_r.sum(), 0)
    cfirst, crow, cworth, _ = columns_of(first, col, worth, len(w))
    y0 = 0.0
    if anew:
        w[:] = 0.0
    for _ in range(2 * SWEEPS if anew else SWEEPS):
        y0 = exact_sweep(first, col, worth, caps_r, left, w, u)
        y0 = exact_sweep(cfirst, crow, cworth, caps_c, left, u, w)
    choose(first, col, worth, y0, u, w, caps_r, caps_c, left, chosen, count_r, count_c)
    count_r += base_r
    count_c += base_c
    return y0


@compiled
def improve(
    first, col, worth, base_r, base_c, row_caps, column_caps, total, y0, u, w, phi, chosen, count_r, count_c,
    fs, ft, back, excess,
):  # fmt: skip
    """Sweeps where much would be left to repair; gives y0, potentials, the flow T to S, and units left.

    They begin with the given prices, and then with none, where those are no help. Prices, choice and flow
    change in place, and only for the better.
    """
    a_search = len(u) + len(w) + len(worth) / min(len(u), len(w))
    units = np.maximum(excess, 0).sum()
    for again in range(2):
        if units * a_search <= SWEPT * len(worth):
            break
        before = y0, u.copy(), w.copy(), chosen.copy(), count_r.copy(), count_c.copy(), units
        y0 = choose_by_sweeps(
            first, col, worth, base_r, base_c, row_caps, column_caps, total, again == 1, u, w,
            chosen, count_r, count_c,
        )  # fmt: skip
        phi = potentials_of(y0, u, w)
        back = start_flow(phi, count_r, count_c, row_caps, column_caps, total, fs, ft, excess)
        units = np.maximum(excess, 0).sum()
        if units > before[6]:
            y0, u[:], w[:], chosen[:], count_r[:], count_c[:], units = before
            phi = potentials_of(y0, u, w)
            back = start_flow(phi, count_r, count_c, row_caps, column_caps, total, fs, ft, excess)
    return y0, phi, back, units
