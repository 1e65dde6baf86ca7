"""Newton's method on all data in one place: the yardstick of accuracy."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from pydantic import Field

from optiframe.problems.minimize import Minimize
from optiframe.problems.objectives.objective import Objective
from optiframe.problems.sets.constraint_set import WholeSpace
from optiframe.records.fields import Array
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe_comrade.local.newton import at_point
from optiframe_comrade.local.step import SMALL, sweeps
from optiframe_comrade.local.sweep import Precision
from optiframe_comrade.trust.separable import separable
from optiframe_comrade.unused_parameters import Unused, warnings_of


class Exact(Solver[Minimize, Array, None]):
    """Newton's method with backtracking, centralized.

    Of a linear model with up to 1,000 columns and at least as many rows, a dense matrix is read once a
    step: the predictions at the full step, the objective, the gradient and the Hessian come from the
    same blocks of rows (n d^2 operations, d^2 + n numbers beside the data). Shorter steps are
    tried on the predictions, without the matrix. A large matrix's Hessian may be computed in single
    precision: the point where the gradient vanishes, which is computed in double precision, is
    the same, and nearly so is the way to it. Other linear models keep their predictions, too.
    """

    name = "newton.exact"
    solves = Minimize
    accepts_start = True
    residual_meaning = "largest entry of the gradient"

    hessian: Precision = Field(
        default="auto", description="precision of the Hessian of dense data; auto: single if large and safe"
    )

    def unsuited(self, problem: Minimize) -> str | None:
        f = problem.function
        if len(f.shape) != 1:
            return f"its points are arrays of shape {f.shape}, not vectors"
        if not f.offers(Objective.gradient):
            return "the objective has no gradient"
        if not (f.offers(Objective.hessian) or f.offers(Objective.hessian_product)):
            return "the objective has no Hessian"
        return None if isinstance(problem.over, WholeSpace) else "it cannot keep to a constraint set"

    def unused_parameters(self, f: Objective) -> Iterator[Unused]:
        """Parameters that change nothing with this objective; a run warns of those that are set."""
        if not sweeps(f):
            yield "hessian", f"it is for dense data of up to {SMALL:,} columns and at least as many rows"

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        f = problem.function
        for text in warnings_of(self, self.unused_parameters(f)):
            run.warn(text, identifier="training.unused-parameter")
        x = problem.initial() if run.start is None else run.start
        pieces = at_point(f, x, self.hessian)
        gradient, said = pieces.gradient(), False
        while True:
            direction = pieces.newton(gradient)
            length = pieces.search(direction, float(gradient @ direction))
            if length == 0.0:
                # Already as low as rounding lets one see; the point is still an answer.
                yield Iterate(pieces.x, residual=float(np.abs(gradient).max(initial=0.0)))
                return Status.STALLED, "no step decreases the objective any more"
            gradient = pieces.gradient()
            if not said and pieces.predictions is not None:
                shown = separable(f, pieces.predictions)
                said = shown is not None
                run.findings += [shown] if shown is not None else []
            yield Iterate(pieces.x, residual=float(np.abs(gradient).max(initial=0.0)), info={"step": length})
