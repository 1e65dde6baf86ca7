"""COBYQA in its authors' package; SciPy's own copy of it is `scipy.cobyqa`."""

from __future__ import annotations

from typing import Any

import numpy as np
from pydantic import Field, PositiveFloat
from scipy.optimize import OptimizeResult

from optiframe.methods.scipy_base import MANY, Posed, steps, unsuited, without_hessian
from optiframe.problems.minimize import Minimize
from optiframe.records.fields import Array
from optiframe.solving.callbacks import Emit, Ending, iterates_from_callback
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe_optimizers.solvers.engines import NO_RESIDUAL, absent, library

_FINEST = 1e-14  # a radius is positive


class Cobyqa(Solver[Minimize, Array, None]):
    """COBYQA: quadratic models from values only, with bounds and constraints; bounds hold at every point.

    For smooth objectives without derivatives, of up to some dozen entries. One iteration costs one or a
    few values and O(n^3).
    """

    name = "cobyqa"
    solves = Minimize
    requires = ("cobyqa",)
    uses = ()
    accepts_start = True
    monotone = False
    residual_meaning = NO_RESIDUAL
    reference = "Ragonneau 2022; Ragonneau and Zhang, COBYQA version 1.1.4"

    radius: PositiveFloat = Field(default=1.0, description="first radius of the trust region")

    def unsuited(self, problem: Minimize) -> str | None:
        return unsuited(problem, "constraints") or absent(self)

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        minimize = library("cobyqa").minimize
        posed = Posed(problem, run)
        options: dict[str, Any] = {
            "maxfev": MANY,
            "maxiter": steps(run),
            "radius_final": min(max(run.budget.tolerance, _FINEST), self.radius),
            "radius_init": self.radius,
        }

        def work(emit: Emit) -> Ending:
            last: list[Array] = []

            def callback(intermediate_result: OptimizeResult) -> None:
                last[:] = [np.array(intermediate_result.x)]
                emit(Iterate(posed.flat.point(last[0])))

            found = minimize(
                posed.flat.value,
                posed.start,
                bounds=posed.bounds,
                constraints=[without_hessian(each) for each in posed.others],
                callback=callback,
                options=options,
            )
            if not last or not np.array_equal(last[0], found.x):
                emit(Iterate(posed.flat.point(found.x)))
            said = " ".join(str(found.message).split())
            if found.success:
                return Status.FINISHED, f"COBYQA: {said}"
            used_up = found.nit >= options["maxiter"]
            return (Status.ITERATION_LIMIT if used_up else Status.STALLED), f"COBYQA: {said}"

        return iterates_from_callback(work, name=self.name)
