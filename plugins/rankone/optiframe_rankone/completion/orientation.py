"""Whether x or -x is the answer: products of skills do not tell, so a sum over each group decides."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import PlainValidator

from optiframe.errors import InvalidInput
from optiframe.records.fields import Accepts, Array, as_bound

CANCEL = 1e-6
"""Skills cancel when their sum is at most this share of the sum of their sizes: the default
tolerance of a run is 1e-6 in units of skill, so a smaller sum has no sign of its own."""


def of_groups(component: NDArray[np.int64], *criteria: Array, cancel: float = 0.0) -> Array:
    """1 where a group of workers keeps its signs, -1 where it is reversed, 0 where nothing tells.

    The one place where signs are settled: whatever gives skills up to sign asks here.

    Parameters
    ----------
    component
        Connected component of each worker, from 0, shape (workers,).
    criteria
        What each worker adds to the sum that must be positive, shape (workers,), such as labels x
        skill. The first criterion whose sum is clear in a group decides there.
    cancel
        A sum of at most this share of the sum of its sizes is not clear: it is rounding.

    Returns
    -------
    Array
        Shape (components,).
    """
    sign = np.zeros(int(component.max()) + 1)
    for votes in criteria:
        total = np.bincount(component, weights=votes)
        size = np.bincount(component, weights=np.abs(votes))
        sign = np.where((sign == 0.0) & (np.abs(total) > cancel * size), np.sign(total), sign)
    return sign


def settled(skills: Array, sign: Array, box: tuple[Array, Array]) -> Array:
    """Skills reversed, and clipped to the box, where the sign is below 0, and zero where it is 0."""
    turned = np.where(sign < 0, np.clip(-skills, *box), skills)
    return np.where(sign == 0, 0.0, turned)


def skill_box(per_worker: NDArray[np.int64], classes: int, tau: float) -> tuple[Array, Array]:
    """Least and largest skill of workers with so many labels, each of shape (workers,)."""
    margin = tau / np.sqrt(per_worker)
    lower = np.minimum(margin - 1.0 / (classes - 1), 0.0)
    return lower, np.maximum(1.0 - margin, 0.0)


def of_group(*criteria: Array) -> float:
    """The same where all entries are in one group: -1 where it is reversed, else 1."""
    return -1.0 if of_groups(np.zeros(len(criteria[0]), dtype=np.int64), *criteria)[0] < 0 else 1.0


def as_sign_weights(value: object) -> Array:
    """A number or vector of finite numbers of at least 0."""
    weights = as_bound(value)
    if weights.ndim > 1 or not np.isfinite(weights).all() or (weights < 0).any():
        raise InvalidInput("must be a number or a vector of numbers, finite and at least 0")
    return weights


SignWeights = Annotated[Array, PlainValidator(as_sign_weights), Accepts("number or vector, at least 0")]
