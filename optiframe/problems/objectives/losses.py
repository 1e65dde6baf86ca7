"""Linear models: the mean loss of the predictions A x, plus half l2 times the squared norm.

A loss is one class of a few lines; `LinearModel` turns its slope and bend into the
gradient, the Hessian and the curvature bound.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from pydantic import Field, NonNegativeFloat, PlainValidator, model_validator
from scipy.special import expit, xlogy

from optiframe.errors import InvalidInput, require
from optiframe.problems.objectives.columns import Columns
from optiframe.problems.objectives.normal_equations import HessianRows, solved
from optiframe.problems.objectives.objective import FiniteSum, Quadratic
from optiframe.records.fields import Accepts, Array, Matrix, Vector, as_vector, read_only
from optiframe.tables.libsvm import read_libsvm

_DENSE = 500  # up to this order an eigenvalue is computed densely, in well under 0.1 s
_BLOCK = 1 << 20  # numbers
_DENSITY = 0.1  # of sparse rows, above which products take less time where they are dense
_ACCURACY = 1e-6  # relative accuracy asked of the iterative eigenvalue; the bound is raised by as much


class LinearModel(FiniteSum):
    """Mean of loss(z_i, target_i) plus l2/2 |x|^2, where z = matrix x, over n rows and d columns.

    A subclass gives the loss as a function of the predictions z: `losses`, its derivative
    `slopes` and its second derivative `bends`; where there are such, a bound `most_bend` on the latter
    and `loss_as_cvxpy`. A loss with corners says that it is not `smooth`, and its
    slopes are subgradients: it offers no gradient. Value, gradient and Hessian product cost one or
    two passes over the matrix and O(n + d) memory beside it; the Hessian matrix costs O(nnz d) time
    and O(d^2) memory. The matrix may be dense or sparse and is not copied.

    Raises
    ------
    InvalidInput
        When there are no rows or columns, the lengths disagree, or `data` is given beside
        matrix and target or is not LIBSVM text.
    """

    most_bend: ClassVar[float] = math.inf
    smooth: ClassVar[bool] = True

    matrix: Matrix = Field(description="features, n x d; or give data")
    target: Vector = Field(description="one value for each row; or give data")
    l2: NonNegativeFloat = Field(default=0.0, description="weight of half the squared norm of x")
    data: Annotated[str | Path | None, Accepts("path of a LIBSVM text file, may end in .gz or .bz2")] = Field(
        default=None, description="LIBSVM text file to read matrix and target from"
    )

    @model_validator(mode="before")
    @classmethod
    def _read_data(cls, given: Any) -> Any:
        if not isinstance(given, dict) or given.get("data") is None:
            return given
        path, others = given["data"], {key: value for key, value in given.items() if key != "data"}
        if not isinstance(path, str | Path):
            raise _about_data(f"must be the path of a LIBSVM file, got {path!r:.40}")
        if "matrix" in others or "target" in others:
            raise _about_data("brings matrix and target; give either it or them")
        try:
            matrix, target = read_libsvm(path)
        except InvalidInput as error:
            raise _about_data(str(error)) from None
        return {"matrix": matrix, "target": target, **others}

    @model_validator(mode="after")
    def _lengths_agree(self) -> Self:
        rows, columns = self.matrix.shape
        if rows != len(self.target):
            raise InvalidInput(f"matrix has {rows} rows, target {len(self.target)} values; they must agree")
        if rows == 0 or columns == 0:
            raise InvalidInput(f"matrix is {rows} x {columns}; it must have a row and a column")
        return self

    @abstractmethod
    def losses(self, z: Array) -> Array:
        """Loss of each row at the predictions `z`; both of shape (n,)."""

    @abstractmethod
    def slopes(self, z: Array) -> Array:
        """Derivative of each row's loss by its prediction."""

    @abstractmethod
    def bends(self, z: Array) -> Array:
        """Second derivative of each row's loss by its prediction."""

    def conjugates(self, u: Array) -> Array:
        """Conjugate of each row's loss: the largest ``u z - loss(z)``; infinite where there is none."""
        raise self._lacks("conjugate of its losses")

    def proximals(self, v: Array, step: float) -> Array:
        """For each row the z that minimizes ``step * loss(z) + (z - v)^2 / 2``."""
        raise self._lacks("proximal step of its losses")

    def loss_as_cvxpy(self, z: Any) -> Any:
        """Sum of the losses as a CVXPY expression of the predictions `z`; None where there is none."""
        return None

    def offers(self, operation: Callable[..., Any]) -> bool:
        name = operation.__name__
        if name in ("conjugates", "proximals"):
            return getattr(type(self), name) is not getattr(LinearModel, name)
        if not self.smooth and name in ("gradient", "value_and_gradient", "hessian_product", "hessian"):
            return False
        return super().offers(operation) and (name != "curvature" or math.isfinite(self.most_bend))

    @property
    def shape(self) -> tuple[int, ...]:
        return (int(self.matrix.shape[1]),)

    def __len__(self) -> int:
        return len(self.target)

    @property
    def ridge(self) -> float | Array:
        """Weight of half the square of each entry: `l2`, unless a subclass spares some of them."""
        return self.l2

    def penalty(self, x: Array) -> float:
        """The l2 term at `x`."""
        ridge = self.ridge
        return float((ridge * x) @ x / 2 if isinstance(ridge, np.ndarray) else ridge / 2 * (x @ x))

    def value(self, x: Array) -> float:
        return float(self.losses(self.matrix @ x).mean() + self.penalty(x))

    def gradient(self, x: Array) -> Array:
        return np.asarray(self.matrix.T @ (self.slopes(self.matrix @ x) / len(self)) + self.ridge * x)

    def value_and_gradient(self, x: Array) -> tuple[float, Array]:
        z = self.matrix @ x
        gradient = self.matrix.T @ (self.slopes(z) / len(self)) + self.ridge * x
        return float(self.losses(z).mean() + self.penalty(x)), np.asarray(gradient)

    def hessian_product(self, x: Array, v: Array) -> Array:
        bends = self.bends(self.matrix @ x) / len(self)
        return np.asarray(self.matrix.T @ (bends * (self.matrix @ v)) + self.ridge * v)

    def hessian(self, x: Array) -> Array:
        bends = self.bends(self.matrix @ x) / len(self)
        columns = self.shape[0]
        total = self.ridge * np.eye(columns)
        if sp.issparse(self.matrix) and self.matrix.nnz <= _DENSITY * len(self) * columns:
            return total + self._columns.products(np.arange(columns), bends)
        # Rows go in blocks, so that their scaled copy is no larger than the answer (or 8 MB).
        block = max(columns, _BLOCK // columns)
        for start in range(0, len(self), block):
            rows, weights = self.matrix[start : start + block], bends[start : start + block]
            if sp.issparse(rows):
                rows = rows.toarray()
            if (weights >= 0).all():
                roots = np.sqrt(weights)[:, np.newaxis] * rows
                total += roots.T @ roots  # half of a product of two: BLAS knows it symmetric
            else:
                total += rows.T @ (weights[:, np.newaxis] * rows)
        return total

    def hessian_rows(self, x: Array) -> HessianRows:
        """Rows of the Hessian at `x`, computed as they are asked for."""
        return HessianRows(self._columns, self.bends(self.matrix @ x) / len(self), self.ridge)

    def steepest_hessian(self) -> HessianRows:
        """Rows of a matrix that no Hessian exceeds: `most_bend`, which must be finite, at every row."""
        return HessianRows(self._columns, np.full(len(self), self.most_bend / len(self)), self.ridge)

    def curvature(self) -> float:
        """`most_bend` times the largest eigenvalue of matrix' matrix / n, plus l2; computed once.

        By a dense eigenvalue routine where n or d is at most 500, else by Lanczos iteration
        from a fixed start; raised by the accuracy of either, so that it bounds from above.
        """
        return float(self.most_bend * self._largest_eigenvalue / len(self) + self.l2)

    def take(self, indices: Any) -> Self:
        """The same model over the chosen rows: indices (repeats allowed), a slice or a mask.

        Costs a copy of those rows (none for a slice of a dense matrix).

        Raises
        ------
        InvalidInput
            When no row is chosen, or one that is not there.
        """
        rows = indices if isinstance(indices, slice) else np.asarray(indices)
        if isinstance(rows, np.ndarray) and (rows.ndim != 1 or not rows.size):
            raise InvalidInput("take at least one row, by a list of row numbers, a slice or a mask")
        try:
            target = self.target[rows]
        except IndexError as error:
            raise InvalidInput(f"these are not rows of {len(self)} terms: {error}") from None
        if not len(target):
            raise InvalidInput("take at least one row; the slice or mask chooses none")
        matrix = read_only(_rows_of(self.matrix, rows))  # ours alone: nobody will write there
        target.flags.writeable = False
        # Rows of a model have been checked; doing it again would take longer than taking them.
        others = {key: value for key, value in self if key not in ("matrix", "target", "data")}
        return type(self).model_construct(matrix=matrix, target=target, **others)

    def on_columns(self, indices: NDArray[np.intp]) -> Self:
        """The same model over these entries of x, in this order, the others zero.

        Costs a copy of those columns; of a sparse matrix, one by columns is kept from the first call on.
        """
        columns = read_only(self._columns.take(indices))  # ours alone: need not be copied once more
        # The rest has been checked; doing it again for each fit took a seventh of a path's time.
        others = {key: value for key, value in self if key not in ("matrix", "data")}
        return type(self).model_construct(matrix=columns, **others)

    def rows_alike(self, indices: NDArray[np.intp]) -> tuple[NDArray[np.intp], Array] | None:
        """One row for all that agree in these columns and in the target, and how many each stands for.

        None where few rows agree, or columns or targets have many values. O(n) for each column.
        """
        return self._columns.alike(indices, self.target)

    @cached_property
    def _columns(self) -> Columns:
        return Columns(self.matrix)

    def as_cvxpy(self, x: Any) -> Any:
        cp = require("cvxpy", "reference")
        total = self.loss_as_cvxpy(cp.Constant(self.matrix) @ x)
        if total is None:
            return None
        loss = total / len(self)
        return loss + cp.sum_squares(cp.multiply(np.sqrt(self.ridge), x)) / 2 if self.l2 else loss

    @cached_property
    def _largest_eigenvalue(self) -> float:
        """Largest eigenvalue of matrix' matrix, from above."""
        from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

        flat = self.matrix if self.matrix.shape[0] <= self.matrix.shape[1] else self.matrix.T
        order = flat.shape[0]
        # The sum of all eigenvalues, so never below the largest.
        frobenius = float(np.linalg.norm(flat.data if sp.issparse(flat) else flat) ** 2)
        if frobenius == 0.0:
            return 0.0
        if order <= _DENSE:
            gram = flat @ flat.T
            largest = np.linalg.eigvalsh(gram.toarray() if sp.issparse(gram) else gram)[-1]
            rounding: float = np.finfo(np.float64).eps * max(flat.shape)
            return float(largest) * (1 + rounding)
        gram = LinearOperator((order, order), matvec=lambda v: flat @ (flat.T @ v), dtype=np.float64)
        # A random start, since a regular one (all ones) can be orthogonal to the answer.
        start = np.random.default_rng(0).standard_normal(order)
        try:
            largest = eigsh(gram, k=1, v0=start, tol=_ACCURACY, return_eigenvectors=False)[0]
        except ArpackNoConvergence:
            return frobenius
        return min(float(largest) * (1 + _ACCURACY), frobenius)


def _rows_of(matrix: Any, rows: Any) -> Any:
    """The chosen rows, which are there; by the faster of NumPy's two ways where it has two."""
    listed = isinstance(rows, np.ndarray) and rows.dtype != bool
    if listed and not sp.issparse(matrix) and matrix.flags.c_contiguous:
        return matrix.take(rows, axis=0)  # a third less time than indexing; of Fortran order thrice as much
    return matrix[rows]


def _about_data(text: str) -> InvalidInput:
    return InvalidInput(f"data: {text}", [(("data",), text)])


class LeastSquares(LinearModel):
    """Mean of half squared residuals: (z - y)^2 / 2."""

    name = "least-squares"
    convex = True
    most_bend = 1.0

    def losses(self, z: Array) -> Array:
        return (z - self.target) ** 2 / 2

    def slopes(self, z: Array) -> Array:
        return z - self.target

    def bends(self, z: Array) -> Array:
        return np.ones_like(z)

    def conjugates(self, u: Array) -> Array:
        return np.asarray(u * (u / 2 + self.target))

    def proximals(self, v: Array, step: float) -> Array:
        return np.asarray((v + step * self.target) / (1 + step))

    def residuals(self, x: Array) -> Array:
        fit = (self.matrix @ x - self.target) / math.sqrt(len(self))
        return np.concatenate([fit, np.sqrt(self.ridge) * x]) if self.l2 else np.asarray(fit)

    def jacobian(self, x: Array) -> Any:
        fit = self.matrix / math.sqrt(len(self))
        if not self.l2:
            return fit
        ridge = sp.csr_array(sp.diags_array(np.sqrt(np.broadcast_to(self.ridge, self.shape))))
        return sp.vstack([fit, ridge]) if sp.issparse(fit) else np.vstack([fit, ridge.toarray()])

    def minimizer_on(self, indices: NDArray[np.intp]) -> Array | None:
        """The minimizer among points that are zero outside these columns: its values there, in their order.

        By normal equations, O(k^3) once the products of these columns are known; they are kept for the next
        call, up to 128 MB. None where columns are nearly alike, or more is to be kept.
        """
        products = self._hessian_rows.among(indices)
        return None if products is None else solved(products, self._against_target[indices])

    def hessian_rows(self, x: Array) -> HessianRows:
        return self._hessian_rows  # the same at every point

    @cached_property
    def _hessian_rows(self) -> HessianRows:
        return HessianRows(self._columns, None, self.ridge)

    @cached_property
    def _against_target(self) -> Array:
        return np.asarray(self.matrix.T @ self.target) / len(self)

    def quadratic(self) -> Quadratic:
        from scipy.sparse.linalg import LinearOperator

        (columns,), origin = self.shape, np.zeros(self.shape)
        gram = LinearOperator(
            (columns, columns), matvec=lambda v: self.hessian_product(origin, v), dtype=np.float64
        )
        return Quadratic(gram, self.gradient(origin), self.value(origin))

    def loss_as_cvxpy(self, z: Any) -> Any:
        return require("cvxpy", "reference").sum_squares(z - self.target) / 2


def as_labels(value: Any) -> Array:
    """A read-only vector of -1.0 and 1.0, from labels -1 and 1, 0 and 1, or truth values."""
    if isinstance(value, np.ndarray) and value.dtype == bool:
        value = value.astype(np.float64)
    labels = as_vector(value)
    wrong = np.flatnonzero((np.abs(labels) != 1) & (labels != 0))
    if len(wrong):
        raise InvalidInput(
            f"row {wrong[0] + 1}: label {labels[wrong[0]]:g}; labels must be -1 and 1, or 0 and 1"
        )
    zero, minus = np.flatnonzero(labels == 0), np.flatnonzero(labels == -1)
    if len(zero) and len(minus):
        raise InvalidInput(
            f"row {zero[0] + 1} has label 0 and row {minus[0] + 1} label -1; "
            "labels must be -1 and 1, or 0 and 1"
        )
    if len(zero):
        labels = 2 * labels - 1
        labels.flags.writeable = False
    return labels


Labels = Annotated[
    Array,
    PlainValidator(as_labels),
    Accepts("vector of -1 and 1 or of 0 and 1, or path of a CSV or NPY file"),
]


class Logistic(LinearModel):
    """Mean logistic loss of labels -1 and 1: log(1 + exp(-y z)).

    Labels 0 and 1 are read as -1 and 1. Neither large nor small predictions overflow.
    """

    name = "logistic"
    convex = True
    most_bend = 0.25

    target: Labels = Field(description="label of each row; or give data")

    def losses(self, z: Array) -> Array:
        return np.asarray(np.logaddexp(0.0, -self.target * z))

    def slopes(self, z: Array) -> Array:
        return np.asarray(-self.target * expit(-self.target * z))

    def bends(self, z: Array) -> Array:
        rarer = expit(-np.abs(z))
        return np.asarray(rarer * (1.0 - rarer))

    def conjugates(self, u: Array) -> Array:
        share = -u * self.target  # between 0 and 1 where the conjugate is finite
        inside = (share >= 0) & (share <= 1)
        entropy = xlogy(share, share) + xlogy(1 - share, 1 - share)
        return np.where(inside, entropy, np.inf)

    def loss_as_cvxpy(self, z: Any) -> Any:
        cp = require("cvxpy", "reference")
        return cp.sum(cp.logistic(-cp.multiply(self.target, z)))


class SquaredHinge(LinearModel):
    """Mean squared hinge loss of labels -1 and 1: max(0, 1 - y z)^2.

    Labels 0 and 1 are read as -1 and 1. The second derivative jumps where y z = 1; there
    the generalized one, 0, is used.
    """

    name = "squared-hinge"
    convex = True
    most_bend = 2.0

    target: Labels = Field(description="label of each row; or give data")

    def losses(self, z: Array) -> Array:
        return np.asarray(np.maximum(0.0, 1 - self.target * z) ** 2)

    def slopes(self, z: Array) -> Array:
        return np.asarray(-2 * self.target * np.maximum(0.0, 1 - self.target * z))

    def bends(self, z: Array) -> Array:
        return np.where(self.target * z < 1, 2.0, 0.0)

    def conjugates(self, u: Array) -> Array:
        return np.where(u * self.target <= 0, u * (u / 4 + self.target), np.inf)

    def loss_as_cvxpy(self, z: Any) -> Any:
        cp = require("cvxpy", "reference")
        return cp.sum_squares(cp.pos(1 - cp.multiply(self.target, z)))
