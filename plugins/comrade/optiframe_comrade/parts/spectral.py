"""An average of rows in which no direction may scatter more than it must.

Of m honest rows in d > m dimensions hardly two point the same way: each adds to a direction of its own, and
their covariance has no large eigenvalue. Wrong rows that move the average must agree on where to, and
that makes either a direction of large scatter, or rows nearer to each other than honest ones ever are.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg as la
from scipy.sparse.linalg import eigsh

from optiframe.records.fields import Array
from optiframe_comrade.parts import robust_means
from optiframe_comrade.parts.nearest import Mixture, compact

_DEVIATIONS = 2.0  # of a squared distance between two honest rows, below its mean: nearer is a crowd
_CROWD = 0.5  # of that mean: rows nearer than this are a crowd in any case
_STEP = 0.1  # most of the weight that a round takes: a group of nearly half of all takes its rivals' along
_HEAVIEST = 2.0  # weight of a row in the average, in parts of an even one without the lies
_KEPT = 0.5  # a row counts as left in with this part of the most that any has of what it began with
_DENSE = 100  # rows up to which LAPACK is the fastest way to one eigenvector


def spectral_average(rows: Array, lies: int) -> Mixture:
    """The weighted average of least scatter, of those met while the farthest rows lose weight.

    Every row begins with one over its `crowding`. Then again and again: find the direction in which the
    weighted rows scatter most, and take weight from every row in proportion to its square along it, but
    no more than a tenth of all in a round, until less than m - 2 lies of m parts are left, or less than one
    where half of the rows or more are lies. Of all averages on the way, that with the least largest scatter
    is the answer, but for those in which a row has more than twice the share with which the heaviest would
    begin without the lies.
    `rows` has shape (m, d), `lies` is below m; with none it is the plain mean. A row counts as kept if it
    has at least half as much left of its first weight as the row that has most.

    It is for rows around their mean. Of two groups far from each other it may prefer the smaller, if that
    scatters less: `mixed_average` does not.

    Source: the covariance-bound agnostic filter of Allouah, Guerraoui, Stephan 2025; that rows begin
    with less where they crowd is this project's. Costs m^2 d + m^4 at most.
    """
    m = len(rows)
    turned = compact(rows)
    turned = turned - robust_means.coordinate_median(turned)  # what all share would be lost in rounding
    gram = turned @ turned.T
    begins = 1 / crowding(gram, lies, rows.shape[1]) if lies else np.ones(m)
    heaviest = _HEAVIEST * begins.max() / (begins.sum() * (1 - lies / m))
    weights = left = begins
    least, vector = np.inf, np.ones(m)
    least_left = begins.sum() * max(1, m - 2 * lies) / m
    while True:
        share = left / left.sum()
        centred = _centred(gram, share)
        scatter, vector = _largest(np.sqrt(share)[:, np.newaxis] * centred * np.sqrt(share), vector)
        if scatter < least and share.max() <= heaviest:
            least, weights = scatter, left
        enough = left.sum() <= least_left or np.count_nonzero(left) < 2
        if enough or not (lies and scatter > 0.0):
            break
        along = np.where(left > 0.0, (centred @ (np.sqrt(share) * vector)) ** 2, 0.0)
        if not along.max() > 0.0:
            break
        parts = along / along.max()
        left = left * (1 - min(1.0, _STEP / float(share @ parts)) * parts)
    share = weights / weights.sum()
    with np.errstate(over="ignore"):
        apart = robust_means.distances(turned, share @ turned) ** 2
    left = weights / begins
    return Mixture(share, np.flatnonzero(left >= _KEPT * left.max()), apart)


def crowding(gram: Array, lies: int, columns: int) -> Array:
    """How many rows each one stands for, itself included; at least 1, shape (m,).

    The squared distance of two of m - lies honest rows scatters about its mean by some sqrt(2/k) of it, where
    k is the number of directions in which the rows scatter alike, at most `columns`. Rows nearer than two
    such deviations below, or than half of the mean, count for each other, the more the nearer they are.
    The mean is read off all distances: of m (m - 1)/2 the `lies` rows' own may be the smallest.
    """
    m, honest = len(gram), len(gram) - lies
    lengths = np.diag(gram)
    squares = np.maximum(lengths[:, np.newaxis] + lengths - 2 * gram, 0.0)
    ranked = np.sort(squares[np.triu_indices(m, 1)])
    if not len(ranked):
        return np.ones(m)
    middle = (lies * (lies - 1) + honest * (honest - 1) / 2) / (m * (m - 1))
    below = 1 - _DEVIATIONS * np.sqrt(2 / directions(gram, columns))
    near = float(ranked[int(middle * (len(ranked) - 1))]) * max(_CROWD, below)
    if not near > 0.0:
        return np.ones(m)
    close = np.maximum(0.0, 1 - squares / near)
    np.fill_diagonal(close, 1.0)
    return np.asarray(close.sum(axis=1))


def directions(gram: Array, columns: int) -> float:
    """In how many directions rows scatter alike, by their products: from 1 to `columns`.

    It is (tr C)^2 / tr C^2 of the covariance C without the direction of most scatter, in which lies may be.
    C's estimate by m rows makes the inverse about 1/(m - 2) too large.
    """
    m = len(gram)
    centred = _centred(gram, np.full(m, 1 / m))
    most, _ = _largest(centred, np.linspace(-1.0, 1.0, m))
    whole = float(np.trace(centred)) - most
    if not whole > 0.0:
        return float(columns)
    concentrated = float(np.sum((centred / whole) ** 2)) - (most / whole) ** 2 - 1 / max(1, m - 2)
    return float(1 / np.clip(concentrated, 1 / columns, 1.0))


def _centred(gram: Array, share: Array) -> Array:
    """Inner products of the rows less their weighted average."""
    middle = gram @ share
    return np.asarray(gram - middle[:, np.newaxis] - middle + share @ middle)


def _largest(matrix: Array, near: Array) -> tuple[float, Array]:
    """The largest eigenvalue and its unit vector; beyond some hundred rows by Lanczos from `near`."""
    size = len(matrix)
    if size <= _DENSE or not matrix.any():
        values, vectors = la.eigh(matrix, subset_by_index=[size - 1, size - 1])
    else:
        values, vectors = eigsh(matrix, k=1, v0=near, tol=1e-6)
    return float(values[0]), np.asarray(vectors[:, 0])
