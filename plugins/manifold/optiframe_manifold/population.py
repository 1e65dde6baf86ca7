"""One ranking for all users together, for whom nothing better is known.

A user without a comparison has no taste that the likelihood could find: the penalty puts all
their scores at zero. What is known of them is that they are users; so they are given the
ranking of all users' comparisons pooled. An item that nobody compared has no place in any
ranking; it is put at the average of the items that were compared.

Both are done where scores are read, in `Rankings.served`, and not to the factors: these stay
the solver's, and with them the objective.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, cg

from optiframe.records.fields import Array
from optiframe.tables.ids import locked
from optiframe_manifold.answer import Population
from optiframe_manifold.objective.btl import BtlObjective

_NEWTON = 50  # five to ten steps are usual
_SMALL = 1e-9  # a Newton step below this share of the scores ends the search
_HALVINGS = 40  # of a step that does not lower the loss; beyond, rounding decides


def population(objective: BtlObjective) -> Population | None:
    """The pooled scores of all users, where there is a user or an item to give them to; else None."""
    silent = np.diff(objective.pointer) == 0
    unseen = np.ones(objective.items, dtype=bool)
    unseen[objective.winner] = False
    unseen[objective.loser] = False
    if not (silent.any() or unseen.any()):
        return None
    scores = pooled_scores(objective) if silent.any() else np.zeros(len(unseen))
    return Population(locked(scores), locked(silent), locked(unseen))


def pooled_scores(objective: BtlObjective) -> Array:
    """Bradley-Terry-Luce scores of all comparisons together, as if all users had one taste.

    Minimizes the objective over matrices of equal rows, the penalty taken as its
    first term, which is ``2 strength / items`` times half the squared scores. They are shrunk by
    at least what a single tie of each item with the average one would do, 1/(4 sigma^2), so that
    items which won or lost always stay finite.

    Newton's method, each step by conjugate gradients: O(pairs compared) a product, memory 40
    bytes a pair.

    Returns
    -------
    Array
        Shape (items,), sum zero; an item never compared has zero, the average.
    """
    items, sigma = objective.items, objective.sigma
    weight = np.ones(len(objective.winner)) if objective.weight is None else objective.weight
    key, place = np.unique(objective.winner.astype(np.int64) * items + objective.loser, return_inverse=True)
    weight = np.bincount(place.ravel(), weight).astype(np.float64, copy=False)
    winner, loser = np.divmod(key, items)
    pair = np.arange(len(key))
    signs = sp.csr_array(
        (np.repeat([1.0, -1.0], len(key)), (np.tile(pair, 2), np.concatenate([winner, loser]))),
        shape=(len(key), items),
    )
    ridge = max(2 * objective.strength / items if objective.penalty != "none" else 0.0, 1 / (4 * sigma**2))

    def loss(scores: Array) -> float:
        return float(
            weight @ np.logaddexp(0.0, -(signs @ scores) / sigma) + ridge / 2 * np.vdot(scores, scores)
        )

    scores = np.zeros(items)
    value = loss(scores)
    for _ in range(_NEWTON):
        lost = 0.5 - 0.5 * np.tanh((signs @ scores) / (2 * sigma))  # chance that the loser wins
        slope = ridge * scores - signs.T @ (weight * lost / sigma)
        bend = weight * lost * (1 - lost) / sigma**2
        diagonal = ridge + abs(signs).T @ bend
        step = _solve(signs, bend, ridge, diagonal, -slope)
        for _ in range(_HALVINGS):
            lower = loss(scores + step)
            if lower <= value:
                break
            step = step / 2
        else:
            break
        scores, value = scores + step, lower
        if np.abs(step).max() <= _SMALL * np.abs(scores).max(initial=0.0):
            break
    return np.asarray(scores - scores.mean())


def _solve(signs: sp.csr_array, bend: Array, ridge: float, diagonal: Array, right: Array) -> Array:
    """The Newton step: a weighted graph Laplacian plus the ridge, preconditioned by its diagonal."""
    items = len(right)
    matrix = LinearOperator(
        (items, items), matvec=lambda v: signs.T @ (bend * (signs @ v)) + ridge * v, dtype=np.float64
    )
    scale = LinearOperator((items, items), matvec=lambda v: v / diagonal, dtype=np.float64)
    found, _ = cg(matrix, right, rtol=1e-8, maxiter=10 * items, M=scale)
    return np.asarray(found, dtype=np.float64)
