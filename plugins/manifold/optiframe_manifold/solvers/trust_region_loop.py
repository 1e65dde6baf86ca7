"""A Riemannian trust region with truncated conjugate gradients, over any manifold.

The manifold is given by a few operations under the names that pymanopt uses. A point may be
anything; a tangent vector is anything with ``+``, ``-`` and multiplication by a number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from optiframe.numbers import number
from optiframe_manifold.geometry.protocols import Manifold, ManifoldObjective

_EPS = float(np.finfo(np.float64).eps)
# A difference of two values below this share of them is rounding: sums of many terms lose two
# to three digits (Conn, Gould and Toint, Trust-Region Methods, Sec. 17.4.2; Manopt's 1e3).
_NOISE = 1e3 * _EPS
# The share of the gradient norm down to which an inner loop takes Hessian products of six digits, where a
# objective offers them: three digits more than are asked for. After a step that went badly it does not.
_ROUGH = 1e-3
NO_PLACE_TO_BEGIN = (
    "the objective or its gradient is not finite at the start; give another start, or scale the data"
)


Preconditioner = Callable[[Any, Any], Any]
Ending = Literal["converged", "curvature", "boundary", "rounding", "steps", "time"]


@dataclass(frozen=True)
class Model:
    """What truncated conjugate gradients found.

    `step` and `image` (the Hessian applied to it), how many Hessian products it took, and why
    it ended: the residual was small enough, negative curvature, the boundary of the region,
    no further decrease because of rounding, the limit of steps, no time left.
    """

    step: Any
    image: Any
    products: int
    ending: Ending


@dataclass(frozen=True)
class Step:
    """One outer step.

    `point`, `value` and `gradient_norm` after it; `radius` that it was allowed; `ratio` of
    actual to predicted decrease; `products` with the Hessian; whether the step was `accepted`
    (else the point is the one before).
    """

    point: Any
    value: float
    gradient_norm: float
    radius: float
    ratio: float
    products: int
    accepted: bool
    ending: Ending


def trust_region(
    manifold: Manifold,
    objective: ManifoldObjective,
    start: Any,
    *,
    radius: float,
    max_radius: float,
    precondition: Preconditioner | None = None,
    kappa: float = 0.1,
    theta: float = 0.5,
    enough: float = 0.0,
    time_left: Callable[[], float] = lambda: math.inf,
) -> Generator[Step, None, str]:
    """Minimize a function on a manifold (Absil, Baker and Gallivan 2007).

    Parameters
    ----------
    manifold, objective, start
        Where, what and from where.
    radius, max_radius
        The first and the largest radius, in the metric (or, with a preconditioner, in the
        norm of its inverse).
    precondition
        A symmetric positive map of tangent vectors, near the inverse of the Hessian.
    kappa, theta
        The inner loop ends when the residual has fallen to the fraction min(kappa, q^theta)
        of the gradient norm, q being that norm relative to the start's: linear convergence
        with factor kappa far away, of order 1 + theta near the answer. With theta = 1 the last
        loops go on to digits that the next one finds again; 1/2 has taken up to a third fewer products.
    enough
        A gradient norm that ends the caller's search: no inner loop goes far below it.
    time_left
        Seconds left; looked at before every Hessian product.

    Yields
    ------
    Step
        After every outer step, accepted or not.

    Returns
    -------
    str
        Why no further progress is possible; before any step, that the start is no place to begin.

    Notes
    -----
    A step that overflows is refused; NumPy's warnings of it are the caller's to silence.
    """
    point, ambient = start, objective.gradient(start)  # first: some objectives then know the value
    value = objective.value(point)
    gradient = manifold.euclidean_to_riemannian_gradient(point, ambient)
    norm = manifold.norm(point, gradient)
    if not math.isfinite(value + norm):
        return NO_PLACE_TO_BEGIN
    first, refused_in_noise = norm, 0
    smallest, going_well = radius * _EPS, True
    while True:
        relative = (norm / first) ** theta if first > 0 else 0.0
        target = max(norm * min(kappa, relative), 0.5 * enough)
        product = objective.hessian_product
        if going_well and target >= _ROUGH * norm:
            product = getattr(objective, "rough_hessian_product", product)

        def hessian(v: Any, at: Any = point, of: Any = ambient, product: Any = product) -> Any:
            return manifold.euclidean_to_riemannian_hessian(at, of, product(at, v), v)

        model = truncated_cg(
            manifold,
            point,
            gradient,
            hessian,
            radius=radius,
            target=target,
            precondition=precondition,
            limit=manifold.dim,
            time_left=time_left,
        )
        proposal = manifold.retraction(point, model.step)
        # After a step that went well the next one is likely to, and its gradient will be wanted:
        # some objectives then know the value, too.
        new_ambient = objective.gradient(proposal) if going_well else None
        reached = objective.value(proposal)
        predicted = -manifold.inner_product(point, gradient, model.step)
        predicted -= 0.5 * manifold.inner_product(point, model.step, model.image)
        # Near the answer both differences drown in rounding; the same small amount added to both
        # then brings their ratio to 1, so that Newton's steps are taken.
        noise = _NOISE * max(abs(value), abs(reached))
        ratio = (value - reached + noise) / (predicted + noise) if predicted + noise > 0 else math.nan
        accepted = ratio > 0.1
        used, going_well = radius, ratio >= 0.25
        if not ratio >= 0.25:  # True for nan, too
            radius /= 4
        elif ratio > 0.75 and model.ending in ("curvature", "boundary"):
            radius = min(2 * radius, max_radius)
        if accepted:
            if new_ambient is None:
                new_ambient = objective.gradient(proposal)
            new_gradient = manifold.euclidean_to_riemannian_gradient(proposal, new_ambient)
            new_norm = manifold.norm(proposal, new_gradient)
            # Where values cannot tell better from worse, the gradient can.
            accepted = math.isfinite(new_norm) and (predicted > noise or new_norm <= norm)
            if not accepted:
                radius = min(radius, used / 4)
        if accepted:
            point, value, ambient, gradient, norm = proposal, reached, new_ambient, new_gradient, new_norm
        refused_in_noise = 0 if accepted or predicted > noise else refused_in_noise + 1
        yield Step(point, value, norm, used, ratio, model.products, accepted, model.ending)
        if norm == 0.0:
            return "the gradient is exactly zero"
        if not math.isfinite(predicted):
            return f"second derivatives overflow where the gradient norm is {number(norm)}; scale the data"
        if refused_in_noise > 1:
            return f"rounding does not let the gradient norm fall below {number(norm)}"
        if radius < smallest:
            return f"no step, however short, lowers the objective; the gradient norm is {number(norm)}"


def truncated_cg(
    manifold: Manifold,
    point: Any,
    gradient: Any,
    hessian: Callable[[Any], Any],
    *,
    radius: float,
    target: float,
    precondition: Preconditioner | None = None,
    limit: int,
    time_left: Callable[[], float] = lambda: math.inf,
) -> Model:
    """Steihaug's and Toint's truncated conjugate gradients on the quadratic model within a radius.

    Ends inside when the residual's norm is at most `target`, else at the boundary. Every
    step it could end with has a lower model value than the one before.
    """

    def improved(v: Any) -> Any:
        return v if precondition is None else precondition(point, v)

    inner = manifold.inner_product
    step, image = manifold.zero_vector(point), manifold.zero_vector(point)
    residual = gradient
    better = improved(residual)
    z_r = inner(point, better, residual)
    if not z_r > 0:
        return Model(step, image, 0, "converged")
    direction = -1.0 * better
    # Lengths in the norm of the preconditioner's inverse, kept by recurrence (Conn, Gould and
    # Toint, Eqs. 7.5.6 and 7.5.7): of the step, of step and direction, of the direction.
    step_step, step_direction, direction_direction = 0.0, 0.0, z_r
    value = 0.0
    for product in range(1, limit + 1):
        if time_left() <= 0:
            return Model(step, image, product - 1, "time")
        bent = hessian(direction)
        curvature = inner(point, direction, bent)
        length = z_r / curvature if curvature > 0 else math.inf
        ahead = step_step + 2 * length * step_direction + length**2 * direction_direction
        if not curvature > 0 or not ahead < radius**2:
            gap = max(radius**2 - step_step, 0.0)
            to_boundary = (
                -step_direction + math.sqrt(step_direction**2 + direction_direction * gap)
            ) / direction_direction
            ending: Ending = "boundary" if curvature > 0 else "curvature"
            return Model(step + to_boundary * direction, image + to_boundary * bent, product, ending)
        new_step, new_image = step + length * direction, image + length * bent
        new_value = inner(point, gradient, new_step) + 0.5 * inner(point, new_step, new_image)
        if new_value >= value:
            return Model(step, image, product, "rounding")
        step, image, value, step_step = new_step, new_image, new_value, ahead
        residual = residual + length * bent
        if manifold.norm(point, residual) <= target:
            return Model(step, image, product, "converged")
        better = improved(residual)
        last, z_r = z_r, inner(point, better, residual)
        if not z_r > 0:
            return Model(step, image, product, "rounding")
        beta = z_r / last
        direction = manifold.to_tangent_space(point, beta * direction - better)
        step_direction = beta * (step_direction + length * direction_direction)
        direction_direction = z_r + beta**2 * direction_direction
    return Model(step, image, limit, "steps")
