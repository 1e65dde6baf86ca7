"""A start for low-rank solvers on the collaborative-ranking objective, from the comparisons themselves."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.optimize import brentq

from optiframe.errors import InvalidInput
from optiframe.records.fields import Array
from optiframe_manifold.kernels import passes
from optiframe_manifold.low_rank import LowRank, leading
from optiframe_manifold.objective.btl_terms import Terms
from optiframe_manifold.objective.row_passes import Comparisons

_FLOOR = 1e-3
"""Least singular value beside the largest. A direction without any could never grow: the gradient by
one factor is a multiple of the other."""
_EPS = float(np.finfo(np.float64).eps)
_SURE = 30.0
"""Margin in units of sigma to which the start may go; the loss of a comparison is 1e-13 there. Without
a penalty and with comparisons that all agree, there is no best scale."""


def spectral_start(terms: Terms, ridge: float, rank: int) -> LowRank:
    """The best multiple of the leading singular directions of minus the loss's gradient at X = 0.

    Zero where that gradient is zero but for rounding: no comparison of any weight, or such as cancel.
    Since likelihood and penalty are convex functions of X, zero is then the answer.

    At X = 0 every comparison pulls its winner up and its loser down by w / (2 sigma), so that the
    gradient is sparse: its `rank` leading singular triplets cost O(comparisons rank) a Lanczos
    step. The scale is where the derivative of the objective along the ray is zero (one dimension,
    convex), with ``ridge |X|_F^2 / 2`` in the place of log-sum-exp, which it is up to terms of fourth
    order (`optiframe_manifold.objective.penalties`). The same input gives the same bits. Memory: 64 bytes
    for each comparison while it runs.

    Raises
    ------
    InvalidInput
        When `rank` is none a matrix of this size can have.
    """
    shape, comparisons = terms.shape, terms.comparisons
    if not 1 <= rank <= min(shape):
        raise InvalidInput(
            f"rank {rank} is none a {shape[0]} x {shape[1]} matrix can have; give 1 to {min(shape)}"
        )
    weight = comparisons.weight if len(comparisons.weight) else np.ones(len(comparisons.winner))
    nothing = LowRank(np.zeros((shape[0], rank)), np.zeros((shape[1], rank)))
    pull = comparison_matrix(comparisons, weight / (2 * comparisons.sigma))
    u, values, w = leading(pull, rank)
    # Ties of one user and item cancel up to the rounding of their sum.
    if not values[0] > _EPS * float(weight.sum()) / comparisons.sigma:
        return nothing
    values = np.maximum(values, _FLOOR * values[0]) / values[0]
    scale = _best_scale(terms, ridge, LowRank(u * values, w))
    if scale == 0:
        return nothing
    root = np.sqrt(scale * values)
    return LowRank(u * root, w * root)


def comparison_matrix(comparisons: Comparisons, amount: Array) -> sp.csr_array:
    """The m x n matrix with ``amount[e]`` at each winner less the same at each loser, summed: sparse.

    With ``amount`` the derivative of the loss by each margin it is the loss's gradient by X.
    """
    places = np.stack([comparisons.winner, comparisons.loser], axis=1).reshape(-1)
    amounts = np.stack([amount, -amount], axis=1).reshape(-1)
    shape = (len(comparisons.pointer) - 1, comparisons.items)
    matrix = sp.csr_array((amounts, places, 2 * comparisons.pointer), shape=shape)
    matrix.sum_duplicates()
    return matrix


def _best_scale(terms: Terms, ridge: float, direction: LowRank) -> float:
    """The t >= 0 that minimizes the objective along t times the direction; 0 where it does not fall."""
    comparisons = terms.comparisons
    count = len(comparisons.winner)
    margin, slope, bend = np.empty(count), np.empty(count), np.empty(count)
    chosen = comparisons.pointer, comparisons.winner, comparisons.loser
    left, right = np.ascontiguousarray(direction.left), np.ascontiguousarray(direction.right)
    passes.margins(left, right, *chosen, margin)
    pull = ridge * float(np.sum((direction.left.T @ direction.left) * (direction.right.T @ direction.right)))

    def derivative(t: float) -> float:
        passes.log_loss(t * margin, comparisons.sigma, comparisons.weight, slope, bend)
        return float(slope @ margin) + pull * t

    if not derivative(0.0) < 0:
        return 0.0
    last = _SURE * comparisons.sigma / float(np.abs(margin).max())
    if derivative(last) <= 0:
        return last
    # A start needs no more than two digits of the best scale.
    return float(brentq(derivative, 0.0, last, xtol=1e-4 * last, rtol=1e-2))
