"""Many classes by way of two: the labels for a binary method, and its answers put together."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from optiframe.records.fields import Array
from optiframe_rankone.answer import Aggregation
from optiframe_rankone.data import Crowd
from optiframe_rankone.problem import LabelAggregation

Multiclass: TypeAlias = Literal["thresholds", "one-vs-rest"]


def split(codes: NDArray[Any], classes: int, multiclass: Multiclass) -> list[NDArray[np.int64]]:
    """Codes of classes as 0 and 1 for each binary problem; -1 (not known) stays.

    "thresholds": for each class but the last, whether the code comes after it in the order
    of the classes (Karger, Oh, Shah 2013). "one-vs-rest": for each class, whether the code
    is it. Two classes are one binary problem either way.
    """
    if multiclass == "thresholds" or classes == 2:
        yes = [codes > value for value in range(classes - 1)]
    else:
        yes = [codes == value for value in range(classes)]
    return [np.where(codes < 0, -1, one).astype(np.int64) for one in yes]


def signs(crowd: Crowd, multiclass: Multiclass) -> list[Array]:
    """The labels as -1.0 and 1.0 for each binary problem; each of shape (labels,)."""
    codes = split(crowd.label_codes, len(crowd.classes), multiclass)
    return [(2 * one - 1).astype(np.float64) for one in codes]


def scores(margins: Array, multiclass: Multiclass) -> Array:
    """Scores of the classes from the margins of the binary problems, shape (tasks, problems).

    For thresholds the rule is the first class whose threshold is not passed. Class k scores
    min(m_1, ..., m_{k-1}, -m_k), the least margin by which the rule chooses it: positive for
    the chosen class, negative for every other, and 0 for those that a margin of 0 leaves open.
    """
    if multiclass == "one-vs-rest" and margins.shape[1] > 1:
        return margins
    passed = np.minimum.accumulate(margins, axis=1)
    before = np.column_stack([np.full(len(margins), np.inf), passed])
    return np.asarray(np.minimum(before, np.column_stack([-margins, np.full(len(margins), np.inf)])))


def answer(problem: LabelAggregation, margins: Array, multiclass: Multiclass) -> Aggregation:
    """The answer that margins stand for; half a log-odds each, where they have a unit."""
    return problem.from_scores(scores(margins, multiclass), "log-odds")
