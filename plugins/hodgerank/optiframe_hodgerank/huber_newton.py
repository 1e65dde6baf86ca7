"""Huber-LASSO at given values of lambda: Newton's method on the equivalent Huber regression."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from optiframe.values import Array
from optiframe_hodgerank.graph import ComparisonGraph
from optiframe_hodgerank.path import Path

_EXACT = 1e-12
"""Forces on the items are balanced when they sum to this share of what pulls at an item in all;
rounding leaves about a tenth of it."""
_ANCHOR = 1e-8
"""Share of the whole Laplacian added to that of the unflagged rows: where these fall into parts, a
step between parts stays finite. It slows the last steps by nothing that can be measured."""
_STEPS = 100  # Newton steps; 3 to 8 are usual, and flags only change so often
_INEXACT = 1e-10  # accuracy of the last inner solves; more digits than the outer step can use
_INNER = 200  # conjugate-gradient steps for one Newton step; 5 to 30 are usual
_WHOLE = 1e-4
"""A grid ends at this share of the largest lambda: to go on costs a solve a value, and what is then
unexplained is a hundredth of a per cent of a margin."""


def huber_grid(
    graph: ComparisonGraph, path: Path, down_to: float, per_decade: int
) -> Iterator[tuple[float, Array]]:
    """Yield lambda and the scores there, flagged rows entered into `path`, each from the one before.

    Begins at the largest misfit of least squares, where no row is an outlier; each lambda is
    10^(-1/per_decade) times the one before, until `down_to`,
    or without one until 10^-4 of the first; a `down_to` below that is reached in one step.
    """
    scores = graph.scores(graph.margin)
    misfit = graph.margin - graph.differences(scores)
    first = float(np.abs(misfit).max(initial=0.0))
    if first <= _EXACT * float(np.abs(graph.margin).max(initial=0.0)):  # nothing to explain
        yield down_to, scores
        return
    levels = first * 10.0 ** (-np.arange(4 * per_decade + 1) / per_decade)
    end = [down_to] if down_to > 0 else []
    above = first
    for level in (*levels[levels > down_to].tolist(), *end):
        scores = huber_scores(graph, level, scores)
        before, misfit = misfit, graph.margin - graph.differences(scores)
        _note(path, np.abs(before) - above, misfit, level, above)
        above = level
        yield level, scores


def _note(path: Path, before: Array, misfit: Array, level: float, above: float) -> None:
    """Enter rows that are beyond lambda now, and believe those that are not any more.

    `before` is how far rows were beyond the lambda `above`; where a row entered between is read off
    a straight line.
    """
    beyond = np.abs(misfit) - level
    out = beyond > level * _EXACT
    for row in np.flatnonzero(path.flagged & ~out).tolist():
        path.unflag(row)
    fresh = np.flatnonzero(out & ~path.flagged)
    until = np.maximum(-before[fresh], 0.0)
    at = above - (above - level) * until / (until + beyond[fresh])
    for k in np.argsort(-at, kind="stable").tolist():
        path.flag(int(fresh[k]), float(misfit[fresh[k]]), float(at[k]), ahead=True)


def huber_scores(graph: ComparisonGraph, level: float, start: Array) -> Array:
    """Minimize the sum of w times Huber's function of y - X theta, with threshold `level`.

    Semismooth Newton steps: the Hessian is the Laplacian of the rows within the threshold, solved
    by conjugate gradients preconditioned by the inverse of the whole Laplacian, which is factored
    once for all lambdas; with a share q of flagged rows spread evenly its condition is about
    1/(1 - q). A step that does not lower the objective is halved.

    A pass over the rows for each inner step; memory is about 60 bytes a row.
    """
    theta = np.array(start)
    value, force, within = _huber(graph, level, theta)
    most = _EXACT * level * float(np.max(graph.laplacian.diagonal(), initial=0.0))
    first = float(np.linalg.norm(force)) or 1.0
    for _ in range(_STEPS):
        size = float(np.linalg.norm(force))
        if np.abs(force).max(initial=0.0) <= most:
            break
        step = _newton_step(graph, within, force, max(_INEXACT, min(0.1, size / first)))
        slope, share = float(force @ step), 1.0
        while True:
            tried = theta + share * step
            new = _huber(graph, level, tried)
            # A quarter of what a line would promise; the last digits of a large sum say nothing.
            if new[0] <= value - share * slope / 4 + 1e-14 * abs(value):
                break
            share /= 2
            if share < 1e-10:  # rounding: no further progress is possible
                return graph.centred(theta)
        theta, (value, force, within) = tried, new
    return graph.centred(theta)


def _huber(graph: ComparisonGraph, level: float, theta: Array) -> tuple[float, Array, NDArray[np.bool_]]:
    """The objective, what pulls at each item (minus the gradient), and which rows are within."""
    misfit = graph.margin - graph.differences(theta)
    held = np.clip(misfit, -level, level)
    weighted = graph.weight * held
    value = float(weighted @ (misfit - held / 2))
    return value, graph.divergence(weighted), np.abs(misfit) <= level


def _newton_step(graph: ComparisonGraph, within: NDArray[np.bool_], force: Array, accuracy: float) -> Array:
    """The step d with (L of the rows within + a little of L) d = force."""
    weight = np.where(within, graph.weight, _ANCHOR * graph.weight)

    def hessian(v: Array) -> Array:
        return graph.divergence(weight * graph.differences(v))

    return conjugate_gradients(hessian, graph.solve, force, accuracy)


def conjugate_gradients(
    matrix: Callable[[Array], Array], inverse: Callable[[Array], Array], b: Array, accuracy: float
) -> Array:
    """x with ``matrix(x) = b`` within `accuracy` of the size of b, preconditioned by `inverse`."""
    x, r = np.zeros_like(b), np.array(b)
    z = inverse(r)
    p, rz = z, float(r @ z)
    enough = accuracy * float(np.linalg.norm(b))
    for _ in range(_INNER):
        ap = matrix(p)
        curvature = float(p @ ap)
        if curvature <= 0:  # rounding, at full accuracy
            break
        x = x + (rz / curvature) * p
        r = r - (rz / curvature) * ap
        if float(np.linalg.norm(r)) <= enough:
            break
        z = inverse(r)
        rz, before = float(r @ z), rz
        if rz <= 0:  # what is left is a constant, which no differences of scores feel
            break
        p = z + (rz / before) * p
    return x
