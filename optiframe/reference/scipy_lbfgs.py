"""SciPy's L-BFGS-B as a solver of `Minimize`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from pydantic import Field, PositiveInt
from scipy.optimize import Bounds, OptimizeResult, minimize

from optiframe.problems.minimize import Minimize
from optiframe.problems.objectives.objective import Objective
from optiframe.records.fields import Array
from optiframe.reference.flat import Flat, FlatBox, first_point, no_scipy_form
from optiframe.solving.callbacks import Emit, Ending, iterates_from_callback
from optiframe.solving.finite_gradient import not_finite
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterate, Iterates, Run, Solver

_LINE_SEARCH_FAILED = 2  # status of SciPy's result when it could not go on
_ROUNDING = 16  # units in the last place of the objective: sums of many terms are not more accurate
_NEAR = 1e-6  # step of a gradient difference, relative to the point: far above its rounding


class ScipyLBFGS(Solver[Minimize, Array, None]):
    """SciPy's L-BFGS-B: limited-memory quasi-Newton with bounds.

    Needs an objective with a gradient and a set of nothing but bounds. One iteration costs
    one or a few evaluations of value and gradient; memory is O(memory * size of x). SciPy's
    own tolerances are off: the budget decides, or the end of floating-point progress (`finished`). A
    line search that fails before that ends the run as `stalled`.
    """

    name = "scipy.lbfgs"
    solves = Minimize
    uses = (Objective.gradient,)
    requires = ("scipy",)
    accepts_start = True
    residual_meaning = "infinity norm of the projected gradient x - P(x - g)"
    reference = "Byrd, Lu, Nocedal, Zhu (1995), A limited memory algorithm for bound constrained optimization"

    memory: PositiveInt = Field(default=10, description="pairs of steps and gradient changes kept")

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        flat = Flat(problem)
        constraints = problem.over.as_scipy(flat.shape)
        assert constraints is not None  # else `unsuited` said so
        box = FlatBox.of(constraints, flat.size)
        start = np.clip(first_point(problem, run), box.lower, box.upper)

        def iterate(x: Array) -> Iterate:
            return Iterate(flat.point(x), residual=box.optimality(x, flat.gradient(x)))

        return lbfgs_iterates(
            flat.value_before_gradient,
            start,
            iterate,
            jac=flat.gradient,
            bounds=Bounds(box.lower, box.upper),
            memory=self.memory,
            steps=run.steps_left(),
            at_rounding=lambda x: _at_rounding(flat, box, x),
        )

    def unsuited(self, problem: Minimize) -> str | None:
        constraints = problem.over.as_scipy(problem.function.shape)
        if constraints is None:
            return no_scipy_form(problem)
        if constraints.others:
            return f"the set {problem.over.name!r} is more than bounds; scipy.trust-constr may take it"
        return None


def lbfgs_iterates(
    function: Callable[[Array], Any],
    start: Array,
    iterate: Callable[[Array], Iterate],
    *,
    jac: Callable[[Array], Array] | Literal[True],
    memory: int,
    steps: float,
    bounds: Bounds | None = None,
    at_rounding: Callable[[Array], bool] = lambda x: False,
) -> Iterates:
    """Iterates of SciPy's L-BFGS-B, whose own tolerances are off; `iterate` makes one of a flat point.

    `jac=True` says that `function` gives the value and the gradient; `at_rounding` whether a point from
    which no line search succeeds is where float64 ends.
    """

    def work(emit: Emit) -> Ending:
        def callback(intermediate_result: OptimizeResult) -> None:
            emit(iterate(intermediate_result.x))

        found = minimize(
            function,
            start,
            jac=jac,
            method="L-BFGS-B",
            bounds=bounds,
            callback=callback,
            options={"maxcor": memory, "ftol": 0.0, "gtol": 0.0, "maxiter": steps, "maxfun": np.inf},
        )
        # No step at all: the start is optimal, or none from it goes down, or all bounds are equal
        # (then SciPy returns at once, and reports no iteration count).
        if found.get("nit", 0) == 0:
            emit(iterate(found.x))
        said = str(found.message).strip(": ")
        if found.get("status") == _LINE_SEARCH_FAILED:
            gradient = function(found.x)[1] if jac is True else jac(found.x)
            where = "the start" if found.get("nit", 0) == 0 else "the last point"
            if (end := not_finite(gradient, where)) is not None:
                return end
            if at_rounding(found.x):
                return Status.FINISHED, f"the objective stops falling in float64 (SciPy: {said})"
            return Status.STALLED, f"the line search finds no lower point (SciPy: {said})"
        return Status.FINISHED, f"SciPy: {said}"

    return iterates_from_callback(work, name="scipy.optimize.minimize (L-BFGS-B)")


def _at_rounding(flat: Flat, box: FlatBox, x: Array) -> bool:
    """Whether the best step along the projected gradient lowers the objective by less than its rounding.

    SciPy's line search starts over from that direction before it gives up. Whether it then reports
    convergence or failure depends on the last bits of the objective, and so on the processor.
    """
    gradient = flat.gradient(x)
    direction = np.clip(x - gradient, box.lower, box.upper) - x
    size = float(np.max(np.abs(direction), initial=0.0))
    if not size > 0:
        return size == 0  # not for nan
    part = min(1.0, _NEAR * max(1.0, float(np.max(np.abs(x)))) / size)  # 1 ends on the set: not beyond
    slope = float(gradient @ direction)
    curvature = float((flat.gradient(x + part * direction) - gradient) @ direction) / part
    decrease = slope * slope / (2 * curvature) if curvature > 0 else np.inf
    return decrease <= _ROUNDING * float(np.spacing(abs(flat.value(x))))
