"""Exponentiated gradient on the absolute correlations, and the scaling that ends at the same point."""

from __future__ import annotations

from typing import Annotated, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from pydantic import Field, PositiveFloat, model_validator
from scipy.sparse.linalg import eigsh

from optiframe.errors import InvalidInput
from optiframe.records.fields import Array
from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe_rankone.completion.fit import RankOneFit
from optiframe_rankone.solvers import signs

_DENSE = 200  # up to this size LAPACK takes a few milliseconds, less than setting up ARPACK well


class ExponentiatedGradient(Solver[RankOneFit, Array, None]):
    """Exponentiated gradient of Eq. 4 on [kappa, K], on |C|; signs are read breadth-first afterwards.

    ::

        d_i <- sum_j N_ij (x_i x_j - |C_ij|)
        x_i <- clip(x_i exp(-step d_i), kappa, K)

    which is projected gradient descent in z = log x on a convex function, so there is one
    fixed point and it is reached from everywhere (Theorem 12). |C| is first brought within
    [kappa^2, K^2], as the theorem assumes; where the bounds of both entries fix the sign of their product,
    C with that sign is, so that C of the other sign counts as kappa^2.

    **Not least squares.** A fixed point inside the bounds balances every row, x_i (N x)_i =
    sum_j N_ij |C_ij|; the stationary points of least squares balance sum_j N_ij (x_i x_j - C_ij)
    x_j. The two agree where the values are exactly of rank one, and nowhere else in general:
    here each pair of a worker counts alike, there by the skill of the other.

    **The same point by scaling.** Balancing the rows is scaling the matrix N from both sides
    to given row sums, which the symmetric Sinkhorn iteration does (`route`):

        x_i <- clip(sqrt(x_i b_i/(N x)_i), kappa, K),   b_i = sum_j N_ij |C_ij|

    In log x it is half-way to a map that does not expand the largest difference, so it
    converges, without a step to choose.

    **Worse than signed methods on sparse labels**, since |C| is biased where few tasks are
    shared; see `optiframe_rankone.solvers.signs`.

    The step is ``scaled`` (each row by its own curvature x_i (N x)_i and damped by 1/2),
    ``theorem`` (that of Theorem 12, 1/(2 sqrt(W) |N|_2 K^2): safe, and tiny
    for many workers), or a number. The residual is in units of the skills: how far any
    worker is from the size that balances its row while the others stay. It does not speak of the
    signs: of three who always disagree the sizes balance at 1 and one sign is turned over, where
    least squares has half the misfit. Entries with nobody to compare with stay at the start.

    A step costs one product with the sparse matrix N. Pairs are counted for this where they
    were not: 40 bytes for each ordered pair who share a task. The answer is brought within
    the problem's own bounds, which may be narrower than [-K, K].
    """

    name = "rankone.exponentiated"
    solves = RankOneFit
    accepts_start = True
    # The objective of the problem is not what this lowers, and may rise: the last point is the answer.
    monotone = True
    residual_meaning = (
        "largest distance of an entry's size to the one that balances its row, the others fixed"
    )
    reference = "Ma et al., Eq. 4, Theorem 12 and the sign recovery of Sec. 5.2"

    kappa: PositiveFloat = Field(
        default=0.01, description="least size of a skill; the default is a vote of weight .02, next to none"
    )
    K: PositiveFloat = Field(default=1.0, description="largest size of a skill")
    route: Literal["gradient", "sinkhorn"] = Field(
        default="gradient", description="gradient: Eq. 4; sinkhorn: symmetric scaling, to the same point"
    )
    step: Literal["scaled", "theorem"] | Annotated[float, Field(gt=0)] = Field(
        default="scaled",
        description="scaled: each row by its own curvature; theorem: of Theorem 12; or a number",
    )

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.kappa >= self.K:
            text = f"must be below K ({self.kappa:g} >= {self.K:g})"
            raise InvalidInput(f"kappa: {text}", [(("kappa",), text)])
        return self

    def iterates(self, problem: RankOneFit, run: Run) -> Iterates:
        known, wanted = self._rows(problem)
        # A bound that keeps an entry away from 0, as that of gold does, holds on the way, too.
        lower, upper = problem.bounds
        least = np.log(np.clip(np.maximum(lower, -upper), self.kappa, self.K))
        most = np.log(self.K)
        # Log sizes; signs play no part. Who is compared with nobody keeps its size.
        first = problem.from_start(run.start)
        z = np.clip(np.log(np.maximum(np.abs(first), self.kappa)), least, most)
        met = wanted > 0
        step = self._fixed_step(known) if self.step == "theorem" else self.step
        x = np.exp(z)
        sums = known @ x
        while True:
            if self.route == "sinkhorn":
                change = 0.5 * (np.log(wanted, out=z.copy(), where=met) - z - _log(sums, met))
            elif isinstance(step, str):
                change = 0.5 * (np.divide(wanted, x * sums, out=np.ones_like(x), where=met) - 1.0)
            else:
                change = step * (wanted - x * sums)
            z = np.clip(z + np.where(met, change, 0.0), least, most)
            x = np.exp(z)
            sums = known @ x
            balanced = np.divide(wanted, sums, out=x.copy(), where=met)
            yield Iterate(x, residual=float(np.abs(np.clip(balanced, np.exp(least), self.K) - x).max()))

    def finish(self, problem: RankOneFit, iterate: Iterate) -> Array:
        return signs.recovered(problem, iterate.x)

    def _rows(self, problem: RankOneFit) -> tuple[sp.csr_array, Array]:
        """N, and the row sums of N times the products of sizes within [kappa^2, K^2]."""
        known = problem.least_squares.known
        sizes = np.clip(signs.products_of_sizes(problem), self.kappa**2, self.K**2)
        products = sp.csr_array((known.data * sizes, known.indices, known.indptr), known.shape)
        return known, np.asarray(products.sum(axis=1)).ravel()

    def _fixed_step(self, known: sp.csr_array) -> float:
        """1/(2 sqrt(W) |N|_2 K^2)."""
        if known.nnz == 0:
            return 1.0  # no row moves
        if known.shape[0] <= _DENSE:
            norm = float(np.linalg.norm(known.toarray(), 2))
        else:
            norm = float(eigsh(known, k=1, which="LA", v0=np.ones(known.shape[0]))[0][0])
        return 1.0 / (2.0 * float(np.sqrt(known.shape[0])) * norm * self.K**2)


def _log(values: Array, where: NDArray[np.bool_]) -> Array:
    return np.asarray(np.log(values, out=np.zeros_like(values), where=where))
