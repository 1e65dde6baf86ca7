"""Rows to learn from and rows to judge by, for the choice of a size."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optiframe.errors import InvalidInput, require
from optiframe.records.fields import Array

require("sklearn", "sklearn", "optiframework-tvcs")

from sklearn.model_selection import KFold, StratifiedKFold  # noqa: E402  # after the message

Rows = NDArray[np.intp]
_SEEDS = 2**32  # of NumPy's older generators, which shuffle scikit-learn's folds
_PURPOSES = ("learn from", "judge by")


def folds(
    cv: Any, matrix: Any, target: Array, counted: NDArray[np.bool_], *, classes: bool, seed: int
) -> list[tuple[Rows, Rows]]:
    """Pairs of rows to learn from and rows to judge by, numbered among those that are counted.

    Parameters
    ----------
    cv
        A number of folds, a splitter of scikit-learn, or pairs of rows; None: five folds.
    matrix, target
        All samples.
    counted
        Which of them have a weight above 0.
    classes
        Whether targets are classes, each of which must be in every fold.
    seed
        Shuffles the folds.

    Raises
    ------
    InvalidInput
        For a `cv` that is none of these, without splits, with an empty part, or with rows that are not there;
        for too few samples.
    """
    cv = 5 if cv is None else cv
    if isinstance(cv, Integral):
        if cv < 2:
            raise InvalidInput(f"cv must be at least 2 folds, or a splitter of scikit-learn, got {cv}")
        # A class must have a sample in each fold.
        matrix, target = matrix[counted], target[counted]
        counted = np.ones(len(target), dtype=bool)
        fewest = int(np.unique(target, return_counts=True)[1].min()) if classes else len(target)
        if fewest < 2:
            raise InvalidInput(
                "cross-validation needs two samples (of each class); give `size`, or choose it by "
                '"bic"; got n_samples=1'
            )
        # Tables often come sorted; consecutive rows would then be folds unlike each other.
        kind = StratifiedKFold if classes else KFold
        cv = kind(min(int(cv), fewest), shuffle=True, random_state=seed % _SEEDS)
    if isinstance(cv, str) or not (hasattr(cv, "split") or isinstance(cv, Iterable)):
        raise InvalidInput(
            f"cv must be a number of folds, a splitter of scikit-learn or pairs of rows, got {cv!r:.40}"
        )
    splits = cv.split(matrix, target) if hasattr(cv, "split") else cv
    pairs = [_pair(split, len(target), number) for number, split in enumerate(splits, start=1)]
    if not pairs:
        raise InvalidInput("cv has no splits; give a number of folds, a splitter or pairs of rows")
    place = np.cumsum(counted) - 1
    found = [(place[train[counted[train]]], place[test[counted[test]]]) for train, test in pairs]
    if any(not len(part) for pair in found for part in pair):
        raise InvalidInput("all samples of a part of cv have the weight 0; leave such parts out")
    return found


def _pair(split: Any, samples: int, number: int) -> tuple[Rows, Rows]:
    """The row numbers of a split, which may give masks."""
    try:
        train, test = split
    except (TypeError, ValueError):
        raise InvalidInput(
            f"cv must give pairs, rows to learn from and rows to judge by; split {number} is no pair"
        ) from None
    parts = []
    for purpose, part in zip(_PURPOSES, (train, test), strict=True):
        try:
            rows: Rows | None = np.arange(samples)[np.asarray(part) if np.size(part) else []]
        except (IndexError, ValueError):  # the latter of lists in lists
            rows = None
        if rows is None or rows.ndim != 1:
            raise InvalidInput(
                f"cv: the rows to {purpose} of split {number} must be a list of row numbers from 0 to "
                f"{samples - 1}, or a mask of all rows"
            )
        if not len(rows):
            raise InvalidInput(f"cv: split {number} has no rows to {purpose}; leave it out")
        parts.append(rows)
    return parts[0], parts[1]
