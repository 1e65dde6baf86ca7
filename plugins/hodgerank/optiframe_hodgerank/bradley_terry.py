"""Bradley-Terry scores by maximum likelihood."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from pydantic import Field, NonNegativeFloat
from scipy.sparse.csgraph import connected_components
from scipy.special import expit

from optiframe.results import Status
from optiframe.solvers import Iterate, Iterates, Run, Solver
from optiframe.values import Array
from optiframe_hodgerank.graph import ComparisonGraph
from optiframe_hodgerank.ids import listed
from optiframe_hodgerank.pairwise_ranking import PairwiseRanking
from optiframe_hodgerank.ranking import Ranking

_NORMAL = 1.6448536269514722  # 95th percentile of the normal distribution: two-sided 90%
_INTERVALS = 2000  # up to so many items the diagonal of the inverse information is at hand (dense)
_DECREASE = 1e-4  # share of the predicted decrease a step must reach (Armijo), as usual for Newton's method
_ROUNDING = 4 * float(np.finfo(np.float64).eps)  # of a sum of logarithms, relative to it
_HALVINGS = 40  # of a step: 2^-40 of a Newton step no longer changes scores within rounding


class BradleyTerry(Solver[PairwiseRanking, Ranking, None]):
    """Maximum-likelihood scores of the Bradley-Terry model, by damped Newton steps.

    P(left wins) = 1/(1 + exp(-(theta_left - theta_right))); a tie counts as half a win of each.
    Needs who won, not margins, and, unless `prior` is above 0, that within each component of the
    comparison graph no group of items wins every comparison with the others (Ford 1957): else
    some scores are infinite and the solver says which items. Every step is one weighted
    Laplacian solve, as for `hodge.l2` but factored anew; five to ten suffice.

    Scores are log-odds that sum to zero within each component; the 90% intervals are from the
    Fisher information, up to 2,000 items. `strength` of a comparison is -log of the probability
    of its outcome.
    """

    name = "hodge.bradley-terry"
    reference = "Bradley, Terry 1952; Ford 1957; Hunter 2004"
    solves = PairwiseRanking
    residual = "largest share by which expected and observed wins of an item differ"

    prior: NonNegativeFloat = Field(
        0.0, description="ties added to every compared pair; above 0, scores are finite for any data"
    )

    def unsuited(self, problem: PairwiseRanking) -> str | None:
        if problem.comparisons.graded:
            return "it needs who won (column label), not margins; hodge.l2 takes margins"
        if self.prior > 0:
            return None
        leaders = unbeaten(problem.graph)
        if leaders is None:
            return None
        return (
            f"{listed(problem.item_ids[leaders])} never lose to the rest of their component, so their scores "
            "would be infinite; give `prior`, such as 0.1, or leave these items out"
        )

    def iterates(self, problem: PairwiseRanking, run: Run) -> Iterates:
        graph = with_ties(problem.graph, self.prior)
        wins = (graph.margin + 1.0) / 2.0
        played = np.bincount(graph.left, graph.weight, graph.items) + np.bincount(
            graph.right, graph.weight, graph.items
        )
        theta = np.zeros(graph.items)
        loss = _loss(graph, wins, graph.differences(theta))
        while True:
            chance = expit(graph.differences(theta))
            slope = graph.divergence(graph.weight * (chance - wins))
            step = _information(graph, chance).solve(-slope)
            rise = float(slope @ step)
            last = -rise <= _ROUNDING * max(loss, 1.0)  # the likelihood is at its maximum but for rounding
            length = 1.0 if last else _length(graph, wins, theta, step, rise)
            theta = theta + length * step
            chance = expit(graph.differences(theta))
            slope = graph.divergence(graph.weight * (chance - wins))
            residual = float(np.max(np.abs(slope) / played))
            loss = _loss(graph, wins, graph.differences(theta))
            yield Iterate(theta, residual, info={"log_likelihood": -loss})
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
        intervals = None
        if graph.items <= _INTERVALS:
            chosen = with_ties(graph, self.prior)
            information = _information(chosen, expit(chosen.differences(scores)))
            half = _NORMAL * np.sqrt(np.maximum(information.laplacian_inverse.diagonal(), 0.0))
            intervals = (scores - half, scores + half)
        return problem.ranking(scores, strength=strength, scale="log-odds", intervals=intervals)


def with_ties(graph: ComparisonGraph, prior: float) -> ComparisonGraph:
    """The graph with `prior` ties added to every compared pair; the graph itself when it is 0."""
    if prior == 0:
        return graph
    pair = np.unique(graph.left * graph.items + graph.right)
    left, right = np.divmod(pair, graph.items)
    return ComparisonGraph(
        graph.items,
        np.concatenate([graph.left, left]),
        np.concatenate([graph.right, right]),
        np.concatenate([graph.margin, np.zeros(len(pair))]),
        np.concatenate([graph.weight, np.full(len(pair), prior)]),
    )


def unbeaten(graph: ComparisonGraph) -> NDArray[np.int64] | None:
    """Codes of a smallest group of items that never loses to the rest of its component; None without any."""
    left, right, margin = graph.left, graph.right, graph.margin
    winner = np.concatenate([left[margin >= 0], right[margin <= 0]])
    loser = np.concatenate([right[margin >= 0], left[margin <= 0]])
    # An arrow from loser to winner: who is reached from nobody else's losses has won everything.
    arrows = sp.coo_array((np.ones(len(winner)), (loser, winner)), shape=(graph.items, graph.items))
    groups, group = connected_components(sp.csr_array(arrows), directed=True, connection="strong")
    if groups == graph.components.max() + 1:
        return None
    loses = np.zeros(groups, dtype=bool)
    across = group[winner] != group[loser]
    loses[group[loser[across]]] = True
    wins = np.zeros(groups, dtype=bool)
    wins[group[winner[across]]] = True
    size = np.bincount(group, minlength=groups).astype(np.float64)
    size[loses | ~wins] = np.inf
    return np.flatnonzero(group == int(size.argmin()))


def _information(graph: ComparisonGraph, chance: Array) -> ComparisonGraph:
    """The graph whose Laplacian is the Hessian: weights w p (1 - p).

    Kept off zero where a win is certain within rounding, so that the graph stays connected.
    """
    tiny = float(np.finfo(np.float64).eps)
    weight = graph.weight * np.maximum(chance * (1.0 - chance), tiny)
    return ComparisonGraph(graph.items, graph.left, graph.right, graph.margin, weight)


def _loss(graph: ComparisonGraph, wins: Array, difference: Array) -> float:
    """Minus the log-likelihood."""
    return float(graph.weight @ (np.logaddexp(0.0, difference) - wins * difference))


def _length(graph: ComparisonGraph, wins: Array, theta: Array, step: Array, slope: float) -> float:
    """The longest of the halved step lengths that lowers the loss enough (Armijo's rule)."""
    length, loss = 1.0, _loss(graph, wins, graph.differences(theta))
    for _ in range(_HALVINGS):
        found = _loss(graph, wins, graph.differences(theta + length * step))
        if found <= loss + _DECREASE * length * slope:
            break
        length /= 2
    return length
