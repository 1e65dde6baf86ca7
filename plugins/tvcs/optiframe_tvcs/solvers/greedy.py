"""A fast support that is not always the best, and a bound on what it loses."""

from __future__ import annotations

import numpy as np

from optiframe.problems.projection import Projection
from optiframe.records.fields import Array
from optiframe.solving.solver import Iterates, Run, Solver
from optiframe_tvcs.program.feasible import fill
from optiframe_tvcs.program.support_program import SupportProgram, why_not
from optiframe_tvcs.projection.closed import open_values
from optiframe_tvcs.projection.selection import Selection


class GreedyProjection(Solver[Projection, Array, Selection]):
    """Largest entries first, each taken where all its bounds still have room; not exact.

    Keeps at least half of the best squared magnitude (an element taken stands in the way of at
    most two, since the bounds of one view and the total together make a matroid), and
    mostly far more: the certificate in `Result.detail` says how much is lost, and `holds`
    where it happens to be exact. One sort, O(p log p), and an exact projection to judge the answer by.
    """

    name = "tvcs.greedy"
    solves = Projection
    one_shot = True
    residual_meaning = "what is lost, relative to the support's worth"

    def unsuited(self, problem: Projection) -> str | None:
        return why_not(problem)

    def iterates(self, problem: Projection, run: Run) -> Iterates:
        program = SupportProgram.of(problem)
        size = np.abs(open_values(problem.point.reshape(-1), program.over.plan.closed))
        falling = np.argsort(-size, kind="stable")
        support = fill(program, falling[: np.count_nonzero(program.whole)])
        return (yield from program.last(support))
