"""optimistix's methods, stepped from here: smooth objectives by gradients, least squares by Jacobians."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from pydantic import Field, PositiveFloat, PositiveInt

from optiframe.methods.scipy_base import unsuited
from optiframe.problems.minimize import Minimize
from optiframe.problems.objectives.objective import Objective
from optiframe.records.fields import Array
from optiframe.reference.flat import Flat, first_point
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe_optimizers.solvers.engines import absent, library
from optiframe_optimizers.solvers.optax import in_64_bits

_NO_END = {"rtol": 1e-15, "atol": 1e-15}  # its own test of the end; the budget's tolerance decides


class _Stepped(Solver[Minimize, Array, None]):
    """A method of optimistix without constraints, in 64 bits.

    The objective stays as it is. A step of theirs looks at it at one point only, so it is evaluated here, and
    JAX sees the linear function with the same value and slope. An iteration is one step, kept or rejected.
    """

    solves = Minimize
    requires = ("optimistix", "jax")
    accepts_start = True
    monotone = False
    residual_meaning = "infinity norm of the gradient"
    reference = "Rader, Lyons and Kidger 2024, Optimistix: modular optimisation in JAX and Equinox"

    def unsuited(self, problem: Minimize) -> str | None:
        return unsuited(problem, "nothing") or absent(self)

    @abstractmethod
    def _method(self) -> Any:
        """The method as optimistix has it."""

    @abstractmethod
    def _look(self, flat: Flat, x: Array) -> tuple[Any, Array, Array]:
        """Value (or residuals), slope (or Jacobian) and gradient at a flat point."""

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        flat, x = Flat(problem), first_point(problem, run)
        ahead, gradient, state = x, x, None
        with in_64_bits():
            method = self._method()
        while True:
            value, slope, there = self._look(flat, ahead)
            with in_64_bits():
                kept, following, state, failed = _step()(method, x, state, (ahead, value, slope))
            kept, following = np.array(kept), np.array(following)
            gradient = there if np.array_equal(kept, ahead) else gradient
            x, ahead = kept, following
            yield Iterate(flat.point(x), residual=float(np.max(np.abs(gradient), initial=0.0)))
            if failed or np.array_equal(x, ahead):
                return Status.STALLED, "optimistix found no further step"


@cache
def _step() -> Callable[..., Any]:
    """One step of a method, compiled once for each method and shape."""
    jax, optimistix, equinox = library("jax"), library("optimistix"), library("equinox")

    def linear(x: Any, seen: Any) -> Any:
        at, value, slope = seen
        return value + slope @ (x - at), None

    def step(method: Any, x: Any, state: Any, seen: Any) -> Any:
        if state is None:
            shape = jax.eval_shape(lambda: linear(x, seen)[0])
            state = method.init(linear, x, seen, {}, shape, None, frozenset())
        kept, state, _ = method.step(linear, x, seen, {}, state, frozenset())
        return kept, state.y_eval, state, state.result != optimistix.RESULTS.successful

    compiled: Callable[..., Any] = equinox.filter_jit(step)
    return compiled


class _ByGradients(_Stepped):
    uses = (Objective.gradient,)

    def _look(self, flat: Flat, x: Array) -> tuple[Any, Array, Array]:
        value = flat.value_before_gradient(x)
        gradient = flat.gradient(x)
        return np.float64(value), gradient, gradient


class Bfgs(_ByGradients):
    """BFGS with backtracking steps; keeps a dense matrix of the Hessian's inverse."""

    name = "optimistix.bfgs"

    def _method(self) -> Any:
        return library("optimistix").BFGS(**_NO_END)


class Lbfgs(_ByGradients):
    """Limited-memory BFGS with backtracking steps."""

    name = "optimistix.lbfgs"

    history: PositiveInt = Field(default=10, description="pairs of steps and gradients kept")

    def _method(self) -> Any:
        return library("optimistix").LBFGS(**_NO_END, history_length=self.history)


class NonlinearCg(_ByGradients):
    """Conjugate gradients of Polak and Ribiere with backtracking steps."""

    name = "optimistix.nonlinear-cg"

    def _method(self) -> Any:
        return library("optimistix").NonlinearCG(**_NO_END)


class GradientDescent(_ByGradients):
    """Gradient steps of one length."""

    name = "optimistix.gradient-descent"

    rate: PositiveFloat = Field(default=0.01, description="learning rate")

    def _method(self) -> Any:
        return library("optimistix").GradientDescent(self.rate, **_NO_END)


class _OfResiduals(_Stepped):
    uses = (Objective.residuals, Objective.jacobian)

    def _look(self, flat: Flat, x: Array) -> tuple[Any, Array, Array]:
        point = flat.point(x)
        residuals = np.asarray(flat.objective.residuals(point), dtype=np.float64)
        slopes = flat.objective.jacobian(point)
        dense = slopes.toarray() if sp.issparse(slopes) else np.asarray(slopes, dtype=np.float64)
        return residuals, dense, residuals @ dense


class LevenbergMarquardt(_OfResiduals):
    """Least squares by Levenberg-Marquardt; sparse Jacobians become dense."""

    name = "optimistix.levenberg-marquardt"

    def _method(self) -> Any:
        return library("optimistix").LevenbergMarquardt(**_NO_END)


class GaussNewton(_OfResiduals):
    """Least squares by full Gauss-Newton steps, which may diverge; sparse Jacobians become dense."""

    name = "optimistix.gauss-newton"

    def _method(self) -> Any:
        return library("optimistix").GaussNewton(**_NO_END)


class Dogleg(_OfResiduals):
    """Least squares by Powell's dogleg in a trust region; sparse Jacobians become dense."""

    name = "optimistix.dogleg"

    def _method(self) -> Any:
        return library("optimistix").Dogleg(**_NO_END)
