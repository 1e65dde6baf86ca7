"""The Lasso by coordinate descent on working sets, with exact steps on the support."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from pydantic import Field, PositiveInt
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from optiframe.methods.smooth_part import first_point
from optiframe.problems.minimize import Composite
from optiframe.problems.objectives.losses import LeastSquares
from optiframe.problems.regularizers.norms import L1
from optiframe.problems.sets.constraint_set import WholeSpace
from optiframe.records.fields import Array
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterate, Iterates, Run, Solver

_SHARE = 0.03  # of the largest violation of all columns: what may be left on the working set
_ROUNDING = 1e-14  # relative to the largest slope at zero: violations below come from rounding
_RIDGE = 1e-14  # relative to the diagonal's mean, so that equal columns have an exact step, too


class WorkingSetLasso(Solver[Composite, Array, None]):
    """Coordinate descent on a growing set of columns, with exact steps on the support.

    Least squares plus `l1`, with or without a squared norm (elastic net). Each iteration takes the columns
    in use and those that violate their optimality condition most, and solves the problem on these columns
    alone. There a sweep of coordinate descent, which finds the signs, alternates with the exact minimizer
    for these signs, from a Cholesky factor; entries that would change sign become zero.

    An iteration costs one pass over the matrix, the products of its new columns with those taken before,
    and a few sweeps and factors, O(k s) and O(s^3) for k columns and s entries that are not zero. Memory
    is O(n k + k^2), and a copy of a sparse matrix: it is meant for supports of up to a few thousand.
    """

    name = "coordinate.lasso"
    solves = Composite
    uses = ()
    accepts_start = True
    residual_meaning = "the duality gap, which bounds how far the objective is from the least one"
    reference = "Massias, Gramfort and Salmon 2018 (working sets); Lee et al. 2007 (exact steps)"

    first: PositiveInt = Field(default=100, description="number of columns in the first working set")

    def unsuited(self, problem: Composite) -> str | None:
        if type(problem.function) is not LeastSquares:
            return "the objective must be 'least-squares'"
        if not isinstance(problem.over, WholeSpace):
            return f"it takes no constraints, and the set is {problem.over.name!r}"
        others = problem.proximal.others
        if len(others) != 1 or not isinstance(others[0], L1):
            return "the regularizers must be l1 with a positive weight, and may be squared-l2 besides"
        return None

    def iterates(self, problem: Composite, run: Run) -> Iterates:
        fit = _Fit(problem)
        x = first_point(problem, run)
        slope, gap = fit.at(x)
        size = min(self.first, len(x))
        while True:
            used = x != 0
            size = min(max(size, 2 * int(used.sum())), len(x))
            urgency = np.where(used, math.inf, np.abs(slope))
            working = np.sort(np.argpartition(urgency, len(x) - size)[len(x) - size :])
            part = _Part(fit.gram(working), slope[working], x[working], fit.penalty)
            violation = float(np.max(fit.violations(x, slope)))
            moved = part.solve(max(_SHARE * violation, _ROUNDING * fit.scale), run)
            x = np.zeros(len(x))
            x[working] = part.x
            slope, gap = fit.at(x)
            yield Iterate(x, residual=gap)
            if not moved and violation <= np.max(fit.violations(x, slope)):
                return Status.STALLED, "no column lowers the objective by more than rounding"


class _Fit:
    """Least squares with its penalties: slopes and gap at a point, and products of columns, kept."""

    def __init__(self, problem: Composite) -> None:
        model: Any = problem.function
        self.rows, self.target = len(model), model.target
        self.matrix = sp.csc_array(model.matrix) if sp.issparse(model.matrix) else model.matrix
        self.penalty = problem.proximal.others[0].weight
        self.ridge = model.l2 + problem.proximal.quadratic
        self.scale = float(np.max(np.abs(self.matrix.T @ self.target), initial=0.0)) / self.rows
        self._taken: NDArray[np.intp] = np.zeros(0, dtype=np.intp)
        self._columns: Any = None
        self._gram = np.zeros((0, 0))

    def at(self, x: Array) -> tuple[Array, float]:
        """Slopes of the smooth part and the duality gap (Fenchel), at `x`."""
        used = np.flatnonzero(x)
        left = self.target - self.matrix[:, used] @ x[used]
        inner = np.asarray(self.matrix.T @ left) / self.rows
        size, square = float(np.max(np.abs(inner))), float(left @ left) / self.rows
        primal = square / 2 + self.penalty * float(np.abs(x).sum()) + self.ridge / 2 * float(x @ x)
        scale, conjugate = 1.0, 0.0
        if self.ridge:
            excess = np.maximum(np.abs(inner) - self.penalty, 0.0)
            conjugate = float(excess @ excess) / (2 * self.ridge)
        elif size > self.penalty:
            scale = self.penalty / size
        dual = scale * float(left @ self.target) / self.rows - scale**2 * square / 2 - conjugate
        return self.ridge * x - inner, max(0.0, primal - dual)

    def violations(self, x: Array, slope: Array) -> Array:
        """How far each entry is from its optimality condition."""
        return violations(x, slope, self.penalty)

    def gram(self, working: NDArray[np.intp]) -> Array:
        """Second derivatives of the smooth part by the entries `working`."""
        new = np.setdiff1d(working, self._taken)
        if len(new):
            columns = self.matrix[:, new]
            if not sp.issparse(columns):
                columns = np.asfortranarray(columns)
            among = _dense(columns.T @ columns) / self.rows
            among[np.diag_indices(len(new))] += self.ridge
            if self._columns is None:
                self._columns, self._gram = columns, among
            else:
                across = _dense(self._columns.T @ columns) / self.rows
                self._gram = np.block([[self._gram, across], [across.T, among]])
                stack = sp.hstack if sp.issparse(columns) else np.hstack
                self._columns = stack([self._columns, columns])
            self._taken = np.concatenate([self._taken, new])
        places = np.empty(self.matrix.shape[1], dtype=np.intp)
        places[self._taken] = np.arange(len(self._taken))
        return np.asarray(self._gram[np.ix_(places[working], places[working])])


class _Part:
    """The problem on a working set: x'Gx/2 - c'x + penalty |x|_1, with slope = Gx - c."""

    def __init__(self, gram: Array, slope: Array, x: Array, penalty: float) -> None:
        self.gram, self.slope, self.x, self.penalty = gram, slope.copy(), x.copy(), penalty
        self.cost = gram @ x - slope

    def solve(self, accuracy: float, run: Run) -> bool:
        """Sweeps and exact steps until no entry violates its condition by more; whether anything moved."""
        moved = False
        while np.max(violations(self.x, self.slope, self.penalty)) > accuracy:
            before = self.x.copy()
            self.sweep()
            self.exact_step()
            if run.stopping or run.time_left() == 0 or np.array_equal(before, self.x):
                break
            moved = True
        return moved

    def sweep(self) -> None:
        """Coordinate descent over the entries that are not zero or should not be."""
        x, slope, gram = self.x, self.slope, self.gram
        for j in np.flatnonzero((x != 0) | (np.abs(slope) > self.penalty)).tolist():
            bend, before = gram.item(j, j), x.item(j)
            aim = bend * before - slope.item(j)
            size = abs(aim) - self.penalty
            after = math.copysign(size / bend, aim) if size > 0 and bend > 0 else 0.0
            if after != before:
                x[j] = after
                slope += (after - before) * gram[j]

    def exact_step(self) -> None:
        """To the minimizer for the signs at hand; entries that would change sign become zero."""
        support = np.flatnonzero(self.x)
        x, signs = self.x[support], np.sign(self.x[support])
        inner = self.gram[np.ix_(support, support)]
        inner[np.diag_indices(len(support))] += _RIDGE * np.trace(inner) / max(1, len(support))
        try:
            step = -cho_solve(cho_factor(inner, overwrite_a=True), self.slope[support] + self.penalty * signs)
        except LinAlgError:
            return  # the next sweep goes on without
        crossed = (x + step) * signs < 0
        value = self._value(self.x, self.slope)
        if self._accept(support, np.where(crossed, 0.0, x + step), value) or not crossed.any():
            return
        lengths = np.where(crossed, x / np.where(crossed, -step, 1.0), math.inf)
        nearest = int(np.argmin(lengths))  # up to there the objective falls
        ahead = x + lengths[nearest] * step
        ahead[nearest] = 0.0
        self._accept(support, ahead, value)

    def _accept(self, support: NDArray[np.intp], ahead: Array, value: float) -> bool:
        """Go to these entries of the support, unless the objective would rise."""
        x = np.zeros_like(self.x)
        x[support] = ahead
        slope = self.gram[:, support] @ ahead - self.cost
        better = self._value(x, slope) <= value
        if better:
            self.x, self.slope = x, slope
        return better

    def _value(self, x: Array, slope: Array) -> float:
        return float(x @ (slope - self.cost)) / 2 + self.penalty * float(np.abs(x).sum())


def violations(x: Array, slope: Array, penalty: float) -> Array:
    """How far each entry is from optimal: slope = -penalty * sign(x), or within the penalty where x = 0."""
    return np.where(x != 0, np.abs(slope + penalty * np.sign(x)), np.maximum(np.abs(slope) - penalty, 0.0))


def _dense(product: Any) -> Array:
    return np.asarray(product.toarray() if sp.issparse(product) else product)
