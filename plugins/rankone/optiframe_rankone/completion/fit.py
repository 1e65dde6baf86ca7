"""What every kind of rank-one completion shares: bounds, starts, signs, and least squares in x."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from optiframe.errors import InvalidInput
from optiframe.problems.minimize import Minimize
from optiframe.problems.problem import Formulation, Problem
from optiframe.problems.sets.vector_sets import Box
from optiframe.records.fields import Array, Bound, Vector, as_bound, as_vector
from optiframe.tables.columns import Columns
from optiframe_rankone.completion import orientation
from optiframe_rankone.completion.objective import PairwiseLeastSquares
from optiframe_rankone.completion.pairs import Pairs

_NO_LIMIT = as_bound(-np.inf), as_bound(np.inf)
_DENSE = 200  # up to this size LAPACK takes a few milliseconds, less than setting up ARPACK well
_ROUNDING = 1e-12  # share of a sum of a few thousand terms that its rounding may reach


class RankOneFit(Problem[Array]):
    """Find x with x_i x_j near known pairs, each with a weight, within ``lower <= x <= upper``.

    What its kinds share: `problem.RankOneCompletion`, of the entries of a matrix, and
    `from_labels.LabelCorrelations`, of labels without any matrix. The solvers of this plugin take both of
    them; they see the pairs through ``least_squares.pairs``.
    """

    name = "rank-one-completion"

    lower: Bound = Field(default=_NO_LIMIT[0], description="least x_i: a number, or one for each i")
    upper: Bound = Field(default=_NO_LIMIT[1], description="largest x_i: a number, or one for each i")
    start: Vector | None = Field(
        default=None, description="where solvers begin; default: 0.5, within the bounds"
    )
    sign_weights: orientation.SignWeights | None = Field(
        default=None,
        description="where a solver settles signs, the sum of these times x is positive in each connected "
        "component; 1: the plain sum, as in the paper; none: each row's sum of weights",
    )

    @property
    @abstractmethod
    def least_squares(self) -> PairwiseLeastSquares:
        """The objective as a function of x."""

    def check_bounds(self) -> None:
        """Raise `InvalidInput` unless bounds and start fit the number of rows and each other."""
        size = self.least_squares.shape[0]
        for key in ("lower", "upper"):
            if getattr(self, key).shape not in ((), (size,)):
                raise InvalidInput(f"{key} must be a number or {size} numbers, one for each row of weights")
        crossed = np.flatnonzero(np.broadcast_to(self.lower > self.upper, (size,)))
        if len(crossed):
            raise InvalidInput(f"lower is above upper for entry {crossed[0]}; no x fits")
        if self.start is not None and self.start.shape != (size,):
            raise InvalidInput(f"start has {len(self.start)} entries, weights are {size} x {size}")
        if self.sign_weights is not None and self.sign_weights.shape not in ((), (size,)):
            raise InvalidInput(
                f"sign_weights must be a number or {size} numbers, one for each row of weights"
            )

    @property
    def bounds(self) -> tuple[Array, Array]:
        """`lower` and `upper`, each of shape (size,)."""
        shape = self.least_squares.shape
        return np.broadcast_to(self.lower, shape), np.broadcast_to(self.upper, shape)

    @property
    def orienting(self) -> Array:
        """What each entry counts in the sum that settles the signs of its component, shape (size,)."""
        if self.sign_weights is None:
            return self.least_squares.pairs.row_sums[1]
        return np.broadcast_to(self.sign_weights, self.least_squares.shape)

    def clip(self, x: Array) -> Array:
        """The nearest point within the bounds."""
        return np.clip(x, self.lower, self.upper)

    def initial(self) -> Array:
        """Where solvers begin: `start`, or one half everywhere, within the bounds.

        All equal and positive, since most skills are expected to be positive, and
        not 0, where the gradient vanishes: half-way between guessing and knowing. In a
        connected component whose known entries sum to less than 0 that expectation is
        refuted and equal entries would only run into the saddle at 0; there the start is
        the leading eigenvector, along which the objective falls fastest from 0.
        """
        if self.start is not None:
            return self.clip(self.start)
        pairs = self.least_squares.pairs
        start = np.full(pairs.size, 0.5)
        sums, weights = pairs.row_sums
        if (sums < 0).any():  # else no component sums to less than 0, and none need be known
            component = pairs.component
            total = np.bincount(component, weights=sums)
            refuted = total < -_ROUNDING * np.bincount(component, weights=weights)
            members = np.flatnonzero(refuted[component])
            members = members[np.argsort(component[members], kind="stable")]
            for group in np.split(members, np.flatnonzero(np.diff(component[members])) + 1):
                if len(group):
                    start[group] = _leading_eigenvector(pairs, group, self.orienting[group])
        return self.clip(start)

    def from_start(self, start: Any) -> Array:
        """Where a run begins: the caller's start within the bounds, or `initial()` when it is None.

        Raises
        ------
        InvalidInput
            When the start has another length than the problem.
        """
        if start is None:
            return self.initial()
        x = as_vector(start)
        size = self.least_squares.shape[0]
        if x.shape != (size,):
            raise InvalidInput(f"the start has {len(x)} entries, the problem {size}")
        return self.clip(x)

    def best(self, x: Array, pull: Array, curvature: Array) -> Array:
        """For each entry the best value within the bounds while the others stay.

        ``pull`` and ``curvature`` are `pulls` at x. An entry for which all values are equally
        good (nobody to compare with) keeps its own.
        """
        tiny = np.finfo(np.float64).tiny  # below it the quotient means nothing and may overflow
        return self.clip(np.divide(pull, curvature, out=x.copy(), where=curvature > tiny))

    def settled(self, x: Array) -> Array:
        """x with 0, or the nearest within the bounds, for entries all of whose partners ended at 0.

        Every value of such an entry is equally good, and the one it has is left over from the start
        or from the order of the steps. `uncompared` entries keep theirs.
        """
        lower, upper = self.bounds
        free = (lower < 0.0) | (upper > 0.0)
        if x[free].all():  # as nearly always, and then nobody lost a partner
            return x
        alone = self.least_squares.pairs.weights((x != 0.0).astype(np.float64)) == 0.0
        return np.where(alone & ~self.uncompared, self.clip(np.zeros_like(x)), x)

    @cached_property
    def uncompared(self) -> NDArray[np.bool_]:
        """Entries without a known pair, or only with entries that the bounds hold at 0; shape (size,)."""
        lower, upper = self.bounds
        free = (lower < 0.0) | (upper > 0.0)
        return np.asarray(self.least_squares.pairs.weights(free.astype(np.float64)) == 0.0)

    def lipschitz(self) -> float:
        """A bound on the curvature within the bounds, and so on how fast the gradient changes there.

        The Hessian is ``diag(N x^2) + 2 N * x x' - N * C``; with ``|x| <= u`` the sizes in row i
        sum to at most ``(N u^2)_i + 2 u_i (N u)_i + sum_j N_ij |C_ij|``, and the largest
        eigenvalue is at most the largest such sum (Gershgorin). inf where a bound is.
        """
        lower, upper = self.bounds
        u = np.maximum(np.abs(lower), np.abs(upper))
        if not np.isfinite(u).all():
            return float("inf")
        pairs = self.least_squares.pairs
        rows = pairs.weights(u * u) + 2.0 * u * pairs.weights(u) + pairs.absolute_sums()
        return float(rows.max())

    def objective(self, solution: Array) -> float:
        return self.least_squares.value(solution)

    def violation(self, solution: Array) -> float:
        return float(np.linalg.norm(solution - self.clip(solution)))

    def formulate(self) -> Formulation:
        box = Box(lower=self.lower, upper=self.upper)
        return Formulation(
            Minimize(self.least_squares, over=box, start=self.initial()), interpret=_same, encode=_same
        )

    def recommended(self) -> Sequence[tuple[str, str]]:
        return (
            (
                "rankone.pgd",
                "it is the quickest of the solvers that reach the same answer",
            ),
        )

    def to_tables(self, solution: Array) -> dict[str, Columns]:
        return {"solution": {"index": np.arange(len(solution)), "value": solution}}


def _leading_eigenvector(pairs: Pairs, group: NDArray[np.intp], orienting: Array) -> Array:
    """Of a component's N * C, for the largest eigenvalue; largest entry 1/2 in size, signs settled."""
    if len(group) <= _DENSE:
        vector = np.linalg.eigh(pairs.block(group))[1][:, -1]
    else:

        def product(v: Array) -> Array:
            x = np.zeros(pairs.size)
            x[group] = v.ravel()
            return pairs.products(x)[group]  # a component's rows only reach its own columns

        block = LinearOperator((len(group), len(group)), matvec=product, dtype=np.float64)
        even = np.ones(len(group))
        try:  # only a place to begin: two digits are plenty, and a hard spectrum must not cost minutes
            vector = eigsh(block, k=1, which="LA", v0=even, tol=1e-2, maxiter=50)[1][:, 0]
        except ArpackNoConvergence as short:
            vector = short.eigenvectors[:, 0] if short.eigenvectors.size else even
    return np.asarray(vector * (0.5 / np.abs(vector).max()) * orientation.of_group(orienting * vector))


def _same(x: Any) -> Any:
    return x
