"""The exact projection onto a three-view set, as a solver."""

from __future__ import annotations

from optiframe.problems.projection import Projection
from optiframe.records.fields import Array
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe_tvcs.program.support_program import left_open, relative_gap, why_not
from optiframe_tvcs.projection.selection import Selection
from optiframe_tvcs.sets.three_view import ThreeView


class ExactProjection(Solver[Projection, Array, Selection]):
    """Projection onto a three-view set, exact, with a proof or the reason why there is none.

    What `ThreeView.project` does, as a solver: prices from the smoothed dual, shortest paths on
    the graph of groups, and a check of all elements (see `optiframe_tvcs.projection.plan`). Squares are
    quantised once to whole numbers up to 2**50, so that the check is exact arithmetic. The certificate
    bounds what that can have cost; above 1e-9 of the distance the run ends `stalled`, not proved.

    Time some 20 passes over the elements, half as many from given prices; memory at most 60 bytes an element.
    """

    name = "tvcs.exact"
    reference = "Yang et al., Eq. 5; Ahuja, Magnanti, Orlin 1993, Sec. 9.7 (successive shortest paths)"
    solves = Projection
    one_shot = True
    residual_meaning = "gap between prices and support, relative to the support's worth; nan when not proved"

    def unsuited(self, problem: Projection) -> str | None:
        return why_not(problem)

    def iterates(self, problem: Projection, run: Run) -> Iterates:
        onto, point = problem.onto, problem.point
        assert isinstance(onto, ThreeView)  # else `unsuited` said so
        selection = onto.select_for(point)
        if not selection.certificate.exact:
            return Status.STALLED, f"not proved: {selection.certificate.reason}"
        x = point * selection.support.reshape(point.shape)
        ending = left_open(selection, run)
        yield Iterate(x, residual=relative_gap(selection), detail=selection)
        return ending
