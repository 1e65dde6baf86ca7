"""Iterative hard thresholding: a gradient step, then the projection."""

from __future__ import annotations

from optiframe.problems.minimize import Minimize
from optiframe.problems.objectives.objective import Objective
from optiframe.problems.sets.constraint_set import ConstraintSet
from optiframe.records.fields import Array
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe_tvcs.learning.steps import FAR, Descent, Step, nowhere, why_no_step
from optiframe_tvcs.sets.sparse_sets import Projector, first_point, norm, projector


class IterativeHardThresholding(Solver[Minimize, Array, None]):
    """Iterative hard thresholding over any set that can project (Yang et al., Algorithm 1).

    ::

        x <- P(x - step * gradient(x))

    Needs a gradient. One iteration costs a gradient and a projection, with backtracking also
    one value of the objective or a few; memory is a few vectors. A set that offers a
    `projector` is warm-started from its last prices.

    The step is one of

    - ``backtracking`` (the default): Barzilai-Borwein, halved until the objective falls
      enough. The objective never rises, and no parameter has to be known;
    - ``lipschitz``: 1/L by the objective's bound on its curvature. The objective never rises;
    - a number: the paper's fixed step. Objectives here are means, the paper's are sums: its
      step times n. Too large a step makes the objective rise without end.

    Convergence: with backtracking, and with any step below 1/L, each limit point x is a fixed
    point, x = P(x - step * gradient(x)); it is stationary on its support, and in general a local
    minimum only. Where
    the objective is curved alike along all sparse directions (restricted isometry) iterates
    reach, at a linear rate, a ball around the true point whose radius is proportional to the
    noise (Sec. 3; Nguyen, Needell, Woolf 2014, Theorem 1).

    The residual is the length of a move over its step, in the units of the gradient: it is 0 at
    a fixed point. It belongs to the point before the one yielded.
    """

    name = "tvcs.iht"
    solves = Minimize
    uses = (ConstraintSet.project, Objective.gradient)
    accepts_start = True
    residual_meaning = "length of the last move over its step"
    reference = "Yang et al., Algorithm 1"

    step: Step = "backtracking"

    def unsuited(self, problem: Minimize) -> str | None:
        return why_no_step(problem, self.step)

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        return (yield from descend(problem, projector(problem.over), first_point(problem, run), self.step))


def descend(problem: Minimize, onto: Projector, x: Array, rule: Step) -> Iterates:
    """The iterations from a point of the set; `rule` chooses the step."""
    function = problem.function
    descent = Descent(function, onto, rule)
    while True:
        gradient = function.gradient(x)
        moved = descent.move(x, gradient)
        if moved is None:
            yield Iterate(x)
            return nowhere(gradient)
        residual = norm(moved - x) / descent.step
        if residual > FAR or norm(moved) > FAR:  # the latter where steps, and not gradients, grow
            yield Iterate(x)
            hint = "the objective has no minimum here" if rule == "backtracking" else "take a shorter step"
            return Status.DIVERGED, f"the moves grow without end; {hint}"
        x = moved
        yield Iterate(x, residual, info={"step": descent.step})
