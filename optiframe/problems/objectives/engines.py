"""Functions of one's own whose derivatives come from JAX, PyTorch or differences, in place of autograd."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import numpy as np

from optiframe.errors import InvalidInput, require
from optiframe.problems.objectives.differences import central_differences
from optiframe.problems.objectives.objective import FromFunction, NotFollowed
from optiframe.records.fields import Array


class ThroughJax(FromFunction):
    """A function written with ``jax.numpy``, compiled, in 64 bits."""

    def value(self, x: Array) -> float:
        return self._number(self._call(self._compiled.value, x))

    def value_and_gradient(self, x: Array) -> tuple[float, Array]:
        try:
            value, gradient = self._call(self._compiled.both, x)
        except NotFollowed:
            self.value(x)  # what is wrong with the value is said first
            raise
        return self._number(value), np.array(gradient, dtype=np.float64)

    def hessian_product(self, x: Array, v: Array) -> Array:
        if self.given_hessian_product is not None:
            return super().hessian_product(x, v)
        return np.array(self._call(self._compiled.product, x, v), dtype=np.float64)

    def _derived_gradient(self, x: Array) -> Array:
        return np.array(self._call(self._compiled.gradient, x), dtype=np.float64)

    @cached_property
    def _compiled(self) -> Any:
        jax = require("jax", "jax")
        slope = jax.grad(self.function)
        return SimpleNamespace(
            value=jax.jit(self.function),
            gradient=jax.jit(slope),
            both=jax.jit(jax.value_and_grad(self.function)),
            product=jax.jit(lambda x, v: jax.jvp(slope, (x,), (v,))[1]),
        )

    def _call(self, compiled: Callable[..., Any], *points: Array) -> Any:
        jax = require("jax", "jax")
        known = jax if hasattr(jax, "enable_x64") else require("jax.experimental", "jax")
        try:
            with known.enable_x64(True):
                return compiled(*(np.asarray(each, dtype=np.float64) for each in points))
        except (jax.errors.JAXTypeError, jax.errors.JAXIndexError, TypeError) as error:
            first = str(error).partition("\n")[0]
            raise self._cannot_follow(first, "JAX", "jax.numpy") from error


class ThroughTorch(FromFunction):
    """A function written with PyTorch, in 64 bits on the CPU, as it is: nothing is compiled."""

    def value(self, x: Array) -> float:
        torch = require("torch", "torch")
        with torch.no_grad():
            try:
                return self._number(self.function(self._tensor(x)))
            except TypeError as error:  # NumPy was called with a tensor
                raise self._cannot_follow(error, "PyTorch", "torch") from error

    def value_and_gradient(self, x: Array) -> tuple[float, Array]:
        torch, point = require("torch", "torch"), self._tensor(x).requires_grad_()
        found: list[Any] = []

        def derive() -> Any:
            found.append(self.function(point))
            return torch.autograd.grad(found[0], point)[0]

        gradient = self._derived(derive, x)
        return self._number(found[0].detach()), gradient

    def hessian_product(self, x: Array, v: Array) -> Array:
        if self.given_hessian_product is not None:
            return super().hessian_product(x, v)
        functional = require("torch.autograd.functional", "torch")
        points = self._tensor(x), self._tensor(v)
        return self._derived(lambda: functional.vhp(self.function, *points)[1], x)

    def _derived_gradient(self, x: Array) -> Array:
        torch, point = require("torch", "torch"), self._tensor(x).requires_grad_()
        return self._derived(lambda: torch.autograd.grad(self.function(point), point)[0], x)

    def _derived(self, derive: Callable[[], Any], x: Array) -> Array:
        try:
            return np.array(derive().numpy(), dtype=np.float64)
        except (TypeError, RuntimeError) as error:
            self.value(x)  # a function that fails by itself says so in its own words
            first = str(error).partition("\n")[0]
            raise self._cannot_follow(first, "PyTorch", "torch") from error

    def _tensor(self, x: Array) -> Any:
        torch = require("torch", "torch")
        return torch.tensor(np.asarray(x, dtype=np.float64), dtype=torch.float64)


class ByDifferences(FromFunction):
    """A function that gives values only: central differences, two values for each entry of a point.

    Their error is about 1e-10, relative to the third derivative: a residual cannot be smaller than that.
    """

    def offers(self, operation: Callable[..., Any]) -> bool:
        if operation.__name__ in ("gradient", "value_and_gradient"):
            return operation.__name__ == "gradient"
        if operation.__name__ == "hessian_product":
            return self.given_hessian_product is not None
        return super().offers(operation)

    def hessian_product(self, x: Array, v: Array) -> Array:
        if self.given_hessian_product is None:
            raise self._lacks("Hessian product")
        return super().hessian_product(x, v)

    def _derived_gradient(self, x: Array) -> Array:
        return central_differences(self.value, x).reshape(self.shape)


ENGINES: dict[str, type[FromFunction]] = {
    "autograd": FromFunction,
    "jax": ThroughJax,
    "torch": ThroughTorch,
    "differences": ByDifferences,
}


def engine(derivatives: Any) -> type[FromFunction]:
    """The class of objectives whose derivatives come from there."""
    if not isinstance(derivatives, str) or derivatives not in ENGINES:
        known = ", ".join(ENGINES)
        raise InvalidInput(f"derivatives must be one of {known}, got {derivatives!r:.40}")
    return ENGINES[derivatives]
