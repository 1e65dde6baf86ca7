"""The compiled projection of a few thousand elements: all of them are one list.

No samples and no windows: a few Newton steps bring the prices near, and shortest paths do the rest.
With p elements and G groups there are at most p + G units to carry, and a search looks at no more
than 2 p + 4 G arcs, so that no input needs a fallback.
"""

# mypy: disable-error-code="no-untyped-def"
# Compiled code is not annotated: numba takes the types from the call.

from __future__ import annotations

import numpy as np

from optiframe_tvcs.kernels.flow import start_flow
from optiframe_tvcs.kernels.jit import NO, compiled
from optiframe_tvcs.kernels.newton import anneal
from optiframe_tvcs.kernels.repair import repair
from optiframe_tvcs.kernels.scan import give_out, opened, potentials_of, prices_of, verify
from optiframe_tvcs.kernels.sweep import choose, improve

# Elements a group on the ramp, step by step. More steps save fewer paths than they cost.
WIDTHS = np.array([8.0, 4.0, 4.0, 2.0, 1.0, 0.7])
NO_LIMIT = np.int64(1 << 60)  # of arcs looked at


@compiled
def direct(
    values, squared, order, first, col, cfirst, crow, cplace, row_caps, column_caps, total,
    warm, prices, support, kept, report,
):  # fmt: skip
    """As `compiled.project`, with all elements as one list; gives (failures, scale)."""
    p = len(values)
    rows = len(row_caps)
    columns = len(column_caps)
    groups = rows + columns
    going, scale, limit, whole = opened(values, squared, order, total, prices, support, kept, report)
    if going <= 0:
        return going, scale
    record, sums = report[:8], report[8:]
    u, w = prices[1 : 1 + rows], prices[1 + rows :]
    worth = np.empty(p)  # of an arc: what is worth nothing is never chosen
    cworth = np.empty(p)
    for k in range(p):
        worth[k] = whole[k] if whole[k] > 0.0 else -np.inf
    for k in range(p):
        cworth[k] = worth[cplace[k]]
    if warm:
        for k in range(1 + groups):
            prices[k] = min(np.rint(prices[k] * scale), limit)
        y0 = prices[0]
    else:
        prices[:] = 0.0
        mean = np.mean(whole)
        free = np.full(max(rows, columns), np.inf)
        none = np.zeros(max(rows, columns))
        y0 = anneal(
            first, col, worth, cfirst, crow, cworth, none, none, row_caps, column_caps, total, mean, u, w,
            2.0 * mean, WIDTHS, none, none, free, free, np.empty(max(rows, columns)),
        )  # fmt: skip
        prices[0] = y0 = np.rint(y0)
        for k in range(1, 1 + groups):
            prices[k] = np.rint(prices[k])
    state = np.empty(p, np.uint8)
    count_r = np.empty(rows, np.int64)
    count_c = np.empty(columns, np.int64)
    none_r = np.zeros(rows, np.int64)
    none_c = np.zeros(columns, np.int64)
    choose(first, col, whole, y0, u, w, row_caps, column_caps, total, state, count_r, count_c)
    phi = potentials_of(y0, u, w)
    fs = np.empty(rows, np.int64)
    ft = np.empty(columns, np.int64)
    excess = np.empty(groups + 2, np.int64)
    back = start_flow(phi, count_r, count_c, row_caps, column_caps, total, fs, ft, excess)
    y0, phi, back, record[6] = improve(
        first, col, whole, none_r, none_c, row_caps, column_caps, total, y0, u, w, phi, state, count_r,
        count_c, fs, ft, back, excess,
    )  # fmt: skip
    record[5] = p
    record[7] = 1
    repair(
        first, col, worth, state, cfirst, crow, cworth, cplace, phi, row_caps, column_caps, total,
        fs, ft, back, excess, NO_LIMIT, NO, record,
    )  # fmt: skip
    prices[0] = y0 = prices_of(phi, limit, u, w)
    failures = verify(first, col, whole, state, y0, u, w, row_caps, column_caps, total, sums)
    record[2] = give_out(values, order, state, support, kept, sums)
    return failures, scale
