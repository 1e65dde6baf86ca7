"""The three-view cardinality constraint (Yang et al.), thin: a set, its projection, and what uses it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from pydantic import Field, PlainValidator, PositiveFloat, PositiveInt
from scipy.optimize import linprog

from optiframe import (
    ConstraintSet,
    CvxpyProgram,
    InvalidInput,
    Iterate,
    Minimize,
    Objective,
    Projection,
    Solver,
)
from optiframe.errors import require
from optiframe.problems.losses import LeastSquares
from optiframe.records.fields import Array
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterates, Run


def _groups(values: Any) -> np.ndarray:
    return np.asarray(values, dtype=np.intp)


Groups = Annotated[Any, PlainValidator(_groups)]


@dataclass(frozen=True)
class Prices:
    """Dual answer of the support program: what one more place would be worth.

    `total`, `rows` and `columns` price the three views' bounds, `entry` the bound of one on
    each coordinate. `gap` is the largest failure of complementary slackness.
    """

    total: float
    rows: Array
    columns: Array
    entry: Array
    gap: float


class ThreeView(ConstraintSet):
    """Vectors with few nonzeros: in all, in each row group and in each column group.

    Each coordinate belongs to one row group and to one column group (codes from 0).
    """

    name = "thin-three-view"
    reference = "Yang et al., Definition 1"
    convex = False

    row: Groups = Field(description="row group of each coordinate")
    column: Groups = Field(description="column group of each coordinate")
    total: PositiveInt = Field(description="nonzeros allowed in all")
    per_row: PositiveInt = Field(description="nonzeros allowed in each row group")
    per_column: PositiveInt = Field(description="nonzeros allowed in each column group")

    @classmethod
    def grid(cls, rows: int, columns: int, **bounds: int) -> ThreeView:
        """The views of a matrix, flattened row by row."""
        row, column = np.indices((rows, columns)).reshape(2, -1)
        return cls(row=row, column=column, **bounds)

    def check_shape(self, shape: tuple[int, ...]) -> None:
        if shape != self.row.shape:
            raise InvalidInput(
                f"the set holds vectors of length {len(self.row)}, not points of shape {shape}"
            )

    def views(self) -> tuple[Array, Array]:
        """A and s of Eq. 4: one row a group (all, row groups, column groups), and its bound."""
        rows, columns = np.arange(self.row.max() + 1), np.arange(self.column.max() + 1)
        matrix = np.vstack(
            [np.ones(len(self.row)), rows[:, None] == self.row, columns[:, None] == self.column]
        )
        bounds = [self.total, *[self.per_row] * len(rows), *[self.per_column] * len(columns)]
        return matrix, np.array(bounds, dtype=np.float64)

    def support(self, worth: Array, seconds: float = np.inf) -> tuple[np.ndarray, Prices] | None:
        """The support of greatest total worth (negative worth is never taken), and its prices.

        None when `seconds` did not suffice.
        """
        matrix, bounds = self.views()
        # The dual simplex ends at a vertex, and vertices are whole numbers (Theorem 2). Presolve
        # would come before the first look at the clock.
        options = {"time_limit": seconds, "presolve": False}
        found = linprog(-worth, A_ub=matrix, b_ub=bounds, bounds=(0, 1), method="highs-ds", options=options)
        if found.x is None:
            return None
        chosen = found.x > 0.5
        price, entry = -found.ineqlin.marginals, -found.upper.marginals
        slack, unpaid = bounds - matrix @ chosen, matrix.T @ price + entry - worth
        gap = max(np.abs(price * slack).max(), np.abs(entry * ~chosen).max(), np.abs(unpaid * chosen).max())
        ends = 1 + self.row.max() + 1
        prices = Prices(float(price[0]), price[1:ends], price[ends:], entry, float(gap))
        return chosen & (worth > 0), prices

    def project(self, v: Array) -> Array:
        found = self.support(v**2)
        assert found is not None  # there is no time limit here
        return np.where(found[0], v, 0.0)

    def violation(self, x: Array) -> float:
        matrix, bounds = self.views()
        # The distance needs the program; whether it is zero is a count.
        inside = bool(np.isfinite(x).all() and (matrix @ (x != 0) <= bounds).all())
        return 0.0 if inside else super().violation(x)

    def projection_as_cvxpy(self, v: Array) -> CvxpyProgram:
        cp = require("cvxpy", "reference")
        matrix, bounds = self.views()
        x = cp.Variable(v.shape)
        # Eq. 5; the squared distance is what the support leaves out.
        program = cp.Problem(cp.Maximize(v**2 @ x), [matrix @ x <= bounds, x >= 0, x <= 1])
        return CvxpyProgram(
            program,
            read=lambda: np.where(x.value > 0.5, v, 0.0),
            objective=lambda kept: float((v @ v - kept) / 2),
            engine="SCIPY",  # among ties an interior-point method ends between the vertices
        )


class SupportProgram(Solver[Projection, Array, Prices]):
    """Projection onto a three-view set by its linear program over supports; ends at a vertex."""

    name = "thin.tvcs-lp"
    reference = "Yang et al., Eq. 5 and Theorem 2"
    solves = Projection

    def unsuited(self, problem: Projection) -> str | None:
        return None if isinstance(problem.onto, ThreeView) else f"{problem.onto.name} is not a three-view set"

    def iterates(self, problem: Projection, run: Run) -> Iterates:
        found = problem.onto.support(problem.point**2, run.time_left())
        if found is None:
            return Status.TIME_LIMIT, "the linear program ran out of time"
        support, prices = found
        yield Iterate(np.where(support, problem.point, 0.0), residual=prices.gap, detail=prices)


class HardThresholding(Solver[Minimize, Array, None]):
    """Iterative hard thresholding: a gradient step, then the projection, over any set that can project."""

    name = "thin.iht"
    reference = "Yang et al., Algorithm 1"
    solves = Minimize
    accepts_start = True
    residual_meaning = "length of the last move"

    step: PositiveFloat | None = Field(default=None, description="none: 1 / curvature of the objective")

    def unsuited(self, problem: Minimize) -> str | None:
        if not problem.function.offers(Objective.gradient):
            return "the objective has no gradient"
        if self.step is None and not problem.function.offers(Objective.curvature):
            return "the objective has no curvature bound; give a step"
        return None

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        x = problem.initial() if run.start is None else run.start
        step = self.step or 1 / problem.function.curvature()
        while True:
            moved = problem.over.project(x - step * problem.function.gradient(x))
            residual = float(np.linalg.norm(moved - x))
            x = moved
            yield Iterate(x, residual=residual)


def planted(seed: int = 0, side: int = 6, rows: int = 90) -> tuple[Minimize, Array]:
    """Least squares whose coefficients are a permutation matrix: one nonzero a row and a column."""
    rng = np.random.default_rng(seed)
    over = ThreeView.grid(side, side, total=side, per_row=1, per_column=1)
    truth = np.eye(side)[rng.permutation(side)].ravel() * rng.choice([-1.0, 1.0], side * side)
    design = rng.standard_normal((rows, side * side))
    noise = 0.01 * rng.standard_normal(rows)  # as in the paper's regression
    return Minimize(LeastSquares(matrix=design, target=design @ truth + noise), over=over), truth
