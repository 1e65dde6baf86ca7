"""The contracts of objectives and regularizers, as plain functions: one for each thing they must keep."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np

from optiframe.problems.objectives.objective import FiniteSum, Objective
from optiframe.problems.regularizers.regularizer import Norm, Regularizer
from optiframe.records.fields import Array
from optiframe.testing.cases import NotApplicable
from optiframe.testing.derivatives import check_derivatives
from optiframe.testing.parts.subject import Subject

_STEPS = (0.1, 1.0, 10.0)
_TRIES = 100  # random points around a proximal step
_MOVES = (1.0, 1e-2, 1e-4)
_ROOM = 1e-7  # relative: what rounding may be mistaken by


def _values(subject: Subject) -> list[tuple[Array, float]]:
    """Points with a finite value, and the value."""
    found = [(point, float(subject.part.value(point))) for point in subject.points()]
    inside = [(point, value) for point, value in found if math.isfinite(value)]
    if not inside:
        raise NotApplicable("its value is finite at none of the points tried")
    return inside


def _needs(subject: Subject, operation: Any) -> None:
    if not subject.part.offers(operation):
        raise NotApplicable(f"it has no {operation.__name__.replace('_', ' ')}")


def check_a_value_is_one_number(subject: Subject) -> None:
    """The value is one real number, the same each time, and the point stays as it was."""
    for point in subject.points():
        before = point.copy()
        value = subject.part.value(point)
        subject.unchanged("value", point, before)
        if np.ndim(value) or not isinstance(value, float | int | np.floating | np.integer):
            subject.fail(f"value gives {value!r:.60}; it must be one real number")
        again = subject.part.value(point.copy())
        if again != value and not (math.isnan(again) and math.isnan(value)):
            subject.fail(f"value gives {value!r} and then {again!r} at the same point")


def check_derivatives_fit_the_values(subject: Subject) -> None:
    """Gradient, Hessian products, Hessian and curvature bound agree with differences of what they derive."""
    point, _ = min(_values(subject), key=lambda pair: float(np.abs(pair[0]).max(initial=0.0)))
    check_derivatives(subject.part, point, seed=subject.seed)


def check_value_and_gradient_in_one_are_those_of_two_calls(subject: Subject) -> None:
    """What it computes in one call is what it gives in two."""
    part: Objective = subject.part
    _needs(subject, Objective.value_and_gradient)
    for point, value in _values(subject):
        together, slope = part.value_and_gradient(point)
        if abs(together - value) > _ROOM * max(1.0, abs(value)):
            subject.fail(f"value is {value:.9g}, and value_and_gradient gives {together:.9g}")
        gradient = part.gradient(point)
        if subject.differs(slope, gradient, float(np.abs(gradient).max(initial=0.0))):
            subject.fail("value_and_gradient gives another gradient than gradient does")


def check_a_convex_function_lies_below_its_chords(subject: Subject) -> None:
    """Where it says that it is convex, its value in the middle of two points is at most their mean."""
    if not subject.part.convex:
        raise NotApplicable("it is not declared convex (`convex = True`)")
    for (one, low), (other, high) in pairwise(_values(subject)):
        for a, b, first, second in ((one, other, low, high), (one, -other, low, subject.part.value(-other))):
            mean = (first + second) / 2
            middle = subject.part.value((a + b) / 2)
            if middle > mean + _ROOM * max(1.0, abs(first), abs(second)):
                subject.fail(
                    f"it says that it is convex, and its value in the middle of two points, {middle:.6g}, is "
                    f"above the mean of their values, {mean:.6g}; set convex = False"
                )


def check_cvxpy_has_the_same_value(subject: Subject) -> None:
    """The CVXPY expression has the value of the function, and is convex."""
    try:
        import cvxpy
    except ImportError:
        raise NotApplicable("CVXPY is not installed") from None
    for point, value in _values(subject):
        variable = cvxpy.Variable(point.shape)
        written = subject.part.as_cvxpy(variable)
        if written is None:
            raise NotApplicable("it has no form for CVXPY")
        variable.value = point
        if abs(float(written.value) - value) > 1e-6 * max(1.0, abs(value)):
            subject.fail(f"value is {value:.9g}, and the form for CVXPY has {float(written.value):.9g} there")
        if not written.is_convex():
            subject.fail("its form for CVXPY is not convex by CVXPY's rules; give None")


def check_residuals_and_quadratic_form_fit_the_value(subject: Subject) -> None:
    """Half the squared norm of the residuals, and the quadratic form, are the value everywhere."""
    part: Objective = subject.part
    made = 0
    for point, value in _values(subject):
        room = 1e-8 * max(1.0, abs(value))
        if part.offers(Objective.residuals):
            made += 1
            residuals = np.asarray(part.residuals(point))
            half = float(residuals @ residuals) / 2
            if abs(half - value) > room:
                subject.fail(
                    f"half the squared norm of the residuals is {half:.9g}, and the value {value:.9g}"
                )
        if part.offers(Objective.jacobian) and part.offers(Objective.gradient):
            slope = np.asarray(part.jacobian(point).T @ part.residuals(point)).reshape(point.shape)
            gradient = part.gradient(point)
            if subject.differs(slope, gradient, float(np.abs(gradient).max(initial=0.0))):
                subject.fail("the Jacobian times the residuals is not the gradient")
        if part.offers(Objective.quadratic):
            made += 1
            form, flat = part.quadratic(), point.reshape(-1)
            square = 0.0 if form.matrix is None else float(flat @ (form.matrix @ flat)) / 2
            told = square + float(form.linear @ flat) + form.constant
            if abs(told - value) > room:
                subject.fail(f"the quadratic form is {told:.9g}, and the value {value:.9g}")
    if not made:
        raise NotApplicable("it has neither residuals nor a quadratic form")


def check_the_conjugate_bounds_from_above(subject: Subject) -> None:
    """<y, x> is at most value(x) + conjugate(y), and equal where y is the gradient at x."""
    part = subject.part
    _needs(subject, type(part).conjugate)
    pairs = _values(subject)
    for y in subject.points():
        dual = part.conjugate(y)
        for x, value in pairs:
            product = float(np.vdot(y, x))
            if product > value + dual + _ROOM * max(1.0, abs(product), abs(value)):
                subject.fail(f"<y, x> is {product:.6g}, above value(x) + conjugate(y), {value + dual:.6g}")
    if part.offers(type(part).gradient):
        for x, value in pairs:
            y = part.gradient(x)
            gap = value + part.conjugate(y) - float(np.vdot(y, x))
            if not abs(gap) <= 1e-6 * max(1.0, abs(value)):
                subject.fail(
                    f"at y, the gradient at x, value(x) + conjugate(y) - <y, x> is {gap:.3g} and not 0"
                )


def check_parts_of_a_sum_add_up(subject: Subject) -> None:
    """A finite sum is the mean of its parts: all terms, each once, and of two halves."""
    part = subject.part
    if not isinstance(part, FiniteSum):
        raise NotApplicable("it is no finite sum")
    count = len(part)
    if count < 2:
        raise NotApplicable("it has one term only")
    half = count // 2
    for x, value in _values(subject):
        same = part.take(np.arange(count)).value(x)
        if abs(same - value) > _ROOM * max(1.0, abs(value)):
            subject.fail(f"taken over all of its terms its value is {same:.9g}, and {value:.9g} before")
        first, second = part.take(np.arange(half)), part.take(np.arange(half, count))
        if (len(first), len(second)) != (half, count - half):
            subject.fail(f"taken over {half} of its terms it has {len(first)}")
        mean = (half * first.value(x) + (count - half) * second.value(x)) / count
        if abs(mean - value) > _ROOM * max(1.0, abs(value)):
            subject.fail(f"its halves have the mean {mean:.9g}, and it has {value:.9g}")


def check_a_proximal_step_minimizes(subject: Subject) -> None:
    """No point met has a lower ``step * value(z) + |z - v|^2 / 2`` than the proximal step."""
    _needs(subject, Regularizer.prox)
    rng = np.random.default_rng(subject.seed)
    for v in subject.points():
        for step in _STEPS:
            before = v.copy()
            found = np.asarray(subject.part.prox(v, step))
            subject.unchanged("prox", v, before)
            if found.shape != v.shape:
                subject.fail(f"prox gives the shape {found.shape} for a point of shape {v.shape}")
            reached = _cost(subject.part, found, v, step)
            others = [v, np.zeros(v.shape)]
            others += [found + t * rng.standard_normal(v.shape) for t in _MOVES for _ in range(_TRIES)]
            others += [found + t * (v - found) for t in _MOVES] + [found - t * found for t in _MOVES]
            best = min(others, key=lambda z: _cost(subject.part, z, v, step))
            least = _cost(subject.part, best, v, step)
            if least < reached - _ROOM * max(1.0, abs(reached)):
                subject.fail(
                    f"prox with step {step:g} reaches {reached:.9g}, and a point has {least:.9g}: it does "
                    "not minimize step * value(z) + |z - v|^2 / 2"
                )


def _cost(part: Regularizer, z: Array, v: Array, step: float) -> float:
    return step * part.value(z) + float(np.sum((z - v) ** 2)) / 2


def check_a_slope_is_the_gradient_of_the_penalty(subject: Subject) -> None:
    """Where the penalty has a gradient, it fits differences of its values."""
    _needs(subject, Regularizer.gradient)
    rng = np.random.default_rng(subject.seed)
    for point, _ in _values(subject):
        along = rng.standard_normal(point.shape)
        step = 1e-5 * max(1.0, float(np.abs(point).max(initial=0.0)))
        change = subject.part.value(point + step * along) - subject.part.value(point - step * along)
        slope, told = change / (2 * step), float(np.vdot(subject.part.gradient(point), along))
        if abs(slope - told) > 1e-5 * max(1.0, abs(slope), abs(told)):
            subject.fail(
                f"the gradient along a direction is {told:.6g}, and differences of the value {slope:.6g}"
            )


def check_the_weight_scales_the_penalty(subject: Subject) -> None:
    """Twice the weight is twice the penalty."""
    if subject.part.weight == 0:
        raise NotApplicable("its weight is 0")
    double = subject.part.model_copy(update={"weight": 2 * subject.part.weight})
    for point, value in _values(subject):
        if abs(double.value(point) - 2 * value) > _ROOM * max(1.0, abs(value)):
            subject.fail(
                f"with twice the weight the penalty is {double.value(point):.6g}, not 2 * {value:.6g}"
            )


def check_the_dual_norm_bounds_products(subject: Subject) -> None:
    """<x, y> is at most value(x) times polar(y)."""
    part = subject.part
    if not isinstance(part, Norm):
        raise NotApplicable("it is no norm")
    for y in subject.points():
        polar = part.polar(y)
        for x, value in _values(subject):
            product = float(np.vdot(x, y))
            if math.isfinite(polar) and product > value * polar + _ROOM * max(1.0, abs(product)):
                subject.fail(f"<x, y> is {product:.6g}, above value(x) * polar(y), {value * polar:.6g}")


def check_a_separable_penalty_is_a_sum_over_entries(subject: Subject) -> None:
    """Where it says that it is separable, the value is the sum of those of single entries."""
    if not subject.part.separable:
        raise NotApplicable("it is not declared separable (`separable = True`)")
    for point, value in _values(subject):
        alone = 0.0
        for at in np.ndindex(*point.shape):
            single = np.zeros(point.shape)
            single[at] = point[at]
            alone += subject.part.value(single)
        if abs(alone - value) > _ROOM * max(1.0, abs(value)):
            subject.fail(
                f"it says that it is separable; its value is {value:.6g}, its entries' sum {alone:.6g}"
            )


OBJECTIVE_CHECKS = (
    check_a_value_is_one_number,
    check_derivatives_fit_the_values,
    check_value_and_gradient_in_one_are_those_of_two_calls,
    check_a_convex_function_lies_below_its_chords,
    check_cvxpy_has_the_same_value,
    check_residuals_and_quadratic_form_fit_the_value,
    check_the_conjugate_bounds_from_above,
    check_parts_of_a_sum_add_up,
)
REGULARIZER_CHECKS = (
    check_a_value_is_one_number,
    check_a_convex_function_lies_below_its_chords,
    check_cvxpy_has_the_same_value,
    check_the_conjugate_bounds_from_above,
    check_a_proximal_step_minimizes,
    check_a_slope_is_the_gradient_of_the_penalty,
    check_the_weight_scales_the_penalty,
    check_the_dual_norm_bounds_products,
    check_a_separable_penalty_is_a_sum_over_entries,
)
