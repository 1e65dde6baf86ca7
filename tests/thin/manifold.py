"""Low-rank matrix completion by a Riemannian trust region over factors (after Dong et al.), thin.

A point is a pair of factors, never a dense matrix: the cost of everything is
O((rows + columns) rank^2 + entries rank).

The geometry is X = left right' with left of orthonormal columns (a Stiefel manifold) and
right free. pymanopt's own `FixedRankEmbedded` does not work with its trust region; the
quotient geometry with the metric of the paper's Eq. 12 is for the plugin.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import scipy.sparse as sp
from pydantic import Field, PlainValidator, PositiveInt

from optiframe import ConstraintSet, InvalidInput, Iterate, Minimize, Objective, Solver, Status
from optiframe.errors import require
from optiframe.records.fields import Array, Vector
from optiframe.solving.callbacks import Emit, Ending, iterates_from_callback
from optiframe.solving.solver import Iterates, Run


@dataclass(frozen=True)
class LowRank:
    """The matrix left @ right.T, kept as its factors."""

    left: Array
    right: Array

    @property
    def shape(self) -> tuple[int, ...]:
        return len(self.left), len(self.right)

    @property
    def rank(self) -> int:
        return self.left.shape[1]

    def at(self, row: np.ndarray, column: np.ndarray) -> Array:
        """The chosen entries."""
        return np.einsum("er,er->e", self.left[row], self.right[column])


class Rank(ConstraintSet):
    """Matrices of at most a given rank, as pairs of factors."""

    name = "thin-rank"
    convex = False
    point_type = LowRank

    rank: PositiveInt

    def check_shape(self, shape: tuple[int, ...]) -> None:
        if len(shape) != 2 or self.rank > min(shape):
            raise InvalidInput(f"no matrix of shape {shape} has rank {self.rank}")

    def project(self, v: LowRank | Array) -> LowRank:
        """The largest singular values (Eckart and Young), of an array or of longer factors."""
        if isinstance(v, LowRank):
            left, turn_left = np.linalg.qr(v.left)
            right, turn_right = np.linalg.qr(v.right)
            core = turn_left @ turn_right.T
        else:
            left, core, right = np.eye(v.shape[0]), v, np.eye(v.shape[1])
        u, values, vt = np.linalg.svd(core, full_matrices=False)
        k = self.rank
        return LowRank(left @ u[:, :k], right @ (vt[:k].T * values[:k]))

    def distance(self, x: LowRank, v: LowRank | Array) -> float:
        if not isinstance(v, LowRank):
            return float(np.linalg.norm(x.left @ x.right.T - v))
        # |AB' - CD'| from triangles of the size of the ranks.
        left = np.linalg.qr(np.hstack([x.left, -v.left]), mode="r")
        right = np.linalg.qr(np.hstack([x.right, v.right]), mode="r")
        return float(np.linalg.norm(left @ right.T))

    def violation(self, x: LowRank) -> float:
        if not (np.isfinite(x.left).all() and np.isfinite(x.right).all()):
            return np.inf
        return 0.0 if x.rank <= self.rank else self.distance(self.project(x), x)

    def origin(self, shape: tuple[int, ...]) -> LowRank:
        return LowRank(np.zeros((shape[0], self.rank)), np.zeros((shape[1], self.rank)))


def _codes(values: Any) -> np.ndarray:
    return np.asarray(values, dtype=np.intp)


Codes = Annotated[Any, PlainValidator(_codes)]


class KnownEntries(Objective):
    """Half the squared misfit to the known entries of a matrix."""

    name = "thin-known-entries"
    point_type = LowRank

    row: Codes
    column: Codes
    entry: Vector
    size: tuple[int, int] = Field(description="rows and columns of the matrix")

    @property
    def shape(self) -> tuple[int, ...]:
        return self.size

    def _sparse(self, entries: Array) -> sp.csr_array:
        return sp.csr_array((entries, (self.row, self.column)), shape=self.size)

    def value(self, x: LowRank) -> float:
        return float(np.sum((x.at(self.row, self.column) - self.entry) ** 2) / 2)

    def gradient(self, x: LowRank) -> LowRank:
        misfit = self._sparse(x.at(self.row, self.column) - self.entry)
        return LowRank(misfit @ x.right, misfit.T @ x.left)

    def hessian_product(self, x: LowRank, v: LowRank) -> LowRank:
        misfit = self._sparse(x.at(self.row, self.column) - self.entry)
        change = LowRank(np.hstack([v.left, x.left]), np.hstack([x.right, v.right]))
        bend = self._sparse(change.at(self.row, self.column))
        return LowRank(bend @ x.right + misfit @ v.right, bend.T @ x.left + misfit.T @ v.left)


class TrustRegion(Solver[Minimize, LowRank, None]):
    """Riemannian trust region (pymanopt) over Stiefel left factors and free right factors."""

    name = "thin.manifold-tr"
    reference = "Dong et al., Sec. V.C"
    solves = Minimize
    accepts_start = True
    residual_meaning = "Riemannian gradient norm"
    point_type = LowRank

    tries: PositiveInt = Field(default=1000, description="steps tried at most, accepted or not")

    def unsuited(self, problem: Minimize) -> str | None:
        if not isinstance(problem.over, Rank):
            return f"{problem.over.name!r} is not a set of bounded rank"
        needed = (Objective.gradient, Objective.hessian_product)
        lacking = [need.__name__ for need in needed if not problem.function.offers(need)]
        return f"the objective has no {' and no '.join(lacking)}" if lacking else None

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        return iterates_from_callback(lambda emit: self.minimize(problem, run, emit), name="pymanopt")

    def minimize(self, problem: Minimize, run: Run, emit: Emit) -> Ending:
        pymanopt = require("pymanopt", "manifold")
        f, (rows, columns), rank = problem.function, problem.function.shape, problem.over.rank
        manifold = pymanopt.manifolds.Product(
            [pymanopt.manifolds.Stiefel(rows, rank), pymanopt.manifolds.Euclidean(columns, rank)]
        )
        numpy = pymanopt.function.numpy(manifold)

        class Watched(pymanopt.Problem):
            # The trust region has no callback; it takes this gradient once at the start and then
            # once for each step it accepts.
            @property
            def riemannian_gradient(self) -> Callable[[Any], Any]:
                gradient = super().riemannian_gradient
                points = itertools.count()

                def watched(point: Any) -> Any:
                    found = gradient(point)
                    if next(points):
                        emit(Iterate(LowRank(*point), residual=float(manifold.norm(point, found))))
                    return found

                return watched

        @numpy
        def cost(left: Array, right: Array) -> float:
            return f.value(LowRank(left, right))

        @numpy
        def gradient(left: Array, right: Array) -> list[Array]:
            g = f.gradient(LowRank(left, right))
            return [g.left, g.right]

        @numpy
        def hessian(left: Array, right: Array, along: Array, across: Array) -> list[Array]:
            h = f.hessian_product(LowRank(left, right), LowRank(along, across))
            return [h.left, h.right]

        target = Watched(manifold, cost, euclidean_gradient=gradient, euclidean_hessian=hessian)
        # The core keeps the limits between accepted steps; the library's own bound a stretch in
        # which it accepts none.
        optimizer = pymanopt.optimizers.TrustRegions(
            max_time=run.time_left(), max_iterations=self.tries, min_gradient_norm=0.0, verbosity=0
        )
        optimizer.run(target, initial_point=self.first(problem, run))
        return Status.STALLED, f"out of time or of {self.tries} tries without reaching the tolerance"

    def first(self, problem: Minimize, run: Run) -> list[Array]:
        """The start with orthonormal left columns; a random one unless given (zero is a saddle)."""
        start = problem.start if run.start is None else run.start
        if start is None:
            rows, columns = problem.function.shape
            rank = problem.over.rank
            # Near zero the first steps grow the leading singular directions, as a spectral start
            # would; from entries of the data's own size one run in seven drifts off to infinity.
            right = 0.1 * run.rng.standard_normal((columns, rank))
            start = LowRank(run.rng.standard_normal((rows, rank)), right)
        start = problem.over.project(start)
        return [start.left, start.right]


def planted(seed: int = 0, size: tuple[int, int] = (14, 11), rank: int = 2) -> tuple[Minimize, LowRank]:
    """Two thirds of the entries of a random matrix of the given rank."""
    rng = np.random.default_rng(seed)
    truth = LowRank(rng.standard_normal((size[0], rank)), rng.standard_normal((size[1], rank)))
    row, column = np.nonzero(rng.random(size) < 2 / 3)
    known = KnownEntries(row=row, column=column, entry=truth.at(row, column), size=size)
    return Minimize(known, over=Rank(rank=rank)), truth
