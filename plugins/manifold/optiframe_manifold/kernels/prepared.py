"""Whether the passes over comparisons run compiled."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from types import ModuleType

_WORTH_COMPILING = 200_000
"""Comparisons from which the compiled passes are used without being asked. Importing the compiler takes
about a second, compiling once on a machine some more; two hundred Hessian products of so many save
one."""

_here: list[bool] = []  # not empty once this process has prepared


def passes_for(comparisons: int) -> ModuleType:
    """The module `compiled` of this room where it pays and numba is installed, else `plain`."""
    compiled = _compiled() if _here or comparisons >= _WORTH_COMPILING else None
    return import_module("optiframe_manifold.kernels.plain") if compiled is None else compiled


def prepare() -> bool:
    """Load the compiled passes, and compile them first where this machine has not yet.

    Objectives built from then on in this process use them for any number of comparisons; without it,
    from 200,000 on. Takes some seconds the first time on a machine, about a second later.

    Returns
    -------
    bool
        Whether they can be used; False where numba (the extra `fast`) is not installed.
    """
    if _compiled() is None:
        return False
    import numpy as np

    from optiframe_manifold.low_rank import LowRank
    from optiframe_manifold.objective.btl import BtlObjective

    _here.append(True)
    one = LowRank(np.ones((1, 1)), np.ones((50, 1)))
    data = {"users": 1, "items": 50, "winner": [0], "loser": [1], "pointer": [0, 1], "strength": 1.0}
    for penalty in ("log-sum-exp", "none"):  # by rows, and by comparisons: one among fifty entries
        objective = BtlObjective.load(**data, penalty=penalty)
        objective.value(one)
        objective.hessian_product(one, one)
        objective.rough_hessian_product(one, one)
    return True


@cache
def _compiled() -> ModuleType | None:
    try:
        return import_module("optiframe_manifold.kernels.compiled")
    except ImportError:  # not installed, or not for this version of NumPy
        return None
