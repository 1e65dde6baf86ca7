"""SAGA: steps along the gradient of one block of terms, corrected by the gradients of all from before."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from pydantic import Field, PositiveInt

from optiframe.methods.smooth_part import NO_STEP, TINY, first_point
from optiframe.problems.minimize import Composite
from optiframe.problems.objectives.objective import FiniteSum, Objective
from optiframe.records.fields import Array
from optiframe.solving.finite_gradient import not_finite
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterate, Iterates, Run, Solver

_ROUNDING = 1e-13  # relative: a promise of the model so small is lost in the rounding of a value


class Saga(Solver[Composite, Array, None]):
    """SAGA over blocks of terms, with a proximal step, for sums of many smooth terms.

    The terms are dealt at random into blocks, and the mean over blocks is the sum that the method sees. A
    step takes one block at random and keeps its new gradient. Its length is a third of the inverse
    curvature, which grows where a block shows more of it and shrinks slowly on the way (Schmidt, Le Roux and
    Bach 2017, Section 4.6).

    An iteration takes as many steps as there are blocks, and one full gradient for the residual. Memory is
    a copy of the data, in blocks, and one gradient a block.
    """

    name = "stochastic.saga"
    solves = Composite
    uses = (Objective.gradient,)
    accepts_start = True
    monotone = False
    residual_meaning = (
        "largest entry of the gradient map (x - prox(x - step g)) / step, with the full gradient"
    )
    reference = "Defazio, Bach and Lacoste-Julien 2014; Schmidt, Le Roux and Bach 2017, Section 4.6"

    block: PositiveInt = Field(default=50, description="terms in a block")

    def unsuited(self, problem: Composite) -> str | None:
        if not isinstance(problem.function, FiniteSum):
            return f"the objective {problem.function.known_as!r} is not a sum of many terms"
        return problem.proximal.lacking

    def iterates(self, problem: Composite, run: Run) -> Iterates:
        rest, blocks = problem.proximal, Blocks(problem.function, self.block, run.rng)
        x = np.asarray(rest.step(first_point(problem, run), 0.0))
        slopes = np.stack([blocks.gradient(i, x) for i in range(len(blocks))])
        mean = slopes.mean(axis=0)
        if (end := not_finite(mean)) is not None:
            return end
        curvature = max(blocks.curvature(i, x, slopes[i], 1.0) for i in range(len(blocks)))
        while True:
            for i in run.rng.integers(len(blocks), size=len(blocks)).tolist():
                slope = blocks.gradient(i, x)
                curvature = blocks.curvature(i, x, slope, curvature * 2 ** (-1 / len(blocks)))
                step = 1 / (3 * curvature)
                if not step > TINY:
                    return Status.STALLED, NO_STEP
                change = slope - slopes[i]
                x = np.asarray(rest.step(x - step * (change + mean), step))
                slopes[i] = slope
                mean = mean + change / len(blocks)
            full = np.asarray(problem.function.gradient(x))
            moved = x - rest.step(x - step * full, step)
            yield Iterate(x, residual=float(np.max(np.abs(moved), initial=0.0)) / step)
            mean = slopes.mean(axis=0)  # free of the rounding of many changes


class Blocks:
    """A finite sum as the mean of blocks of its terms, dealt at random, weighted by their sizes."""

    def __init__(self, function: Any, size: int, rng: np.random.Generator) -> None:
        count = len(function)
        places = np.array_split(rng.permutation(count), math.ceil(count / size))
        self._parts = [function.take(np.sort(each)) for each in places]
        self._weights = [len(each) * len(places) / count for each in places]

    def __len__(self) -> int:
        return len(self._parts)

    def gradient(self, i: int, x: Array) -> Array:
        return np.asarray(self._weights[i] * self._parts[i].gradient(x))

    def curvature(self, i: int, x: Array, slope: Array, least: float) -> float:
        """At least `least`, doubled until block `i` lies below its model one step ahead."""
        square = float(np.vdot(slope, slope))
        part, weight, curvature = self._parts[i], self._weights[i], least
        value = weight * part.value(x)
        while square / curvature > _ROUNDING * abs(value):
            if weight * part.value(x - slope / curvature) <= value - square / (2 * curvature):
                break
            curvature *= 2
            if not math.isfinite(curvature):
                break
        return curvature
