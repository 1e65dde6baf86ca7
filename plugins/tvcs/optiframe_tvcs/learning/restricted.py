"""Minimisation over the entries of a given support, by the way that suits the objective."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from pydantic import Field

from optiframe.problems.objectives.losses import LeastSquares, LinearModel
from optiframe.problems.objectives.objective import Objective, SquaredDistance
from optiframe.records.fields import Array
from optiframe_tvcs.kernels.splicing import newton
from optiframe_tvcs.learning.dense import dense_table
from optiframe_tvcs.learning.grouped_rows import GroupedRows
from optiframe_tvcs.learning.newton import newton_method, quasinewton_method

Inner = Annotated[
    Literal["auto", "cg", "least-squares"],
    Field(description="restricted minimisation: Newton with cg; least-squares; auto: by size and objective"),
]

ACCURACY = 1e-9
"""Gradient length, relative to that at zero, at which a restricted minimum is taken for reached: a
thousand times below the default tolerance of a run."""
_MOST_DENSE = 2000  # columns up to which a dense least-squares problem is solved directly, in about 1 s
_FEW = 200  # columns up to which the Hessian matrix takes less time than ten of its products


class RestrictedObjective(Objective):
    """An objective as a function of the entries on a support; the others are zero.

    Costs what the objective costs: each call fills a whole point.
    """

    name = "restricted"

    whole: Objective
    indices: Any

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.indices),)

    def _filled(self, z: Array) -> Array:
        x = np.zeros(self.whole.shape)
        x.reshape(-1)[self.indices] = z
        return x

    def value(self, x: Array) -> float:
        return self.whole.value(self._filled(x))

    def gradient(self, x: Array) -> Array:
        return np.array(self.whole.gradient(self._filled(x)).reshape(-1)[self.indices])

    def value_and_gradient(self, x: Array) -> tuple[float, Array]:
        if not self.whole.offers(Objective.value_and_gradient):
            return self.value(x), self.gradient(x)
        value, gradient = self.whole.value_and_gradient(self._filled(x))
        return value, np.array(gradient.reshape(-1)[self.indices])

    def hessian_product(self, x: Array, v: Array) -> Array:
        product = self.whole.hessian_product(self._filled(x), self._filled(v))
        return np.array(product.reshape(-1)[self.indices])

    def offers(self, operation: Callable[..., Any]) -> bool:
        return self.whole.offers(operation)


def restrict(function: Objective, indices: NDArray[np.intp]) -> Objective:
    """The objective over the entries at `indices` (of the flattened point), the others zero.

    A linear model keeps those columns only: a copy of rows x len(indices) numbers, after which
    a step costs so much less.
    """
    if isinstance(function, LinearModel):
        return function.on_columns(indices)
    return RestrictedObjective(whole=function, indices=indices)


def minimise_on(
    function: Objective,
    support: NDArray[np.bool_],
    start: Array,
    inner: Inner = "auto",
    time_left: Callable[[], float] = lambda: np.inf,
    *,
    accuracy: float = ACCURACY,
    least: float = np.inf,
    hessian: Array | None = None,
) -> Array:
    """A point that is zero outside the support and minimises the objective among such points.

    Parameters
    ----------
    function
        Has a gradient; best with a Hessian product.
    support
        Entries that may be other than zero, of the point's shape.
    start
        Where iterations begin; its entries outside the support are left out.
    inner
        "least-squares": LAPACK's, for `LeastSquares`; of several minima the shortest. "cg":
        Newton steps by conjugate gradients (one step for a quadratic), without the Hessian
        matrix; of several minima of a quadratic the one nearest to the start. Without a
        Hessian product L-BFGS. "auto": for least squares of up to 2,000 columns, and for networks gene by
        gene, normal equations (`minimizer_on`), or the first where columns are dense and nearly alike; for
        other linear models of up to 200 Newton steps by the Hessian matrix.
    time_left
        Seconds that are left; with none, what was reached is returned.
    accuracy
        Of Newton's method: the gradient's length, relative to that at zero, at which it ends.
    least
        A value that a minimum of interest falls below: Newton's method ends where twice the fall that it
        expects does not lead there.
    hessian
        Over the entries of the support, at some point nearby: the first step takes it.

    Notes
    -----
    With fewer rows than entries of the support there are many minima. Where there is none, as
    for the logistic loss of labels that can be separated, the steps end at a point with a small
    gradient; an l2 term of the objective makes a minimum.
    """
    x = np.zeros(function.shape)
    indices = np.flatnonzero(support)
    if len(indices):
        z = np.array(start, dtype=np.float64).reshape(-1)[indices]
        x.reshape(-1)[indices] = _minimum(
            function, indices, z, inner, time_left, accuracy=accuracy, least=least, hessian=hessian
        )
    return x


def _minimum(
    function: Objective,
    indices: NDArray[np.intp],
    z: Array,
    inner: Inner,
    time_left: Callable[[], float],
    *,
    accuracy: float,
    least: float,
    hessian: Array | None,
) -> Array:
    """The entries at `indices` of the point that `minimise_on` gives, from `z`, which may be written to."""
    exactly = getattr(function, "minimizer_on", None) if inner == "auto" else None
    if exactly is not None and (len(indices) <= _MOST_DENSE or not isinstance(function, LeastSquares)):
        values: Array | None = exactly(indices)
        if values is not None:
            return values
    few = inner == "auto" and isinstance(function, LinearModel) and len(indices) <= _FEW
    dense = dense_table(function) if few and not isinstance(function, LeastSquares) else None
    if dense is not None and newton(*dense, indices, z, accuracy, least, hessian):
        return z
    reduced = _reduced(function, indices, inner)
    if inner == "auto":
        small = isinstance(reduced, LeastSquares) and not sp.issparse(reduced.matrix)
        inner = "least-squares" if small and len(indices) <= _MOST_DENSE else "cg"
    if inner == "least-squares":
        assert isinstance(reduced, LeastSquares)
        return _least_squares(reduced)
    if not reduced.offers(Objective.hessian_product):
        return quasinewton_method(reduced, z, time_left)
    return newton_method(
        reduced,
        z,
        time_left,
        accuracy=accuracy,
        least=least,
        quadratic=isinstance(function, LeastSquares | SquaredDistance),
        by_matrix=few,
        hessian=hessian if few else None,
    )


def _reduced(function: Objective, indices: NDArray[np.intp], inner: Inner) -> Objective:
    """The objective over these entries, for Newton's method over rows that differ where few do."""
    alike = None
    if inner == "auto" and isinstance(function, LinearModel) and not isinstance(function, LeastSquares):
        alike = function.rows_alike(indices)
    if alike is None:
        return restrict(function, indices)
    rows, counts = alike
    assert isinstance(function, LinearModel)
    model = function.take(rows).on_columns(indices)
    return GroupedRows.model_construct(model=model, weights=counts / len(function))


def why_not_inner(function: Objective, inner: Inner) -> str | None:
    """A sentence when least squares is asked of another objective."""
    if inner == "least-squares" and not isinstance(function, LeastSquares):
        return f'the objective {function.known_as!r} is not least squares; take inner = "cg" or "auto"'
    return None


def _least_squares(function: LeastSquares) -> Array:
    """The shortest minimum; O(n k^2) time, twice the n x k matrix of memory."""
    from scipy.linalg import lstsq

    matrix, target = function.matrix, function.target
    if sp.issparse(matrix):
        matrix = matrix.toarray()
    rows, columns = matrix.shape
    if function.l2:
        # |A z - y|^2 + n ridge |z|^2, as rows of their own: their squares are not formed.
        matrix = np.vstack([matrix, np.sqrt(rows * function.ridge) * np.eye(columns)])
        target = np.concatenate([target, np.zeros(columns)])
    # gelsy: QR with column pivoting, a tenth of the time of the default's singular values.
    cut = max(matrix.shape) * float(np.finfo(np.float64).eps)
    return np.asarray(lstsq(matrix, target, cond=cut, lapack_driver="gelsy", check_finite=False)[0])
