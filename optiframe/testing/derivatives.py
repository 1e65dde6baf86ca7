"""Derivatives against differences: does an objective's calculus fit its values?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from optiframe.errors import InvalidInput
from optiframe.problems.objectives.objective import Objective
from optiframe.records.fields import Array

_EPS = float(np.finfo(np.float64).eps)
_STRETCHES = 6  # power steps towards the direction in which the gradient changes most


def check_derivatives(
    objective: Objective, x: Any = None, *, seed: int = 0, trials: int = 5, tolerance: float = 1e-5
) -> None:
    """Compare an objective's derivatives with differences of what they derive.

    Along random directions: the gradient with central differences of the value, the
    Hessian product with central differences of the gradient, the Hessian product with
    itself the other way round (symmetry), the Hessian matrix with the product, and the
    curvature bound with changes of the gradient, towards where they are largest.
    Operations the objective does not offer are left out. No argument may be changed or handed
    back as the answer.

    Parameters
    ----------
    objective
        What to check; its points are arrays of any shape.
    x
        Where; by default another random point (standard normal) in each trial.
    seed, trials
        Fix the points and directions, and how many there are.
    tolerance
        Error allowed, relative to the size of the derivative. What the difference itself
        cannot tell is allowed on top: it is estimated by a second one of half the step.

    Raises
    ------
    AssertionError
        Saying which derivative is off, by how much, and in which trial.
    InvalidInput
        When `x` has not the objective's shape, or points are not arrays.
    """
    shape = objective.shape
    if objective.point_type is not np.ndarray:
        raise InvalidInput(f"points must be arrays; this objective takes {objective.point_type.__name__}")
    if x is not None and np.shape(x) != shape:
        raise InvalidInput(f"x has shape {np.shape(x)}, the objective takes {shape}")
    if trials < 1:
        raise InvalidInput(f"trials must be at least 1, got {trials}")
    rng = np.random.default_rng(seed)
    for trial in range(1, trials + 1):
        at = np.array(rng.standard_normal(shape) if x is None else x, dtype=np.float64)
        directions = [rng.standard_normal(shape) for _ in range(2)]
        along, across = (np.asarray(v / np.linalg.norm(v)) for v in directions)
        _Trial(objective, at, along, across, f"trial {trial} of seed {seed}", tolerance).run()


@dataclass(frozen=True)
class _Trial:
    """One point and two unit directions."""

    objective: Objective
    x: Array
    along: Array
    across: Array
    title: str
    tolerance: float

    @property
    def name(self) -> str:
        return self.objective.known_as

    def run(self) -> None:
        offers = self.objective.offers
        if not np.isfinite(self.value(self.x)):
            raise AssertionError(
                f"{self.name}: the value is {self.value(self.x)} at the point of {self.title}; "
                "give an x where the objective is finite"
            )
        if offers(Objective.gradient):
            self.check_gradient()
        if offers(Objective.hessian_product):
            self.check_hessian_product()
        if offers(Objective.hessian):
            self.check_hessian()
        if offers(Objective.curvature) and (offers(Objective.hessian_product) or offers(Objective.gradient)):
            self.check_curvature()

    def value(self, x: Array) -> float:
        return float(self.call(self.objective.value, "value", x))

    def gradient(self, x: Array) -> Array:
        return self.shaped(self.call(self.objective.gradient, "gradient", x), "gradient")

    def product(self, v: Array) -> Array:
        product = self.call(self.objective.hessian_product, "Hessian product", self.x, v)
        return self.shaped(product, "Hessian product")

    def check_gradient(self) -> None:
        gradient = self.gradient(self.x)
        rate, uncertain = self.difference(self.value)
        self.compare(
            "gradient",
            np.vdot(gradient, self.along),
            "by central differences of the value",
            rate,
            self.tolerance * max(float(np.linalg.norm(gradient)), abs(float(rate))) + uncertain,
        )

    def check_hessian_product(self) -> None:
        product, other = self.product(self.along), self.product(self.across)
        size = max(float(np.linalg.norm(product)), float(np.linalg.norm(other)))
        one, reverse = float(np.vdot(self.across, product)), float(np.vdot(self.along, other))
        if not abs(one - reverse) <= self.tolerance * size:
            raise AssertionError(
                f"{self.name}: the Hessian product is not symmetric: for the directions u and v of "
                f"{self.title} u'Hv is {one:.9g}, but v'Hu {reverse:.9g}"
            )
        if self.objective.offers(Objective.gradient):
            change, uncertain = self.difference(self.gradient)
            allowed = self.tolerance * max(size, float(np.linalg.norm(change))) + uncertain
            self.compare(
                "Hessian product", product, "by central differences of the gradient", change, allowed
            )

    def check_curvature(self) -> None:
        """A bound too small makes steps too long: look where the Hessian stretches most."""
        bound, along = self.objective.curvature(), self.along
        for _ in range(_STRETCHES):
            stretched, uncertain = self.stretched(along)
            found = float(np.linalg.norm(stretched))
            if not found <= bound + self.tolerance * found + uncertain:
                raise AssertionError(
                    f"{self.name}: the curvature bound is off: it is {bound:.9g}, "
                    f"but the Hessian at the point of {self.title} stretches a direction by {found:.9g}"
                )
            if found <= uncertain:
                return
            along = stretched / found

    def stretched(self, along: Array) -> tuple[Array, float]:
        """The Hessian's product with a direction, and how uncertain it is."""
        if self.objective.offers(Objective.hessian_product):
            return self.product(along), 0.0
        change, uncertain = replace(self, along=along).difference(self.gradient)
        return np.asarray(change), uncertain

    def check_hessian(self) -> None:
        size = self.x.size
        hessian = np.asarray(self.call(self.objective.hessian, "Hessian matrix", self.x))
        if hessian.shape != (size, size):
            raise AssertionError(
                f"{self.name}: the Hessian matrix has shape {hessian.shape}, "
                f"but over the flattened point it is {(size, size)}"
            )
        product = (hessian @ self.along.ravel()).reshape(self.x.shape)
        allowed = self.tolerance * float(np.linalg.norm(product))
        if self.objective.offers(Objective.hessian_product):
            expected, source = self.product(self.along), "by the Hessian product"
            allowed = max(allowed, self.tolerance * float(np.linalg.norm(expected)))
        elif self.objective.offers(Objective.gradient):
            source = "by central differences of the gradient"
            expected, uncertain = self.difference(self.gradient)
            allowed = max(allowed, self.tolerance * float(np.linalg.norm(expected))) + uncertain
        else:
            return
        self.compare("Hessian matrix", product, source, expected, allowed)

    def difference(self, function: Callable[[Array], Any]) -> tuple[Any, float]:
        """Central difference of `function` at x along the direction, and how uncertain it is.

        The step, the cube root of the rounding unit, balances rounding and truncation.
        Halving it changes the truncation error by three quarters of itself, so twice that
        change covers it; rounding comes on top.
        """
        step = _EPS ** (1 / 3) * max(1.0, float(np.abs(self.x).max(initial=0.0)))
        far, near = self.ends(function, step), self.ends(function, step / 2)
        if not all(np.isfinite(end).all() for end in (*far, *near)):
            raise AssertionError(
                f"{self.name}: not finite within {step:.1g} of the point of {self.title}; "
                "give an x further inside the domain"
            )
        coarse = (far[0] - far[1]) / (2 * step)
        fine = (near[0] - near[1]) / step
        size = max(float(np.linalg.norm(end)) for end in (*far, *near))
        return fine, 2 * float(np.linalg.norm(fine - coarse)) + 4 * _EPS * size / step

    def ends(self, function: Callable[[Array], Any], step: float) -> tuple[Any, Any]:
        return function(self.x + step * self.along), function(self.x - step * self.along)

    def compare(self, what: str, ours: Any, source: str, theirs: Any, allowed: float) -> None:
        off = float(np.linalg.norm(ours - theirs))
        if off <= allowed:  # False for nan, too
            return
        at = np.unravel_index(np.argmax(np.abs(ours - theirs)), np.shape(ours))
        entry = f" in entry {[int(i) for i in at]}" if at else ""
        raise AssertionError(
            f"{self.name}: the {what} is off by {off:.3g} (allowed: {allowed:.3g}) along the direction of "
            f"{self.title}:{entry} it is {np.asarray(ours)[at]:.9g}, {source} {np.asarray(theirs)[at]:.9g}"
        )

    def shaped(self, result: Any, what: str) -> Array:
        if np.shape(result) != self.x.shape:
            raise AssertionError(
                f"{self.name}: the {what} has shape {np.shape(result)}, the point {self.x.shape}"
            )
        if not isinstance(result, np.ndarray | np.generic):
            kind = type(result).__name__
            raise AssertionError(
                f"{self.name}: the {what} is a {kind}, which solvers cannot calculate with; "
                "give a NumPy array"
            )
        return np.array(result, dtype=np.float64)

    def call(self, operation: Callable[..., Any], what: str, *arguments: Array) -> Any:
        """The operation's answer, once it is sure that its arguments are as they were."""
        given = [argument.copy() for argument in arguments]
        result = operation(*given)
        for name, before, after in zip("xv", arguments, given, strict=False):
            if not np.array_equal(before, after):
                raise AssertionError(f"{self.name}: the {what} changes its argument {name}; work on a copy")
            if isinstance(result, np.ndarray) and np.shares_memory(result, after):
                raise AssertionError(
                    f"{self.name}: the {what} hands back its argument {name}; return a new array"
                )
        return result
