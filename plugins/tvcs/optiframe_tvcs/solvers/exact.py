"""The exact projection onto a three-view set, as a solver."""

from __future__ import annotations

import numpy as np

from optiframe.problems.projection import Projection
from optiframe.records.fields import Array
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe_tvcs.program.support_program import why_not
from optiframe_tvcs.projection.selection import Selection
from optiframe_tvcs.sets.three_view import ThreeView


class ExactProjection(Solver[Projection, Array, Selection]):
    """Projection onto a three-view set: the nearest point, with a proof without rounding.

    What `ThreeView.project` does, as a solver: prices from the smoothed dual, shortest paths on
    the graph of groups, and a check of all elements (see `optiframe_tvcs.projection.plan`). Squares are
    rounded to 50 bits at first; what that leaves open is solved again in finer units.

    Time some 20 passes over the elements, half as many from given prices; memory 60 bytes an element, and
    up to some 520 where entries over many decades leave most of them to the exact check.
    """

    name = "tvcs.exact"
    reference = "Yang et al., Eq. 5; Ahuja, Magnanti, Orlin 1993, Sec. 9.7 (successive shortest paths)"
    solves = Projection
    one_shot = True
    residual_meaning = "0: the support is proved best"

    def unsuited(self, problem: Projection) -> str | None:
        return why_not(problem)

    def iterates(self, problem: Projection, run: Run) -> Iterates:
        onto, point = problem.onto, problem.point
        assert isinstance(onto, ThreeView)  # else `unsuited` said so
        selection = onto.select_for(point)
        if not selection.certificate.holds:
            return Status.STALLED, f"not proved: {selection.certificate.reason}; please report it"
        x = np.where(selection.support.reshape(point.shape), point, 0.0)
        yield Iterate(x, residual=0.0, detail=selection)
        return None
