"""The best fits of all sizes, each from the one before, and the choice of a size."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from optiframe.problems.minimize import Minimize
from optiframe.problems.objectives.losses import LeastSquares, LinearModel
from optiframe.problems.sets.constraint_set import ConstraintSet
from optiframe.problems.sets.vector_sets import Cardinality
from optiframe.records.fields import Array
from optiframe.registry.registry import build
from optiframe.solving.result import Result
from optiframe.solving.solve import NotConverged, solve
from optiframe_tvcs.learning.l1_path import l1_path
from optiframe_tvcs.learning.restricted import minimise_on
from optiframe_tvcs.learning.with_intercept import WithIntercept
from optiframe_tvcs.sets.sparse_sets import support
from optiframe_tvcs.sets.three_view import ThreeView

_BEYOND = 4  # times the size: an l1 penalty shrinks true entries, and needs others in their place
_TRIED = 5  # points of the l1 path, for each size
_ROUNDING = 1e-7  # of a column's spread over its largest entry; squares lose half of the digits

Criterion = Literal["bic", "ebic", "sic"]

Objective = Callable[[Any, Array], LinearModel]
"""The loss for a matrix of samples and their targets."""


@dataclass(frozen=True, eq=False)
class Scaling:
    """How columns are centred and scaled before a fit; sparse ones are scaled only.

    Parameters
    ----------
    centre, scale
        Of the columns, shape (features,); a column is (column - centre) / scale.
    intercept
        Whether a column of ones is appended.
    """

    centre: Array
    scale: Array
    intercept: bool

    @classmethod
    def of(cls, matrix: Any, *, standardise: bool, intercept: bool) -> Scaling:
        """The scaling that these samples ask for; columns that never change keep their scale."""
        columns = matrix.shape[1]
        centre, scale = np.zeros(columns), np.ones(columns)
        sparse = sp.issparse(matrix)
        largest = abs(matrix).max(axis=0).toarray().ravel() if sparse else np.abs(matrix).max(axis=0)
        # Squares of very large and very small entries are no ordinary numbers.
        unit = np.ldexp(1.0, np.clip(np.frexp(largest)[1], -1000, 1000))
        if sparse:
            near_one = matrix @ sp.diags_array(1.0 / unit)
            means = np.asarray(near_one.mean(axis=0)).ravel()
            squares = np.asarray(near_one.multiply(near_one).mean(axis=0)).ravel()
            spread = np.sqrt(np.maximum(squares - means**2, 0.0)) * unit
        else:
            spread = (matrix / unit).std(axis=0) * unit
            # Without an intercept, centred columns would be another model.
            centre = (matrix / unit).mean(axis=0) * unit if intercept else centre
        if standardise:
            scale = np.where(spread > _ROUNDING * largest, spread, 1.0)
        return cls(centre, scale, intercept)

    def apply(self, matrix: Any) -> Any:
        """The scaled samples, with a column of ones at the end where there is an intercept."""
        if sp.issparse(matrix):
            scaled = sp.csr_array(matrix @ sp.diags_array(1.0 / self.scale))
            return (
                sp.hstack([scaled, np.ones((matrix.shape[0], 1))], format="csr") if self.intercept else scaled
            )
        scaled = (matrix - self.centre) / self.scale
        return np.column_stack([scaled, np.ones(len(scaled))]) if self.intercept else scaled

    def undo(self, x: Array) -> tuple[Array, float]:
        """Coefficients and intercept for samples as they came."""
        weights = (x[:-1] if self.intercept else x) / self.scale
        return weights, float(x[-1] - weights @ self.centre) if self.intercept else 0.0


def bounded(over: ConstraintSet | None, size: int) -> ConstraintSet:
    """The set with at most `size` nonzeros in all; of any entries where there is no set."""
    if over is None:
        return Cardinality(size=size)
    assert isinstance(over, ThreeView)  # the estimators refuse any other
    return over.model_copy(update={"total": min(size, over.limit)})


def fit_path(
    function: LinearModel,
    over: ConstraintSet | None,
    sizes: Sequence[int],
    *,
    intercept: bool,
    solver: Any,
    budget: Any,
    seed: int,
) -> list[Result[Array, Any]]:
    """The fit of each size, rising: from the one before or from an l1 path, whichever ends lower."""
    chosen = build("solver", solver) if isinstance(solver, Mapping) else solver
    found: list[Result[Array, Any]] = []
    start = np.zeros(function.shape)
    free = np.zeros(function.shape, dtype=bool)
    free[-1:] = intercept
    shrunk = list(l1_path(function, free, _BEYOND * max(sizes))) if max(sizes) else []
    for size in sizes:
        inside = bounded(over, size)
        problem = Minimize(function, over=WithIntercept(over=inside) if intercept else inside)

        def fit(point: Array, problem: Minimize = problem) -> Result[Array, Any]:
            with warnings.catch_warnings():
                # Matching pursuits end in a circle where samples are few; the status says so.
                warnings.simplefilter("ignore", NotConverged)
                return solve(
                    problem, chosen, start=point, budget=budget, seed=seed, progress=False, trace=False
                )

        result = fit(start)
        other = _best_of(function, problem.over, shrunk, size)
        if other is not None and not np.array_equal(support(other), support(result.solution)):
            result = min(result, fit(other), key=lambda each: each.objective)
        start = result.solution
        found.append(result)
    return found


def _best_of(function: LinearModel, over: ConstraintSet, points: Sequence[Array], size: int) -> Array | None:
    """Of the points with `size` entries or a few times as many, cut to the set, the one that fits best."""
    near = [x for x in points if size <= np.count_nonzero(x) <= _BEYOND * size + 1]
    cut: dict[bytes, Any] = {}
    for x in near[:: len(near) // _TRIED + 1]:
        kept = support(np.asarray(over.project(x)))
        cut.setdefault(kept.tobytes(), kept)
    fits = [minimise_on(function, kept, np.zeros(kept.shape)) for kept in cut.values()]
    return min(fits, key=function.value, default=None) if size else None


def criterion(kind: Criterion, function: LinearModel, x: Array, used: int, features: int) -> float:
    """An information criterion of a fit with `used` nonzero coefficients; lower is better.

    For least squares the deviance is n log(2 loss), else 2 n loss. "bic" adds used log n; "ebic" that and
    2 used log features (Chen, Chen 2008); "sic" used log features log log n (Zhu et al. 2020, abess).
    """
    n = len(function)
    loss = float(function.losses(function.matrix @ x).mean())
    floor = float(np.finfo(np.float64).tiny)
    deviance = n * np.log(max(2 * loss, floor)) if isinstance(function, LeastSquares) else 2 * n * loss
    each = {
        "bic": np.log(n),
        "ebic": np.log(n) + 2 * np.log(features),
        "sic": np.log(max(features, 2)) * np.log(max(np.log(n), 1.0 + 1e-9)),
    }
    return float(deviance + used * each[kind])
