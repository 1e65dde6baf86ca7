"""Solves with the curvature of a likelihood of votes, and the diagonal of its inverse."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.lapack import dtrtri
from scipy.sparse.linalg import cg

from optiframe.records.fields import Array
from optiframe_hodgerank.graph.comparison_graph import ComparisonGraph
from optiframe_hodgerank.graph.conjugate_gradients import conjugate_gradients
from optiframe_hodgerank.graph.laplacian import DENSE, Components
from optiframe_hodgerank.kernels.votes import laplacian_product

Codes = NDArray[np.int64]

_ACCURACY = 1e-10  # relative residual of conjugate gradients: Newton steps need no more
_STEPS = (
    100  # of conjugate gradients: random graphs take some 3 a digit; others, such as chains, are factored
)
_A_DIGIT = 3
# What a step and a factor cost, in multiplications within a factor: a pair's part, and what NumPy adds.
_STEP_PAIR, _STEP, _FACTOR_PAIR, _FACTOR = 200.0, 2e6, 700.0, 1e7
_LEAST = float(np.finfo(np.float64).eps)  # weight that a pair keeps where a win is certain within rounding


class Curvature:
    """The matrix X' W X + ridge, by conjugate gradients and by a Cholesky factor.

    Up to 2,000 items it iterates until that has cost about as much as a factor, or converges slowly, and
    then factors; beyond 2,000 items there is no factor.

    Parameters
    ----------
    items
        Number of items, n.
    left, right
        Codes of the items of each pair, shape (pairs,); each pair once.
    weight
        The diagonal of W, shape (pairs,).
    component
        Label of the component of each item. Without a ridge, answers sum to zero within each.
    ridge
        Added to the diagonal: the precision of a normal prior of the scores.
    less
        The lower half of a symmetric matrix to take off, shape (items, items); only up to 2,000 items. None:
        nothing.

    Raises
    ------
    numpy.linalg.LinAlgError
        When the matrix is not positive definite, which only `less` can bring about.
    """

    def __init__(
        self,
        items: int,
        left: Codes,
        right: Codes,
        weight: Array,
        component: Codes,
        *,
        ridge: float = 0.0,
        less: Array | None = None,
    ) -> None:
        self.items, self.ridge, self._mean, self._less = items, ridge, Components(component), less
        # Off zero, so that pairs stay joined.
        self._weight = np.maximum(weight, _LEAST * float(weight.max(initial=1.0))) if less is None else weight
        self._left, self._right = left, right
        diagonal = np.bincount(left, self._weight, items) + np.bincount(right, self._weight, items)
        self._diagonal = np.asarray(diagonal + ridge, dtype=np.float64)
        self._left_over = float(items) ** 3 + _FACTOR_PAIR * len(left) + _FACTOR  # of a factor's cost
        if less is not None:
            _ = self._factor  # which raises where it does not exist

    @property
    def _fill(self) -> float:
        """What the constants of each component have as an eigenvalue: the ridge, or the size of the rest."""
        return self.ridge or float(self._diagonal.max(initial=0.0)) or 1.0

    @cached_property
    def _factor(self) -> tuple[Array, bool]:
        matrix = np.zeros((self.items, self.items), order="F")  # as LAPACK wants it: no copy is made
        left, right = self._left, self._right
        place = np.minimum(left, right) * self.items + np.maximum(left, right)
        matrix.T.reshape(-1)[place] = -self._weight  # the lower half, nearly in order of the memory
        matrix[np.diag_indices(self.items)] = self._diagonal
        if self._less is not None:
            matrix -= self._less
        if not self.ridge:
            if len(self._mean.size) == 1:
                matrix += self._fill / self.items
            else:
                component = self._mean.component
                same = component[:, None] == component[None, :]
                matrix += self._fill * same / self._mean.size[component]
        factor: tuple[Array, bool] = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
        return factor

    def solve(self, b: Array, accuracy: float = _ACCURACY) -> Array:
        """x with (X' W X + ridge) x = b, shape (items,) or (items, k).

        Where it iterates, the residual is at most `accuracy` of the largest entry of b.
        """
        if "_factor" in vars(self) or not (self.items > DENSE or self._pays(accuracy, b)):
            x = np.asarray(cho_solve(self._factor, b, check_finite=False))
            return x if self.ridge else self._mean.centred(x)
        if b.ndim > 1:
            return np.column_stack([self.solve(column, accuracy) for column in b.T])
        x, left = np.zeros_like(b), np.array(b if self.ridge else self._mean.centred(b))
        inverse, enough = 1.0 / self._diagonal, accuracy * float(np.abs(left).max(initial=0.0))
        if conjugate_gradients(self._product, lambda r: inverse * r, x, left, enough, most=_STEPS):
            return x if self.ridge else self._mean.centred(x)
        if self.items > DENSE:
            return self._last_resort(b)
        self._left_over = 0.0
        return self.solve(b)

    def _pays(self, accuracy: float, b: Array) -> bool:
        """Whether to iterate once more, now that b is to be solved for."""
        columns = 1 if b.ndim == 1 else b.shape[1]
        steps = _A_DIGIT * -np.log10(accuracy) * columns
        self._left_over -= steps * (_STEP_PAIR * len(self._left) + _STEP)
        return self._left_over >= 0

    def _product(self, v: Array) -> Array:
        found = np.empty_like(v)
        laplacian_product(self._left, self._right, self._weight, v, found)
        return found + self.ridge * v

    @cached_property
    def _graph(self) -> ComparisonGraph:
        nothing = np.zeros(len(self._weight))
        return ComparisonGraph(self.items, self._left, self._right, nothing, self._weight)

    def _last_resort(self, b: Array) -> Array:
        if not self.ridge:
            return self._graph.solve(b)
        matrix = sp.csr_array(self._graph.laplacian + self.ridge * sp.eye_array(len(b)))
        nearly = sp.diags_array(1.0 / self._diagonal)
        return np.asarray(cg(matrix, b, rtol=_ACCURACY, atol=0.0, M=nearly)[0])

    def log_determinant(self) -> float:
        """Logarithm of the determinant, with a ridge; beyond 2,000 items about: of the diagonal alone."""
        if self.items > DENSE:
            return float(np.log(self._diagonal).sum())
        return 2.0 * float(np.log(np.diagonal(self._factor[0])).sum())

    def inverse_diagonal(self) -> Array:
        """Diagonal of the inverse among vectors that sum to zero within each component, shape (items,).

        Beyond 2,000 items a solve an item.
        """
        size = self._mean.size[self._mean.component]
        if self.items > DENSE:
            if not self.ridge:
                return self._graph.laplacian_inverse.diagonal()
            unit = np.eye(1, self.items)[0]
            whole = np.array([self.solve(np.roll(unit, i))[i] for i in range(self.items)])
            return np.asarray(whole - 1.0 / (self.ridge * size))
        inverse, _ = dtrtri(self._factor[0], lower=True)
        if not self.ridge:
            inverse = np.tril(inverse)  # with a ridge nothing was ever written above the diagonal
        return np.asarray(np.einsum("ij,ij->j", inverse, inverse) - 1.0 / (self._fill * size))


class JointCurvature:
    """As `Curvature`, of scores and effects: a dense matrix with the prior's ridge on its diagonal.

    Raises
    ------
    numpy.linalg.LinAlgError
        When the matrix is not positive definite.
    """

    def __init__(self, matrix: Array, components: Components, ridge: float) -> None:
        self._factor: tuple[Array, bool] = cho_factor(matrix, lower=True, check_finite=False)
        self._components, self._ridge = components, ridge

    def solve(self, b: Array, accuracy: float = 0.0) -> Array:
        """Exactly, whatever the accuracy asked for."""
        return np.asarray(cho_solve(self._factor, b, check_finite=False))

    def inverse_diagonal(self) -> Array:
        """That of scores that sum to zero within each component, and of effects."""
        found = np.diagonal(self.solve(np.eye(len(self._factor[0])))).copy()
        size = self._components.size[self._components.component]
        found[: len(size)] -= 1.0 / (self._ridge * size)
        return found
