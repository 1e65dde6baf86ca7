"""Newton's method with conjugate gradients or the Hessian, and L-BFGS for what has no Hessian product."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from optiframe.problems.objectives.normal_equations import solved
from optiframe.problems.objectives.objective import Objective
from optiframe.records.fields import Array

_NEWTON_STEPS = 50  # Newton takes some ten; only where there is no minimum are there more
_HALVINGS = 40  # of a Newton step: by then it is below the rounding of the point
_SLOW = 0.2  # of the gradient's length: what a step by an old Hessian must bring it to
_FALL = 1e-4  # share of the predicted fall that a Newton step must bring (Armijo's usual constant)
_ROUNDING = 10 * float(np.finfo(np.float64).eps)
_GRADIENT_STEPS = 1000  # of L-BFGS, where the objective has a gradient and no Hessian product


def newton_method(
    function: Objective,
    z: Array,
    time_left: Callable[[], float],
    *,
    accuracy: float,
    least: float,
    by_matrix: bool,
    hessian: Array | None,
    quadratic: bool = False,
) -> Array:
    """Newton's method, steps halved until the objective falls, by the Hessian or conjugate gradients.

    Parameters
    ----------
    function
        Has a gradient and a product with its Hessian.
    z
        Where it begins.
    time_left
        Seconds that are left; with none, what was reached is returned.
    accuracy, least
        As of `restricted.minimise_on`.
    by_matrix
        Whether to solve with the Hessian, which serves as long as steps by it shorten the gradient to a fifth
        (Kelley 1995, Sec. 5.4.3), or by conjugate gradients.
    hessian
        That at a point nearby, for the first step; None: that at `z`.
    quadratic
        Whether the objective is, so that conjugate gradients go on until one step reaches the minimum.
    """
    value, gradient = function.value_and_gradient(z)
    zero = function.gradient(np.zeros_like(z)) if z.any() else gradient
    goal = accuracy * float(np.linalg.norm(zero))
    for _ in range(_NEWTON_STEPS):
        size = float(np.linalg.norm(gradient))
        if size <= goal or time_left() == 0:
            break
        old = hessian is not None
        if by_matrix and hessian is None:
            hessian = function.hessian(z)
        step = None if hessian is None else solved(hessian, -gradient)
        if step is None:
            # A quadratic is done in one step; elsewhere accuracy far from the minimum is wasted, and
            # this rule still gives faster than linear convergence (Nocedal, Wright, Sec. 7.1).
            ask = goal if quadratic else min(0.5, float(np.sqrt(size))) * size
            step = _conjugate_gradients(function, z, gradient, max(ask, goal / 2), time_left)
        fall = float(gradient @ step)  # twice what a quadratic falls by
        if value + fall > least:
            break
        share = 1.0
        for _ in range(_HALVINGS):
            ahead, after = function.value_and_gradient(z + share * step)
            if old or ahead <= value + _FALL * share * fall + _ROUNDING * abs(value):
                break
            share /= 2
        else:
            break
        if old and not ahead <= value + _FALL * fall:
            hessian = None
            continue
        z, value, gradient = z + share * step, ahead, after
        if float(np.linalg.norm(gradient)) > _SLOW * size:
            hessian = None
    return z


def _conjugate_gradients(
    function: Objective, z: Array, gradient: Array, goal: float, time_left: Callable[[], float]
) -> Array:
    """A step s with Hessian s = -gradient up to a residual of `goal`; downhill where it is not convex."""
    step, left = np.zeros_like(z), -gradient
    direction, square = left.copy(), float(left @ left)
    # In exact arithmetic len(z) steps suffice; rounding asks for more where columns are alike.
    for _ in range(4 * len(z) + 10):
        product = function.hessian_product(z, direction)
        bend = float(direction @ product)
        if bend <= 0:
            return step if step.any() else direction
        share = square / bend
        step = step + share * direction
        left = left - share * product
        before, square = square, float(left @ left)
        if np.sqrt(square) <= goal or time_left() == 0:
            break
        direction = left + (square / before) * direction
    return step


def quasinewton_method(function: Objective, z: Array, time_left: Callable[[], float]) -> Array:
    """SciPy's L-BFGS, for objectives without a Hessian product."""
    from scipy.optimize import minimize

    def out_of_time(intermediate_result: Any) -> None:
        if time_left() == 0:
            raise StopIteration

    found = minimize(
        function.value,
        z,
        jac=function.gradient,
        method="L-BFGS-B",
        callback=out_of_time,
        options={"maxiter": _GRADIENT_STEPS, "maxfun": 2 * _GRADIENT_STEPS, "ftol": 0.0, "gtol": 0.0},
    )
    return np.asarray(found.x)
