"""SciPy's linear programs, with whole numbers or without; both are HiGHS."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from pydantic import Field
from scipy.optimize import Bounds, LinearConstraint, OptimizeResult, linprog, milp

from optiframe.problems.minimize import Minimize
from optiframe.problems.objectives.objective import Objective
from optiframe.problems.sets.constraint_set import LinearForm
from optiframe.records.fields import Array
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterate, Iterates, Run, Solver

_ENDS = {0: Status.FINISHED, 2: Status.INFEASIBLE, 3: Status.DIVERGED}  # SciPy's numbers for HiGHS's ends


class _Program(Solver[Minimize, Array, None]):
    """A linear objective over linear constraints; one iterate, at the end."""

    solves = Minimize
    requires = ("scipy",)
    uses = (Objective.quadratic,)
    one_shot = True
    residual_meaning = "gap to HiGHS's lower bound, relative to the objective where that is above 1"
    reference = "Huangfu and Hall 2018 (HiGHS)"

    def unsuited(self, problem: Minimize) -> str | None:
        if not math.prod(problem.function.shape):
            return f"a point of shape {problem.function.shape} has no entries"
        if problem.over.as_linear(problem.function.shape) is None:
            return f"the set {problem.over.name!r} is not given by linear constraints"
        if reason := problem.function.lacks(Objective.quadratic):
            return reason
        if problem.function.quadratic().matrix is not None:
            return f"the objective {problem.function.known_as!r} is not linear"
        return None

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        cost = problem.function.quadratic().linear
        form = problem.over.as_linear(problem.function.shape)
        assert form is not None  # else `unsuited` said so
        if run.time_left() == 0:  # which HiGHS takes for no limit
            return Status.TIME_LIMIT, "the time was used up before HiGHS began"
        limits = {} if run.budget.time is None else {"time_limit": run.time_left()}
        found, bound = self.solve(cost, form, limits, run)
        status = _ENDS.get(found.status, Status.STALLED)
        if status is Status.STALLED and run.time_left() == 0:
            status = Status.TIME_LIMIT
        if found.x is not None and status is not Status.INFEASIBLE:
            x = np.array(found.x)
            value = float(cost @ x)
            gap = max(0.0, value - bound) / max(1.0, abs(value))
            yield Iterate(x.reshape(problem.function.shape), residual=gap)
        return status, f"SciPy: {' '.join(str(found.message).split())}"

    @abstractmethod
    def solve(
        self, cost: Array, form: LinearForm, limits: dict[str, Any], run: Run
    ) -> tuple[OptimizeResult, float]:
        """What SciPy makes of it, and a lower bound on the objective; nan where there is none."""


class Milp(_Program):
    """Linear programs with whole numbers, by branch and bound; without them it is the simplex method.

    Whole entries are those of the set `integers`, alone or in a list with linear sets. It ends when the gap
    is at most the budget's tolerance.
    """

    name = "scipy.milp"

    def solve(
        self, cost: Array, form: LinearForm, limits: dict[str, Any], run: Run
    ) -> tuple[OptimizeResult, float]:
        rows = [LinearConstraint(form.rows, form.least, form.most)] if form.rows.shape[0] else []
        found = milp(
            cost,
            integrality=form.whole.astype(int),
            bounds=Bounds(form.lower, form.upper),
            constraints=rows,
            options={"mip_rel_gap": run.budget.tolerance, **limits},
        )
        bound = found.get("mip_dual_bound")
        if bound is None and found.status == 0 and not form.whole.any():
            bound = found.fun  # of a linear program HiGHS tells no bound, and ends at a vertex it has proved
        return found, math.nan if bound is None else float(bound)


class LinearProgram(_Program):
    """Linear programs by the simplex or an interior-point method; the bound is the dual solution's."""

    name = "scipy.linprog"

    method: Literal["highs", "highs-ds", "highs-ipm"] = Field(
        default="highs",
        description="highs-ds: dual simplex; highs-ipm: interior; highs: its choice",
    )

    def unsuited(self, problem: Minimize) -> str | None:
        reason = super().unsuited(problem)
        form = None if reason else problem.over.as_linear(problem.function.shape)
        whole = form is not None and form.whole.any()
        return "entries must be whole numbers: `scipy.milp` takes those" if whole else reason

    def solve(
        self, cost: Array, form: LinearForm, limits: dict[str, Any], run: Run
    ) -> tuple[OptimizeResult, float]:
        equal = form.least == form.most
        above, below = (np.isfinite(side) & ~equal for side in (form.most, form.least))
        rows = form.rows if sp.issparse(form.rows) else np.asarray(form.rows)
        stack = sp.vstack if sp.issparse(rows) else np.vstack
        limit = np.concatenate([form.most[above], -form.least[below]])
        found = linprog(
            cost,
            stack([rows[above], -rows[below]]) if len(limit) else None,
            limit if len(limit) else None,
            rows[equal] if equal.any() else None,
            form.most[equal] if equal.any() else None,
            np.column_stack([form.lower, form.upper]),
            self.method,
            options=limits,
        )
        if found.x is None or found.status != 0:
            return found, math.nan
        bound = float(limit @ found.ineqlin.marginals) if len(limit) else 0.0
        bound += float(form.most[equal] @ found.eqlin.marginals) if equal.any() else 0.0
        for side, marginals in ((form.lower, found.lower.marginals), (form.upper, found.upper.marginals)):
            closed = np.isfinite(side)
            bound += float(side[closed] @ marginals[closed])
        return found, bound
