"""Whether bounds on groups cost more fit than chance explains: the same number of entries without them."""

from __future__ import annotations

from math import lgamma

import numpy as np

from optiframe.findings import Finding
from optiframe.numbers import number
from optiframe.problems.objectives.losses import LeastSquares, LinearModel, Logistic
from optiframe.problems.sets.constraint_set import ConstraintSet
from optiframe.problems.sets.vector_sets import Cardinality
from optiframe.records.fields import Array

_STEPS = 30  # of descent without groups: a few gradients beside those of the fit
_HALVINGS = 30  # of a step


def groups_cost_fit(function: object, x: Array, over: ConstraintSet) -> tuple[Finding, ...]:
    """A warning where as many entries, chosen anywhere, fit better than chance allows if groups are right.

    Needs a likelihood: least squares or logistic regression, with at least twice as many samples as entries.
    From `x`, a few steps of hard thresholding lead to a fit of as many entries without groups. The extended
    information criterion (Chen, Chen 2008) charges it for the choice among all supports of that size, and the
    fit with groups for none. So the warning is on the safe side: with few samples, wrong groups go unnoticed.
    A fit with right groups that ends in a poor local minimum may be warned, too (1 of 180 planted draws).

    Parameters
    ----------
    function
        The loss.
    x
        The fit with groups, of the shape that the loss takes.
    over
        The set with the bounds on groups.
    """
    size = int(np.count_nonzero(x))  # not what the set allows: more entries fit better, whatever the groups
    if not isinstance(function, LeastSquares | Logistic) or not 0 < 2 * size <= len(function):
        return ()
    loose = _descend(function, np.asarray(x, dtype=np.float64), Cardinality(size=size))
    if over.contains((loose != 0).astype(float)):  # a better fit, and no bound stands in its way
        return ()
    gain = deviance(function, x, len(function)) - deviance(function, loose, len(function))
    if gain <= 2 * _log_choose(loose.size, size):
        return ()
    text = (
        f"The bounds on groups may be wrong: without them, {size} nonzero entries bring the loss from "
        f"{number(_mean(function, x))} to {number(_mean(function, loose))}, more than chance explains. "
        "Check the groups and bounds, or bound the total alone."
    )
    return (Finding("warning", text, identifier="sparse.views-do-not-help"),)


def _descend(function: LinearModel, x: Array, onto: Cardinality) -> Array:
    """Hard thresholding with Barzilai and Borwein's steps, halved where the loss would rise."""
    curvature = function.curvature()
    step, value = 1.0 / curvature if curvature > 0 else 1.0, function.value(x)
    gradient = function.gradient(x)
    for _ in range(_STEPS):
        for _ in range(_HALVINGS):
            moved = np.asarray(onto.project(x - step * gradient))
            ahead = function.value(moved)
            if ahead <= value:
                break
            step /= 2
        else:
            return x
        change = function.gradient(moved) - gradient
        bend = float(np.vdot(moved - x, change))
        step = float(np.sum((moved - x) ** 2)) / bend if bend > 0 else step
        x, value, gradient = moved, ahead, gradient + change
    return x


def _mean(function: LinearModel, x: Array) -> float:
    return float(function.losses(function.matrix @ x).mean())


def deviance(function: LinearModel, x: Array, n: float) -> float:
    """Twice the negative log-likelihood of `n` samples, up to a constant: n log(2 loss) of least squares."""
    loss = _mean(function, x)
    floor = float(np.finfo(np.float64).tiny)  # of a fit without an error
    return float(n * np.log(max(2 * loss, floor))) if isinstance(function, LeastSquares) else 2 * n * loss


def _log_choose(p: int, k: int) -> float:
    return lgamma(p + 1) - lgamma(k + 1) - lgamma(p - k + 1)
