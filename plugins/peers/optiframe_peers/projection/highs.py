"""Projection onto a three-view set by HiGHS, through its own package."""

from __future__ import annotations

import math
import sys
from typing import Any, Literal

import numpy as np
from optiframe_tvcs.program.feasible import support_of
from optiframe_tvcs.program.support_program import SupportProgram, why_not
from optiframe_tvcs.projection.selection import Selection
from pydantic import Field

from optiframe.problems.projection import Projection
from optiframe.records.fields import Array
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterates, Run, Solver
from optiframe_peers.libraries import absent, library


class HighsProjection(Solver[Projection, Array, Selection]):
    """Projection onto a three-view set by HiGHS through highspy: the sparse linear program of Eq. 5.

    By any of HiGHS's methods. A simplex method ends at a vertex, and "ipm" crosses over to one. A share that
    is not 0 or 1 is rounded. The exact projection of optiframe-tvcs judges the support: whether it is the
    best, and what it loses.

    highspy and OR-tools cannot be loaded into one process: each finds the other's copy of HiGHS.
    """

    name = "highspy.projection"
    reference = "Yang et al., Eq. 5; Huangfu and Hall 2018"
    solves = Projection
    requires = ("highspy",)
    one_shot = True
    residual_meaning = "what the support loses, relative to its worth"

    method: Literal["simplex", "ipm", "choose"] = Field(
        default="simplex", description="HiGHS's option `solver`"
    )
    presolve: bool = Field(default=True, description="whether HiGHS makes the program smaller first")

    def unsuited(self, problem: Projection) -> str | None:
        if "ortools" in sys.modules and "highspy" not in sys.modules:
            return (
                "OR-tools is loaded in this process, and highspy cannot be loaded beside it; run this "
                "solver in a process of its own, as a comparison does"
            )
        return absent(self) or why_not(problem)

    def iterates(self, problem: Projection, run: Run) -> Iterates:
        program = SupportProgram.of(problem)
        if not program.whole.any():  # nothing to choose
            support = np.zeros(len(program.whole), dtype=np.bool_)
        else:
            highspy = library("highspy")
            # `Highs` adds callbacks, not needed here, and prints a banner before any option is heard.
            highs = getattr(highspy, "_Highs", highspy.Highs)()
            for option, value in self._options(run).items():
                highs.setOptionValue(option, value)
            highs.passModel(_model(highspy, program))
            highs.resetGlobalScheduler(True)  # else a process that ran HiGHS on more threads refuses this run
            highs.run()
            highs.resetGlobalScheduler(True)  # nor are others held to this run's one thread
            status = highs.getModelStatus()
            if status == highspy.HighsModelStatus.kTimeLimit:
                return Status.TIME_LIMIT, "HiGHS ran out of time"
            if status != highspy.HighsModelStatus.kOptimal:
                return Status.STALLED, f"HiGHS: {highs.modelStatusToString(status)}"
            support = support_of(program, np.array(highs.getSolution().col_value))
        return (yield from program.last(support))

    def _options(self, run: Run) -> dict[str, Any]:
        left = run.time_left()
        limited = {"time_limit": left} if math.isfinite(left) else {}
        return limited | {
            "output_flag": False,
            "solver": self.method,
            "presolve": "on" if self.presolve else "off",
            "threads": 1,
            "dual_feasibility_tolerance": 1e-10,  # HiGHS's least; worths are relative to the largest
        }


def _model(highspy: Any, program: SupportProgram) -> Any:
    """Least -<worth, x> with A x <= s and 0 <= x <= 1."""
    model, (rows, columns) = highspy.HighsLp(), program.matrix.shape
    model.num_row_, model.num_col_ = rows, columns
    model.col_cost_ = -program.relative
    model.col_lower_, model.col_upper_ = np.zeros(columns), np.ones(columns)
    model.row_lower_, model.row_upper_ = np.full(rows, -highspy.kHighsInf), program.bounds
    matrix = model.a_matrix_
    matrix.format_ = highspy.MatrixFormat.kColwise
    matrix.num_row_, matrix.num_col_ = rows, columns
    matrix.start_, matrix.index_ = program.matrix.indptr, program.matrix.indices
    matrix.value_ = program.matrix.data
    return model
