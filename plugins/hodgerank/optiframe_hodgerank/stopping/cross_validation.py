"""Cross-validation over random projections of the cycle space (Sec. 3.3.1).

To leave out rows tells nothing: with a row goes all that is known of its own outlier. What is
left out here are random combinations of all rows, taken in the cycle space: every one of them
has a little of every outlier in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import scipy.fft
from numpy.typing import NDArray

from optiframe.errors import InvalidInput
from optiframe.records.fields import Array
from optiframe_hodgerank.graph.comparison_graph import ComparisonGraph
from optiframe_hodgerank.path.path import shrink

_DENSE = 600
"""Rows up to which an orthonormal basis of the cycle space is written down: 8 rows^2 bytes and
about 0.1 s; beyond, a fast transform stands for it."""
_FIT_STEPS = 500  # proximal gradient steps at one lambda; 10 to 60 are usual
_FIT = 1e-5  # change in a step, as a share of the largest outlier: errors are then right to about 1e-3
_LEVELS = 10  # values of lambda for each factor of ten
_STEP = 0.5
"""kappa dt of Bregman folds: their forces are up to k/(k - 1) as large, at most 2, and must stay below 2
in all."""
_EXPLAINED = 1e-9  # a misfit below this share of the largest margin is 0 but for rounding
_DECADES, _LOWEST = 2, 0.01
"""Share of the largest lambda at which the search ends; with outliers a hundred times smaller than
the largest misfit nothing is left for noise."""
_TURNED = 2.0
"""The search ends at a lambda so many times smaller (a time so many times later) than the best: the
error has risen for three values of lambda by then."""


TimeLeft = Callable[[], float]


@dataclass(frozen=True)
class Curve:
    """Validation error along a path: mean square of a left-out combination, by level.

    `level` is lambda, or 1/t, falling, shape (levels,); `error` of shape (levels, folds).
    """

    level: Array
    error: Array

    @property
    def best(self) -> int:
        """Place of the least mean error; the largest level where several share it."""
        return int(np.argmin(self.error.mean(axis=1)))

    @property
    def turned(self) -> bool:
        """Whether the error rises again before the path ends, so that its least value means something."""
        return self.best < len(self.level) - 1


class CycleFolds:
    """Random combinations in the cycle space of the caller's rows, in folds.

    In rows scaled by sqrt(w) the cycle space is what X scaled alike is orthogonal to, and P the
    projection onto it; with U2 an orthonormal basis turned at random, U2' y are the measurements,
    and a fold is a part of them.

    Up to 600 rows U2 is dense and exact. Beyond, the combinations are those of S = C D P: the
    cosine transform C of the rows with random signs D, projected. S'S = P exactly, so that all
    folds together are the whole problem, without anything dense; but there are as many combinations
    as rows, items - components more than the dimension of the cycle space, and so measurements of
    different folds are not orthogonal but correlated by about items/rows.

    Works on the caller's rows, unmerged: equal rows have noise of their own here, since each
    combination weighs them differently. Merged, they would have the same noise in the fit and in
    what is left out, and the least error would be to explain everything.

    Parameters
    ----------
    graph
        One row for each of the caller's rows.
    folds
        Number of parts, k.
    rng
        Draws the combinations and the parts.

    Raises
    ------
    InvalidInput
        When the combinations fitted to would leave nothing out (fewer than k times as many rows as
        items), or scores explain every row exactly.

    Notes
    -----
    Memory: ``40 rows k`` bytes, and ``8 rows^2`` up to 600 rows. A product with all k projections
    costs 2 k cosine transforms and k Laplacian solves.
    """

    def __init__(self, graph: ComparisonGraph, folds: int, rng: np.random.Generator) -> None:
        fitted = graph.items - int(graph.components.max()) - 1
        if graph.rows <= folds * max(fitted, 1):
            raise InvalidInput(
                f"cross-validation with {folds} folds needs more than {folds} comparisons for every item, "
                f"here are {graph.rows} of {graph.items} items; give a share or lambda_ instead"
            )
        if np.abs(graph.cycles(graph.margin)).max() <= _EXPLAINED * np.abs(graph.margin).max():
            raise InvalidInput("scores explain every comparison exactly, so there is no outlier to look for")
        self.graph, self.folds = graph, folds
        self.root = np.sqrt(graph.weight)
        self._basis = self._orthonormal(fitted, rng) if graph.rows <= _DENSE else None
        self._signs = rng.choice([-1.0, 1.0], graph.rows)
        self.deal(graph.rows if self._basis is None else self._basis.shape[1], rng)

    def deal(self, combinations: int, rng: np.random.Generator) -> None:
        """Put so many combinations into the folds, as evenly as it goes."""
        self.fold: NDArray[np.int64] = rng.permutation(np.arange(combinations) % self.folds)
        """The part each combination is in, shape (combinations,)."""
        self._left_out = self.fold == np.arange(self.folds)[:, None]

    def _orthonormal(self, fitted: int, rng: np.random.Generator) -> Array:
        """U2, turned at random: normal vectors projected onto the cycle space, made orthonormal."""
        draws = rng.standard_normal((self.graph.rows - fitted, self.graph.rows))
        return np.linalg.qr(self.onto_cycles(draws).T)[0]

    def onto_cycles(self, scaled: Array) -> Array:
        """P of each vector, shape (k, rows), rows scaled by sqrt(w)."""
        flows = np.stack([self.graph.divergence(self.root * one) for one in scaled], axis=1)
        theta = self.graph.solve(flows)
        gone = theta[self.graph.left] - theta[self.graph.right]
        return np.asarray(scaled - self.root * gone.T)

    def measure(self, scaled: Array) -> Array:
        """The combinations of each vector, shape (k, combinations)."""
        if self._basis is not None:
            return np.asarray(scaled @ self._basis)
        return np.asarray(scipy.fft.dct(self._signs * self.onto_cycles(scaled), axis=1, norm="ortho"))

    def back(self, measured: Array) -> Array:
        """The transpose of `measure`."""
        if self._basis is not None:
            return np.asarray(measured @ self._basis.T)
        return self.onto_cycles(self._signs * scipy.fft.idct(measured, axis=1, norm="ortho"))

    def split(self, scaled: Array) -> tuple[Array, Array]:
        """What fold f's own fit feels of vector f, and the mean square of what is left out of it.

        The first is A_f' A_f times the vector, A_f the combinations of all other folds; shapes
        (folds, rows) and (folds,).
        """
        measured = self.measure(scaled)
        left_out = np.where(self._left_out, measured, 0.0)
        error = (left_out * left_out).sum(axis=1) / self._left_out.sum(axis=1)
        return self.back(measured - left_out), np.asarray(error)


def lasso_curve(
    graph: ComparisonGraph, folds: int, rng: np.random.Generator, *, time_left: TimeLeft
) -> Curve:
    """Validation error of Eq. 7 along a grid of lambda; `graph` has the caller's rows, unmerged.

    The first entry is that of no outliers. Ends at a lambda half of the best, at a hundredth of the
    largest, or when no time is left.

    Each fold fits gamma to the other folds' combinations, |A (y - gamma)|^2/2 + lambda' sum w |gamma|,
    by accelerated proximal gradient steps (step 1, as A'A has no eigenvalue above 1), each lambda
    from the one before. A has the share (k - 1)/k of all combinations, so lambda' is that share of
    lambda, as for any loss that is a mean.
    """
    space = CycleFolds(graph, folds, rng)
    root, part = space.root, 1 - 1 / folds
    y = np.broadcast_to(root * graph.margin, (folds, graph.rows))
    gamma = np.zeros((folds, graph.rows))
    first = float(np.abs(graph.cycles(graph.margin)).max(initial=0.0))
    search = _Search(first, time_left)
    search.ends(first, space.split(y)[1])
    for step in range(1, _LEVELS * _DECADES + 1):
        level = first * 10.0 ** (-step / _LEVELS)
        gamma, error = _fit(space, y, gamma, part * level * root)
        if search.ends(level, error):
            break
    return search.curve()


def _fit(space: CycleFolds, y: Array, gamma: Array, price: Array) -> tuple[Array, Array]:
    """Outliers of every fold at its lambda, by accelerated steps with restarts, and the errors there."""
    ahead, speed = gamma, 1.0
    for _ in range(_FIT_STEPS):
        pull, _ = space.split(y - ahead)
        toward = ahead + pull
        moved = toward - np.clip(toward, -price, price)
        change = moved - gamma
        if float(((ahead - moved) * change).sum()) > 0:  # momentum points uphill: restart
            speed = 1.0
        faster = (1 + np.sqrt(1 + 4 * speed * speed)) / 2
        ahead = moved + ((speed - 1) / faster) * change
        gamma, speed = moved, faster
        if np.abs(change).max() <= _FIT * max(float(np.abs(moved).max()), float(price.min())):
            break
    return gamma, space.split(y - gamma)[1]


def bregman_curve(
    graph: ComparisonGraph,
    folds: int,
    rng: np.random.Generator,
    *,
    kappa: float,
    time_left: TimeLeft,
) -> Curve:
    """Validation error of linearized Bregman iteration in t, each fold fitted to the other folds.

    The combinations fitted to make up the share (k - 1)/k, by which their force is divided, so that
    t means what it means for the whole. Steps are those of kappa dt = 0.5.
    """
    space = CycleFolds(graph, folds, rng)
    first = float(np.abs(graph.cycles(graph.margin)).max(initial=0.0))
    search = _Search(first, time_left)
    for t, error in _bregman(space, kappa, _STEP / kappa):
        # Until then nothing is an outlier, in no fold and not in the whole.
        level = first if not search.level else min(first, 1 / t)
        if search.ends(level, error):
            break
    return search.curve()


def _bregman(space: CycleFolds, kappa: float, dt: float) -> Iterator[tuple[float, Array]]:
    """Time and errors of the state at that time, every step from the one before the first entry."""
    root, part = space.root, 1 - 1 / space.folds
    pull, error = space.split(np.broadcast_to(root * space.graph.margin, (space.folds, len(root))))
    rate = pull / (part * root)
    fastest = float(np.abs(rate).max(initial=0.0))
    if fastest == 0:
        return
    steps = int(1 / (fastest * dt))  # until then all misfits stay as they are: made at once
    dual = (steps * dt) * rate
    yield steps * dt, error
    while True:
        outliers = kappa * shrink(dual, 1.0)
        pull, error = space.split(root * (space.graph.margin - outliers))
        yield steps * dt, error
        dual += (dt / part) * pull / root
        steps += 1


class _Search:
    """Follows the errors along a path until their least value is behind."""

    def __init__(self, first: float, time_left: TimeLeft) -> None:
        self.level: list[float] = []
        self.error: list[Array] = []
        self._mean = np.inf
        self._best = first
        self._lowest = _LOWEST * first
        self._time_left = time_left

    def ends(self, level: float, error: Array) -> bool:
        """Note the errors at a level; whether to look no further."""
        self.level.append(level)
        self.error.append(error)
        mean = float(error.mean())
        if mean < self._mean:
            self._mean, self._best = mean, level
        over = level * _TURNED <= self._best * (1 + 1e-9)  # rounding of a grid
        return over or level <= self._lowest or self._time_left() <= 0

    def curve(self) -> Curve:
        return Curve(np.array(self.level), np.array(self.error))
