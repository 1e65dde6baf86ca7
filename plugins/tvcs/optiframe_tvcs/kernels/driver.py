"""The compiled driver of the projection: one call from values to a certified support."""

# mypy: disable-error-code="no-untyped-def"
# Compiled code is not annotated: numba takes the types from the call.

from __future__ import annotations

import numpy as np

from optiframe_tvcs.kernels.candidates import rank_value
from optiframe_tvcs.kernels.certify import certify
from optiframe_tvcs.kernels.direct import direct
from optiframe_tvcs.kernels.jit import NO, YES, compiled
from optiframe_tvcs.kernels.scan import give_out, opened
from optiframe_tvcs.kernels.search import by_sample, by_windows
from optiframe_tvcs.kernels.ties import common_unit
from optiframe_tvcs.kernels.warm_start import warm_start

__all__ = ["direct", "project"]


@compiled
def project(
    values, squared, order, first, col, row_length, column_length, row_caps, column_caps, total,
    first_a, col_a, place_a, copies_a, first_b, col_b, place_b, copies_b,
    warm, forced, prices, support, kept, report,
):  # fmt: skip
    """The support of greatest worth and its prices; gives (failures, scale).

    Worths are the values, or their squares. `prices` holds y0, u and w: where to start when `warm`, in
    the units of the worths, and on return the answer's, in whole units. `support` and `kept`, the values
    of the support, may have no length when they are not wanted. `report` gets eight numbers of
    effort and six of the check.
    """
    rows = len(row_caps)
    going, scale, limit, whole = opened(values, squared, order, total, prices, support, kept, report)
    if going <= 0:
        return going, scale
    record, sums = report[:8], report[8:]
    u, w = prices[1 : 1 + rows], prices[1 + rows :]
    unit = common_unit(whole)
    state = np.zeros(len(values), np.uint8)
    base_r, base_c = np.zeros(rows, np.int64), np.zeros(len(w), np.int64)
    listed_r = np.zeros(rows, np.int64)
    window_r, window_c = np.full(rows, np.inf), np.full(len(w), np.inf)
    near = False
    if warm:
        for k in range(len(prices)):
            prices[k] = min(prices[k] * scale, limit)
        near, y0, found = warm_start(
            first, col, whole, column_length, row_caps, column_caps, total, unit, prices[0], u, w, window_r,
            window_c, state, base_r, base_c, listed_r,
        )  # fmt: skip
    if not near:
        u[:] = 0.0
        w[:] = 0.0
        window_r[:] = np.inf
        window_c[:] = np.inf
        y0 = rank_value(whole, total)
        caps_r, caps_c = row_caps.astype(np.float64), column_caps.astype(np.float64)
        if len(col_a) > 0:
            y0 = by_sample(
                whole, first_a, col_a, place_a, copies_a, row_length, column_length, caps_r, caps_c, total,
                y0, u, w, YES, window_r, window_c,
            )  # fmt: skip
        if len(col_b) > 0:
            y0 = by_sample(
                whole, first_b, col_b, place_b, copies_b, row_length, column_length, caps_r, caps_c, total,
                y0, u, w, NO, window_r, window_c,
            )  # fmt: skip
        y0, found = by_windows(
            first, col, whole, caps_r, caps_c, total, unit, y0, u, w, len(col_a) == 0, window_r, window_c,
            state, base_r, base_c, listed_r,
        )  # fmt: skip
    lfirst, lcol, lworth, lplace, chosen = found
    record[5] = len(lcol)
    failures, prices[0] = certify(
        first, col, whole, lfirst, lcol, lworth, lplace, chosen, base_r, base_c, listed_r, row_caps,
        column_caps, total, unit, limit, y0, u, w, window_r, window_c, state, forced, record, sums,
    )  # fmt: skip
    record[2] = give_out(values, order, state, support, kept, sums)
    return failures, scale
