"""Solves with the curvature of a likelihood of votes, and the diagonal of its inverse."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.lapack import dpotri
from scipy.sparse.linalg import cg

from optiframe.records.fields import Array
from optiframe_hodgerank.graph.comparison_graph import ComparisonGraph
from optiframe_hodgerank.graph.laplacian import DENSE, Components

Codes = NDArray[np.int64]

_ACCURACY = 1e-10  # relative residual of conjugate gradients: Newton steps need no more
_LEAST = float(np.finfo(np.float64).eps)  # weight that a pair keeps where a win is certain within rounding


class Curvature:
    """The matrix X' W X + ridge, by a Cholesky factor up to 2,000 items, by iteration beyond.

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
        A symmetric matrix to take off, shape (items, items); only up to 2,000 items. None: nothing.

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
        self.ridge, self._mean = ridge, Components(component)
        self._factor: tuple[Array, bool] | None = None
        # Off zero, so that pairs stay joined.
        weight = np.maximum(weight, _LEAST * float(weight.max(initial=1.0))) if less is None else weight
        self._graph = ComparisonGraph(items, left, right, np.zeros(len(weight)), weight)
        if items <= DENSE:
            matrix = np.zeros((items, items))
            matrix[np.maximum(left, right), np.minimum(left, right)] = -weight  # the lower half
            diagonal = self._graph.weight_of_items + ridge
            matrix[np.arange(items), np.arange(items)] = diagonal
            if less is not None:
                matrix -= less
            if not ridge:  # fill in the constants of each component, at the size of the rest
                self._fill = float(diagonal.max(initial=0.0)) or 1.0
                if len(self._mean.size) == 1:
                    matrix += self._fill / items
                else:
                    same = component[:, None] == component[None, :]
                    matrix += self._fill * same / self._mean.size[component]
            self._factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)

    def solve(self, b: Array) -> Array:
        """x with (X' W X + ridge) x = b, shape (items,) or (items, k)."""
        if self._factor is not None:
            x = np.asarray(cho_solve(self._factor, b, check_finite=False))
            return x if self.ridge else self._mean.centred(x)
        if not self.ridge:
            return self._graph.solve(b)
        matrix = sp.csr_array(self._graph.laplacian + self.ridge * sp.eye_array(len(b)))
        nearly = sp.diags_array(1.0 / matrix.diagonal())
        return np.asarray(cg(matrix, b, rtol=_ACCURACY, atol=0.0, M=nearly)[0])

    def inverse_diagonal(self) -> Array:
        """Diagonal of the inverse among vectors that sum to zero within each component, shape (items,).

        Beyond 2,000 items a solve an item.
        """
        size = self._mean.size[self._mean.component]
        if self._factor is None:
            if not self.ridge:
                return self._graph.laplacian_inverse.diagonal()
            unit = np.eye(1, self._graph.items)[0]
            whole = np.array([self.solve(np.roll(unit, i))[i] for i in range(self._graph.items)])
            return np.asarray(whole - 1.0 / (self.ridge * size))
        inverse, _ = dpotri(self._factor[0], lower=True)
        diagonal = np.asarray(inverse.diagonal().copy())
        # Less the constants of each component.
        return np.asarray(diagonal - 1.0 / ((self.ridge or self._fill) * size))
