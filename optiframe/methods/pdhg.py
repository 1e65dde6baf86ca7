"""The primal-dual hybrid gradient method, with restarts and steps as in PDLP."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from pydantic import Field, PositiveInt

from optiframe.methods.smooth_part import TINY, first_point
from optiframe.problems.minimize import Composite
from optiframe.problems.objectives.objective import Objective
from optiframe.problems.regularizers.proximal import Proximal
from optiframe.problems.sets.constraint_set import LinearForm, WholeSpace
from optiframe.problems.sets.linear_sets import row_norms
from optiframe.problems.sets.vector_sets import Box
from optiframe.records.fields import Array
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterate, Iterates, Run, Solver

# As in PDLP (Applegate et al. 2021): a restart is due where the error fell to the first share, or to the
# second and rises again, or where this share of all steps was made since the last.
_ENOUGH, _SOME, _LONG = 0.2, 0.8, 0.36
_SMOOTHING = 0.5  # of the primal weight, in logarithms, at a restart
_POWERS = 20  # steps of the power method: an eigenvalue to a few per cent
_SCALINGS = 10  # of rows and columns by the roots of their largest entries (Ruiz 2001)


class PrimalDualHybridGradient(Solver[Composite, Array, None]):
    """Primal-dual hybrid gradients: linear and quadratic objectives over linear constraints, with a prox.

    It minimizes x'Px/2 + q'x + r(x) within bounds and rows l <= Kx <= u, where r are regularizers that have a
    proximal step within the bounds. A step is one proximal step in x and one projection in Kx. Steps adapt
    to the curvature met; the method restarts from its average or its last point, whichever is nearer to
    optimal, and then balances primal and dual steps again (PDLP). Rows and columns are scaled first.

    A step costs two products with K and one with P; memory is a copy of K. It needs many cheap steps: for
    large sparse problems, to a moderate accuracy.
    """

    name = "primal-dual.pdhg"
    solves = Composite
    uses = (Objective.quadratic,)
    accepts_start = True
    monotone = False
    residual_meaning = (
        "KKT error: largest entry of x - prox(x - (Px + q + K'y)) and of Kx - P(Kx + y), rows of length one"
    )
    reference = "Chambolle and Pock 2011; Condat 2013; Applegate et al. 2021 (PDLP)"

    every: PositiveInt = Field(default=40, description="steps between two looks at the error")

    def unsuited(self, problem: Composite) -> str | None:
        form = problem.over.as_linear(problem.function.shape)
        if form is None:
            return f"the set {problem.over.name!r} is not given by linear constraints"
        if form.whole.any():
            return "entries must be whole numbers: `scipy.milp` takes those"
        if reason := problem.function.lacks(Objective.quadratic):
            return reason
        if not (problem.function.convex and problem.proximal.convex):
            return "the objective and the regularizers must be convex"
        return _within_bounds(problem, form).lacking

    def iterates(self, problem: Composite, run: Run) -> Iterates:
        saddle = _Saddle(problem)
        now = average = begin = saddle.start(first_point(problem, run))
        weight, length = saddle.weight, saddle.length
        error_at_begin = error_before = math.inf
        steps = since = 0
        total = 0.0  # of the lengths since the last restart
        while True:
            block = int(min(self.every, run.steps_left()))
            for count in range(steps + 1, steps + block + 1):
                now, used, length = saddle.step(now, length, weight, count)
                total += used
                average = average.towards(now, used / total)
            best = min(now, average, key=saddle.error)
            error = saddle.error(best)
            if not math.isfinite(error):
                return Status.DIVERGED, "the iterates grow beyond all bounds: no solution is near"
            yield Iterate(saddle.answer(best), residual=error, steps=block)
            steps, since = steps + block, since + block
            rises = error > error_before and error <= _SOME * error_at_begin
            if rises or error <= _ENOUGH * error_at_begin or since >= _LONG * steps:
                weight = saddle.balanced(weight, begin, best)
                now = average = begin = best
                error_at_begin, error, since, total = error, math.inf, 0, 0.0
            error_before = error


@dataclass(frozen=True)
class _Pair:
    """A primal point x and a dual point y with the products that steps and errors ask for."""

    x: Array
    y: Array
    rows: Array  # K x
    columns: Array  # K' y
    bent: Array  # P x

    def towards(self, other: _Pair, share: float) -> _Pair:
        """The point at this share of the way to another; all of it is linear."""
        mine, theirs = vars(self).values(), vars(other).values()
        return _Pair(*(a + share * (b - a) for a, b in zip(mine, theirs, strict=True)))


class _Saddle:
    """The saddle function x'Px/2 + q'x + r(x) + y'Kx - sup over [least, most] of y'z, scaled."""

    def __init__(self, problem: Composite) -> None:
        self.shape = problem.function.shape
        form = problem.over.as_linear(self.shape)
        assert form is not None  # else `unsuited` said so
        self.rest, quadratic = _within_bounds(problem, form), problem.function.quadratic()
        norms = row_norms(form.rows)
        norms = np.where(norms > 0, norms, 1.0)
        matrix = sp.diags_array(1 / norms) @ sp.csr_array(form.rows)
        least, most = form.least / norms, form.most / norms
        self.up, self.across = _scaling(matrix)
        if problem.plus:  # whose proximal step is known for one length of all entries
            self.across = np.ones_like(self.across)
        self.matrix = sp.csr_array(sp.diags_array(self.up) @ matrix @ sp.diags_array(self.across))
        self.transposed = sp.csr_array(self.matrix.T)
        self.least, self.most = self.up * least, self.up * most
        self.lower, self.upper = form.lower / self.across, form.upper / self.across
        self.cost, self.bend = self.across * quadratic.linear, quadratic.matrix
        largest = float(np.abs(self.matrix.data).max(initial=0.0))
        self.length = 1 / largest if largest > 0 else 1.0
        sides = np.concatenate([self.least[np.isfinite(self.least)], self.most[np.isfinite(self.most)]])
        sizes = float(np.linalg.norm(self.cost)), float(np.linalg.norm(sides))
        coupling = math.sqrt(_largest(lambda x: self.transposed @ (self.matrix @ x), len(self.across)))
        # A smaller weight would shorten steps in y, and lengthen none in x, which P bounds.
        self.least_weight = _largest(self._bent, len(self.across)) / coupling if coupling > 0 else 0.0
        self.weight = max(sizes[0] / sizes[1] if min(sizes) > 0 else 1.0, self.least_weight)

    def start(self, x: Array) -> _Pair:
        """From a point of the problem, with dual variables of zero."""
        return self._pair(self._prox(x.reshape(-1) / self.across, 0.0), np.zeros(len(self.up)))

    def answer(self, pair: _Pair) -> Array:
        """The primal point as the problem's."""
        return np.asarray((self.across * pair.x).reshape(self.shape))

    def step(self, now: _Pair, length: float, weight: float, count: int) -> tuple[_Pair, float, float]:
        """One step, the length that it had, and one to begin the next with (PDLP, Algorithm 3)."""
        while True:
            down, up = length / weight, length * weight
            x = self._prox(now.x - down * (now.bent + self.cost + now.columns), down)
            rows = self.matrix @ x
            aim = now.y + up * (2 * rows - now.rows)
            y = aim - up * np.clip(aim / up, self.least, self.most)
            ahead = _Pair(x, y, rows, self.transposed @ y, self._bent(x))
            dx, dy = x - now.x, y - now.y
            met = 2 * abs(float(dy @ (rows - now.rows))) + float(dx @ (ahead.bent - now.bent))
            size = weight * float(dx @ dx) + float(dy @ dy) / weight
            most = size / met if met > 0 else math.inf
            used = length
            length = min((1 - (count + 1) ** -0.3) * most, (1 + (count + 1) ** -0.6) * length)
            if used <= most or not math.isfinite(size):
                return ahead, used, length

    def error(self, pair: _Pair) -> float:
        """The KKT error, of the problem without scaling."""
        x = self.across * pair.x
        slope = (pair.bent + self.cost + pair.columns) / self.across
        moved = x - self.rest.step((x - slope).reshape(self.shape), 1.0).reshape(-1)
        rows, y = pair.rows / self.up, self.up * pair.y
        outside = rows - np.clip(rows + y, self.least / self.up, self.most / self.up)
        sizes = (moved, outside, np.finfo(np.float64).eps * x)  # the last: what rounding hides
        return max(float(np.max(np.abs(part), initial=0.0)) for part in sizes)

    def balanced(self, weight: float, begin: _Pair, end: _Pair) -> float:
        """The primal weight, nearer to what the moves of both points ask for (PDLP, Algorithm 4)."""
        dx, dy = float(np.linalg.norm(end.x - begin.x)), float(np.linalg.norm(end.y - begin.y))
        if min(dx, dy) <= TINY:
            return weight
        aim = math.exp(_SMOOTHING * math.log(dy / dx) + (1 - _SMOOTHING) * math.log(weight))
        return max(aim, self.least_weight)

    def _pair(self, x: Array, y: Array) -> _Pair:
        return _Pair(x, y, self.matrix @ x, self.transposed @ y, self._bent(x))

    def _bent(self, x: Array) -> Array:
        if self.bend is None:
            return np.zeros(len(x))
        return np.asarray(self.across * (self.bend @ (self.across * x)))

    def _prox(self, v: Array, step: float) -> Array:
        if not self.rest.terms:
            return np.asarray(np.clip(v, self.lower, self.upper))
        return np.asarray(self.rest.step(v.reshape(self.shape), step)).reshape(-1)


def _within_bounds(problem: Composite, form: LinearForm) -> Proximal:
    """The regularizers within the bounds alone: what has a proximal step where the rows are apart."""
    lower, upper = (side.reshape(problem.function.shape) for side in (form.lower, form.upper))
    free = np.isinf(lower).all() and np.isinf(upper).all()
    return Proximal(WholeSpace() if free else Box(lower=lower, upper=upper), problem.plus)


def _largest(product: Callable[[Array], Array], size: int) -> float:
    """About the largest eigenvalue of a positive semidefinite matrix, by the power method."""
    x, found = np.random.default_rng(0).standard_normal(size), 0.0
    for _ in range(_POWERS):
        x = product(x)
        found = float(np.linalg.norm(x))
        if not 0 < found < math.inf:
            break
        x = x / found
    return found


def _scaling(matrix: Any) -> tuple[Array, Array]:
    """Factors of rows and columns after which their largest entries are near one (Ruiz)."""
    sizes = abs(matrix)
    up, across = np.ones(matrix.shape[0]), np.ones(matrix.shape[1])
    for _ in range(_SCALINGS if sizes.nnz else 0):
        for axis in (1, 0):
            scaled = sp.diags_array(up) @ sizes @ sp.diags_array(across)
            largest = scaled.max(axis=axis).toarray().reshape(-1)
            shrink = 1 / np.sqrt(np.where(largest > 0, largest, 1.0))
            up, across = (up * shrink, across) if axis else (up, across * shrink)
    return up, across
