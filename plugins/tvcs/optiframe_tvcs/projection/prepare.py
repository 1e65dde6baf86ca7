"""Compiling the projection ahead of its use."""

from __future__ import annotations

import numpy as np

from optiframe_tvcs.projection.plan import ProjectionPlan
from optiframe_tvcs.projection.prepared import has_numba, prefer_compiled


def prepare() -> bool:
    """Load the compiled projection, and compile it first where this machine has not yet.

    Projections from then on in this process use it for any number of elements; without it, beyond
    2,000. Takes some 45 s the first time on a machine, half a second later.

    Returns
    -------
    bool
        Whether it can be used; False where numba (the extra `fast`) is not installed.
    """
    if not has_numba():
        return False
    group, bound = np.zeros(2, np.int32), np.ones(1, np.int64)
    plan = ProjectionPlan(group, bound, group, bound, 1)
    for forced in (False, True):  # few elements and many are compiled apart; the fallback is one of many
        plan.solve(np.array([1.0, 2.0]), compiled=True, forced=forced)
    prefer_compiled()
    return True
