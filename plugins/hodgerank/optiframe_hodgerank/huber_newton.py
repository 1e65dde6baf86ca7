"""Huber-LASSO at given values of lambda: Newton's method on the equivalent Huber regression."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import scipy.sparse as sp
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
_FINE = 1e-4
"""Relative accuracy of the lambda that reaches a given share: ten solves within a step of the grid."""
_FEW = 60
"""Conjugate-gradient steps that the diagonal may take: a product with the whole inverse costs as much as
some ten with the Laplacian, and takes a third of the steps."""
_INNER = 200  # conjugate-gradient steps for one Newton step; 5 to 30 are usual
_WHOLE = 1e-4
"""A grid ends at this share of the largest lambda: to go on costs a solve a value, and what is then
unexplained is a hundredth of a per cent of a margin."""


def huber_grid(
    graph: ComparisonGraph, path: Path, down_to: float, per_decade: int, share: float | None = None
) -> Iterator[tuple[float, Array]]:
    """Yield lambda and the scores there, flagged rows entered into `path`, each from the one before.

    Begins at the largest misfit of least squares, where no row is an outlier; each lambda is
    10^(-1/per_decade) times the one before, until `down_to`,
    or without one until 10^-4 of the first; a `down_to` below that is reached in one step. The first
    lambda at which at least `share` of the caller's rows are outliers is found by bisection.
    """
    scores = graph.scores(graph.margin)
    misfit = graph.margin - graph.differences(scores)
    first = float(np.abs(misfit).max(initial=0.0))
    if first <= _EXACT * float(np.abs(graph.margin).max(initial=0.0)):  # nothing to explain
        yield down_to, scores
        return
    levels = first * 10.0 ** (-np.arange(4 * per_decade + 1) / per_decade)
    end = [down_to] if down_to > 0 else []
    above, newton = first, HuberNewton(graph)
    for wanted in (*levels[levels > down_to].tolist(), *end):
        level, (scores, start) = wanted, (newton.scores(wanted, scores, above), scores)
        before, misfit = misfit, graph.margin - graph.differences(scores)
        if share is not None and path.share_of(_beyond(misfit, level)) >= share:
            level, scores = _first_reaching(share, newton, path, (above, start), (level, scores))
            misfit, share = graph.margin - graph.differences(scores), None
        _note(path, np.abs(before) - above, misfit, level, above)
        above = level
        yield level, scores


def _beyond(misfit: Array, level: float) -> NDArray[np.bool_]:
    """Which rows are outliers at this lambda."""
    return np.abs(misfit) > level * (1 + _EXACT)


def _first_reaching(
    share: float,
    newton: HuberNewton,
    path: Path,
    short: tuple[float, Array],
    reaching: tuple[float, Array],
) -> tuple[float, Array]:
    """Between a lambda and its scores short of this share and one reaching it: the first reaching it."""
    graph = newton.graph
    while short[0] - reaching[0] > _FINE * reaching[0]:
        level = (short[0] + reaching[0]) / 2
        scores = newton.scores(level, *short[::-1])
        out = _beyond(graph.margin - graph.differences(scores), level)
        if path.share_of(out) >= share:
            reaching = level, scores
        else:
            short = level, scores
    return reaching


def _note(path: Path, before: Array, misfit: Array, level: float, above: float) -> None:
    """Enter rows that are beyond lambda now, and believe those that are not any more.

    `before` is how far rows were beyond the lambda `above`; where a row entered between is read off
    a straight line.
    """
    beyond, out = np.abs(misfit) - level, _beyond(misfit, level)
    path.unflag_all(np.flatnonzero(path.flagged & ~out))
    fresh = np.flatnonzero(out & ~path.flagged)
    until = np.maximum(-before[fresh], 0.0)
    at = above - (above - level) * until / (until + beyond[fresh])
    order = np.argsort(-at, kind="stable")
    path.flag_all(fresh[order], misfit[fresh[order]], at[order], ahead=True)


class HuberNewton:
    """Huber regressions of one graph at several thresholds.

    Semismooth Newton steps: the Hessian is the Laplacian of the rows within the threshold, solved
    by conjugate gradients. A step that does not lower the objective is halved.

    A Newton step is a pass over the rows, an inner one a product with a Laplacian; memory is 12 bytes
    an entry of the Laplacian and about 70 a row, besides the graph's.
    """

    def __init__(self, graph: ComparisonGraph) -> None:
        self.graph = graph
        pairs, self._pair = np.unique(graph.left * graph.items + graph.right, return_inverse=True)
        i, j = np.divmod(pairs, graph.items)
        shape, number = (graph.items, graph.items), np.arange(len(pairs), dtype=np.float64)
        cells = (np.concatenate([number, number]), (np.concatenate([i, j]), np.concatenate([j, i])))
        self._matrix = sp.csr_array(sp.coo_array(cells, shape=shape))
        self._place = self._matrix.data.astype(np.int64)  # of each entry among the pairs
        self._pairs = len(pairs)
        self._diagonal_will_do = True

    def scores(self, level: float, start: Array, before: float | None = None) -> Array:
        """The minimizer, from `start`.

        Where `start` is the minimizer at the threshold `before`, the first step keeps its flags: it
        follows the path, which is straight until they change.
        """
        graph, theta = self.graph, np.array(start)
        value, force, within = self._huber(level, theta)
        most = _EXACT * level * float(np.max(graph.laplacian.diagonal(), initial=0.0))
        first = float(np.linalg.norm(force)) or 1.0
        if before is not None and np.abs(force).max(initial=0.0) > most:
            tried = theta + self._along_the_path(level, theta, before)
            new = self._huber(level, tried)
            if new[0] < value:
                theta, (value, force, within) = tried, new
        for _ in range(_STEPS):
            size = float(np.linalg.norm(force))
            if np.abs(force).max(initial=0.0) <= most:
                break
            step = self._newton_step(within, force, max(_INEXACT, min(0.1, size / first)))
            slope, share = float(force @ step), 1.0
            while True:
                tried = theta + share * step
                new = self._huber(level, tried)
                # A quarter of what a line would promise; the last digits of a large sum say nothing.
                if new[0] <= value - share * slope / 4 + 1e-14 * abs(value):
                    break
                share /= 2
                if share < 1e-10:  # rounding: no further progress is possible
                    return graph.centred(theta)
            theta, (value, force, within) = tried, new
        return graph.centred(theta)

    def _huber(self, level: float, theta: Array) -> tuple[float, Array, NDArray[np.bool_]]:
        """The objective, what pulls at each item (minus the gradient), and which rows are within."""
        graph = self.graph
        misfit = graph.margin - graph.differences(theta)
        held = np.clip(misfit, -level, level)
        within = held == misfit
        weighted = graph.weight * held
        misfit -= held / 2
        return float(weighted @ misfit), graph.divergence(weighted), within

    def _along_the_path(self, level: float, theta: Array, before: float) -> Array:
        """The step to the minimizer at `level` if the flags at `before` are still those."""
        graph = self.graph
        misfit = graph.margin - graph.differences(theta)
        within = np.abs(misfit) <= before
        held = np.where(within, misfit, np.copysign(level, misfit))
        return self._newton_step(within, graph.divergence(graph.weight * held), _INEXACT)

    def _newton_step(self, within: NDArray[np.bool_], force: Array, accuracy: float) -> Array:
        """The step d with (L of the rows within + a little of L) d = force.

        Preconditioned by the diagonal where that takes few steps, as it does on random graphs, whose
        items are all a few comparisons from each other; else by the inverse of the whole Laplacian,
        which is factored once: with a share q of flagged rows spread evenly the condition is then
        about 1/(1 - q).
        """
        graph, matrix = self.graph, self._matrix
        weight = np.where(within, graph.weight, _ANCHOR * graph.weight)
        matrix.data = np.bincount(self._pair, weight, self._pairs)[self._place]
        degree = matrix @ np.ones(graph.items)

        def hessian(v: Array) -> Array:
            return np.asarray(degree * v - matrix @ v)

        if self._diagonal_will_do:
            step, reached = conjugate_gradients(hessian, lambda r: r / degree, force, accuracy, _FEW)
            if reached:
                return step
            self._diagonal_will_do = False
        return conjugate_gradients(hessian, graph.solve, force, accuracy, _INNER)[0]


def conjugate_gradients(
    matrix: Callable[[Array], Array], inverse: Callable[[Array], Array], b: Array, accuracy: float, most: int
) -> tuple[Array, bool]:
    """x with ``matrix(x) = b`` within `accuracy` of the size of b, preconditioned by `inverse`.

    And whether it came so near in at most `most` steps.
    """
    x, r = np.zeros_like(b), np.array(b)
    z = inverse(r)
    p, rz = z, float(r @ z)
    enough = accuracy * float(np.linalg.norm(b))
    for _ in range(most):
        ap = matrix(p)
        curvature = float(p @ ap)
        if curvature <= 0:  # rounding, at full accuracy
            return x, True
        x = x + (rz / curvature) * p
        r = r - (rz / curvature) * ap
        if float(np.linalg.norm(r)) <= enough:
            return x, True
        z = inverse(r)
        rz, before = float(r @ z), rz
        if rz <= 0:  # what is left is a constant, which no differences of scores feel
            return x, True
        p = z + (rz / before) * p
    return x, False
