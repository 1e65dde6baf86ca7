"""Bradley-Terry scores by maximum likelihood, with or without a prior."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from pydantic import Field, NonNegativeFloat
from scipy.special import expit

from optiframe.records.fields import Array
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe_hodgerank.answer import NORMAL_90, Ranking
from optiframe_hodgerank.graph.comparison_graph import ComparisonGraph
from optiframe_hodgerank.problem import PairwiseRanking
from optiframe_hodgerank.trust.separation import separation

_INTERVALS = 2000  # up to so many items the diagonal of the inverse information is at hand (dense)
_DECREASE = 1e-4  # share of the predicted decrease a step must reach (Armijo), as usual for Newton's method
_ROUNDING = 4 * float(np.finfo(np.float64).eps)  # of a sum of logarithms, relative to it
_HALVINGS = 40  # of a step: 2^-40 of a Newton step no longer changes scores within rounding


class BradleyTerry(Solver[PairwiseRanking, Ranking, None]):
    """Scores of the Bradley-Terry model by maximum likelihood with a weak prior, by damped Newton steps.

    P(left wins) = 1/(1 + exp(-(theta_left - theta_right))); a tie counts as half a win of each.
    Needs who won, not margins. Every step is one weighted Laplacian solve, as for `hodge.l2` but
    factored again; five to ten suffice, and some ten more where items never win or never lose.

    Scores are log-odds that sum to zero within each component; the 90% intervals are from the
    Fisher information of comparisons and prior together, up to 2,000 items. `strength` of a
    comparison is -log of the probability of its outcome.

    Notes
    -----
    **The prior** adds `prior` ties to every pair of items that was compared at all (after Conner and
    Grant, and Yan, who add a small part of a win to both items). The scores maximize

        sum over comparisons of w log P(outcome)
        + prior/2 * sum over compared pairs of log P(left wins) + log P(right wins)

    which is the likelihood times a Beta(1 + prior/2, 1 + prior/2) density for the chance to win of each
    compared pair. For any comparisons this has exactly one maximum whose scores sum to zero within
    each component. Renaming or reordering items changes no score, and reversing every outcome
    reverses every sign. The default, a tenth of a tie a pair, pulls scores together: by little
    where pairs were compared many times, visibly where most were compared once.

    **Without a prior** (`prior = 0`) the scores are those of plain maximum likelihood. They are
    finite if and only if no group of items wins every comparison with the rest of its component (Ford
    1957); other comparisons are refused, and the error names the items.
    """

    name = "hodge.bradley-terry"
    reference = "Bradley, Terry 1952; Ford 1957; Hunter 2004; for the prior Conner, Grant 2000; Yan 2016"
    solves = PairwiseRanking
    residual_meaning = "the largest change of a score that a further Newton step would make"

    prior: NonNegativeFloat = Field(
        0.1,
        description="ties added to every compared pair; above 0 any comparisons have finite scores, "
        "and 0 is plain maximum likelihood",
    )

    def unsuited(self, problem: PairwiseRanking) -> str | None:
        if problem.comparisons.graded:
            return "it needs who won (column label), not margins; hodge.l2 takes margins"
        found = None if self.prior > 0 else separation(problem.graph, problem.item_ids)
        if found is None:
            return None
        return (
            f"{found.text}, so without a prior their scores would be infinite; set prior above 0, such as "
            "0.1, or leave these items out"
        )

    def iterates(self, problem: PairwiseRanking, run: Run) -> Iterates:
        votes = tally(problem.graph, self.prior)
        theta = np.zeros(votes.pairs.items)
        loss = votes.loss(theta)
        slope, step = votes.newton(theta)
        while True:
            rise = float(slope @ step)
            last = -rise <= _ROUNDING * max(loss, 1.0)  # the likelihood is at its maximum but for rounding
            theta = theta + (1.0 if last else _length(votes, theta, loss, step, rise)) * step
            loss = votes.loss(theta)
            # Not the slope: where votes decide nothing, it is small far from the maximum.
            slope, step = votes.newton(theta)
            yield Iterate(theta, float(np.max(np.abs(step))), info={"log_likelihood": -loss})
            if last:
                return (
                    Status.STALLED,
                    "a further Newton step no longer changes the likelihood beyond rounding",
                )

    def finish(self, problem: PairwiseRanking, iterate: Iterate) -> Ranking:
        scores: Array = problem.graph.centred(iterate.x)
        graph = problem.graph
        sign = np.where(graph.margin < 0, -1.0, 1.0)
        difference = graph.differences(scores)
        strength = np.logaddexp(0.0, -sign * difference)
        tie = graph.margin == 0  # as unlikely as half a win and half a loss
        strength[tie] = (strength[tie] + np.logaddexp(0.0, difference[tie])) / 2
        ends = None
        if graph.items <= _INTERVALS:
            half = NORMAL_90 * self._errors(graph, scores)
            ends = (scores - half, scores + half)
        return problem.ranking(scores, strength=strength, scale="log-odds", intervals=ends)

    def standard_errors(self, problem: PairwiseRanking, solution: Ranking) -> Array:
        """Of the scores, shape (items,), by the Fisher information of comparisons and prior.

        Beyond 2,000 items a Laplacian solve an item.
        """
        return self._errors(problem.graph, solution.scores)

    def _errors(self, graph: ComparisonGraph, scores: Array) -> Array:
        information = tally(graph, self.prior).information(scores)
        return np.asarray(np.sqrt(np.maximum(information.laplacian_inverse.diagonal(), 0.0)))


class Tally(NamedTuple):
    """Wins of each compared pair: `pairs` has a row a pair, weighted by all its votes."""

    pairs: ComparisonGraph
    won: Array
    lost: Array

    def loss(self, theta: Array) -> float:
        """Minus the log-likelihood."""
        difference = self.pairs.differences(theta)
        return float(self.lost @ np.logaddexp(0.0, difference) + self.won @ np.logaddexp(0.0, -difference))

    def newton(self, theta: Array) -> tuple[Array, Array]:
        """The slope of the loss and the Newton step."""
        difference = self.pairs.differences(theta)
        # Expected wins less those observed, without the cancellation where a win is nearly certain.
        slope = self.pairs.divergence(self.lost * expit(difference) - self.won * expit(-difference))
        return slope, self.information(theta).solve(-slope)

    def information(self, theta: Array) -> ComparisonGraph:
        """The graph whose Laplacian is the Hessian: weights w p (1 - p).

        Kept off zero where a win is certain within rounding, so that the graph stays connected.
        """
        tiny, pairs = float(np.finfo(np.float64).eps), self.pairs
        difference = pairs.differences(theta)
        weight = pairs.weight * np.maximum(expit(difference) * expit(-difference), tiny)
        return ComparisonGraph(pairs.items, pairs.left, pairs.right, pairs.margin, weight)


def tally(graph: ComparisonGraph, prior: float) -> Tally:
    """The wins of each compared pair, with `prior` ties added; a tie is half a win of each."""
    pairs = graph.by_pair
    share = (pairs.margin + 1.0) / 2.0
    first = pairs.first_row[:-1]
    won = np.add.reduceat(pairs.weight * share, first) + prior / 2
    lost = np.add.reduceat(pairs.weight * (1.0 - share), first) + prior / 2
    left = np.repeat(np.arange(graph.items), np.diff(pairs.first_pair))
    right, weight = pairs.other.astype(np.int64), won + lost
    return Tally(ComparisonGraph(graph.items, left, right, (won - lost) / weight, weight), won, lost)


def _length(votes: Tally, theta: Array, loss: float, step: Array, slope: float) -> float:
    """The longest of the halved steps that lowers the loss enough (Armijo's rule), but for rounding."""
    length, rounding = 1.0, _ROUNDING * max(loss, 1.0)
    for _ in range(_HALVINGS):
        if votes.loss(theta + length * step) <= loss + _DECREASE * length * slope + rounding:
            break
        length /= 2
    return length
