"""What the methods of SciPy share: how they are given a problem, and what their end means here."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.optimize import LinearConstraint, NonlinearConstraint, OptimizeResult, lsq_linear

from optiframe.problems.minimize import Minimize
from optiframe.problems.sets.constraint_set import ScipyConstraints
from optiframe.records.fields import Array
from optiframe.reference.flat import Flat, FlatBox, first_point, no_scipy_form
from optiframe.solving.result import Status
from optiframe.solving.solver import Run

MANY = 10**9  # a limit of SciPy's that is never reached: the budget decides
_ACTIVE = 1e-8  # relative: a constraint so near its bound may have a multiplier


class Posed:
    """A `Minimize` in SciPy's words: flat start, bounds, further constraints, first-order residual."""

    def __init__(self, problem: Minimize, run: Run) -> None:
        self.flat = Flat(problem)
        told = problem.over.as_scipy(self.flat.shape) or ScipyConstraints()
        self.bounds, self.others = told.bounds, told.others
        self.box = FlatBox.of(told, self.flat.size)
        self.start = np.clip(first_point(problem, run), self.box.lower, self.box.upper)

    def optimality(self, x: Array) -> float:
        """How far first-order optimality fails at the flat point `x`: its largest entry.

        With nothing but bounds the projected gradient. Else the multipliers of the active constraints are
        estimated by least squares, and what they leave of the gradient counts, or the violation where larger.
        Unknown (nan) where a derivative is not finite.
        """
        gradient = self.flat.gradient(x)
        if not self.others:
            return self.box.optimality(x, gradient)
        rows, signs, outside = self._active(x)
        if not rows:
            return max(float(np.max(np.abs(gradient), initial=0.0)), outside)
        normals, sign = np.vstack(rows).T, np.array(signs)
        if not (np.isfinite(normals).all() and np.isfinite(gradient).all()):
            return math.nan
        limits = np.where(sign > 0, 0.0, -np.inf), np.where(sign < 0, 0.0, np.inf)
        found = lsq_linear(normals, -gradient, limits)
        return max(float(np.max(np.abs(gradient + normals @ found.x))), outside)

    def _active(self, x: Array) -> tuple[list[Array], list[int], float]:
        """Gradients of constraints at their bounds, the signs their multipliers have, the largest excess.

        The sign is 1 at an upper bound, -1 at a lower one and 0 for an equation.
        """
        rows: list[Array] = []
        signs: list[int] = []
        outside = 0.0
        unit = np.eye(len(x))
        for values, lower, upper, jacobian in [(x, self.box.lower, self.box.upper, unit), *self.rows(x)]:
            near = _ACTIVE * np.maximum(1.0, np.abs(values))
            outside = max(outside, float(np.max(np.maximum(values - upper, lower - values), initial=0.0)))
            for i in range(len(values)):
                at = (values[i] >= upper[i] - near[i], values[i] <= lower[i] + near[i])
                if any(at):
                    rows.append(jacobian[i])
                    signs.append(int(at[0]) - int(at[1]))
        return rows, signs, outside

    def rows(self, x: Array) -> list[tuple[Array, Array, Array, Array]]:
        """Of each further constraint its values, lower and upper bounds and dense Jacobian at `x`."""
        found = []
        for each in self.others:
            if isinstance(each, LinearConstraint):
                jacobian = np.atleast_2d(each.A.toarray() if hasattr(each.A, "toarray") else each.A)
                values = jacobian @ x
            else:
                values = np.atleast_1d(each.fun(x))
                jacobian = np.atleast_2d(each.jac(x))
            lower, upper = (np.broadcast_to(side, values.shape) for side in (each.lb, each.ub))
            found.append((values, lower, upper, jacobian))
        return found


def without_hessian(constraint: Any) -> Any:
    """The constraint for methods that warn of second derivatives and fail at sparse rows."""
    if isinstance(constraint, LinearConstraint):
        rows = constraint.A
        dense = rows.toarray() if hasattr(rows, "toarray") else rows
        return LinearConstraint(dense, constraint.lb, constraint.ub)
    return NonlinearConstraint(constraint.fun, constraint.lb, constraint.ub, jac=constraint.jac)


def unsuited(problem: Minimize, takes: str) -> str | None:
    """Why a method that takes "nothing", "bounds" or "constraints" cannot take the set; None when it can."""
    if not math.prod(problem.function.shape):
        return f"a point of shape {problem.function.shape} has no entries"
    told = problem.over.as_scipy(problem.function.shape)
    if told is None:
        return no_scipy_form(problem)
    if told.others and takes != "constraints":
        return f"the set {problem.over.name!r} is more than bounds, and the method takes {takes} only"
    if any(isinstance(each, NonlinearConstraint) and not callable(each.jac) for each in told.others):
        return f"the constraints of the set {problem.over.name!r} have no derivatives"
    bounded = told.bounds is not None and (
        np.isfinite(told.bounds.lb).any() or np.isfinite(told.bounds.ub).any()
    )
    return (
        f"the method takes no bounds, and the set is {problem.over.name!r}"
        if bounded and takes == "nothing"
        else None
    )


def finite_bounds(problem: Minimize) -> str | None:
    """Why a method that searches a whole box has none here; None when every entry has both bounds."""
    told = problem.over.as_scipy(problem.function.shape)
    if told is None:
        return no_scipy_form(problem)
    if told.bounds is None or not (np.isfinite(told.bounds.lb).all() and np.isfinite(told.bounds.ub).all()):
        return "it searches a box, and not every entry of a point has a lower and an upper bound"
    return None


def fixed_entries(problem: Minimize) -> str | None:
    """Why a method that needs room between bounds has none; None when no entry has one value only."""
    told = problem.over.as_scipy(problem.function.shape)
    if told is None or told.bounds is None or (told.bounds.lb < told.bounds.ub).all():
        return None
    return "bounds leave an entry of a point one value only, and SciPy's method needs an interval for each"


def ending(found: OptimizeResult, run: Run) -> tuple[Status, str]:
    """What SciPy's end means: its own tolerances, the budget's iterations, or no way on."""
    said = " ".join(str(found.get("message", "")).split()).strip(": ")
    if found.get("success", False):
        return Status.FINISHED, f"SciPy: {said}"
    used_up = run.budget.iterations is not None and found.get("nit", 0) >= run.budget.iterations
    return (Status.ITERATION_LIMIT if used_up else Status.STALLED), f"SciPy: {said}"


def steps(run: Run) -> int:
    """Iterations the budget leaves, as a number that SciPy takes."""
    return int(min(run.steps_left(), MANY))
