"""What an honest worker computes for a broadcast, with the data it holds."""

from __future__ import annotations

import numpy as np

from optiframe.problems.objectives.losses import LinearModel
from optiframe.problems.objectives.objective import FiniteSum
from optiframe.records.fields import Array
from optiframe_comrade.local.curvature import hessian_block, hessian_diagonal
from optiframe_comrade.local.step import Method, is_plain, local_gradient, newton_step
from optiframe_comrade.messages import (
    GRADIENT,
    HESSIAN_BLOCK,
    HESSIAN_DIAGONAL,
    NEWTON_STEP,
    OBJECTIVE,
    STEP_WITH_GRADIENT,
    STEP_WITH_VALUE,
    Broadcast,
)


def answer(
    shard: FiniteSum, asked: Broadcast, method: Method = "auto", curved: FiniteSum | None = None
) -> Array:
    """The honest reply of a worker that holds `shard`: a vector of `asked.size` numbers.

    Its Hessian is that of `curved`, a sample of the shard's terms; of all of them unless one is given.
    """
    bent = shard if curved is None else curved
    if asked.kind in (NEWTON_STEP, STEP_WITH_VALUE):
        own = None if curved is None else local_gradient(shard, asked.point)
        step = newton_step(bent, asked.point, own, method)
        return step if asked.kind == NEWTON_STEP else np.append(step, shard.value(asked.point))
    if asked.kind == GRADIENT:
        return local_gradient(shard, asked.point)
    if asked.kind == STEP_WITH_GRADIENT:
        return newton_step(bent, asked.point, asked.arrays["gradient"], method)
    if asked.kind == OBJECTIVE:
        return _objectives(shard, asked.point, asked.arrays["direction"], asked.arrays["steps"])
    if asked.kind == HESSIAN_DIAGONAL:
        return hessian_diagonal(bent, asked.point)
    if asked.kind == HESSIAN_BLOCK:
        return hessian_block(bent, asked.point, asked.arrays["scale"], asked.arrays["block"])
    raise ValueError(f"no worker knows a broadcast of kind {asked.kind!r}")


def _objectives(shard: FiniteSum, x: Array, direction: Array, steps: Array) -> Array:
    """The objective at x - t direction for each t; of a linear model with two readings of its rows."""
    if not (isinstance(shard, LinearModel) and is_plain(shard)):
        return np.array([shard.value(x - t * direction) for t in steps])
    here, change = shard.matrix @ x, shard.matrix @ direction
    losses = [shard.losses(here - t * change).mean() for t in steps]
    points = x - steps[:, np.newaxis] * direction
    return np.asarray(losses + shard.l2 / 2 * np.einsum("ij,ij->i", points, points))
