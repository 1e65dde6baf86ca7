"""The flow that agrees with prices and a choice of elements, and by how much it fails to be one.

The graph of groups is that of `kernels.repair`.
"""

# mypy: disable-error-code="no-untyped-def"
# Compiled code is not annotated: numba takes the types from the call.

from __future__ import annotations

from optiframe_tvcs.kernels.jit import compiled


@compiled
def start_flow(phi, row_count, column_count, row_caps, column_caps, total, fs, ft, excess):
    """Flows on the arcs of S and T that agree with the potentials; fills excess, gives the flow T to S."""
    rows = len(row_caps)
    columns = len(column_caps)
    source = rows + columns
    sink = source + 1
    into_s = 0
    for i in range(rows):
        f = min(row_count[i], row_caps[i])
        if phi[i] > phi[source]:
            f = row_caps[i]
        elif phi[i] < phi[source]:
            f = 0
        fs[i] = f
        into_s += f
        excess[i] = f - row_count[i]
    into_t = 0
    for j in range(columns):
        f = min(column_count[j], column_caps[j])
        if phi[rows + j] < phi[sink]:
            f = column_caps[j]
        elif phi[rows + j] > phi[sink]:
            f = 0
        ft[j] = f
        into_t += f
        excess[rows + j] = column_count[j] - f
    back = min(total, into_t)
    if phi[source] > phi[sink]:
        back = total
    elif phi[source] < phi[sink]:
        back = 0
    excess[source] = back - into_s
    excess[sink] = into_t - back
    return back
