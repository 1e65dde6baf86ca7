"""Averages that a few wrong rows cannot carry away: plain NumPy on an (m, d) array, one row a worker.

Sums may overflow to infinity when a row holds huge entries; an infinite norm or distance then
sorts last, which is what it should do. Equal keys keep the workers' order, so that the same
rows always give the same answer.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from optiframe.records.fields import Array

Indices = NDArray[np.int64]


def smallest(keys: Array, count: int) -> Indices:
    """Where the `count` smallest keys are, rising; of equal keys the first; nan counts as the largest."""
    return np.sort(np.argsort(keys, kind="stable")[:count])


def norms(rows: Array) -> Array:
    """Euclidean norm of each row."""
    with np.errstate(over="ignore"):
        return np.asarray(np.linalg.norm(rows, axis=1))


def mean(rows: Array) -> Array:
    """Mean of the rows."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(rows.mean(axis=0))


def coordinate_median(rows: Array) -> Array:
    """Median of each coordinate; the mean of the middle two where their number is even."""
    ranked = np.sort(rows, axis=0)
    low, high = ranked[(len(rows) - 1) // 2], ranked[len(rows) // 2]
    return np.asarray(low / 2 + high / 2)  # halves first: the sum of two huge numbers may overflow


def trimmed_mean(rows: Array, drop: int) -> Array:
    """Mean of each coordinate without its `drop` smallest and `drop` largest values."""
    return mean(np.sort(rows, axis=0)[drop : len(rows) - drop])


def mean_around_median(rows: Array, count: int) -> Array:
    """For each coordinate the mean of its `count` values nearest to its median; of equal ones the first."""
    away = np.abs(rows - coordinate_median(rows))
    nearest = np.argsort(away, axis=0, kind="stable")[:count]
    return mean(np.take_along_axis(rows, nearest, axis=0))


def distances(rows: Array, point: Array) -> Array:
    """Euclidean distance of each row from a point."""
    with np.errstate(over="ignore"):
        return norms(rows - point)


def geometric_median(rows: Array, tolerance: float, steps: int) -> Array:
    """The point of least summed distance to the rows, by Weiszfeld's iteration.

    Vardi and Zhang's correction lets it leave, or stay at, a point that is one of the rows.
    It starts at the coordinate median and stops when a step is at most `tolerance` times the
    mean distance of the rows that count, or after `steps` steps.
    """
    point = coordinate_median(rows)
    for _ in range(steps):
        apart = rows - point
        with np.errstate(over="ignore"):
            away = np.sqrt(np.add.reduce(apart * apart, axis=1))
        here = away == 0.0
        held = np.count_nonzero(here)
        if held == len(rows):
            break
        weights = np.where(here, 0.0, 1 / np.where(here, 1.0, away)) if held else 1 / away
        total = weights.sum()  # rows infinitely far add nothing
        if total == 0.0:
            break  # all the others are infinitely far
        target = weights @ rows / total
        if held:
            # The rows at the point hold it with a unit force each.
            pull = _length(weights @ apart)
            share = min(1.0, held / pull) if pull > 0.0 else 1.0
            target = (1 - share) * target + share * point
        step = _length(target - point)
        point = target
        # The median is at most the largest, which costs a fraction of it.
        if step <= tolerance * float(away.max()) and step <= tolerance * float(np.median(away)):
            break
    return np.asarray(point)


def _length(vector: Array) -> float:
    return math.sqrt(vector @ vector)


def krum_scores(rows: Array, drop: int) -> Array:
    """For each row the sum of squared distances to its m - drop - 2 nearest others."""
    near = len(rows) - drop - 2
    scores = np.empty(len(rows))
    with np.errstate(over="ignore"):
        for at, row in enumerate(rows):
            apart = np.sort(np.delete(distances(rows, row), at))
            scores[at] = np.sum(apart[:near] ** 2)
    return scores
