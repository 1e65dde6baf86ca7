"""The likelihood of orderings under the model of Plackett and Luce, with a prior."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.lapack import dpotri
from scipy.sparse.linalg import LinearOperator, cg

from optiframe.records.fields import Array
from optiframe_hodgerank.graph.laplacian import DENSE, Components
from optiframe_hodgerank.listwise.orderings import Block, Orderings
from optiframe_hodgerank.votes.newton import NewtonPoint
from optiframe_hodgerank.votes.tie_models import Terms, half

_FARTHEST = 300.0  # below the best of an ordering; squares of exponentials beyond vanish
_ACCURACY = 1e-8  # relative residual of conjugate gradients: Newton steps need no more
_CELLS = 1 << 22  # of a block whose arrays are held at a time


class Chances(NamedTuple):
    """What each block of orderings says at some scores, shape (orderings, m) each but for the loss.

    Parameters
    ----------
    loss
        Minus the logarithm of the likelihood of the orderings, weighted.
    odds
        exp(score), relative to the best of the ordering.
    rest
        Sum of the odds from this place on: of what the place is chosen from.
    chosen
        Weight of a place that is chosen, 0 beyond the last.
    """

    loss: float
    odds: Array
    rest: Array
    chosen: Array


@dataclass(frozen=True, eq=False)
class OrderingLikelihood:
    """Minus the log-likelihood of orderings, `pseudo_ties` added for the pairs that met.

    Memory: 24 bytes an entry of the orderings, at a time up to 2,000 items, and 8 items^2 bytes there.
    """

    orderings: Orderings
    pseudo_ties: float = 0.0

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The orderings by length, in pieces of a size that is worked on at a time."""
        return tuple(piece for block in self.orderings.blocks for piece in _pieces(block))

    @cached_property
    def ties(self) -> Array:
        """Pseudo-ties of each pair that met: fewer, the longer the orderings are."""
        return np.asarray(2.0 * self.pseudo_ties / self.orderings.met[2])

    @cached_property
    def components(self) -> Components:
        """The groups of items that orderings join."""
        return Components(self.orderings.wins.graph.components)

    def at(self, theta: Array) -> OrderingPoint:
        """What is known at these scores."""
        items, slope, loss = len(theta), np.zeros(len(theta)), 0.0
        for block in self.blocks:
            said = chances(block, theta)
            loss += said.loss
            pull = said.odds * np.cumsum(said.chosen / said.rest, axis=1) - said.chosen
            slope += np.bincount(block.items.ravel(), pull.ravel(), items)
        if self.pseudo_ties:
            left, right, _ = self.orderings.met
            prior = self.prior(theta)
            loss += float(prior.loss.sum())
            slope += np.bincount(left, prior.d, items) - np.bincount(right, prior.d, items)
        return OrderingPoint(self, theta, loss, slope)

    def prior(self, theta: Array) -> Terms:
        """What the pseudo-ties say of each pair that met."""
        left, right, _ = self.orderings.met
        nothing = np.zeros(len(left))
        return half(nothing, nothing, self.ties, theta[left] - theta[right], 0.0)


@dataclass(frozen=True, eq=False)
class OrderingPoint(NewtonPoint):
    """Scores, and the likelihood's value and slope there; the Newton step on first use."""

    # A change of all scores by at most c changes curvatures by at most exp(2 c). Long first steps took
    # items that are mostly last so far off that their curvature vanished.
    longest: ClassVar[float] = 2.0

    of: OrderingLikelihood
    theta: Array
    loss: float
    slope: Array

    @property
    def value(self) -> float:
        return self.loss

    @cached_property
    def step(self) -> Array:
        """The Newton step, which sums to zero within each component."""
        if len(self.theta) <= DENSE:
            found = cho_solve(self._factor, -self.slope, check_finite=False)
        else:
            found = self._by_iteration()
        return self.of.components.centred(np.asarray(found))

    @property
    def rise(self) -> float:
        return float(self.slope @ self.step)

    @property
    def residual(self) -> float:
        return float(np.abs(self.step).max(initial=0.0))

    def moved(self, length: float) -> OrderingPoint:
        return self.of.at(self.theta + length * self.step)

    def centred(self) -> Array:
        """The scores moved to sum zero within each component."""
        return self.of.components.centred(self.theta)

    def covariance(self) -> Array:
        """Of the scores by the information of orderings and prior, shape (items, items); to 2,000 items."""
        component, size = self.of.components.component, self.of.components.size
        same = component[:, None] == component[None, :]
        inverse = cho_solve(self._factor, np.eye(len(self.theta)), check_finite=False)
        return np.asarray(inverse - same / (self._fill * size[component]))  # less the constants

    def errors(self) -> Array:
        """Standard errors of the scores by the information of orderings and prior; up to 2,000 items."""
        inverse, _ = dpotri(self._factor[0], lower=True)
        component = self.of.components.component
        # Less the constants of each component.
        variance = inverse.diagonal() - 1.0 / (self._fill * self.of.components.size[component])
        return np.asarray(np.sqrt(np.maximum(variance, 0.0)))

    @cached_property
    def _fill(self) -> float:
        """Curvature given to the constants of each component, at the size of the rest."""
        return float(self.diagonal.max(initial=0.0)) or 1.0

    @cached_property
    def _factor(self) -> tuple[Array, bool]:
        component, size = self.of.components.component, self.of.components.size
        same = component[:, None] == component[None, :]
        matrix = self.curvature() + self._fill * same / size[component]
        # Off zero, where the scores of an ordering are so far apart that its places are certain.
        matrix[np.diag_indices_from(matrix)] += np.finfo(np.float64).eps * self._fill
        factor: tuple[Array, bool] = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
        return factor

    def curvature(self) -> Array:
        """Second derivatives, shape (items, items), the upper half in the lower."""
        items = len(self.theta)
        flat = np.zeros(items * items)
        for block in self.of.blocks:
            said, m = chances(block, self.theta), block.items.shape[1]
            both = np.cumsum(said.chosen / said.rest**2, axis=1)
            for a in range(m - 1):
                one, others = block.items[:, a : a + 1], block.items[:, a + 1 :]
                value = -(both[:, a] * said.odds[:, a])[:, None] * said.odds[:, a + 1 :]
                cell = np.maximum(one, others) * items + np.minimum(one, others)
                np.add.at(flat, cell.ravel(), value.ravel())
        matrix = flat.reshape(items, items)
        if self.of.pseudo_ties:
            left, right, _ = self.of.orderings.met
            matrix[right, left] -= self.of.prior(self.theta).dd
        matrix += np.tril(matrix, -1).T
        matrix[np.diag_indices(items)] = -matrix.sum(axis=1)
        return matrix

    @cached_property
    def diagonal(self) -> Array:
        """Of the second derivatives, shape (items,)."""
        items, found = len(self.theta), np.zeros(len(self.theta))
        for block in self.of.blocks:
            said = chances(block, self.theta)
            once, both = (np.cumsum(said.chosen / said.rest**k, axis=1) for k in (1, 2))
            each = said.odds * once - said.odds**2 * both
            found += np.bincount(block.items.ravel(), each.ravel(), items)
        if self.of.pseudo_ties:
            left, right, _ = self.of.orderings.met
            weight = self.of.prior(self.theta).dd
            found += np.bincount(left, weight, items) + np.bincount(right, weight, items)
        return np.asarray(found)

    def times(self, v: Array) -> Array:
        """The second derivatives times a vector, in a pass over the orderings."""
        items, found = len(self.theta), np.zeros(len(self.theta))
        for block, said in zip(self.of.blocks, self._said, strict=True):
            of_item = v[block.items]
            mean = _from_the_end(said.odds * of_item) / said.rest
            weight = said.chosen / said.rest
            each = of_item * np.cumsum(weight, axis=1) - np.cumsum(weight * mean, axis=1)
            found += np.bincount(block.items.ravel(), (said.odds * each).ravel(), items)
        if self.of.pseudo_ties:
            left, right, _ = self.of.orderings.met
            flow = self._prior_weight * (v[left] - v[right])
            found += np.bincount(left, flow, items) - np.bincount(right, flow, items)
        return np.asarray(found)

    @cached_property
    def _said(self) -> list[Chances]:
        return [chances(block, self.theta) for block in self.of.blocks]

    @cached_property
    def _prior_weight(self) -> Array:
        return self.of.prior(self.theta).dd

    def _by_iteration(self) -> Array:
        items, centred = len(self.theta), self.of.components.centred
        # Centred: where the slope is small, rounding has a part along the constants that no step takes away.
        matrix = LinearOperator(
            (items, items), matvec=lambda v: centred(self.times(np.ravel(v))), dtype=np.float64
        )
        least = np.finfo(np.float64).eps * self._fill
        scale = 1.0 / np.maximum(self.diagonal, least)
        nearly = LinearOperator((items, items), matvec=lambda v: scale * np.ravel(v), dtype=np.float64)
        return np.asarray(
            cg(matrix, -centred(self.slope), rtol=_ACCURACY, atol=0.0, maxiter=items, M=nearly)[0]
        )


def chances(block: Block, theta: Array) -> Chances:
    """What a block of orderings says at these scores."""
    score = theta[block.items]
    score = np.maximum(score - score.max(axis=1, keepdims=True), -_FARTHEST)
    odds = np.exp(score)
    rest = _from_the_end(odds)
    chosen = np.where(np.arange(score.shape[1]) < block.places[:, None], block.weight[:, None], 0.0)
    return Chances(float((chosen * (np.log(rest) - score)).sum()), odds, rest, chosen)


def _from_the_end(values: Array) -> Array:
    return np.asarray(np.cumsum(values[:, ::-1], axis=1)[:, ::-1])


def _pieces(block: Block) -> Iterator[Block]:
    rows = max(1, _CELLS // block.items.shape[1])
    for begin in range(0, len(block.items), rows):
        some = slice(begin, begin + rows)
        yield Block(block.items[some], block.places[some], block.weight[some])
