"""Minimisation over the entries of a given support: least squares, or Newton's method."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from pydantic import Field

from optiframe.problems.objectives.losses import LeastSquares, LinearModel
from optiframe.problems.objectives.normal_equations import solved
from optiframe.problems.objectives.objective import Objective, SquaredDistance
from optiframe.records.fields import Array
from optiframe_tvcs.kernels.splicing import newton
from optiframe_tvcs.learning.dense import dense_table
from optiframe_tvcs.learning.grouped_rows import GroupedRows

Inner = Annotated[
    Literal["auto", "cg", "least-squares"],
    Field(description="restricted minimisation: Newton with cg; least-squares; auto: by size and objective"),
]

ACCURACY = 1e-9
"""Gradient length, relative to that at zero, at which a restricted minimum is taken for reached: a
thousand times below the default tolerance of a run."""
_MOST_DENSE = 2000  # columns up to which a dense least-squares problem is solved directly, in about 1 s
_FEW = 200  # columns up to which the Hessian matrix takes less time than ten of its products
_NEWTON_STEPS = 50  # Newton takes some ten; only where there is no minimum are there more
_HALVINGS = 40  # of a Newton step: by then it is below the rounding of the point
_SLOW = 0.2  # of the gradient's length: what a step by an old Hessian must bring it to
_FALL = 1e-4  # share of the predicted fall that a Newton step must bring (Armijo's usual constant)
_ROUNDING = 10 * float(np.finfo(np.float64).eps)
_GRADIENT_STEPS = 1000  # of L-BFGS, where the objective has a gradient and no Hessian product


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
    time_left: Callable[[], float] | None = None,
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
        Hessian product L-BFGS. "auto": for least squares of up to 2,000 columns their normal
        equations, or the first where columns are dense and nearly alike; for other linear models of up to
        200 Newton steps by the Hessian matrix.
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
    if not len(indices):
        return x
    if inner == "auto" and isinstance(function, LeastSquares) and len(indices) <= _MOST_DENSE:
        values = function.minimizer_on(indices)
        if values is not None:
            x.reshape(-1)[indices] = values
            return x
    z = np.array(start, dtype=np.float64).reshape(-1)[indices]
    few = inner == "auto" and isinstance(function, LinearModel) and len(indices) <= _FEW
    dense = dense_table(function) if few and not isinstance(function, LeastSquares) else None
    if dense is not None and newton(*dense, indices, z, accuracy, least, hessian):
        x.reshape(-1)[indices] = z
        return x
    reduced = _reduced(function, indices, inner)
    if inner == "auto":
        small = isinstance(reduced, LeastSquares) and not sp.issparse(reduced.matrix)
        inner = "least-squares" if small and len(indices) <= _MOST_DENSE else "cg"
    if inner == "least-squares":
        assert isinstance(reduced, LeastSquares)
        z = _least_squares(reduced)
    elif reduced.offers(Objective.hessian_product):
        z = newton_method(
            reduced,
            z,
            time_left or _forever,
            accuracy=accuracy,
            least=least,
            by_matrix=few,
            hessian=hessian if few else None,
        )
    else:
        z = _quasinewton_method(reduced, z, time_left or _forever)
    x.reshape(-1)[indices] = z
    return x


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


def _forever() -> float:
    return np.inf


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


def newton_method(
    function: Objective,
    z: Array,
    time_left: Callable[[], float],
    *,
    accuracy: float,
    least: float,
    by_matrix: bool,
    hessian: Array | None,
) -> Array:
    """Newton's method, steps halved until the objective falls, by the Hessian or conjugate gradients.

    A Hessian serves as long as steps by it shorten the gradient to a fifth (Kelley 1995, Sec. 5.4.3).
    """
    value, gradient = function.value_and_gradient(z)
    zero = function.gradient(np.zeros_like(z)) if z.any() else gradient
    goal = accuracy * float(np.linalg.norm(zero))
    quadratic = isinstance(function, LeastSquares) or (
        isinstance(function, RestrictedObjective) and isinstance(function.whole, SquaredDistance)
    )
    for _ in range(_NEWTON_STEPS):
        size = float(np.linalg.norm(gradient))
        if size <= goal or time_left() == 0:
            break
        old = hessian is not None
        if by_matrix and hessian is None:
            hessian = function.hessian(z)
        step = None if hessian is None else solved(hessian, -gradient)
        if step is None:
            # A quadratic is done in one step; elsewhere accuracy far from the minimum is wasted, and
            # this rule still gives faster than linear convergence (Nocedal, Wright, Sec. 7.1).
            ask = goal if quadratic else min(0.5, float(np.sqrt(size))) * size
            step = _conjugate_gradients(function, z, gradient, max(ask, goal / 2), time_left)
        fall = float(gradient @ step)  # twice what a quadratic falls by
        if value + fall > least:
            break
        share = 1.0
        for _ in range(_HALVINGS):
            ahead, after = function.value_and_gradient(z + share * step)
            if old or ahead <= value + _FALL * share * fall + _ROUNDING * abs(value):
                break
            share /= 2
        else:
            break
        if old and not ahead <= value + _FALL * fall:
            hessian = None
            continue
        z, value, gradient = z + share * step, ahead, after
        if float(np.linalg.norm(gradient)) > _SLOW * size:
            hessian = None
    return z


def _conjugate_gradients(
    function: Objective, z: Array, gradient: Array, goal: float, time_left: Callable[[], float]
) -> Array:
    """A step s with Hessian s = -gradient up to a residual of `goal`; downhill where it is not convex."""
    step, left = np.zeros_like(z), -gradient
    direction, square = left.copy(), float(left @ left)
    # In exact arithmetic len(z) steps suffice; rounding asks for more where columns are alike.
    for _ in range(4 * len(z) + 10):
        product = function.hessian_product(z, direction)
        bend = float(direction @ product)
        if bend <= 0:
            return step if step.any() else direction
        share = square / bend
        step = step + share * direction
        left = left - share * product
        before, square = square, float(left @ left)
        if np.sqrt(square) <= goal or time_left() == 0:
            break
        direction = left + (square / before) * direction
    return step


def _quasinewton_method(function: Objective, z: Array, time_left: Callable[[], float]) -> Array:
    """SciPy's L-BFGS, for objectives without a Hessian product."""
    from scipy.optimize import minimize

    def out_of_time(intermediate_result: Any) -> None:
        if time_left() == 0:
            raise StopIteration

    found = minimize(
        function.value,
        z,
        jac=function.gradient,
        method="L-BFGS-B",
        callback=out_of_time,
        options={"maxiter": _GRADIENT_STEPS, "maxfun": 2 * _GRADIENT_STEPS, "ftol": 0.0, "gtol": 0.0},
    )
    return np.asarray(found.x)
