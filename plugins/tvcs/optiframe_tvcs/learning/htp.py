"""Hard thresholding pursuit: the support of a thresholded gradient step, then the best point on it."""

from __future__ import annotations

from optiframe.problems.minimize import Minimize
from optiframe.problems.objectives.objective import Objective
from optiframe.problems.sets.constraint_set import ConstraintSet
from optiframe.records.fields import Array
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe_tvcs.learning.restricted import Inner, minimise_on, why_not_inner
from optiframe_tvcs.learning.steps import Descent, Step, nowhere, why_no_step
from optiframe_tvcs.sets.sparse_sets import (
    digest,
    first_point,
    norm,
    not_of_supports,
    projector,
    support,
)


class HardThresholdingPursuit(Solver[Minimize, Array, None]):
    """Hard thresholding pursuit over a set of supports.

    ::

        kept <- supp(P(x - step * gradient(x)))
        x    <- argmin of the objective over points with support in kept

    Needs a gradient and a set of supports (`Cardinality`, `ThreeView`, any with a method
    `enlarged`). One iteration costs one of `tvcs.iht` and a minimisation on the support
    (see `restricted.minimise_on`); few are needed, since a point depends on its support alone.

    The step is chosen as in `tvcs.iht`.

    Convergence: with "backtracking" and "lipschitz" the objective never rises, so that after
    finitely many supports one repeats, and the run ends (`finished`): a fixed point of
    `tvcs.iht` that is a minimum on its support. With a fixed step that is too long it may run in a
    circle, and says so (`stalled`). Under restricted isometry the ball of `tvcs.iht` around the true point is
    reached (Foucart 2011; Yuan, Li, Zhang 2014).

    The residual is the length of the gradient step into the set over the step, as in `tvcs.iht`.
    """

    name = "tvcs.htp"
    solves = Minimize
    uses = (ConstraintSet.project, Objective.gradient)
    accepts_start = True
    residual_meaning = "length of the gradient step into the set, over the step"
    reference = "Foucart 2011; Yuan, Li, Zhang 2014 (named in Yang et al., Sec. 3)"

    step: Step = "backtracking"
    inner: Inner = "auto"

    def unsuited(self, problem: Minimize) -> str | None:
        return (
            not_of_supports(problem)
            or why_no_step(problem, self.step)
            or why_not_inner(problem.function, self.inner)
        )

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        function = problem.function
        descent = Descent(function, projector(problem.over), self.step)
        x, last = first_point(problem, run), b""
        seen: set[bytes] = set()
        while True:
            gradient = function.gradient(x)
            moved = descent.move(x, gradient)
            if moved is None:
                yield Iterate(x)
                return nowhere(gradient)
            residual, key = norm(moved - x) / descent.step, digest(support(moved))
            x = minimise_on(function, support(moved), moved, self.inner, run.time_left)
            yield Iterate(x, residual, info={"step": descent.step})
            if key == last:
                return Status.FINISHED, "the support no longer changes"
            if key in seen:
                return Status.STALLED, "the supports repeat: it runs in a circle; take a shorter step"
            seen.add(key)
            last = key
