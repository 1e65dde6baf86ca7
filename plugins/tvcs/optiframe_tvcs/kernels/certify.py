"""From prices near the best ones and a list of candidates to a support that is proved, or the fallback."""

# mypy: disable-error-code="no-untyped-def"
# Compiled code is not annotated: numba takes the types from the call.

from __future__ import annotations

import numpy as np

from optiframe_tvcs.kernels.candidates import columns_of, gather, price_out
from optiframe_tvcs.kernels.flow import start_flow
from optiframe_tvcs.kernels.jit import YES, compiled
from optiframe_tvcs.kernels.repair import NO_PATH, TOO_MUCH_WORK, repair
from optiframe_tvcs.kernels.scaling import bit_scaling
from optiframe_tvcs.kernels.scan import LISTED, potentials_of, prices_of, verify
from optiframe_tvcs.kernels.sweep import choose_by_sweeps, improve
from optiframe_tvcs.kernels.ties import drain

ROUNDS = 40  # lists tried before the fallback; each but a widened one ends with fewer elements wrong
WORK = (60, 100_000)  # arcs an element, and besides, that the repair may look at before the fallback


@compiled
def carry_all(
    lfirst, lcol, lworth, chosen, cfirst, crow, cworth, cplace, phi, row_caps, column_caps, total,
    fs, ft, back, excess, budget, together, record,
):  # fmt: skip
    """Carry all excess to lacks on one list; gives (status, flow from T to S).

    Ties are carried by blocking flows, and with `together` paths are looked for from all excess at once.
    """
    while True:
        if together:
            back = drain(
                lfirst, lcol, lworth, chosen, cfirst, crow, cworth, cplace, phi, row_caps, column_caps,
                total, fs, ft, back, excess, record,
            )  # fmt: skip
        left = False
        for v in range(len(excess)):
            left = left or excess[v] > 0
        if not left:
            return 0, back
        if together and record[1] > budget:
            return TOO_MUCH_WORK, back
        status, back = repair(
            lfirst, lcol, lworth, chosen, cfirst, crow, cworth, cplace, phi, row_caps, column_caps, total,
            fs, ft, back, excess, budget - record[1], together, record,
        )  # fmt: skip
        if status != 0:
            return status, back


@compiled
def certify_all(first, col, whole, row_caps, column_caps, total, limit, u, w, state, record, sums):
    """As `certify`, with all elements as the list and exact prices from none; gives (failures, y0).

    Where the windows around smoothed prices missed what decides; half the work again, then the fallback.
    """
    worth = np.where(whole > 0.0, whole, -np.inf)  # of an arc: what is worth nothing is never chosen
    rows, columns = len(row_caps), len(column_caps)
    none_r, none_c = np.zeros(rows, np.int64), np.zeros(columns, np.int64)
    count_r, count_c = none_r.copy(), none_c.copy()
    y0 = choose_by_sweeps(
        first, col, whole, none_r, none_c, row_caps, column_caps, total, YES, u, w, state, count_r, count_c
    )
    phi = potentials_of(y0, u, w)
    fs, ft = np.empty(rows, np.int64), np.empty(columns, np.int64)
    excess = np.empty(rows + columns + 2, np.int64)
    back = start_flow(phi, count_r, count_c, row_caps, column_caps, total, fs, ft, excess)
    together = np.maximum(excess, 0).sum() > 4 * (rows + columns)
    cfirst, crow, cworth, cplace = columns_of(first, col, worth, columns)
    status, back = carry_all(
        first, col, worth, state, cfirst, crow, cworth, cplace, phi, row_caps, column_caps, total, fs, ft,
        back, excess, record[1] + (WORK[0] * len(whole) + WORK[1]) // 2, together, record,
    )  # fmt: skip
    if status != 0:
        return 1, y0
    y0 = prices_of(phi, limit, u, w)
    return verify(first, col, whole, state, y0, u, w, row_caps, column_caps, total, sums), y0


@compiled
def certify(
    first, col, whole, lfirst, lcol, lworth, lplace, chosen, base_r, base_c, listed_r, row_caps,
    column_caps, total, unit, limit, y0, u, w, window_r, window_c, state, forced, record, sums,
):  # fmt: skip
    """Repair the list, price all elements, and go on with what was wrong; gives (failures, y0).

    Fills u, w and the state of each element.
    """
    rows = len(row_caps)
    columns = len(column_caps)
    groups = rows + columns
    budget = WORK[0] * len(whole) + WORK[1]
    phi = potentials_of(y0, u, w)
    count_r = base_r.copy()
    count_c = base_c.copy()
    for i in range(rows):
        for k in range(lfirst[i], lfirst[i + 1]):
            count_r[i] += chosen[k]
            count_c[lcol[k]] += chosen[k]
    fs = np.empty(rows, np.int64)
    ft = np.empty(columns, np.int64)
    excess = np.empty(groups + 2, np.int64)
    back = start_flow(phi, count_r, count_c, row_caps, column_caps, total, fs, ft, excess)
    y0, phi, back, units = improve(
        lfirst, lcol, lworth, base_r, base_c, row_caps, column_caps, total, y0, u, w, phi, chosen, count_r,
        count_c, fs, ft, back, excess,
    )  # fmt: skip
    record[6] = units
    together = unit > 1.0 or units > 4 * groups
    for rounds in range(ROUNDS):
        record[7] = rounds + 1
        cfirst, crow, cworth, cplace = columns_of(lfirst, lcol, lworth, columns)
        status, back = carry_all(
            lfirst, lcol, lworth, chosen, cfirst, crow, cworth, cplace, phi, row_caps, column_caps, total,
            fs, ft, back, excess, budget, together, record,
        )  # fmt: skip
        for k in range(len(lplace)):
            state[lplace[k]] = LISTED | chosen[k]
        if status == TOO_MUCH_WORK or forced:
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
                return 0, y0
            wrong = price_out(first, col, whole, phi, state, listed_r, excess, window_r, window_c, -1.0)
            if wrong == 0:
                break
        lfirst, lcol, lworth, lplace, chosen = gather(first, col, whole, state, listed_r)
    if not forced:
        failures, y0 = certify_all(
            first, col, whole, row_caps, column_caps, total, limit, u, w, state, record, sums
        )
        if failures == 0:
            return 0, y0
    record[3] = 1
    bit_scaling(first, col, whole, row_caps, column_caps, total, state, phi, record)
    y0 = prices_of(phi, limit, u, w)
    return verify(first, col, whole, state, y0, u, w, row_caps, column_caps, total, sums), y0
