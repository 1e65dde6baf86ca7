"""Projection onto a three-view set by the dual simplex method of HiGHS, through SciPy."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import linprog

from optiframe.problems.projection import Projection
from optiframe.records.fields import Array
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe_tvcs.program.proving import completed, feasible, prove
from optiframe_tvcs.program.support_program import SupportProgram, left_open, relative_gap, why_not
from optiframe_tvcs.projection.selection import Selection

_PRECISE = {"dual_feasibility_tolerance": 1e-10}  # HiGHS's least; worths are relative to the largest


class SimplexProjection(Solver[Projection, Array, Selection]):
    """Projection onto a three-view set by HiGHS's dual simplex on the sparse program.

    A simplex method ends at a vertex, and the vertices are supports. Its dual values are near
    the exact prices, from which the support is proved. Memory: about 40 p for the matrix, and HiGHS's own.
    """

    name = "tvcs.highs"
    reference = "Yang et al., Eq. 5 and Theorem 2"
    solves = Projection
    packages = ("scipy",)
    one_shot = True
    residual_meaning = "gap between prices and support, relative to the support's worth"

    def unsuited(self, problem: Projection) -> str | None:
        return why_not(problem)

    def iterates(self, problem: Projection, run: Run) -> Iterates:
        program = SupportProgram.of(problem)
        support = np.zeros(len(program.whole), dtype=np.bool_)
        if not program.whole.any():  # nothing to choose; HiGHS takes no empty program
            yield self._proved(program, prove(program, support))
            return
        # Presolve would come before HiGHS's first look at the clock.
        limited = math.isfinite(run.time_left())
        found = linprog(
            -program.relative,
            A_ub=program.matrix,
            b_ub=program.bounds,
            bounds=(0, 1),
            method="highs-ds",
            options=_PRECISE | ({"time_limit": run.time_left(), "presolve": False} if limited else {}),
        )
        if found.status == 1:
            return Status.TIME_LIMIT, "HiGHS ran out of time"
        if found.x is None:
            return Status.STALLED, f"HiGHS: {found.message}"
        chosen = (found.x > 0.5) & (program.whole > 0)
        near = program.prices(-found.ineqlin.marginals, per_unit=float(program.whole.max()))
        chosen = completed(program, chosen) if feasible(program, chosen) else chosen
        selection = prove(program, chosen, near)
        ending = left_open(selection, run)
        yield self._proved(program, selection)
        return ending

    def _proved(self, program: SupportProgram, selection: Selection) -> Iterate:
        return program.iterate(selection, relative_gap(selection))
