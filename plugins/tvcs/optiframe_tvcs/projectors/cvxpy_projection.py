"""Projection onto a three-view set through CVXPY: the slow reference."""

from __future__ import annotations

import numpy as np
from pydantic import Field, NonNegativeFloat

from optiframe.errors import MissingPackage, require
from optiframe.problems.projection import Projection
from optiframe.records.fields import Array
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterates, Run, Solver
from optiframe_tvcs.program.proving import prove, prove_solution
from optiframe_tvcs.program.support_program import (
    SupportProgram,
    left_open,
    perturbed,
    relative_gap,
    why_not,
)
from optiframe_tvcs.projection.selection import Selection


class CvxpyProjection(Solver[Projection, Array, Selection]):
    """Projection onto a three-view set through CVXPY, any engine, proved by exact prices.

    The default engine is a simplex method, which ends at a vertex. Others may end inside the
    face of all best answers where supports tie; then a small random perturbation, as the
    paper suggests, makes the answer a vertex. An answer that is not 0 or 1 is rounded, and the
    certificate says what that costs.
    """

    name = "tvcs.cvxpy"
    needs = ("cvxpy",)
    reference = "Yang et al., Eq. 5 and footnote 1"
    solves = Projection
    packages = ("cvxpy",)
    one_shot = True
    residual_meaning = "gap between prices and support, relative to the support's worth"

    engine: str = Field(default="SCIPY", description="CVXPY's name of the engine; SCIPY is HiGHS's simplex")
    perturbation: NonNegativeFloat = Field(
        default=0.0, description="random change of the worths, relative to the largest, against ties"
    )

    def unsuited(self, problem: Projection) -> str | None:
        try:
            cp = require("cvxpy", "reference")
        except MissingPackage as error:
            return str(error)
        if self.engine not in cp.installed_solvers():
            return f"CVXPY has no engine {self.engine!r} here (it has {', '.join(cp.installed_solvers())})"
        return why_not(problem)

    def iterates(self, problem: Projection, run: Run) -> Iterates:
        cp = require("cvxpy", "reference")
        program = SupportProgram.of(problem)
        if program.whole.any():
            worth = perturbed(program.relative, self.perturbation, run.rng)
            x = cp.Variable(len(worth))
            bounds = program.matrix @ x <= program.bounds
            try:
                cp.Problem(cp.Maximize(worth @ x), [bounds, x >= 0, x <= 1]).solve(solver=self.engine)
            except cp.error.SolverError as error:
                return Status.STALLED, f"CVXPY: {error}"
            if x.value is None:
                return Status.STALLED, f"CVXPY: {self.engine} gave no answer"
            selection = prove_solution(program, x.value, np.asarray(bounds.dual_value))
        else:  # nothing to choose
            selection = prove(program, np.zeros(len(program.whole), dtype=np.bool_))
        ending = left_open(selection, run)
        yield program.iterate(selection, relative_gap(selection))
        return ending
