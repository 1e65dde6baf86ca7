"""The metric of the objective's Hessian, from a sketch of it.

Honest Newton updates of shards with s terms scatter like H^-1/s, and the harm of an error v is
v'Hv/2. Measured by v'Hv, honest updates are equally spread in all directions, so no direction has
room for a lie that does more harm than its distance shows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import scipy.linalg as la

from optiframe.records.fields import Array

_LEAST_REST = 0.05  # of the mean eigenvalue, which is 1; what the sketch has not seen is not nothing
_FLAT = 1e-12  # part of the largest diagonal entry below which a coordinate counts as flat


@dataclass(frozen=True)
class Metric:
    """P = S (Q diag(e) Q' + rho (I - Q Q')) S, a positive definite stand-in for the Hessian.

    Attributes
    ----------
    scale
        Diagonal of S, shape (d,): square roots of the Hessian's diagonal.
    basis
        Q, shape (d, k): orthonormal directions.
    lengths
        e, shape (k,): eigenvalues of the scaled Hessian along them.
    rest
        rho, its eigenvalue in all other directions.
    """

    scale: Array
    basis: Array
    lengths: Array
    rest: float
    refined: ClassVar[bool] = False

    def updates(self, rows: Array) -> Array:
        """Coordinates of Newton updates, shape (m, d), in which the Euclidean length is that by P."""
        scaled = rows * self.scale
        roots = np.sqrt(self.lengths) - np.sqrt(self.rest)
        return np.asarray(np.sqrt(self.rest) * scaled + (scaled @ self.basis) * roots @ self.basis.T)

    def gradients(self, rows: Array) -> Array:
        """Coordinates of gradients, shape (m, d), in which the Euclidean length is that by P^-1."""
        scaled = rows / self.scale
        roots = 1 / np.sqrt(self.lengths) - 1 / np.sqrt(self.rest)
        return np.asarray(scaled / np.sqrt(self.rest) + (scaled @ self.basis) * roots @ self.basis.T)

    def as_matrix(self) -> Array:
        """P, shape (d, d)."""
        half = self.updates(np.eye(len(self.scale)))
        return np.asarray(half @ half.T)


@dataclass(frozen=True)
class SecantMetric:
    """The metric nearest to another one that is the Hessian along k directions: P V = Y.

    P = B - B V (V'BV)^-1 V'B + Y (V'Y)^-1 Y' from the metric B, positive definite as V'Y is.
    Source: the update of BFGS for a block of directions.

    Attributes
    ----------
    before
        B.
    block, image
        V with V'Y the identity, and Y = H V; both of shape (d, k).
    """

    before: Metric
    block: Array
    image: Array
    refined: ClassVar[bool] = True

    @cached_property
    def _seen(self) -> Array:
        """An orthonormal basis of the block in coordinates of B, shape (d, k)."""
        return np.asarray(la.qr(self.before.updates(self.block.T).T, mode="economic")[0])

    def updates(self, rows: Array) -> Array:
        """Coordinates of Newton updates, shape (m, d + k), in which the Euclidean length is that by P."""
        there = self.before.updates(rows)
        return np.hstack([there - (there @ self._seen) @ self._seen.T, rows @ self.image])

    def gradients(self, rows: Array) -> Array:
        """Coordinates of gradients, shape (m, d + k), in which the Euclidean length is that by P^-1."""
        along = rows @ self.block
        return np.hstack([self.before.gradients(rows - along @ self.image.T), along])


AnyMetric = Metric | SecantMetric


def secant(before: Metric, block: Array, image: Array, inner: Array) -> AnyMetric:
    """The metric with P V = Y; directions in which V'HV is not positive definite are left out.

    Parameters
    ----------
    before
        B.
    block, image
        V and Y = H V, both of shape (d, k).
    inner
        V'HV, shape (k, k). It may be known better than V'Y, whose rounding along steep directions is
        more than flat ones have; Y is corrected for it.
    """
    values, vectors = _positive(inner)
    if not len(values):
        return before
    turn = vectors / np.sqrt(values)
    block, image = block @ turn, image @ turn
    heavy = before.scale[:, np.newaxis] ** 2 * block
    wrong = np.eye(block.shape[1]) - block.T @ image
    return SecantMetric(before, block, image + heavy @ la.solve(block.T @ heavy, wrong, assume_a="pos"))


def scale_of(diagonal: Array) -> Array:
    """S from the Hessian's diagonal, which may be zero where the objective is flat."""
    largest = float(diagonal.max(initial=0.0))
    return np.sqrt(np.maximum(diagonal, _FLAT * largest)) if largest > 0.0 else np.ones_like(diagonal)


def metric_of(scale: Array, block: Array, image: Array) -> Metric:
    """The metric from a Nystrom approximation of the scaled Hessian.

    Parameters
    ----------
    scale
        S, shape (d,).
    block, image
        V with orthonormal columns and Y = S^-1 H S^-1 V, both of shape (d, k).
    """
    columns = len(block)
    # Of the approximation Y (V'Y)^+ Y' = F F' the eigenpairs are the singular pairs of F.
    values, vectors = _positive(block.T @ image)
    factor = image @ (vectors / np.sqrt(values))
    basis, roots, _ = la.svd(factor, full_matrices=False)
    lengths = roots**2
    # The diagonal of the scaled Hessian is 1, so its eigenvalues sum to d.
    left = columns - len(lengths)
    rest = max((columns - float(lengths.sum())) / left, _LEAST_REST) if left else 1.0
    return Metric(scale, basis, np.maximum(lengths, _LEAST_REST), rest)


def _positive(inner: Array) -> tuple[Array, Array]:
    """Eigenvalues above rounding of a matrix that should be positive, and their vectors."""
    values, vectors = la.eigh((inner + inner.T) / 2)
    keep = values > len(values) * np.finfo(np.float64).eps * values.max(initial=0.0)
    return values[keep], vectors[:, keep]
