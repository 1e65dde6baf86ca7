"""SciPy's methods of least squares: nonlinear ones from residuals, linear ones from one matrix."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from pydantic import Field
from scipy.optimize import OptimizeResult, approx_fprime, least_squares, lsq_linear, nnls

from optiframe.methods.scipy_base import MANY, Posed, ending, fixed_entries, steps, unsuited
from optiframe.problems.minimize import Minimize
from optiframe.problems.objectives.objective import Objective
from optiframe.problems.sets.vector_sets import NonNegative
from optiframe.records.fields import Array
from optiframe.reference.flat import FlatBox
from optiframe.solving.callbacks import Emit, Ending, iterates_from_callback
from optiframe.solving.solver import Iterate, Iterates, Run, Solver

_BOUNDED = "infinity norm of the projected gradient x - P(x - g)"


class LeastSquaresBySciPy(Solver[Minimize, Array, None]):
    """Nonlinear least squares by a trust region, from residuals, within bounds.

    Needs an objective with residuals. Without a Jacobian it takes forward differences, which cost one
    evaluation of the residuals for each entry of the point. A `loss` other than linear would change the
    objective, and belongs to it.
    """

    name = "scipy.least-squares"
    solves = Minimize
    requires = ("scipy",)
    uses = (Objective.residuals,)
    accepts_start = True
    residual_meaning = _BOUNDED
    reference = "Branch, Coleman and Li 1999 (trf); Voglis and Lagaris 2004 (dogbox)"

    method: Literal["trf", "dogbox"] = Field(
        default="trf", description="trf: reflective trust region; dogbox: rectangular, for few entries"
    )

    def unsuited(self, problem: Minimize) -> str | None:
        return unsuited(problem, "bounds") or fixed_entries(problem)

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        posed = Posed(problem, run)
        flat, objective = posed.flat, problem.function

        def residuals(x: Array) -> Array:
            return np.asarray(objective.residuals(flat.point(x)), dtype=np.float64)

        def jacobian(x: Array) -> Any:
            if objective.offers(Objective.jacobian):
                return objective.jacobian(flat.point(x))
            return np.atleast_2d(approx_fprime(x, residuals))

        def iterate(x: Array, slopes: Any) -> Iterate:
            gradient = np.asarray(slopes.T @ residuals_at(x)).ravel()
            return Iterate(flat.point(x), residual=posed.box.optimality(x, gradient))

        last: list[Array] = []  # the last point asked for, and its residuals

        def remembered(x: Array) -> Array:
            last[:] = [np.array(x), residuals(x)]
            return last[1]

        def residuals_at(x: Array) -> Array:
            return last[1] if last and np.array_equal(last[0], x) else remembered(x)

        def work(emit: Emit) -> Ending:
            seen: list[Array] = []

            def at_accepted_point(x: Array) -> Any:
                slopes = jacobian(x)
                if seen:  # SciPy asks for the Jacobian at the start, and then wherever it has stepped
                    emit(iterate(x, slopes))
                seen[:] = [np.array(x)]
                return slopes

            found = least_squares(
                remembered,
                _inside(posed.start, posed.box),
                at_accepted_point,
                (posed.box.lower, posed.box.upper),
                self.method,
                ftol=None,
                xtol=1e-15,
                gtol=1e-15,
                max_nfev=MANY,
            )
            if not np.array_equal(seen[0], found.x) or run.iterations == 0:
                emit(iterate(found.x, found.jac))
            return ending(found, run)

        return iterates_from_callback(work, name="scipy.optimize.least_squares")


def _inside(x: Array, box: FlatBox) -> Array:
    """A start that SciPy takes: between the bounds to the last bit."""
    return np.asarray(np.clip(x, box.lower, box.upper))


class _Linear(Solver[Minimize, Array, None]):
    """A method for |A x - b|^2 / 2 whose Jacobian A is the same everywhere; it yields once."""

    solves = Minimize
    requires = ("scipy",)
    uses = (Objective.residuals, Objective.jacobian, Objective.quadratic)
    one_shot = True
    residual_meaning = _BOUNDED

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        objective, posed = problem.function, Posed(problem, run)
        origin = np.zeros(objective.shape)
        matrix, target = objective.jacobian(origin), -np.asarray(objective.residuals(origin))
        found = self.solve(matrix, target, posed.box, run)
        x = np.asarray(found.x)
        gradient = np.asarray(matrix.T @ (matrix @ x - target)).ravel()
        yield Iterate(posed.flat.point(x), residual=posed.box.optimality(x, gradient))
        return ending(found, run)

    @abstractmethod
    def solve(self, matrix: Any, target: Array, box: FlatBox, run: Run) -> OptimizeResult:
        """What SciPy makes of it."""


class LsqLinear(_Linear):
    """Linear least squares within bounds, dense or sparse."""

    name = "scipy.lsq-linear"
    reference = "Stark and Parker 1995 (bvls); Branch, Coleman and Li 1999 (trf)"

    method: Literal["trf", "bvls"] | None = Field(
        default=None, description="bvls: active sets, for a dense matrix; trf: interior; none: by the matrix"
    )

    def unsuited(self, problem: Minimize) -> str | None:
        told = unsuited(problem, "bounds") or fixed_entries(problem)
        if told is None and self.method == "bvls" and sp.issparse(_matrix(problem)):
            return "the matrix is sparse, and bvls takes dense ones only"
        return told

    def solve(self, matrix: Any, target: Array, box: FlatBox, run: Run) -> OptimizeResult:
        method = self.method or ("trf" if sp.issparse(matrix) else "bvls")
        return lsq_linear(
            matrix,
            target,
            (box.lower, box.upper),
            method,
            tol=max(run.budget.tolerance * 1e-4, 1e-15),
            max_iter=max(1, min(steps(run), 100 * matrix.shape[1])),
        )


class Nnls(_Linear):
    """Non-negative least squares by active sets, for a dense matrix."""

    name = "scipy.nnls"
    reference = "Lawson and Hanson 1974, Chapter 23; Bro and de Jong 1997"

    def unsuited(self, problem: Minimize) -> str | None:
        if not isinstance(problem.over, NonNegative):
            return f"the set must be 'non-negative', and it is {problem.over.name!r}"
        return unsuited(problem, "bounds")

    def solve(self, matrix: Any, target: Array, box: FlatBox, run: Run) -> OptimizeResult:
        dense = matrix.toarray() if sp.issparse(matrix) else np.asarray(matrix)
        try:
            x, _ = nnls(dense, target, maxiter=max(1, min(steps(run), 100 * dense.shape[1])))
        except RuntimeError as error:  # its only way to say that iterations are used up
            return OptimizeResult(
                x=np.zeros(dense.shape[1]), success=False, message=str(error), nit=steps(run)
            )
        return OptimizeResult(x=x, success=True, message="the active set is optimal")


def _matrix(problem: Minimize) -> Any:
    return problem.function.jacobian(np.zeros(problem.function.shape))
