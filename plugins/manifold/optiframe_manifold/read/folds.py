"""Folds of a table of comparisons, for cross-validation within users."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from optiframe.errors import InvalidInput
from optiframe_manifold.data import ChoiceTable


def pairs_compared(table: ChoiceTable) -> int:
    """Number of different pairs of items of one user each, among the comparisons."""
    return int(_pairs(table)[0].shape[1])


def deal(table: ChoiceTable, folds: int, seed: int) -> NDArray[np.int64]:
    """A fold for each comparison: every user's pairs evenly over all, equal pairs together.

    Raises
    ------
    InvalidInput
        For less than two folds, or fewer pairs than folds.
    """
    if isinstance(folds, bool) or not isinstance(folds, int) or folds < 2:
        raise InvalidInput(f"folds must be a whole number of at least 2, got {folds!r}")
    pairs, place = _pairs(table)
    if pairs.shape[1] < folds:
        raise InvalidInput(f"there are {pairs.shape[1]} different pairs and {folds} folds; take fewer folds")
    rng = np.random.default_rng(seed)
    order = np.lexsort([rng.random(pairs.shape[1]), pairs[0]])
    # One after the other through all users: within each user, and in all, folds differ by one at most.
    turn = np.empty(pairs.shape[1], dtype=np.int64)
    turn[order] = np.arange(pairs.shape[1]) % folds
    return turn[place]


def _pairs(table: ChoiceTable) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """User, lower and higher item of each different pair, shape (3, pairs); the pair of each comparison."""
    low, high = np.minimum(table.left, table.right), np.maximum(table.left, table.right)
    pairs, place = np.unique(np.stack([table.user, low, high]), axis=1, return_inverse=True)
    return pairs, place.ravel()
