"""The two penalties on the size of the scores, and how they hang together.

With e_ij = exp(X_ij^2) and N = sum_ij e_ij, log-sum-exp is ``lambda log N`` (Dong et al.,
Eq. 9). By Taylor's formula in X^2,

    log N = log(m n) + mean(X^2) + var(X^2) / 2 + O(X^6),

mean and variance taken over all entries. The first term that depends on X is |X|_F^2 / (m n),
so that up to a constant and terms of fourth order ``lambda log N`` is

    (2 lambda / (m n)) * |X|_F^2 / 2,

the penalty called ``frobenius`` here: a plain ridge. Nothing in it holds max |X| below 1.
"""

from __future__ import annotations

import numpy as np

from optiframe.records.fields import Array
from optiframe_manifold.low_rank import LowRank

_SAFE = 600.0
"""Largest exponent for which no shift is needed: exp(709) is the last finite one, and e^109 is room
for more terms than there are atoms in the world."""


def ridge_value(x: LowRank, scale: float) -> float:
    """``scale * |X|_F^2 / 2`` from the Gram matrices of the factors: O((m + n) r^2)."""
    return scale / 2 * float(np.sum((x.left.T @ x.left) * (x.right.T @ x.right)))


def ridge_gradient(x: LowRank, scale: float) -> tuple[Array, Array]:
    """Its gradient by the factors: ``scale X right`` and ``scale X' left``."""
    return scale * x.left @ (x.right.T @ x.right), scale * x.right @ (x.left.T @ x.left)


def ridge_hessian_product(x: LowRank, v: LowRank, scale: float) -> tuple[Array, Array]:
    """The derivative of `ridge_gradient` in the direction `v`."""
    across, along = v.right.T @ x.right, v.left.T @ x.left
    left = v.left @ (x.right.T @ x.right) + x.left @ (across + across.T)
    right = v.right @ (x.left.T @ x.left) + x.right @ (along + along.T)
    return scale * left, scale * right


def greatest_square(x: LowRank) -> float:
    """A bound on every X_ij^2, after Cauchy and Schwarz: O((m + n) r)."""
    lengths = [np.einsum("ia,ia->i", factor, factor).max(initial=0.0) for factor in (x.left, x.right)]
    return float(lengths[0] * lengths[1])


def needs_shift(x: LowRank) -> bool:
    """Whether exp(X^2) could overflow, so that the largest X_ij^2 has to be found first."""
    return not greatest_square(x) <= _SAFE  # so that NaN needs it too
