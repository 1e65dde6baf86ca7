"""Bradley-Terry scores by maximum likelihood, with or without a prior, and with a model of ties."""

from __future__ import annotations

from pydantic import Field, NonNegativeFloat

from optiframe.records.fields import Array
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe_hodgerank.answer import NORMAL_90, Ranking
from optiframe_hodgerank.graph.comparison_graph import ComparisonGraph
from optiframe_hodgerank.graph.laplacian import DENSE
from optiframe_hodgerank.problem import PairwiseRanking
from optiframe_hodgerank.trust.separation import separation
from optiframe_hodgerank.votes.maximum import Likelihood, newton
from optiframe_hodgerank.votes.tally import tally
from optiframe_hodgerank.votes.tie_models import TieModel, VoteModel


class BradleyTerry(Solver[PairwiseRanking, Ranking, VoteModel]):
    """Scores of the Bradley-Terry model by maximum likelihood with a weak prior, by damped Newton steps.

    P(left wins) = 1/(1 + exp(-(theta_left - theta_right))) for a vote that is not a tie. Needs who won,
    not margins. Every step is one weighted Laplacian solve, by a Cholesky factor up to 2,000 items; five
    to ten suffice, and some ten more where items never win or never lose.

    Scores are log-odds that sum to zero within each component; the 90% intervals are from the
    Fisher information of votes and prior together, up to 2,000 items, of the last iterate (a run that its
    time limit cut short may lack them). `strength` of a comparison is -log of the probability of its
    outcome; `detail.chances` has the chances of a vote for any difference of scores.

    Notes
    -----
    **Ties** are outcomes of their own: by Davidson's model, odds of win, tie and loss are
    exp(d/2) : nu : exp(-d/2), with d the difference of scores; by Rao and Kupper's, a side wins that is
    ahead by more than a threshold. nu, or the threshold, is found with the scores, helped by one vote on
    two equal items, half of it a tie, which keeps it finite where all votes tie. ``ties = "half"``
    counts a tie as half a win of each, as most libraries do. That pulls scores together, and intervals
    around them then miss the scores of the model that ties come from. Without ties all three are the
    same.

    **The prior** adds `prior` ties, each half a win of both sides, to every pair of items that was
    compared at all (after Conner and Grant, and Yan, who add a small part of a win to both items). The
    scores maximize

        sum over comparisons of w log P(outcome)
        + prior/2 * sum over compared pairs of log s(d) + log s(-d)

    with s the logistic function, which is the likelihood times a Beta(1 + prior/2, 1 + prior/2) density
    for the chance to win of each compared pair. For any comparisons this has exactly one maximum whose
    scores sum to zero within each component. Renaming or reordering items changes no score, and
    reversing every outcome reverses every sign. The default, a tenth of a tie a pair, pulls scores
    together: by little where pairs were compared many times, visibly where most were compared once.

    **Without a prior** (`prior = 0`) the scores are those of plain maximum likelihood. They are
    finite if and only if no group of items wins every comparison with the rest of its component (Ford
    1957); other comparisons are refused, and the error names the items.
    """

    name = "hodge.bradley-terry"
    reference = (
        "Bradley, Terry 1952; Ford 1957; for ties Davidson 1970; Rao, Kupper 1967; for the prior "
        "Conner, Grant 2000; Yan 2016"
    )
    solves = PairwiseRanking
    residual_meaning = "the largest change of a score that a further Newton step would make"

    prior: NonNegativeFloat = Field(
        0.1,
        description="ties added to every compared pair; above 0 any comparisons have finite scores, "
        "and 0 is plain maximum likelihood",
    )
    ties: TieModel = Field(
        "davidson",
        description="what a tie says: the model of Davidson, of Rao and Kupper, or half a win of each",
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
        for point, last in newton(self._likelihood(problem.graph)):
            # What only the answer needs is computed where the core will stop, not at every iterate.
            over = last or point.residual <= run.budget.tolerance or run.steps_left() <= 1
            yield Iterate(
                (point, over or run.stopping),
                point.residual,
                info={"log_likelihood": -point.loss},
                detail=point.vote_model,
            )
            if last:
                return (
                    Status.STALLED,
                    "a further Newton step no longer changes the likelihood beyond rounding",
                )

    def finish(self, problem: PairwiseRanking, iterate: Iterate) -> Ranking:
        point, over = iterate.x
        scores = point.centred()
        if not over:
            return problem.ranking(scores, scale="log-odds")
        graph, ends = problem.graph, None
        if graph.items <= DENSE:
            half = NORMAL_90 * point.errors()
            ends = (scores - half, scores + half)
        return problem.ranking(
            scores,
            strength=point.vote_model.surprise(graph.margin, graph.differences(scores)),
            scale="log-odds",
            intervals=ends,
        )

    def standard_errors(self, problem: PairwiseRanking, solution: Ranking) -> Array:
        """Of the scores, shape (items,), by the Fisher information of comparisons and prior.

        Beyond 2,000 items a Laplacian solve an item.
        """
        return self._likelihood(problem.graph).settled(solution.scores).errors()

    def _likelihood(self, graph: ComparisonGraph) -> Likelihood:
        return Likelihood(tally(graph), self.ties, self.prior)
