"""The compiled driver of the projection: one call from weights to a certified support."""

# mypy: disable-error-code="no-untyped-def"
# Compiled code is not annotated: numba takes the types from the call.

from __future__ import annotations

import math

import numpy as np

from optiframe_tvcs.dual_kernels import by_columns, minimise_block, spread
from optiframe_tvcs.jit import compiled
from optiframe_tvcs.list_kernels import (
    CHOSEN,
    LISTED,
    columns_of,
    gather,
    largest_of,
    mark,
    near_width,
    price_out,
    quantised,
    rank_value,
    verify,
)
from optiframe_tvcs.repair_kernels import NO_PATH, TOO_MUCH_WORK, repair, start_flow
from optiframe_tvcs.scaling_kernels import bit_scaling
from optiframe_tvcs.tie_kernels import common_unit, drain

# Widths of the ramp in a stage, as elements a group within it: averaging over more elements moves
# faster, fewer leave less to repair.
NONE = (0.0, 0.0)
WIDE = (8.0, 0.0)
FEW = (4.0, 0.8)
FEW_WARM = (0.8, 0.0)
FIRST = (16.0, 0.0)
LAST = (3.0, 0.7)
SMALL = 3000  # elements up to which all are candidates
STAGES = 6  # lists of candidates made before what is wrong is left to the repair


@compiled
def sweep(
    first, col, worth, copies, cfirst, crow, cworth, ccopies, base_r, base_c, row_caps, column_caps,
    total, y0, u, w, tau, close, centre_r, centre_c, window_r, window_c, times, t, star,
):  # fmt: skip
    """Minimise over (y0, u), then over (y0, w), so many times; gives y0."""
    for _ in range(times):
        y0 = minimise_block(
            first,
            col,
            worth,
            copies,
            base_r,
            row_caps,
            total,
            y0,
            u,
            w,
            tau,
            close,
            centre_r,
            window_r,
            t,
            star,
        )
        y0 = minimise_block(
            cfirst,
            crow,
            cworth,
            ccopies,
            base_c,
            column_caps,
            total,
            y0,
            w,
            u,
            tau,
            close,
            centre_c,
            window_c,
            t,
            star,
        )
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
    if cold and widths[1] == 0.0:
        tau = 0.2 * np.mean(worth) + 2.0  # wide enough for Newton steps, narrow beside the values
        y0 = sweep(
            first, col, worth, copies, cfirst, crow, cworth, ccopies, base_r, base_c, row_caps, column_caps,
            total, y0, u, w, tau, 0.5, centre_r, centre_c, window_r, window_c, 1, t, star,
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
def prices_of(phi, limit, u, w):
    """Prices of the bounds from potentials, none above the largest worth; gives y0."""
    rows = len(u)
    source = rows + len(w)
    for i in range(rows):
        u[i] = min(max(0.0, phi[i] - phi[source]), limit)
    for j in range(len(w)):
        w[j] = min(max(0.0, phi[source + 1] - phi[rows + j]), limit)
    return max(0.0, phi[source] - phi[source + 1])


@compiled
def project(
    weights, order, first, col, row_length, column_length, row_caps, column_caps, total,
    first_a, col_a, place_a, copies_a, first_b, col_b, place_b, copies_b,
    warm, y0, u, w, window, keep, budget, forced, support, sums, record,
):  # fmt: skip
    """The support of greatest worth and its prices; gives (failures, scale, y0)."""
    p = len(weights)
    rows = len(row_caps)
    columns = len(column_caps)
    groups = rows + columns
    sums[:] = 0
    sums[4] = -1
    top = largest_of(weights)
    if not np.isfinite(top):
        return -1, 1.0, 0.0
    scale = 1.0 if top <= 0.0 else 2.0 ** min(50 - math.frexp(top)[1], 1000)
    limit = max(np.rint(top * scale), 1.0 if top > 0.0 else 0.0)  # no price need be higher
    if top <= 0.0 or total == 0:
        support[:] = False
        u[:] = 0.0
        w[:] = 0.0
        return 0, scale, limit
    whole = np.empty(p)
    record[4] = quantised(weights, order, scale, whole)
    unit = common_unit(whole)
    caps_r = row_caps.astype(np.float64)
    caps_c = column_caps.astype(np.float64)
    state = np.zeros(p, np.uint8)
    base_r = np.zeros(rows, np.int64)
    base_c = np.zeros(columns, np.int64)
    listed_r = np.zeros(rows, np.int64)
    window_r = np.full(rows, np.inf)
    window_c = np.full(columns, np.inf)
    cold = not warm
    if cold:
        u[:] = 0.0
        w[:] = 0.0
        y0 = rank_value(whole, total)
    else:
        y0 = min(y0 * scale, limit)
        for i in range(rows):
            u[i] = min(u[i] * scale, limit)
        for j in range(columns):
            w[j] = min(w[j] * scale, limit)
    for level in range(2):
        if level == 0:
            f, c, place, copies = first_a, col_a, place_a, copies_a
        else:
            f, c, place, copies = first_b, col_b, place_b, copies_b
        n = len(c)
        if n == 0 or (warm and level == 0 and len(col_b) > 0):
            continue
        worth = np.empty(n)
        for k in range(n):
            worth[k] = whole[place[k]]
        widths = NONE if warm else WIDE
        y0, cfirst, crow, cworth, ccopies, centre_r, centre_c, t = smooth(
            f, c, worth, copies, base_r, base_c, caps_r, caps_c, float(total), y0, u, w, cold, widths, 2, 0.5,
            window_r, window_c,
        )  # fmt: skip
        cold = False
        if level == 1 or len(col_b) == 0:
            # The count of a group of n elements sampled one in m has variance n (m - 1) / 4 at
            # the worst; `window` of its roots to either side of each threshold. Prices of
            # before are taken to be as good as those of a sample of half.
            m = 2.0 if warm else np.mean(copies)
            more = np.mean(copies)
            window_r = spread(
                f,
                c,
                worth,
                copies,
                y0,
                u,
                w,
                window * np.sqrt(row_length * (m - 1)) + more,
                window_r,
                centre_r,
                t,
            )
            window_c = spread(
                cfirst,
                crow,
                cworth,
                ccopies,
                y0,
                w,
                u,
                window * np.sqrt(column_length * (m - 1)) + more,
                window_c,
                centre_c,
                t,
            )
    if warm and len(col_a) == 0 and 6.0 * keep * groups < p:
        width = near_width(first, col, whole, y0 + u, w, 1.5 * keep * groups)
        window_r[:] = width
        window_c[:] = width
    for stage in range(STAGES):
        y0 = unit * np.rint(y0 / unit)
        for i in range(rows):
            u[i] = unit * np.rint(u[i] / unit)
        for j in range(columns):
            w[j] = unit * np.rint(w[j] / unit)
        n, wrong = mark(
            first, col, whole, y0 + u, w, window_r, window_c, state, base_r, base_c, listed_r, stage > 0
        )
        lfirst, lcol, lworth, lplace, chosen = gather(first, col, whole, state, listed_r, n)
        record[5] = n
        # Done when the last smoothing left nearly everything outside its list on its side.
        if (
            n == 0
            or (stage > 0 and p <= SMALL)
            or ((stage > 1 or (stage > 0 and warm)) and wrong <= 0.01 * groups)
        ):
            break
        if stage == STAGES - 1:
            break
        widths = FIRST if stage == 0 and not warm else LAST
        if p <= SMALL:
            widths = FEW_WARM if warm else FEW
        y0, cfirst, crow, cworth, ccopies, centre_r, centre_c, t = smooth(
            lfirst, lcol, lworth, np.ones(n), base_r, base_c, caps_r, caps_c, float(total), y0, u, w, cold,
            widths, 1 if stage == 0 and (warm or cold) else 2, 0.5 if stage == 0 else 0.1, window_r, window_c,
        )  # fmt: skip
        cold = False
        if p <= SMALL:
            continue  # the list is all elements
        if stage > 0 and wrong > (2.0 if stage == 1 else 0.1) * groups:
            if stage > 1:
                window_r *= 2.0  # the prices moved by more than the windows
                window_c *= 2.0
        elif stage > 0 or keep * groups < n:
            # From here on, the so many elements of each group that are nearest to its threshold.
            need = (0.5 if stage > 0 or warm else 1.5) * keep
            window_r = spread(
                lfirst, lcol, lworth, np.ones(n), y0, u, w, np.full(rows, need), window_r, centre_r, t
            )
            window_c = spread(
                cfirst, crow, cworth, ccopies, y0, w, u, np.full(columns, need), window_c, centre_c, t
            )
            if unit > 1.0:
                window_r = np.maximum(window_r, unit)
        else:
            window_r[:] = np.inf
    phi = np.empty(groups + 2)
    phi[:rows] = y0 + u
    phi[rows:groups] = -w
    phi[groups] = y0
    phi[groups + 1] = 0.0
    count_r = base_r.astype(np.int64)
    count_c = base_c.astype(np.int64)
    for i in range(rows):
        for k in range(lfirst[i], lfirst[i + 1]):
            if chosen[k]:
                count_r[i] += 1
                count_c[lcol[k]] += 1
    fs = np.empty(rows, np.int64)
    ft = np.empty(columns, np.int64)
    excess = np.empty(groups + 2, np.int64)
    back = start_flow(phi, count_r, count_c, row_caps, column_caps, total, fs, ft, excess)
    units = 0
    for v in range(groups + 2):
        units += max(excess[v], 0)
    record[6] = units
    status = 0
    for rounds in range(40):
        record[7] = rounds + 1
        cfirst, crow, cworth, cplace = columns_of(lfirst, lcol, lworth, columns)
        # Ties are carried by blocking flows, and paths are looked for from all excess at once.
        together = unit > 1.0 or record[6] > 4 * groups
        status = 0
        while True:
            if together:
                back = drain(
                    lfirst, lcol, lworth, chosen, cfirst, crow, cworth, cplace, phi, row_caps, column_caps,
                    total, fs, ft, back, excess, record,
                )  # fmt: skip
            left = False
            for v in range(groups + 2):
                left = left or excess[v] > 0
            if not left or status != 0:
                break
            if together and record[1] > budget:
                status = TOO_MUCH_WORK
                break
            status, back = repair(
                lfirst, lcol, lworth, chosen, cfirst, crow, cworth, cplace, phi, row_caps, column_caps, total,
                fs, ft, back, excess, budget - record[1], together, record,
            )  # fmt: skip
        for k in range(len(lplace)):
            state[lplace[k]] = LISTED | chosen[k]
        if status == TOO_MUCH_WORK or forced:
            status = TOO_MUCH_WORK
            break
        if status == NO_PATH:
            # What lies next to the thresholds decides; after three times all elements do.
            if rounds >= 3:
                window_r[:] = np.inf
            price_out(
                first, col, whole, phi, state, listed_r, excess, window_r, window_c, 4.0 ** (rounds + 1)
            )
        else:
            y0 = prices_of(phi, limit, u, w)
            failures = verify(first, col, whole, state, y0, u, w, row_caps, column_caps, total, sums)
            if failures == 0:
                break
            wrong = price_out(first, col, whole, phi, state, listed_r, excess, window_r, window_c, -1.0)
            if wrong == 0:
                status = TOO_MUCH_WORK
                break
        n = 0
        for i in range(rows):
            n += listed_r[i]
        lfirst, lcol, lworth, lplace, chosen = gather(first, col, whole, state, listed_r, n)
        status = TOO_MUCH_WORK
    if status == TOO_MUCH_WORK:
        record[3] = 1
        bit_scaling(first, col, whole, row_caps, column_caps, total, state, phi, record)
        y0 = prices_of(phi, limit, u, w)
        failures = verify(first, col, whole, state, y0, u, w, row_caps, column_caps, total, sums)
    held = 0
    for k in range(p):
        held += state[k] & CHOSEN
    record[2] = held
    if len(order) == 0:
        for k in range(p):
            support[k] = state[k] & CHOSEN
    else:
        for k in range(p):
            support[order[k]] = state[k] & CHOSEN
        if sums[4] >= 0:
            sums[4] = order[sums[4]]
    return failures, scale, y0
