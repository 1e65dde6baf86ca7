"""What the kernels compute, in plain NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from optiframe.records.fields import Array


def logistic(predictions: Array, target: Array, slopes: Array, roots: Array) -> float:
    """Sum of the logistic losses log(1 + exp(-y z)) of n predictions z and targets y, all of shape (n,).

    Written to: `slopes`, the losses' derivatives by z, and `roots`, the square roots of their second
    derivatives. Targets are -1 and 1.

    Raises
    ------
    ValueError
        When lengths disagree.
    """
    margins = target * predictions
    np.multiply(-target, expit(-margins), out=slopes)
    np.sqrt(expit(margins) * expit(-margins), out=roots)
    return float(np.logaddexp(0.0, -margins).sum())


def scale(block: Array, roots: Array, into: NDArray[np.float32]) -> None:
    """Rows of `block`, n x d, times one of n `roots` each, written to `into` in single precision, n x d.

    Raises
    ------
    ValueError
        When shapes disagree.
    """
    np.multiply(block, roots[:, np.newaxis], out=into, casting="same_kind")
