"""Nearest-neighbour mixing, and an average of mixed rows around their geometric median."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg as la

from optiframe.records.fields import Array
from optiframe_comrade.parts import robust_means

_HUGE = 1e50  # times the middle row's length: a row beyond is shortened, so that no square overflows
_TOLERANCE, _STEPS = 1e-8, 200  # of the geometric median; its error is far below the rows' spread


@dataclass(frozen=True)
class Mixture:
    """An average of m rows, and how it came about.

    Attributes
    ----------
    weights
        Of each row in the average, shape (m,); they sum to 1.
    kept
        Rows that are in the average, or whose mixture is, rising.
    apart
        Squared distance of each row from the middle of all, shape (m,).
    """

    weights: Array
    kept: robust_means.Indices
    apart: Array


def mixing(rows: Array, count: int) -> Array:
    """Weights, m x m, that replace each row by the mean of the `count` rows nearest to it, itself included.

    Source: Allouah et al. 2023, Fixing by mixing, Algorithm 2 (NNM). Costs m^2 d.
    """
    weights = np.zeros((len(rows), len(rows)))
    for at, row in enumerate(rows):
        weights[at, robust_means.smallest(robust_means.distances(rows, row), count)] = 1 / count
    return weights


def mixed_average(rows: Array, drop: int) -> Mixture:
    """Mix each row with its nearest, find the geometric median, drop the `drop` farthest, average.

    `rows` has shape (m, d), `drop` is below m.
    """
    turned = compact(rows)
    weights = mixing(turned, len(rows) - drop)
    mixed = weights @ turned
    middle = robust_means.geometric_median(mixed, _TOLERANCE, _STEPS)
    kept = robust_means.smallest(robust_means.distances(mixed, middle), len(rows) - drop)
    with np.errstate(over="ignore"):
        apart = robust_means.distances(turned, middle) ** 2
    return Mixture(weights[kept].mean(axis=0), kept, apart)


def compact(rows: Array) -> Array:
    """The rows turned into at most m coordinates, with the same lengths and distances; no row is huge."""
    largest = np.abs(rows).max(axis=1, initial=0.0)
    most = _HUGE * float(np.median(largest))
    if most > 0.0:
        rows = rows * np.minimum(1.0, most / np.maximum(largest, most))[:, np.newaxis]
    if rows.shape[1] <= len(rows):
        return rows
    return np.asarray(la.qr(rows.T, mode="economic")[1].T)
