"""Huber's regression on a graph: Newton's method on its scores."""

from __future__ import annotations

import math
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from optiframe.records.fields import Array
from optiframe_hodgerank.graph.comparison_graph import ComparisonGraph
from optiframe_hodgerank.graph.conjugate_gradients import Preconditioner, Systems
from optiframe_hodgerank.huber.rows import HuberRows
from optiframe_hodgerank.path.path import NEAR

EXACT = 1e-12
"""Forces on the items are balanced when they sum to this share of what pulls at an item in all;
rounding leaves about a tenth of it."""
_STEPS = 100  # Newton steps; 3 to 8 are usual, and flags only change so often
_FINE_SLOPE = 1e-11  # accuracy of a slope: what foretells a lambda from near by
_DIGITS = 1e-12  # of a sum over many rows that rounding may have changed
_LOOSE = 0.1  # accuracy of the first ones: flags change after, and the digits with them


class HuberNewton:
    """Huber regressions of one graph at several thresholds.

    Semismooth Newton steps: the Hessian is the Laplacian of the rows within the threshold, solved
    by conjugate gradients. A step that does not lower the objective is halved.

    A Newton step is a pass over the rows, an inner one a product with a Laplacian; memory is that of
    `optiframe_hodgerank.huber.rows`, besides the graph's.

    Parameters
    ----------
    graph
        Merged comparisons.
    accuracy
        Forces on each item are to sum to this share of what can pull at it, all comparisons at the threshold.
    method
        What to put before conjugate gradients first; None: what least squares needed.
    """

    def __init__(
        self, graph: ComparisonGraph, accuracy: float = EXACT, method: Preconditioner | None = None
    ) -> None:
        self.graph, self.accuracy = graph, accuracy
        self.rows = HuberRows(graph)
        if method is None:
            method = least_squares(graph, accuracy).method
        self.systems = Systems(graph, self.rows, method)
        weight = graph.weight_of_items
        self._largest_weight = float(weight.max(initial=0.0))
        # Of the least item, or the others would count as nothing beside one of very many comparisons; but
        # rounding leaves so much of the largest.
        least = float(weight[weight > 0].min(initial=np.inf))
        self._share = max(accuracy * least, EXACT * self._largest_weight) if least < np.inf else 0.0
        self.off = 0.0
        """What is left of the forces at the scores last computed, as a share of the largest pull."""

    def scores(self, level: float, start: Array) -> Array:
        """The minimizer at the threshold `level`, from `start`; an infinite level is least squares."""
        theta = np.array(start)
        value, force = self.rows.huber(level, theta)
        first = size = float(np.abs(force).max(initial=0.0))
        enough = self._share * min(level, self.graph.largest_margin)
        for _ in range(_STEPS):
            if size <= enough:
                break
            # Each step to as many digits as the ones before gained: flags, and the digits, change.
            rough = min(_LOOSE, size / first) * size if level < self.graph.largest_margin else 0.0
            step = self.systems.solve(force, max(enough / 2, rough))
            slope, share = float(force @ step), 1.0
            while True:
                tried = theta + share * step
                new = self.rows.huber(level, tried)
                # A quarter of what a line would promise; where the last digits of a large sum say
                # nothing, the force says as much (Hager and Zhang's approximate Wolfe condition).
                if new[0] <= value - share * slope / 4:
                    break
                if new[0] <= value + _DIGITS * abs(value) and float(new[1] @ step) >= -slope / 2:
                    break
                share /= 2
                if share < 1e-10:  # rounding: no further progress is possible
                    self.off = self._relative(level, size)
                    return self.graph.centred(theta)
            theta, (value, force) = tried, new
            size = float(np.abs(force).max())
        self.off = self._relative(level, size)
        return self.graph.centred(theta)

    def _relative(self, level: float, size: float) -> float:
        """A force as a share of the largest pull there can be at an item."""
        pull = min(level, self.graph.largest_margin) * self._largest_weight
        return size / pull if pull > 0 else 0.0

    def slope(self, level: float, scores: Array, signs: Array) -> Array:
        """How fast the minimizer moves as lambda rises, by which flagged rows, with these `signs`, pull."""
        graph = self.graph
        self.rows.huber(level, scores)  # for the Hessian there; the loss is not asked for
        force = pull = graph.divergence(graph.weight * signs)
        enough, slope = _FINE_SLOPE * float(np.abs(pull).max(initial=0.0)), np.zeros(graph.items)
        believed = np.where(signs == 0, graph.weight, 0.0)
        for _ in range(2):  # the second time for the little of the whole that the Hessian has more
            slope += self.systems.solve(force, enough)
            force = pull - graph.divergence(believed * graph.differences(slope))
        return graph.centred(slope)

    def parts(self, level: float, scores: Array) -> int:
        """Into how many parts the items fall where only rows well within the threshold join them."""
        self.rows.huber(level - NEAR * self.graph.largest_margin, scores)  # for which rows are within
        return self.rows.parts()


class Fit(NamedTuple):
    """Least-squares scores of a graph's margins, how exact they are, and what they needed."""

    scores: Array
    accuracy: float
    method: Preconditioner


_FITS: WeakKeyDictionary[ComparisonGraph, Fit] = WeakKeyDictionary()
"""The last fit of each graph, for as long as the graph lives."""


def least_squares(graph: ComparisonGraph, accuracy: float = EXACT) -> Fit:
    """Least-squares scores of the graph's margins by conjugate gradients; the last ones are kept.

    With the least preconditioner that will do, and without the inverse of the Laplacian, which costs
    as much as hundreds of solves and is worth it for those who make as many: `ComparisonGraph.scores`
    does the same for any margin with it. For the accuracy see `HuberNewton`.
    """
    found = _FITS.get(graph)
    if found is None or found.accuracy != accuracy:  # no answer depends on what was asked before
        newton = HuberNewton(graph, accuracy, "diagonal")
        found = Fit(newton.scores(math.inf, np.zeros(graph.items)), accuracy, newton.systems.method)
        _FITS[graph] = found
    return found
