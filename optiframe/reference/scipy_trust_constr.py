"""SciPy's trust-constr as a solver of `Minimize`."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.optimize import BFGS, OptimizeResult, minimize

from optiframe.problems.minimize import Minimize
from optiframe.problems.objectives.objective import Objective
from optiframe.records.fields import Array
from optiframe.reference.flat import Flat, first_point, no_scipy_form
from optiframe.solving.callbacks import Emit, Ending, iterates_from_callback
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterate, Iterates, Run, Solver

# A trust region smaller than this changes no digit of a point of size one: nothing more will happen.
_SMALLEST_RADIUS = float(np.finfo(np.float64).eps)


class ScipyTrustConstr(Solver[Minimize, Array, None]):
    """SciPy's trust-constr: a trust-region method for equality, inequality and bound constraints.

    Needs an objective with a gradient (and uses its Hessian product or matrix where it has
    one, BFGS otherwise) and a set that can be written for SciPy. With inequalities it is an
    interior-point method, so the answer is inside or within the residual of the set. One
    iteration costs one evaluation and a few conjugate-gradient steps.
    """

    name = "scipy.trust-constr"
    solves = Minimize
    uses = (Objective.gradient,)
    requires = ("scipy",)
    accepts_start = True
    monotone = False
    residual_meaning = (
        "largest of: infinity norm of the Lagrangian's gradient, constraint violation, "
        "and the barrier parameter where there are inequalities"
    )
    reference = (
        "Byrd, Hribar, Nocedal (1999), An interior point algorithm for large-scale nonlinear programming"
    )

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        flat = Flat(problem)
        constraints = problem.over.as_scipy(flat.shape)
        assert constraints is not None  # else `unsuited` said so
        start = first_point(problem, run)

        def work(emit: Emit) -> Ending:
            emitted = False

            def callback(intermediate_result: OptimizeResult) -> None:
                nonlocal emitted
                state = intermediate_result
                # SciPy also reports the start, as number 1; it is only worth yielding when it is the answer.
                if state.nit > 1 or _residual(state) <= run.budget.tolerance:
                    emitted = True
                    emit(Iterate(flat.point(state.x), residual=_residual(state)))

            def found_with(**options: Any) -> OptimizeResult:
                return minimize(
                    flat.value,
                    start,
                    jac=flat.gradient,
                    method="trust-constr",
                    bounds=constraints.bounds,
                    constraints=constraints.others,
                    callback=callback,
                    options={
                        "gtol": 0.0,
                        "xtol": _SMALLEST_RADIUS,
                        "barrier_tol": _SMALLEST_RADIUS,
                        "maxiter": run.steps_left() + 1,
                        **options,
                    },
                    **_second_derivatives(flat),
                )

            with warnings.catch_warnings():
                # Both speak of SciPy's inner linear algebra, and say nothing the residual does not.
                warnings.filterwarnings("ignore", message="delta_grad == 0.0", category=UserWarning)
                warnings.filterwarnings("ignore", message="Singular Jacobian", category=UserWarning)
                try:
                    found = found_with()
                except ValueError as error:  # before the first step: more equations than entries
                    if "expected square matrix" not in str(error):
                        raise
                    found = found_with(factorization_method="SVDFactorization", sparse_jacobian=False)
            if not emitted:  # all bounds are equal: SciPy returns the one point there is at once
                x = flat.point(found.x)
                emit(Iterate(x, residual=problem.over.violation(x)))
                return Status.FINISHED, f"SciPy: {found.message}"
            return Status.STALLED, f"SciPy: {found.message}"

        return iterates_from_callback(work, name="scipy.optimize.minimize (trust-constr)")

    def unsuited(self, problem: Minimize) -> str | None:
        return no_scipy_form(problem) if problem.over.as_scipy(problem.function.shape) is None else None


def _residual(state: OptimizeResult) -> float:
    return float(max(state.optimality, state.constr_violation, state.get("barrier_parameter", 0.0)))


def _second_derivatives(flat: Flat) -> dict[str, Any]:
    if flat.objective.offers(Objective.hessian_product):
        return {"hessp": flat.hessian_product}
    if flat.objective.offers(Objective.hessian):
        return {"hess": flat.hessian}
    return {"hess": BFGS()}
