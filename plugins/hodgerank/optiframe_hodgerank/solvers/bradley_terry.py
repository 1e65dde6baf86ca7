"""Bradley-Terry scores by maximum likelihood, with or without a prior, and with a model of ties."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from pydantic import Field, NonNegativeFloat

from optiframe.records.fields import Array
from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe_hodgerank.answer import NORMAL_90, Ranking
from optiframe_hodgerank.graph.laplacian import DENSE
from optiframe_hodgerank.problem import PairwiseRanking
from optiframe_hodgerank.trust.separation import separation
from optiframe_hodgerank.votes.covariates import confounded, covariate_votes, separating
from optiframe_hodgerank.votes.effects import Effects
from optiframe_hodgerank.votes.maximum import Likelihood, Point, maximum
from optiframe_hodgerank.votes.newton import AT_REST, newton
from optiframe_hodgerank.votes.tally import tally
from optiframe_hodgerank.votes.tie_models import TieModel, VoteModel


class BradleyTerry(Solver[PairwiseRanking, Ranking, VoteModel | Effects]):
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

    **Covariates** z of the comparisons, left minus right, add their effects b to the difference of scores,
    d = theta_left - theta_right + b . z, in each model of ties. Effects are log-odds for one unit of the
    column, found with the scores; `detail` and the table `effects` have them, with 90% intervals from the
    same information. The prior gives each effect `prior` ties of two equal items that differ by the root
    mean square of the column; it matters only where votes hardly determine the effect. Covariates that are
    differences of the items' own values, or that follow from each other, are refused.

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
    residual_meaning = "the largest change of a score, or of an effect, that a further Newton step would make"
    accepts_start = True
    uses_covariates: ClassVar[bool] = True

    prior: NonNegativeFloat = Field(
        default=0.1,
        description="ties added to every compared pair; above 0 any comparisons have finite scores, "
        "and 0 is plain maximum likelihood",
    )
    ties: TieModel = Field(
        default="davidson",
        description="what a tie says: the model of Davidson, of Rao and Kupper, or half a win of each",
    )

    def unsuited(self, problem: PairwiseRanking) -> str | None:
        if problem.comparisons.graded:
            return "it needs who won (column label), not margins; hodge.l2 takes margins"
        why = confounded(problem.comparisons)
        if why is not None or self.prior > 0:
            return why
        found = separation(problem.graph, problem.item_ids)
        if found is None:
            return separating(problem.comparisons)
        return (
            f"{found.text}, so without a prior their scores would be infinite; set prior above 0, such as "
            "0.1, or leave these items out"
        )

    def iterates(self, problem: PairwiseRanking, run: Run) -> Iterates:
        likelihood = self._likelihood(problem)
        first = likelihood.start() if run.start is None else likelihood.at(run.start.scores)
        for point, last in newton(first):
            # What only the answer needs is computed where the core will stop, not at every iterate.
            over = last or point.residual <= run.budget.tolerance or run.steps_left() <= 1
            detail = self._detail(problem, point)
            if isinstance(detail, Effects) and (over or run.stopping):
                run.findings += detail.findings()
            yield Iterate(
                (point, over or run.stopping),
                point.residual,
                info={"log_likelihood": -point.loss},
                detail=detail,
            )
            if last:
                return AT_REST

    def finish(self, problem: PairwiseRanking, iterate: Iterate) -> Ranking:
        point, over = iterate.x
        scores = point.centred()
        if not over:
            return problem.ranking(scores, scale="log-odds")
        graph, table, ends = problem.graph, problem.comparisons, None
        if graph.items <= DENSE:
            half = NORMAL_90 * point.errors()
            ends = (scores - half, scores + half)
        if table.covariates is None:
            strength = point.vote_model.surprise(graph.margin, graph.differences(scores))
            return problem.ranking(scores, strength=strength, scale="log-odds", intervals=ends)
        effects = Effects.at(point, table.covariates.names, table.backend)
        answer = problem.ranking(scores, scale="log-odds", intervals=ends)
        return replace(answer, strength=effects.surprise(table, scores))

    def standard_errors(self, problem: PairwiseRanking, solution: Ranking) -> Array:
        """Of the scores, shape (items,), by the Fisher information of comparisons and prior.

        Beyond 2,000 items a Laplacian solve an item.
        """
        likelihood = self._likelihood(problem)
        if problem.comparisons.covariates is None:
            return likelihood.settled(solution.scores).errors()
        return maximum(likelihood, solution.scores).errors()

    def _detail(self, problem: PairwiseRanking, point: Point) -> VoteModel | Effects:
        """How scores become chances, and the effects of covariates where there are such."""
        table = problem.comparisons
        if table.covariates is None:
            return point.vote_model
        return Effects.at(point, table.covariates.names, table.backend)

    def _likelihood(self, problem: PairwiseRanking) -> Likelihood:
        known = problem.comparisons.covariates is not None
        more = covariate_votes(problem.comparisons) if known else None
        return Likelihood(tally(problem.graph), self.ties, self.prior, covariates=more)
