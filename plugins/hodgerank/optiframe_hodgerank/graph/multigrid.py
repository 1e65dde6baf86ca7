"""A multigrid cycle that nearly solves a graph's Laplacian, for conjugate gradients."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from optiframe.records.fields import Array
from optiframe_hodgerank.kernels import multigrid, reference


class Cycle:
    """One multigrid cycle for the Laplacian of a graph; None from `of` where there is no good one.

    Setting up takes some 30 passes over the edges, a cycle three; memory is 8 bytes an edge, and 60 for
    a moment. Single precision is enough: conjugate gradients correct what it loses.
    """

    def __init__(self, levels: reference.Multigrid) -> None:
        self._levels, self._inverse = levels, _pseudo_inverse(*levels.smallest())

    @classmethod
    def of(cls, rows: reference.RowsByPair) -> Cycle | None:
        """The cycle of the graph of these rows; None where grouping neighbours hardly makes it smaller."""
        levels = multigrid.multigrid(rows)
        return None if levels is None else cls(levels)

    def __call__(self, b: Array) -> Array:
        """About L^+ b, up to constants of the components."""
        size = float(np.abs(b).max(initial=0.0)) or 1.0  # single precision has no numbers below 1e-38
        x = np.empty(len(b), dtype=np.float32)
        self._levels.cycle((b / size).astype(np.float32), self._inverse, x)
        return size * x.astype(np.float64)


def _pseudo_inverse(first: NDArray[np.int64], other: NDArray[np.int32], weight: Array) -> NDArray[np.float32]:
    """That of the Laplacian of a small graph with these edges, which are at both of their ends."""
    nodes = len(first) - 1
    weights = sp.csr_array((weight, other, first), shape=(nodes, nodes)).toarray()
    laplacian = np.diag(weights.sum(axis=1)) - weights
    inverse = np.linalg.pinv((laplacian + laplacian.T) / 2, rcond=1e-10, hermitian=True)
    return np.ascontiguousarray(inverse, dtype=np.float32)
