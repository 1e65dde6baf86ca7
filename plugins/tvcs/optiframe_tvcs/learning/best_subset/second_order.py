"""The second-order model of a linear model's objective, in which many supports are tried at little cost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optiframe.problems.objectives.losses import LeastSquares, LinearModel
from optiframe.problems.objectives.normal_equations import HessianRows, solved
from optiframe.records.fields import Array

_RIDGES = (1e-8, 1e-5)  # of the mean diagonal, where columns are alike and the order of entries counts
_ALIKE = 1e-10  # of a diagonal entry: what a column has beyond the support, to come in
_TRUST = 0.2  # at 0.1 none of 602 better fits among 6,822 supports was missed, at 0.05 two
_ROUNDING = 1e-12  # of the base: differences of values below it are rounding


@dataclass(frozen=True, eq=False)
class SecondOrder:
    """The Taylor polynomial of degree two of a linear model's objective; for least squares the objective.

    It is ``base - right' x + x' H x / 2``. Rows of H are computed when first asked for, and kept. A minimum
    over k entries then costs O(k^3), and a gradient O(k features), whatever the number of samples.
    """

    hessian: HessianRows
    right: Array
    base: float
    value: float  # at the middle, and the slope there; level: slope' x
    slope: Array
    level: float
    exact: bool

    @classmethod
    def around(cls, function: LinearModel, x: Array) -> SecondOrder | None:
        """The model around a point; None where it would take too much memory."""
        exact = isinstance(function, LeastSquares)
        x = np.zeros(x.shape) if exact else x
        hessian = function.hessian_rows(x)
        inside = np.flatnonzero(x)
        rows = hessian.rows(inside)
        if rows is None:
            return None
        value, gradient = function.value_and_gradient(x)
        product = x[inside] @ rows  # H x
        level = float(gradient @ x)
        base = value - level + float(product @ x) / 2
        return cls(hessian, product - gradient, base, value, gradient, level, exact)

    def gradient_at(self, indices: NDArray[np.intp], values: Array) -> Array | None:
        """The model's gradient there, of the point's shape."""
        rows = self.hessian.rows(indices)
        return None if rows is None else np.asarray(values @ rows - self.right)

    def minimizer_on(self, indices: NDArray[np.intp], *, rough: bool = False) -> Array | None:
        """The entries at the minimum over these; None where columns are alike, unless a rough one will do."""
        block = self.hessian.among(indices)
        if block is None or not len(indices):
            return None if block is None else np.zeros(0)
        right = self.right[indices]
        found = solved(block, right)
        if found is not None or not rough:
            return found
        unit = float(np.trace(block)) / len(indices) * np.eye(len(indices))
        tries = (solved(block + ridge * unit, right) for ridge in _RIDGES)
        return next((found for found in tries if found is not None), None)

    def swaps(
        self, inside: NDArray[np.intp], values: Array, gradient: Array, bends: Array, free: bool
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]] | None:
        """Exchanges of two entries that lower the model, from its minimum over those inside: in, and out.

        The best ones first, one for each entry that could come in. O(k^2 features): a column that comes in is
        regressed on those inside, and one that goes out on the rest.
        None where columns are alike. `bends` is the Hessian's diagonal; a free last entry takes no part.
        """
        block, rows = self.hessian.among(inside), self.hessian.rows(inside)
        if block is None or rows is None:
            return None
        inverse = solved(block, np.eye(len(inside)))
        if inverse is None:
            return None
        follow = inverse @ rows  # how entries inside fall when one that comes in rises
        beyond = bends - np.einsum("ij,ij->j", rows, follow)  # what bends once those inside follow
        may = beyond > _ALIKE * bends
        may[inside] = False
        may[len(may) - free :] = False
        columns = np.flatnonzero(may)
        follow, beyond, slope = follow[:, columns], beyond[columns], gradient[columns]
        after = values[:, np.newaxis] + follow * (slope / beyond)
        losses = after**2 / (inverse.diagonal()[:, np.newaxis] + follow**2 / beyond)
        losses = losses[: len(inside) - (free and inside[-1] == len(bends) - 1)]
        if not losses.size:
            return columns[:0], inside[:0]
        changes = losses.min(axis=0) - slope**2 / beyond
        order = np.argsort(changes, kind="stable")[: np.count_nonzero(changes < 0)]
        return columns[order], inside[losses.argmin(axis=0)[order]]

    def predicted(self, indices: NDArray[np.intp], found: Array) -> tuple[float, float]:
        """The model's minimum over these entries, which `found` is, and how wrong it may be.

        By a fifth of what the quadratic term adds on the way from the middle; least squares by rounding.
        """
        least = self.base - float(found @ self.right[indices]) / 2
        if self.exact:
            return least, _ROUNDING * abs(self.base)
        linear = float(self.slope[indices] @ found) - self.level
        return least, _TRUST * max(least - self.value - linear, 0.0)
