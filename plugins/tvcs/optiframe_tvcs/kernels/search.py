"""Prices from nothing: by samples of the elements first, then on those near the thresholds."""

# mypy: disable-error-code="no-untyped-def"
# Compiled code is not annotated: numba takes the types from the call.

from __future__ import annotations

import numpy as np

from optiframe_tvcs.kernels.candidates import gather, mark, near_width
from optiframe_tvcs.kernels.dual import by_columns, minimise_block, spread
from optiframe_tvcs.kernels.jit import compiled

# Widths of the ramp in a stage, as elements a group within it: averaging over more elements moves
# faster, fewer leave less to repair.
WIDE = (8.0, 0.0)
FIRST = (16.0, 0.0)
LAST = (3.0, 0.7)
ONCE, TWICE = np.int64(1), np.int64(2)  # sweeps
STAGES = 6  # lists of candidates made before what is wrong is left to the repair
WINDOW = 2.5  # standard deviations of a sampled price in which elements stay candidates
KEEP = 24.0  # candidates a group for the repair


@compiled
def sweep(
    first, col, worth, copies, cfirst, crow, cworth, ccopies, base_r, base_c, row_caps, column_caps,
    total, y0, u, w, tau, close, centre_r, centre_c, window_r, window_c, times, t, star,
):  # fmt: skip
    """Minimise over (y0, u), then over (y0, w), so many times; gives y0."""
    for _ in range(times):
        y0 = minimise_block(
            first, col, worth, copies, base_r, row_caps, total, y0, u, w, tau, close, centre_r, window_r,
            t, star,
        )  # fmt: skip
        y0 = minimise_block(
            cfirst, crow, cworth, ccopies, base_c, column_caps, total, y0, w, u, tau, close, centre_c,
            window_c, t, star,
        )  # fmt: skip
    return y0


@compiled
def smooth(
    first, col, worth, copies, base_r, base_c, row_caps, column_caps, total, y0, u, w, cold, widths,
    times, close, window_r, window_c,
):  # fmt: skip
    """Prices by the smoothed dual on one list; `widths` are elements a group within the ramp."""
    n = len(col)
    columns = len(column_caps)
    cfirst, crow, cworth, ccopies = by_columns(first, col, worth, copies, columns)
    t = np.empty(n)
    star = np.empty(max(len(row_caps), columns))
    groups = len(row_caps) + columns
    centre_r = y0 + u
    centre_c = y0 + w
    if cold:
        tau = 0.2 * np.mean(worth) + 2.0  # wide enough for Newton steps, narrow beside the values
        y0 = sweep(
            first, col, worth, copies, cfirst, crow, cworth, ccopies, base_r, base_c, row_caps, column_caps,
            total, y0, u, w, tau, 0.5, centre_r, centre_c, window_r, window_c, ONCE, t, star,
        )  # fmt: skip
    for width in widths:
        if width == 0.0:
            continue
        # at most .3 of the list: a wider ramp would average over values that decide nothing
        tau = max(2.0, 2.0 * near_width(first, col, worth, y0 + u, w, min(width * groups, 0.3 * n)))
        y0 = sweep(
            first, col, worth, copies, cfirst, crow, cworth, ccopies, base_r, base_c, row_caps, column_caps,
            total, y0, u, w, tau, close, centre_r, centre_c, window_r, window_c, times, t, star,
        )  # fmt: skip
    return y0, cfirst, crow, cworth, ccopies, centre_r, centre_c, t


@compiled
def by_sample(
    whole, first, col, place, copies, row_length, column_length, caps_r, caps_c, total, y0, u, w, cold,
    window_r, window_c,
):  # fmt: skip
    """Prices from a sample, and windows in which the exact ones lie but for rare cases; gives y0.

    The count of a group of n elements sampled one in m has variance n (m - 1) / 4 at the worst; `WINDOW`
    of its roots to either side of each threshold are kept.
    """
    worth = whole[place]
    none_r, none_c = np.zeros(len(u), np.int64), np.zeros(len(w), np.int64)
    y0, cfirst, crow, cworth, ccopies, centre_r, centre_c, t = smooth(
        first, col, worth, copies, none_r, none_c, caps_r, caps_c, total, y0, u, w, cold, WIDE, TWICE, 0.5,
        np.full(len(u), np.inf), np.full(len(w), np.inf),
    )  # fmt: skip
    m = np.mean(copies)
    need = WINDOW * np.sqrt(row_length * (m - 1)) + m
    window_r[:] = spread(first, col, worth, copies, y0, u, w, need, np.full(len(u), np.inf), centre_r, t)
    need = WINDOW * np.sqrt(column_length * (m - 1)) + m
    window_c[:] = spread(cfirst, crow, cworth, ccopies, y0, w, u, need, np.full(len(w), np.inf), centre_c, t)
    return y0


@compiled
def by_windows(
    first, col, whole, caps_r, caps_c, total, unit, y0, u, w, cold, window_r, window_c, state, base_r,
    base_c, listed_r,
):  # fmt: skip
    """Prices on the elements within the windows, which narrow; gives y0 and the last list."""
    rows = len(u)
    columns = len(w)
    groups = rows + columns
    for stage in range(STAGES):
        y0 = round_to(unit, y0, u, w)
        n, wrong = mark(
            first, col, whole, y0 + u, w, window_r, window_c, state, base_r, base_c, listed_r, stage > 0
        )
        lfirst, lcol, lworth, lplace, chosen = gather(first, col, whole, state, listed_r)
        # Done when the last smoothing left nearly everything outside its list on its side.
        if n == 0 or (stage > 1 and wrong <= 0.01 * groups) or stage == STAGES - 1:
            break
        ones = np.ones(n)
        y0, cfirst, crow, cworth, ccopies, centre_r, centre_c, t = smooth(
            lfirst, lcol, lworth, ones, base_r, base_c, caps_r, caps_c, total, y0, u, w, cold,
            FIRST if stage == 0 else LAST, ONCE if cold else TWICE, 0.5 if stage == 0 else 0.1, window_r,
            window_c,
        )  # fmt: skip
        cold = False
        if stage > 0 and wrong > (2.0 if stage == 1 else 0.1) * groups:
            if stage > 1:
                window_r *= 2.0  # the prices moved by more than the windows
                window_c *= 2.0
        elif stage > 0 or KEEP * groups < n:
            # From here on, the so many elements of each group that are nearest to its threshold.
            need = (0.5 if stage > 0 else 1.5) * KEEP
            window_r[:] = spread(
                lfirst, lcol, lworth, ones, y0, u, w, np.full(rows, need), window_r, centre_r, t
            )
            window_c[:] = spread(
                cfirst, crow, cworth, ccopies, y0, w, u, np.full(columns, need), window_c, centre_c, t
            )
            if unit > 1.0:
                window_r[:] = np.maximum(window_r, unit)
        else:
            window_r[:] = np.inf
    return y0, (lfirst, lcol, lworth, lplace, chosen)


@compiled
def round_to(unit, y0, u, w):
    """Prices rounded to the unit of the worths, in place; gives y0."""
    for i in range(len(u)):
        u[i] = unit * np.rint(u[i] / unit)
    for j in range(len(w)):
        w[j] = unit * np.rint(w[j] / unit)
    return unit * np.rint(y0 / unit)
