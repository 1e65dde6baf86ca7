"""Compiling the passes of the collaborative-ranking objective ahead of their use."""

from __future__ import annotations

import numpy as np

from optiframe_manifold.kernels.prepared import prefer_compiled
from optiframe_manifold.low_rank import LowRank
from optiframe_manifold.objective.btl import BtlObjective


def prepare() -> bool:
    """Load the compiled passes, and compile them first where this machine has not yet.

    Objectives built from then on in this process use them for any number of comparisons; without it,
    from 200,000 on. Takes some seconds the first time on a machine, about a second later.

    Returns
    -------
    bool
        Whether they can be used; False where numba (the extra `fast`) is not installed.
    """
    if not prefer_compiled():
        return False
    one = LowRank(np.ones((1, 1)), np.ones((50, 1)))
    data = {"users": 1, "items": 50, "winner": [0], "loser": [1], "pointer": [0, 1], "strength": 1.0}
    for penalty in ("log-sum-exp", "none"):  # by rows, and by comparisons: one among fifty entries
        objective = BtlObjective.load(**data, penalty=penalty)
        objective.value(one)
        objective.hessian_product(one, one)
        objective.rough_hessian_product(one, one)
    return True
