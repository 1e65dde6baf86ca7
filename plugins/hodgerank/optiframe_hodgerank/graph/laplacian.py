"""The pseudo-inverse of a graph Laplacian, by size: dense, sparse LU, or conjugate gradients.

All three solve with one item of each component held at zero (or with the constants of each
component filled in) and then move each component to sum zero, which is exactly L^+.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.csgraph import reverse_cuthill_mckee
from scipy.sparse.linalg import LinearOperator, cg, splu

from optiframe.errors import OptiframeError
from optiframe.numbers import number
from optiframe.records.fields import Array

DENSE = 2000
"""Up to so many items the inverse is a dense matrix: 32 MB, half a second of one core."""
_FILL = 5e7
"""Up to items x bandwidth of this, a bound on the factor's entries (400 MB), the factor is computed."""
_BAND = 0.25
"""Only up to this share of the items is a bandwidth a band: a random graph's factor is nearly dense, takes
items^3 and was 30 to 100 times slower at 2,000 to 7,000 items than conjugate gradients."""
_ACCURACY = 1e-12
"""Relative residual of conjugate gradients: as near to a direct solve as rounding allows."""
_BLOCK = 64  # columns of the inverse that are computed at a time
_STEPS = 5000  # of conjugate gradients; a good preconditioner takes tens, a bad one hundreds


class NotSolved(OptiframeError):
    """Conjugate gradients did not reach the accuracy asked for."""


Operator = Callable[[Array], Array]


def invert(
    laplacian: sp.csr_array,
    component: NDArray[np.int64],
    method: str = "auto",
    cycle: Callable[[], Operator | None] = lambda: None,
) -> LaplacianInverse:
    """The pseudo-inverse of a Laplacian whose components are known.

    Parameters
    ----------
    laplacian
        Symmetric, rows summing to zero, shape (items, items).
    component
        Label 0, 1, ... of the component of each item, shape (items,).
    method
        "dense", "sparse" or "iterative"; "auto": dense up to `DENSE` items; else sparse LU where
        the bandwidth after reverse Cuthill-McKee is a small share of the items and items times
        bandwidth, which bounds the fill, is small (images, chains); else conjugate gradients
        (random graphs, whose factors fill up).
    cycle
        Gives a multigrid cycle to put before conjugate gradients, or None where there is no good one.
    """
    items = len(component)
    if method == "auto":
        method = "dense" if items <= DENSE else "sparse" if _is_band(laplacian) else "iterative"
    if method == "dense":
        return _Dense(laplacian, component)
    if method == "sparse":
        return _SparseLU(laplacian, component)
    return _ConjugateGradients(laplacian, component, cycle())


def _is_band(laplacian: sp.csr_array) -> bool:
    items = laplacian.shape[0]
    place = np.empty(items, dtype=np.int64)
    place[reverse_cuthill_mckee(sp.csr_matrix(laplacian), symmetric_mode=True)] = np.arange(items)
    entries = laplacian.tocoo()
    bandwidth = float(np.abs(place[entries.row] - place[entries.col]).max(initial=0))
    return bool(bandwidth <= _BAND * items and items * bandwidth <= _FILL)


class Components:
    """Moves vectors to sum zero within each component, whose label each item has in `component`."""

    def __init__(self, component: NDArray[np.int64]) -> None:
        self.component = component
        self.size = np.bincount(component)

    def centred(self, theta: Array) -> Array:
        """`theta`, of shape (items,) or (items, k), moved to sum zero within each component."""
        if len(self.size) == 1:
            return np.asarray(theta - theta.mean(axis=0))
        if theta.ndim == 1:
            means = np.bincount(self.component, theta) / self.size
            return np.asarray(theta - means[self.component])
        return np.column_stack([self.centred(column) for column in theta.T])


class LaplacianInverse(Components, ABC):
    """What applies L^+."""

    method: str

    @abstractmethod
    def solve(self, b: Array) -> Array:
        """L^+ b for b of shape (items,) or (items, k)."""

    def diagonal(self) -> Array:
        """Diagonal of L^+, shape (items,); by solving, a block at a time: no n x n matrix is held."""
        items = len(self.component)
        diagonal = np.empty(items)
        for start in range(0, items, _BLOCK):
            some = np.arange(start, min(start + _BLOCK, items))
            unit = np.zeros((items, len(some)))
            unit[some, np.arange(len(some))] = 1.0
            diagonal[some] = self.solve(unit)[some, np.arange(len(some))]
        return diagonal


class _Dense(LaplacianInverse):
    """L^+ = (L + J)^-1 - J, where J averages within each component; memory 8 n^2 bytes."""

    method = "dense"

    def __init__(self, laplacian: sp.csr_array, component: NDArray[np.int64]) -> None:
        super().__init__(component)
        same = component[:, None] == component[None, :]
        averaging = same / self.size[component]
        # Scaled to the size of L, or a large L would drown J.
        scale = float(laplacian.diagonal().max(initial=0.0)) or 1.0
        factor = cho_factor(laplacian.toarray() + scale * averaging, overwrite_a=True, check_finite=False)
        matrix = cho_solve(factor, np.eye(len(component)), overwrite_b=True, check_finite=False)
        matrix -= averaging / scale
        self.matrix: Array = (matrix + matrix.T) / 2

    def solve(self, b: Array) -> Array:
        return self.centred(self.matrix @ b)

    def diagonal(self) -> Array:
        return np.asarray(self.matrix.diagonal().copy())


class _Grounded(LaplacianInverse):
    """Solves with the first item of each component held at zero."""

    def __init__(self, laplacian: sp.csr_array, component: NDArray[np.int64]) -> None:
        super().__init__(component)
        free = np.ones(len(component), dtype=bool)
        free[np.unique(component, return_index=True)[1]] = False
        self.free = np.flatnonzero(free)
        self.inner = sp.csr_matrix(laplacian[self.free][:, self.free])


class _SparseLU(_Grounded):
    """The grounded Laplacian factored in a minimum-degree order; memory 12 bytes an entry of the factor."""

    method = "sparse LU"

    def __init__(self, laplacian: sp.csr_array, component: NDArray[np.int64]) -> None:
        super().__init__(laplacian, component)
        # Symmetric positive definite: the diagonal is always a good pivot.
        self.factor: Any = splu(
            sp.csc_matrix(self.inner),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )

    def solve(self, b: Array) -> Array:
        x = np.zeros(b.shape)
        x[self.free] = self.factor.solve(np.ascontiguousarray(self.centred(b)[self.free]))
        return self.centred(x)


class _ConjugateGradients(LaplacianInverse):
    """Conjugate gradients on vectors that sum to zero; memory a few vectors and the preconditioner."""

    def __init__(self, laplacian: sp.csr_array, component: NDArray[np.int64], cycle: Operator | None) -> None:
        super().__init__(component)
        self.laplacian = sp.csr_matrix(laplacian)
        degree = laplacian.diagonal()
        scale = np.divide(1.0, degree, out=np.zeros_like(degree), where=degree > 0)
        self.method = f"conjugate gradients + {'diagonal' if cycle is None else 'multigrid'}"
        nearly: Operator = (lambda r: scale * r) if cycle is None else cycle
        self.preconditioner = LinearOperator(laplacian.shape, matvec=lambda r: nearly(r.ravel()))

    def solve(self, b: Array) -> Array:
        if b.ndim == 2:
            return np.column_stack([self.solve(column) for column in b.T])
        right = self.centred(b)
        x, failed = cg(self.laplacian, right, rtol=_ACCURACY, atol=0.0, maxiter=_STEPS, M=self.preconditioner)
        if failed:
            left = np.linalg.norm(self.laplacian @ x - right) / np.linalg.norm(right)
            raise NotSolved(
                f"the Laplacian of {len(b)} items was not solved in {_STEPS} steps of {self.method} "
                f"(relative residual {number(float(left))})"
            )
        return self.centred(x)
