"""Sketches of the Hessian that a filter's metric is made of: one at the start, one near the floor."""

from __future__ import annotations

import numpy as np
import scipy.linalg as la

from optiframe.records.fields import Array
from optiframe_comrade.messages import HESSIAN_BLOCK, HESSIAN_DIAGONAL
from optiframe_comrade.parts.metric import AnyMetric, Metric, SecantMetric, metric_of, scale_of, secant
from optiframe_comrade.parts.robust_means import coordinate_median as median
from optiframe_comrade.parts.robust_means import norms
from optiframe_comrade.protocol.coordinator import Coordinator


def sketched_metric(coordinator: Coordinator, x: Array, columns: int, rng: np.random.Generator) -> Metric:
    """The metric of the workers' Hessians at x, by medians of what they send; three rounds.

    The diagonal, then two power rounds from a random block of `columns` vectors. Fewer than half of the
    workers cannot move a median out of the honest workers' range.

    Raises
    ------
    TooManyFaults
        As every round.
    """
    scale = _diagonal(coordinator, x)
    count = min(columns, len(x))
    block = la.qr(rng.standard_normal((len(x), count)), mode="economic")[0]
    image = median(_images(coordinator, x, scale, block))
    if image.any():
        block = la.qr(image, mode="economic")[0]
        image = median(_images(coordinator, x, scale, block))
    return metric_of(scale, block, image)


def refined_metric(
    coordinator: Coordinator, x: Array, before: AnyMetric, updates: Array, columns: int
) -> AnyMetric:
    """The metric at x, exact along the directions in which the workers' updates scatter most; two rounds.

    Where the objective is flat, honest updates scatter widely and do little harm; a metric that has not
    seen how flat it is leaves as much room to lies in every other direction. The diagonal, then products
    with the block of the sketch before and with `columns` directions of greatest scatter.

    Parameters
    ----------
    before
        The metric so far.
    updates
        What the workers have sent at x, shape (m, d).
    """
    base = before.before if isinstance(before, SecantMetric) else before
    scale = _diagonal(coordinator, x)
    spread = widest(base, updates, columns) * scale[:, np.newaxis]
    spread = spread / np.linalg.norm(spread, axis=0)
    block = np.hstack([base.basis, spread])
    if not block.shape[1]:  # an objective without curvature
        return before
    images = _images(coordinator, x, scale, block)
    image = median(images)
    inner = median(np.array([block.T @ each for each in images]))
    steep, flat = np.split(np.arange(block.shape[1]), [base.basis.shape[1]])
    begun = metric_of(scale, block[:, steep], image[:, steep])
    across = scale[:, np.newaxis]
    return secant(begun, block[:, flat] / across, image[:, flat] * across, inner[np.ix_(flat, flat)])


def widest(metric: Metric, updates: Array, count: int) -> Array:
    """Directions in which updates scatter most by a metric, shape (d, k), of length 1 by it.

    No update counts for more than the middle one, so that a few huge ones do not take all directions.
    """
    rows = updates - median(updates)
    lengths = norms(metric.updates(rows))
    middle = float(np.median(lengths))
    rows = rows[lengths > 0.0] * np.minimum(1.0, middle / lengths[lengths > 0.0])[:, np.newaxis]
    turn, spread, _ = la.svd(metric.updates(rows), full_matrices=False)
    most = spread[:count] > 1e-6 * spread.max(initial=0.0)
    return np.asarray(rows.T @ (turn[:, :count][:, most] / spread[:count][most]))


def _diagonal(coordinator: Coordinator, x: Array) -> Array:
    """S, the square roots of the Hessian's diagonal, shape (d,)."""
    return scale_of(median(coordinator.ask(HESSIAN_DIAGONAL, x).vectors))


def _images(coordinator: Coordinator, x: Array, scale: Array, block: Array) -> Array:
    """The scaled Hessian times the block, shape (m, d, k): what every worker sends."""
    replies = coordinator.ask(HESSIAN_BLOCK, x, scale=scale, block=block.T.ravel())
    return replies.vectors.reshape(-1, block.shape[1], len(block)).transpose(0, 2, 1)
