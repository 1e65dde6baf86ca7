"""Solvers that break the contract on purpose, one promise each: the contract must catch them."""

from __future__ import annotations

import time
from typing import Any, ClassVar

import numpy as np
from pydantic import ConfigDict

from optiframe.problems.minimize import Minimize
from optiframe.records.fields import Array
from optiframe.solving.solver import Iterate, Iterates, Run, Solver


class _Descent(Solver[Minimize, Array, None]):
    """Projected gradient descent with a fixed step, as an honest method would do it."""

    solves = Minimize
    accepts_start = True
    residual_meaning = "infinity norm of the last step"

    step: float = 0.5

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        x = self._begin(problem, run)
        while True:
            before = x
            x = self._advance(problem, run, x)
            yield Iterate(x, residual=float(np.max(np.abs(x - before))))

    def _begin(self, problem: Minimize, run: Run) -> Array:
        return problem.initial() if run.start is None else np.array(run.start)

    def _advance(self, problem: Minimize, run: Run, x: Array) -> Array:
        ahead: Array = problem.over.project(x - self.step * problem.function.gradient(x))
        return ahead

    def unsuited(self, problem: Minimize) -> str | None:
        from optiframe.problems.objectives.objective import Objective

        return None if problem.function.offers(Objective.gradient) else "the objective has no gradient"


class Honest(_Descent):
    """Keeps every promise: shows that the contract can be met."""

    name = "bad.honest"


class Idle(_Descent):
    """Does nothing: yields the start."""

    name = "bad.idle"

    def _advance(self, problem: Minimize, run: Run, x: Array) -> Array:
        return x


class Constant(_Descent):
    """Cheats: has one answer for everything."""

    name = "bad.constant"

    def _advance(self, problem: Minimize, run: Run, x: Array) -> Array:
        answer: Array = problem.over.project(np.full(problem.function.shape, 0.25))
        return answer


class TooSoon(_Descent):
    """Claims convergence too soon: accelerated descent whose residual is always 0."""

    name = "bad.too-soon"
    residual_meaning = "always 0"

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        x = ahead = self._begin(problem, run)
        step = 1 / problem.function.curvature()
        k = 0
        while True:
            k += 1
            before, x = x, problem.over.project(ahead - step * problem.function.gradient(ahead))
            ahead = x + (k - 1) / (k + 2) * (x - before)
            yield Iterate(x, residual=0.0)


class Blocks(_Descent):
    """Ignores the iteration budget: takes ten steps for each iterate, whatever is left."""

    name = "bad.blocks"

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        x = self._begin(problem, run)
        while True:
            before = x
            for _ in range(10):
                x = self._advance(problem, run, x)
            yield Iterate(x, residual=float(np.max(np.abs(x - before))), steps=10)


class Slow(_Descent):
    """Ignores the time budget: everything happens within the first iterate."""

    name = "bad.slow"

    seconds: float = 0.1

    def _begin(self, problem: Minimize, run: Run) -> Array:
        time.sleep(self.seconds)
        return super()._begin(problem, run)


class Writes(_Descent):
    """Changes its input: uses the point of a squared distance as its work space."""

    name = "bad.writes"

    def _advance(self, problem: Minimize, run: Run, x: Array) -> Array:
        point: Array = problem.function.to  # type: ignore[attr-defined]  # it knows too much, being bad
        ahead: Array = problem.over.project(x - self.step * (x - point))
        point.flags.writeable = True
        point += 0.125
        return ahead


class Unseeded(_Descent):
    """Draws random numbers that no seed fixes."""

    name = "bad.unseeded"

    def _advance(self, problem: Minimize, run: Run, x: Array) -> Array:
        noise = np.random.default_rng().random(problem.function.shape)
        return super()._advance(problem, run, x + 1e-3 * noise)


class Outside(_Descent):
    """Answers outside the constraints: forgets the projection."""

    name = "bad.outside"

    def _advance(self, problem: Minimize, run: Run, x: Array) -> Array:
        ahead: Array = x - self.step * problem.function.gradient(x)
        return ahead


class Leaky(_Descent):
    """Remembers the last problem of another kind: keeps a step length between runs."""

    name = "bad.leaky"

    lengths: ClassVar[dict[str, float]] = {}

    def _advance(self, problem: Minimize, run: Run, x: Array) -> Array:
        fresh = 0.5 + 0.01 * x.size
        if self.lengths.get("owner") != float(x.size):
            step = self.lengths.get("step", fresh)  # of whoever ran before
            self.lengths.update(owner=float(x.size), step=fresh)
        else:
            step = self.lengths["step"]
        ahead: Array = problem.over.project(x - step * problem.function.gradient(x))
        return ahead


class Overflowing(_Descent):
    """Answers with numbers that are not finite."""

    name = "bad.overflowing"

    def _advance(self, problem: Minimize, run: Run, x: Array) -> Array:
        return np.full(problem.function.shape, np.nan)


class Lenient(_Descent):
    """Takes any parameter, misspelt ones included."""

    name = "bad.lenient"
    model_config = ConfigDict(extra="ignore")


class Unwritable(_Descent):
    """Has a parameter that no file can hold."""

    name = "bad.unwritable"

    rule: Any = len


class Unpicklable(_Descent):
    """Cannot be sent to another process."""

    name = "bad.unpicklable"

    def __getstate__(self) -> dict[Any, Any]:
        raise TypeError("holds an open handle")


class Boastful(_Descent):
    """Says that it takes every problem, and then raises."""

    name = "bad.boastful"

    def unsuited(self, problem: Minimize) -> str | None:
        return None


class Raising(_Descent):
    """Raises where it should answer."""

    name = "bad.raising"

    def unsuited(self, problem: Minimize) -> str | None:
        problem.function.gradient(problem.initial())
        return None


class DeafToStart(_Descent):
    """Says that it accepts a start and ignores it."""

    name = "bad.deaf-to-start"

    def _begin(self, problem: Minimize, run: Run) -> Array:
        x: Array = problem.initial()
        return x
