"""From an answer of one rank to a start of the next: the direction in which the objective falls fastest."""

from __future__ import annotations

import numpy as np

from optiframe.problems.objectives.objective import Objective
from optiframe_manifold.geometry.fixed_rank import balanced
from optiframe_manifold.low_rank import LowRank

_ROUNDS = 10  # passes of the power iteration; the search itself does the rest
_HALVINGS = 20


def increment_rank(objective: Objective, x: LowRank) -> LowRank:
    """``x`` plus the multiple of its gradient's leading singular pair that lowers the objective most.

    At a minimum of rank r the gradient by X is orthogonal to X's rows and columns, and its leading
    pair (u, v) is the direction of rank one along which the objective falls fastest. The gradient G is
    never formed: with a further factor (0, v) the derivative by the left one is G v. Sizes from the
    smallest singular value of X downwards are tried, halved each time; some thirty evaluations.
    """
    rows, columns = x.shape
    v = np.random.default_rng(0).standard_normal(columns)
    v /= np.linalg.norm(v)
    u = np.zeros(rows)
    for _ in range(_ROUNDS):
        u = objective.gradient(_with(x, np.zeros(rows), v)).left[:, -1]
        size = float(np.linalg.norm(u))
        if not size > 0:
            break
        u = -u / size
        v = -objective.gradient(_with(x, u, np.zeros(columns))).right[:, -1]
        v /= max(float(np.linalg.norm(v)), np.finfo(np.float64).tiny)
    even = balanced(x)
    length = float(np.einsum("ij,ij->j", even.left, even.left).min()) or 1.0
    best, lowest = 0.0, np.inf
    for _ in range(_HALVINGS):
        value = objective.value(_with(x, length * u, v))
        if value < lowest:
            best, lowest = length, value
        elif best > 0:
            break
        length /= 2
    return balanced(_with(x, best * u, v))


def _with(x: LowRank, u: np.ndarray, v: np.ndarray) -> LowRank:
    return LowRank(np.column_stack([x.left, u]), np.column_stack([x.right, v]))
