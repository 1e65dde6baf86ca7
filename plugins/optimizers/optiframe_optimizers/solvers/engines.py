"""What the adapters share: importing a library on use, and watching engines that have no callback."""

from __future__ import annotations

import math
from types import ModuleType

import numpy as np

from optiframe import errors
from optiframe.errors import require
from optiframe.methods.scipy_base import Posed
from optiframe.problems.minimize import Minimize
from optiframe.records.fields import Array
from optiframe.records.record import Record
from optiframe.solving.callbacks import Emit
from optiframe.solving.solver import Iterate, Run

NO_RESIDUAL = "not computed: the budget's tolerance becomes the engine's own"
_PLUGIN = "optiframework-optimizers"
_LARGEST_SEED = 2**31 - 1  # what every engine takes


def library(module: str) -> ModuleType:
    """Import a library on use; `MissingPackage` names the command that installs it."""
    return require(module, of=_PLUGIN)


def absent(solver: Record) -> str | None:
    """Why a solver cannot run here where its library is not installed; None where it is. Imports nothing."""
    return errors.absent(solver.requires, _PLUGIN)


def seed(run: Run) -> int:
    """A positive seed for an engine that takes one, from the run's generator."""
    return int(run.rng.integers(1, _LARGEST_SEED))


def free_entries(problem: Minimize) -> int:
    """How many entries of a point have room between their bounds."""
    size = math.prod(problem.function.shape)
    told = problem.over.as_scipy(problem.function.shape)
    if told is None or told.bounds is None:
        return size
    lower, upper = (np.broadcast_to(side, (size,)) for side in (told.bounds.lb, told.bounds.ub))
    return int((lower < upper).sum())


def two_entries(problem: Minimize) -> str | None:
    """Why an engine that needs two free entries has too few; None where it has them."""
    if free_entries(problem) >= 2:
        return None
    return "the engine needs points of two or more entries that bounds do not fix"


class Watched:
    """Values for an engine that has no callback: tells of the best point after each evaluation.

    An iterate is one evaluation. Where `constrained`, lower values may be infeasible: then it tells of
    every point, and the core keeps the best.
    """

    def __init__(self, posed: Posed, emit: Emit, *, constrained: bool = False) -> None:
        self._posed, self._emit = posed, emit
        self._constrained = constrained
        self._residual = math.nan
        self.best: Array | None = None
        self.least = math.inf

    def value(self, x: Array, *, smooth: bool = False) -> float:
        """The objective at the flat point `x`; `smooth` says that its gradient is asked for next."""
        flat = self._posed.flat
        value = flat.value_before_gradient(x) if smooth else flat.value(x)
        if self._constrained or self.best is None or value < self.least:
            self.best, self.least = np.array(x, dtype=np.float64), value
            self._residual = self._posed.optimality(self.best) if smooth else math.nan
        self._emit(Iterate(self._posed.flat.point(self.best), residual=self._residual))
        return value
