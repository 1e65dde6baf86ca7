"""Whether projections run compiled: by their size, or because somebody asked.

Never by what a process happened to have loaded: among supports that tie, the two paths may choose
different ones, and the same call has the same answer.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec

_PLAIN = 2000
"""Elements up to which plain NumPy answers unless asked otherwise: some five milliseconds there, where
loading the compiled code takes half a second and compiling it most of a minute."""

_asked: list[bool] = []  # not empty once this process has prepared


def uses_compiled(elements: int) -> bool:
    """Whether a projection of so many elements runs compiled."""
    return (elements > _PLAIN or bool(_asked)) and _has_numba()


@cache
def _has_numba() -> bool:
    return find_spec("numba") is not None


def prepare() -> bool:
    """Load the compiled projection, and compile it first where this machine has not yet.

    Projections from then on in this process use it for any number of elements; without it, beyond
    2,000. Takes some 45 s the first time on a machine, half a second later.

    Returns
    -------
    bool
        Whether it can be used; False where numba (the extra `fast`) is not installed.
    """
    if not _has_numba():
        return False
    import numpy as np

    from optiframe_tvcs.projection.plan import ProjectionPlan

    group, bound = np.zeros(2, np.int32), np.ones(1, np.int64)
    plan = ProjectionPlan(group, bound, group, bound, 1)
    for forced in (False, True):  # few elements and many are compiled apart; the fallback is one of many
        plan.solve(np.array([1.0, 2.0]), compiled=True, forced=forced)
    _asked.append(True)
    return True
