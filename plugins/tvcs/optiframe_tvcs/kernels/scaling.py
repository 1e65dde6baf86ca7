"""The compiled fallback with a worst-case bound: worths bit by bit, each time exact.

With the worths cut to their leading bits the problem is small numbers and ties. One more bit
doubles the potentials, and only elements of reduced worth 0 may change sides (by 1); shortest
paths are then at most a few units a group long. With G groups and worths of B bits this takes
at most B rounds of O(G) shortest-path searches, each followed by blocking flows.
"""

# mypy: disable-error-code="no-untyped-def"
# Compiled code is not annotated: numba takes the types from the call.

from __future__ import annotations

import numpy as np

from optiframe_tvcs.kernels.candidates import columns_of
from optiframe_tvcs.kernels.flow import start_flow
from optiframe_tvcs.kernels.jit import YES, compiled
from optiframe_tvcs.kernels.repair import repair
from optiframe_tvcs.kernels.scan import LISTED
from optiframe_tvcs.kernels.ties import drain

NOTHING = np.int64(0)  # of further work: one path


@compiled
def bit_scaling(first, col, whole, row_caps, column_caps, total, state, phi, record):
    """An optimal support and its potentials, from nothing."""
    p = len(whole)
    rows = len(row_caps)
    columns = len(column_caps)
    n = 0
    for k in range(p):
        n += whole[k] > 0
    lfirst = np.zeros(rows + 1, np.int64)
    lcol = np.empty(n, np.int32)
    lplace = np.empty(n, np.int32)
    n = 0
    top = 0.0
    for i in range(rows):
        for k in range(first[i], first[i + 1]):
            if whole[k] > 0:
                lcol[n] = col[k]
                lplace[n] = k
                top = max(top, whole[k])
                n += 1
        lfirst[i + 1] = n
    bits = 0
    while 2.0**bits <= top:
        bits += 1
    chosen = np.zeros(n, np.uint8)
    worth = np.zeros(n)
    cfirst, crow, cworth, cplace = columns_of(lfirst, lcol, worth, columns)
    phi[:] = 0.0
    fs = np.empty(rows, np.int64)
    ft = np.empty(columns, np.int64)
    excess = np.empty(rows + columns + 2, np.int64)
    count_r = np.empty(rows, np.int64)
    count_c = np.empty(columns, np.int64)
    for shift in range(bits - 1, -1, -1):
        unit = 2.0**shift
        phi *= 2.0
        count_r[:] = 0
        count_c[:] = 0
        for i in range(rows):
            for k in range(lfirst[i], lfirst[i + 1]):
                q = np.floor(whole[lplace[k]] / unit)
                worth[k] = q
                z = q - phi[i] + phi[rows + lcol[k]]
                if z > 0:
                    chosen[k] = 1
                elif z < 0:
                    chosen[k] = 0
                if chosen[k]:
                    count_r[i] += 1
                    count_c[lcol[k]] += 1
        for k in range(n):
            cworth[k] = worth[cplace[k]]
        back = start_flow(phi, count_r, count_c, row_caps, column_caps, total, fs, ft, excess)
        while True:
            back = drain(
                lfirst, lcol, worth, chosen, cfirst, crow, cworth, cplace, phi, row_caps, column_caps,
                total, fs, ft, back, excess, record,
            )  # fmt: skip
            left = False
            for v in range(rows + columns + 2):
                left = left or excess[v] > 0
            if not left:
                break
            record[3] += 1
            _, back = repair(
                lfirst, lcol, worth, chosen, cfirst, crow, cworth, cplace, phi, row_caps, column_caps,
                total, fs, ft, back, excess, NOTHING, YES, record,
            )  # fmt: skip
    state[:] = 0
    for k in range(n):
        state[lplace[k]] = LISTED | chosen[k]
