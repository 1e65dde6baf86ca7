"""How many times each sample counts, from what the caller says of samples and of classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from optiframe.errors import InvalidInput
from optiframe.records.fields import Array

_LARGEST = 1e290  # a million of them, times a weight of a class


class Samples(NamedTuple):
    """What a model is fitted to; weights are above 0."""

    matrix: Any
    target: Array
    weights: Array

    def at(self, rows: Any) -> Samples:
        """These of the samples."""
        return Samples(self.matrix[rows], self.target[rows], self.weights[rows])

    @property
    def shape(self) -> tuple[float, int]:
        """How many samples, and features: one that counts twice is two.

        As many as there are at least: weights that are shares of a whole say nothing of their number.
        """
        return max(float(self.weights.sum()), float(len(self.weights))), self.matrix.shape[1]


def sample_weights(given: Any, samples: int) -> Array:
    """A weight for each sample, in a new array; ones where none are given.

    Raises
    ------
    InvalidInput
        For another shape, a weight that is masked, below 0, not finite or no number, and for zeros alone.
    """
    if given is None:
        return np.ones(samples)
    if np.ma.is_masked(given):
        raise InvalidInput("sample_weight has masked entries; give weight 0 to leave samples out")
    try:
        weights = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput("sample_weight must hold numbers, one for each sample") from None
    if weights.shape != (samples,):
        raise InvalidInput(
            f"sample_weight must hold one number for each of the {samples} samples, got shape {weights.shape}"
        )
    wrong = np.flatnonzero(~((weights >= 0) & (weights < np.inf)))
    if len(wrong):
        value = weights[wrong[0]]
        raise InvalidInput(
            f"sample_weight must be finite and at least 0; that of row {wrong[0] + 1} is {value:g}"
        )
    if not weights.any():
        raise InvalidInput("sample_weight is zero for all samples; a weight says how many times one counts")
    if weights.max() > _LARGEST:
        raise InvalidInput(f"the largest sample_weight is {weights.max():g}, too large to add up; divide all")
    return weights


def class_weights(given: Any, classes: Any, sums: Array) -> Array:
    """A factor for each class, for the weights of its samples, which sum to `sums` before and after.

    "balanced" makes all classes weigh the same; in a table, classes that are left out have 1.

    Raises
    ------
    InvalidInput
        For what is no such table, a factor that is not above 0 and finite, and names that are no classes
        where a class is left out.
    """
    if given is None:
        return np.ones(len(sums))
    if isinstance(given, str) and given == "balanced":
        return np.asarray(sums.sum() / (len(sums) * sums))
    if not isinstance(given, Mapping):
        raise InvalidInput(
            f'class_weight must be None, "balanced" or a dict of a weight for each class, got {given!r}'
        )
    labels = classes.tolist()
    missing = [label for label in labels if label not in given]
    unknown = [label for label in given if label not in labels]
    if missing and unknown:  # a slip of the pen; tables of more classes may serve several pairs of them
        raise InvalidInput(f"class_weight names {unknown[0]!r}, which is not a class; classes are {labels}")
    weights = [given.get(label, 1.0) for label in labels]
    for label, weight in zip(labels, weights, strict=True):
        if not isinstance(weight, int | float | np.number) or not 0 < weight < np.inf:
            raise InvalidInput(f"class_weight must be finite and above 0; that of {label!r} is {weight!r}")
    factors = np.array(weights, dtype=np.float64)
    return np.asarray(factors * (sums.sum() / (factors @ sums)))
