"""Which pairs to compare next: one after the other, each as if those before it had been compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtr, ndtri

from optiframe.errors import InvalidInput
from optiframe.records.fields import Array
from optiframe_hodgerank.answer import Ranking
from optiframe_hodgerank.data import Comparisons
from optiframe_hodgerank.graph.comparison_graph import ComparisonGraph
from optiframe_hodgerank.graph.laplacian import invert

Measure = Literal["variance", "volume"]

_SAME = 1e-9  # gains within this of the largest are equal but for rounding
_SETTLED = 1e-12  # of a score: what may be lost by a wrong order is nothing below


class NextPair(NamedTuple):
    """A pair to compare, by codes of items; what that gains, and the resistance before it."""

    left: int
    right: int
    gain: float
    resistance: float


@dataclass(frozen=True)
class Known:
    """What comparisons say about scores.

    Parameters
    ----------
    covariance
        Of the scores, in units in which a comparison of `information` 1 has variance 1, shape (items, items).
    component
        Label of the component of each item, shape (items,).
    information
        What one more comparison of each pair tells, shape (items, items).
    scores
        In the same units, shape (items,); None: without an answer.
    """

    covariance: Array
    component: NDArray[np.int64]
    information: Array
    scores: Array | None


def known_of(comparisons: Comparisons, answer: Ranking | None, weight: float) -> Known:
    """What the comparisons say that an answer believes, and what one of this weight would add.

    Least-squares scores have the covariance sigma^2 L^+, where sigma^2 is the variance of what scores leave;
    scores in log-odds about L^+, where the Laplacian weighs every vote by p (1 - p), p the chance that left
    wins, which is also what a further vote tells.
    """
    merged, items = comparisons.merged, len(comparisons.item_ids)
    kept: Array = merged.weight
    if answer is not None and answer.outliers is not None:
        each = np.ones(len(comparisons)) if comparisons.weight is None else comparisons.weight
        believed = np.where(answer.outliers == 0, each, 0.0)
        kept = np.bincount(merged.inverse, believed, len(merged)).astype(np.float64)
    information, scores = np.full((items, items), weight), None
    if answer is not None:
        scores = answer.scores
        if answer.scale == "log-odds":
            p = expit(scores[:, None] - scores[None, :])
            information = weight * np.maximum(p * (1 - p), np.finfo(np.float64).eps)
            kept = kept * information[merged.left, merged.right] / weight
        elif answer.scale == "margin":
            misfit = merged.margin - scores[merged.left] + scores[merged.right]
            free = max(int(np.bincount(merged.inverse)[kept > 0].sum()) - items + 1, 1)
            scores = scores / max(float(np.sqrt(kept @ misfit**2 / free)), np.finfo(np.float64).tiny)
        else:
            scores = None
    rows = np.flatnonzero(kept > 0)
    graph = ComparisonGraph(items, merged.left[rows], merged.right[rows], np.zeros(len(rows)), kept[rows])
    component = graph.components.copy()
    covariance = invert(graph.laplacian, component, "dense").solve(np.eye(items))
    if answer is not None and answer.scale == "log-odds":
        covariance = _with_errors(covariance, answer)
    return Known(covariance, component, information, scores)


def _with_errors(covariance: Array, answer: Ranking) -> Array:
    """The covariance with the answer's own errors, which know its prior and how reliable workers are."""
    if answer.low is None or answer.high is None:
        return covariance
    errors = (answer.high - answer.low) / (2 * ndtri((1 + answer.level) / 2))
    usual = np.sqrt(np.maximum(covariance.diagonal(), 0.0))
    by = np.divide(errors, usual, out=np.ones(len(errors)), where=usual > 0)
    return np.asarray(covariance * by[:, None] * by[None, :])


def next_pairs(
    known: Known,
    n: int,
    measure: Measure = "variance",
    *,
    first: int | None = None,
    per_pair: int | None = None,
) -> list[NextPair]:
    """So many pairs, the best first, no pair more than `per_pair` times; None: as evenly as n asks.

    With `first` they settle the first places: who has them, and in which order.

    Raises
    ------
    InvalidInput
        Where there are too few pairs; and with `first`, without scores.
    """
    items = len(known.component)
    per_pair = times_a_pair(n, items, per_pair)
    places = None
    if first is not None:
        if known.scores is None:
            raise InvalidInput("`first` needs the scores of an earlier answer; give it as `solution`")
        places = Places(known.scores, first)
    covariance, component = known.covariance, known.component.copy()
    asked = np.diag(np.full(items, per_pair))  # nobody is compared with himself
    chosen: list[NextPair] = []
    for _ in range(n):
        gain = resistance = np.full_like(covariance, np.inf)
        if component.any():
            i, j = _joining(covariance, component)
            weight = float(known.information[i, j])
            covariance = _joined(covariance, component, i, j, weight)
            component[component == component[j]] = component[i]
            component = np.unique(component, return_inverse=True)[1]
        else:
            target = None if places is None else places.loss(covariance)
            resistance, gain = gains(covariance, measure, known.information, target)
            gain = np.where(asked < per_pair, gain, -np.inf)
            best = float(gain.max())
            i, j = divmod(int(np.argmax(gain >= best - _SAME * abs(best))), items)
            column = covariance[:, i] - covariance[:, j]
            weight = float(known.information[i, j])
            covariance = covariance - np.outer(column, column) * (weight / (1 + weight * resistance[i, j]))
        asked[[i, j], [j, i]] += 1
        chosen.append(NextPair(i, j, float(gain[i, j]), float(resistance[i, j])))
    return chosen


def times_a_pair(n: int, items: int, per_pair: int | None) -> int:
    """How often a pair may come at most among n; `InvalidInput` where there are too few pairs."""
    pairs = items * (items - 1) // 2
    if per_pair is not None and n > per_pair * pairs:
        raise InvalidInput(
            f"n = {n} is more than {pairs} pairs of {items} items can make, {per_pair} times each; set n to "
            f"{per_pair * pairs} or less, or per_pair to {-(-n // pairs)}"
        )
    return -(-n // pairs) if per_pair is None else per_pair


class Places:
    """What may be lost by ordering items wrongly whose first places are to be settled."""

    def __init__(self, scores: Array, first: int) -> None:
        items = len(scores)
        among = np.zeros(items, dtype=bool)
        among[np.argsort(-scores, kind="stable")[:first]] = True
        self._pairs = (among[:, None] | among[None, :]) & ~np.eye(items, dtype=bool)
        self._apart = np.abs(scores[:, None] - scores[None, :])
        self._nothing = _SETTLED * max(float(self._apart.max()), 1.0)

    def loss(self, covariance: Array) -> tuple[float, Array] | None:
        """Expected loss, and its derivatives in the variances of the differences; None: nothing is lost.

        The loss of a wrong order is the difference of the scores: of a difference d with the error s it is
        expected to be s phi(d/s) - d Phi(-d/s), whose derivative in s^2 is phi(d/s)/(2 s).
        """
        s = np.sqrt(np.maximum(_differences(covariance), np.finfo(np.float64).tiny))
        z = self._apart / s
        density = np.exp(-z * z / 2) / np.sqrt(2 * np.pi)
        loss = float((s * density - self._apart * ndtr(-z))[self._pairs].sum()) / 2
        return (loss, np.where(self._pairs, density / (2 * s), 0.0)) if loss > self._nothing else None


def gains(
    covariance: Array,
    measure: Measure,
    weight: float | Array,
    target: tuple[float, Array] | None = None,
) -> tuple[Array, Array]:
    """Resistance and gain of every pair, shape (items, items); for a connected graph.

    By Sherman and Morrison L^+ falls by weight c c'/(1 + weight R) with c = L^+ (e_i - e_j), whose
    trace is weight |c|^2/(1 + weight R). With a `target`, a loss and its derivatives D in the variances of
    differences, the loss falls by weight c' L_D c/(1 + weight R) to first order, L_D the Laplacian of D.
    """
    resistance = _differences(covariance)
    if target is not None:
        loss, slope = target
        laplacian = np.diag(slope.sum(axis=1)) - slope
        squared = _differences(covariance @ laplacian @ covariance)
        return resistance, weight * squared / (1 + weight * resistance) / loss
    if measure == "volume":
        return resistance, np.log1p(weight * resistance)
    squared = _differences(covariance @ covariance)
    return resistance, weight * squared / (1 + weight * resistance) / np.trace(covariance)


def _differences(matrix: Array) -> Array:
    """(e_i - e_j)' M (e_i - e_j) for all i and j."""
    diagonal = matrix.diagonal()
    return np.asarray(diagonal[:, None] + diagonal[None, :] - 2 * matrix)


def _joining(covariance: Array, component: NDArray[np.int64]) -> tuple[int, int]:
    """The best known item of the largest group, and of the next one."""
    size = np.bincount(component)
    largest = np.argsort(-size, kind="stable")[:2]
    variance = covariance.diagonal()
    i, j = (
        int(members[np.argmin(variance[members])])
        for members in map(np.flatnonzero, component == largest[:, None])
    )
    return i, j


def _joined(covariance: Array, component: NDArray[np.int64], i: int, j: int, weight: float) -> Array:
    """L^+ once the groups of i and j are joined by a comparison of the two.

    The difference of i and j has the variance 1/weight. Within each group nothing changes; the
    other group's items all move with it, and the sum is zero over both.
    """
    first, second = component == component[i], component == component[j]
    # Hold i at zero in one group and j in the other, then add the step between the groups.
    held = covariance.copy()
    for item, group in ((i, first), (j, second)):
        inside = np.ix_(group, group)
        column = covariance[group, item]
        held[inside] = covariance[inside] - column[:, None] - column[None, :] + covariance[item, item]
    held[np.ix_(second, second)] += 1 / weight
    both = first | second
    centre = np.eye(len(component))
    centre[np.ix_(both, both)] -= 1 / both.sum()
    return np.asarray(centre @ held @ centre)
