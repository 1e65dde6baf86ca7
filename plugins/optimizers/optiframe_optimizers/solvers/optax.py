"""optax's first-order methods, as they train networks, with a fixed learning rate."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, Literal

import numpy as np
from pydantic import Field, PositiveFloat

from optiframe.methods.scipy_base import unsuited
from optiframe.problems.minimize import Minimize
from optiframe.problems.objectives.objective import Objective
from optiframe.records.fields import Array
from optiframe.reference.flat import Flat, first_point
from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe_optimizers.solvers.engines import absent, library


class Optax(Solver[Minimize, Array, None]):
    """A method of optax, from gradients of any objective, without constraints.

    The objective stays as it is: JAX only makes the step, compiled, in 64 bits. An iteration costs one
    gradient. With a fixed learning rate the end of a run is noisy; the core keeps the best iterate.
    """

    name = "optax"
    solves = Minimize
    requires = ("optax", "jax")
    uses = (Objective.gradient,)
    accepts_start = True
    monotone = False
    residual_meaning = "infinity norm of the gradient"
    reference = "DeepMind 2020, the DeepMind JAX ecosystem; Kingma and Ba 2015 (adam)"

    method: Literal[
        "adam", "nadam", "radam", "adabelief", "adagrad", "adadelta", "rmsprop", "lion", "yogi", "sgd"
    ] = Field(default="adam", description="optax's name of it")
    rate: PositiveFloat = Field(default=0.01, description="learning rate")

    def unsuited(self, problem: Minimize) -> str | None:
        return unsuited(problem, "nothing") or absent(self)

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        jax, optax = library("jax"), library("optax")
        optimizer = getattr(optax, self.method)(learning_rate=self.rate)

        def advance(gradient: Any, state: Any, x: Any) -> Any:
            updates, state = optimizer.update(gradient, state, x)
            return optax.apply_updates(x, updates), state

        flat, step = Flat(problem), jax.jit(advance)
        x = first_point(problem, run)
        with in_64_bits():
            state = optimizer.init(jax.numpy.asarray(x))
        while True:
            gradient = flat.gradient(x)
            with in_64_bits():
                ahead, state = step(gradient, state, x)
            x = np.array(ahead, dtype=np.float64)
            yield Iterate(flat.point(x), residual=float(np.max(np.abs(flat.gradient(x)), initial=0.0)))


def in_64_bits() -> AbstractContextManager[Any]:
    """JAX's switch, for as long as a step lasts: whoever else uses JAX in this process keeps their own."""
    context: AbstractContextManager[Any] = library("jax").enable_x64(True)
    return context
