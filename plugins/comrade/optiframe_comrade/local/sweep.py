"""One pass over a dense matrix: loss, gradient and Hessian of a linear model, block by block."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import scipy.linalg as la

from optiframe.problems.objectives.losses import LinearModel, Logistic
from optiframe.records.fields import Array
from optiframe_comrade.kernels import passes
from optiframe_comrade.local.symmetric import cholesky, solve_symmetric, weighted_gram

Precision: TypeAlias = Literal["auto", "single", "double"]

_BLOCK = 1 << 19  # bytes of a block: with its scaled copy it stays in the second-level cache
_WORTH_SINGLE = 1 << 18  # entries from which a Hessian in single precision saves a millisecond or more
# Condition of a Hessian up to which its rounding to single precision changes a step by at most about
# 1e-3 of its length: each entry is exact to about 1e-7.
_SAFE = 1e-4

Terms = Callable[[int, int, Array], tuple[float, Array, Array]]


@dataclass(frozen=True)
class Swept:
    """A linear model at a point: predictions, objective, gradient, and the Hessian as a full array."""

    predictions: Array
    value: float
    gradient: Array
    hessian: Array
    single: bool


class Sweep:
    """Loss, gradient and Hessian of a dense linear model in one reading of its matrix.

    A block of half a megabyte is read once and then used from the cache: for the predictions, the
    gradient, and the product of its rows scaled by the roots of the losses' second derivatives,
    of which BLAS computes one half. Memory beside the matrix is n + d^2 numbers and a megabyte.

    In single precision only this product is: scaled rows are rounded, blocks are summed in double
    precision. That halves its time, the better part of all. Gradient and loss stay in
    double precision. With an error E of the Hessian H, Newton's method goes to the same point,
    where the gradient vanishes, and nears it by a factor of about |H^-1 E| a step, near 1e-7 times the
    condition of H. So "auto" takes it for matrices of 2^18 entries on (smaller ones have nothing to
    gain), until a Hessian's condition exceeds 1e4; "single" whenever its Cholesky
    factor exists.
    """

    def __init__(self, model: LinearModel, precision: Precision = "auto") -> None:
        self.model, self.precision = model, precision
        rows, columns = model.matrix.shape
        entries = rows * columns
        self.single = precision == "single" or (precision == "auto" and entries >= _WORTH_SINGLE)
        # Twice as many rows as columns at least, or summing up the products would take longer than they.
        self.height = min(rows, max(_BLOCK // (8 * columns), 2 * columns))
        cls = type(model)
        own = all(getattr(cls, one) is getattr(Logistic, one, None) for one in ("losses", "slopes", "bends"))
        self._terms: Terms = _logistic(model) if own else _by_model(model)

    def at(self, x: Array, predictions: Array | None = None) -> Swept:
        """The model at x; where the predictions there are known, it need not compute them."""
        model, (rows, columns) = self.model, self.model.matrix.shape
        if predictions is None and not x.any():
            predictions = np.zeros(rows)
        z = np.empty(rows) if predictions is None else predictions
        loss, pull, gram = 0.0, np.zeros(columns), np.zeros((columns, columns))
        kind = np.float32 if self.single else np.float64
        scaled, product = np.empty((self.height, columns), kind), np.empty((columns, columns), kind)
        # Single precision may overflow; then there is no Cholesky factor, and `step` sees that.
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            for start in range(0, rows, self.height):
                stop = min(start + self.height, rows)
                block = np.ascontiguousarray(model.matrix[start:stop])  # a copy of columns
                if predictions is None:
                    np.dot(block, x, out=z[start:stop])
                losses, slopes, roots = self._terms(start, stop, z[start:stop])
                loss += losses
                pull += slopes @ block
                part = scaled[: stop - start]
                if self.single:
                    passes.scale(block, roots, part)
                else:
                    np.multiply(block, roots[:, np.newaxis], out=part)
                gram += np.dot(part.T, part, out=product)  # NumPy sees the symmetry, and computes a half
        gram /= rows
        gram[np.diag_indices(columns)] += model.l2
        value = loss / rows + model.l2 / 2 * float(x @ x)
        return Swept(z, value, pull / rows + model.l2 * x, gram, self.single)

    def gradient(self, x: Array) -> Array:
        """The gradient at x alone; also one reading."""
        matrix, (rows, columns) = self.model.matrix, self.model.matrix.shape
        pull, away = np.zeros(columns), bool(x.any())
        for start in range(0, rows, self.height):
            stop = min(start + self.height, rows)
            block = matrix[start:stop]
            z = block @ x if away else np.zeros(stop - start)
            _, slopes, _ = self._terms(start, stop, z)
            pull += slopes @ block
        return np.asarray(pull / rows + self.model.l2 * x)

    def step(self, here: Swept, right: Array) -> Array:
        """H^+ right, with H the Hessian where `here` is; in double precision if need be."""
        if here.single:
            factor, reciprocal = cholesky(here.hessian)
            if factor is not None and (reciprocal > _SAFE or self.precision == "single"):
                return np.asarray(la.cho_solve((factor, False), right))
            self.single = self.precision == "single"  # the next Hessian will hardly be better
            return solve_symmetric(self._in_double(here.predictions), right)
        return solve_symmetric(here.hessian, right)

    def _in_double(self, predictions: Array) -> Array:
        model = self.model
        return weighted_gram(model.matrix, model.bends(predictions) / len(model), model.l2)


def _by_model(model: LinearModel) -> Terms:
    """Sum of the losses, slopes and roots of bends of some rows, by the model's own functions."""

    def terms(start: int, stop: int, z: Array) -> tuple[float, Array, Array]:
        part = model.take(slice(start, stop))
        return float(part.losses(z).sum()), part.slopes(z), np.sqrt(part.bends(z))

    return terms


def _logistic(model: LinearModel) -> Terms:
    """The same of the logistic loss, in one pass."""
    target = np.ascontiguousarray(model.target)

    def terms(start: int, stop: int, z: Array) -> tuple[float, Array, Array]:
        slopes, roots = np.empty_like(z), np.empty_like(z)
        return passes.logistic(z, target[start:stop], slopes, roots), slopes, roots

    return terms
