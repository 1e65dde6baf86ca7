"""Whether a point shows that there is no minimum: logistic loss without a ridge on separable data."""

from __future__ import annotations

from optiframe.findings import Finding
from optiframe.problems.objectives.losses import Logistic
from optiframe.problems.objectives.objective import Objective
from optiframe.records.fields import Array

_TEXT = (
    "A hyperplane separates the two classes, and without an L2 term the objective then has no minimum: the "
    "longer the weights, the lower it is. The weights are those of where the run stopped; their direction "
    "separates the classes, their length means nothing. Set l2"
)


def separable(f: Objective, predictions: Array) -> Finding | None:
    """A warning if every row is on its right side at some point; None where nothing is shown.

    `predictions` are the scores of the rows there, shape (n,).
    """
    if not isinstance(f, Logistic) or f.l2 > 0.0 or not (f.target * predictions > 0.0).all():
        return None
    return Finding("warning", _TEXT, identifier="training.separable")
