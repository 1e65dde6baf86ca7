"""Gradient matching pursuit: twice the support, restricted minimisation, pruning."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from optiframe.problems.minimize import Minimize
from optiframe.problems.objectives.objective import Objective
from optiframe.problems.sets.constraint_set import ConstraintSet
from optiframe.records.fields import Array
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe_tvcs.learning.restricted import Inner, minimise_on, why_not_inner
from optiframe_tvcs.learning.steps import into, nowhere
from optiframe_tvcs.sets.sparse_sets import (
    Projector,
    digest,
    enlarged,
    first_point,
    norm,
    not_of_supports,
    projector,
    support,
)

Refit = Annotated[
    bool, Field(description="end with the best fit on the support found; false: as pruned, as printed")
]


class GradientMatchingPursuit(Solver[Minimize, Array, None]):
    """Gradient matching pursuit over a set of supports (Yang et al., Algorithm 2).

    ::

        wide <- supp(P_2s(gradient(x))) or supp(x)
        z    <- argmin of the objective over points with support in wide
        x    <- P_s(z)

    Needs a gradient, and a set that can double its bounds: `Cardinality`, `ThreeView`, or any
    with a method `enlarged`. For least squares over `Cardinality` this is CoSaMP. One iteration
    costs a gradient, two projections and a minimisation over at most three times the support
    (see `restricted.minimise_on`), which takes most of the time; memory is a copy of those
    columns of the features.

    Convergence: where the objective is curved alike along all sparse directions (restricted
    isometry), at a linear rate to a ball around the true point whose radius is proportional to the
    noise (Sec. 3; Nguyen, Chin, Tran 2012). In that ball it goes round: z depends on `wide` alone,
    so that a `wide` met again closes a circle, and the run ends. It ends as `finished` if the points on
    the circle have one support, else as `stalled`.

    Since up to three times the support is fitted at once, it wants more samples than that; with
    fewer, z fits the samples exactly and says little (of the many such z, least squares take
    the shortest). In the algorithm as printed the answer is z as pruned, which is no minimum on its support.
    With `refit` a run that comes to its end takes one step more: from the best point seen to the best one on
    its support. (40 samples, 30 correlated columns, 4 planted: a mean squared residual of .23 for .53.)

    The residual is the length of the last move, or of what was pruned if that is longer: where both are 0,
    the point is a minimum on its support.
    """

    name = "tvcs.gradmp"
    solves = Minimize
    uses = (ConstraintSet.project, Objective.gradient)
    accepts_start = True
    monotone = False
    residual_meaning = "length of the last move, or of what was pruned if longer"
    reference = "Yang et al., Algorithm 2"

    inner: Inner = "auto"
    refit: Refit = True

    def unsuited(self, problem: Minimize) -> str | None:
        return not_of_supports(problem) or why_not_inner(problem.function, self.inner)

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        return (yield from pursue(problem, run, self.inner, self.refit))


def pursue(problem: Minimize, run: Run, inner: Inner, refit: bool) -> Iterates:
    """The iterations of gradient matching pursuit; with `refit` at last the fit on the best support."""
    function, x = problem.function, first_point(problem, run)
    onto, doubled = projector(problem.over), doubled_projector(problem)
    lowest = Lowest(function)
    met: dict[bytes, int] = {}
    supports: list[bytes] = []
    while True:
        gradient = function.gradient(x)
        matched = into(doubled, gradient)
        if matched is None:
            yield Iterate(x)
            return nowhere(gradient)
        wide = support(matched) | support(x)
        z = minimise_on(function, wide, x, inner, run.time_left)
        moved = np.asarray(onto.project(z))
        residual = max(norm(moved - x), norm(z - moved))
        x = moved
        yield Iterate(x, residual, info={"wide": float(np.count_nonzero(wide))})
        lowest.look_at(x)
        supports.append(digest(support(x)))
        since = met.setdefault(digest(wide), len(supports) - 1)
        if since < len(supports) - 1:
            if refit:
                yield lowest.fitted(inner, run)
            if len(set(supports[since:])) == 1:
                return Status.FINISHED, "the support no longer changes"
            return Status.STALLED, "the supports repeat: it runs in a circle"


class Lowest:
    """The point with the lowest value among those of a run."""

    def __init__(self, function: Objective) -> None:
        self._function = function
        self._x: Array | None = None
        self._value = np.inf

    def look_at(self, x: Array) -> bool:
        """Whether this point, which nobody may change, is lower than all before."""
        value = self._function.value(x)
        if np.isnan(value):
            value = np.inf  # else no value would ever be lower
        lower = self._x is None or value < self._value
        if lower:
            self._x, self._value = x, value
        return lower

    def fitted(self, inner: Inner, run: Run) -> Iterate:
        """The best point on the support of the lowest."""
        assert self._x is not None  # after one that was looked at
        return Iterate(minimise_on(self._function, support(self._x), self._x, inner, run.time_left))


def doubled_projector(problem: Minimize) -> Projector:
    """A projector onto the set with doubled bounds."""
    wider = enlarged(problem.over, 2)
    assert wider is not None  # else `unsuited` said so
    return projector(wider)
