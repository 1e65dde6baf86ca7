"""Bradley-Terry scores and workers' reliability together, by empirical Bayes (CrowdBT)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from optiframe.errors import InvalidInput
from optiframe.numbers import number
from optiframe.records.fields import Array
from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe_hodgerank.answer import NORMAL_90, Ranking
from optiframe_hodgerank.data import Comparisons
from optiframe_hodgerank.graph.laplacian import DENSE
from optiframe_hodgerank.problem import PairwiseRanking
from optiframe_hodgerank.votes import score_prior
from optiframe_hodgerank.votes.covariates import CovariateVotes, confounded, covariate_votes
from optiframe_hodgerank.votes.crowd import PRECISION, CrowdLikelihood, CrowdPoint, climb
from optiframe_hodgerank.votes.crowd_covariates import CovariateCrowd
from optiframe_hodgerank.votes.crowd_errors import standard_errors
from optiframe_hodgerank.votes.effects import Effects
from optiframe_hodgerank.votes.evidence import most_predictive
from optiframe_hodgerank.votes.maximum import Likelihood, Point, without_workers
from optiframe_hodgerank.votes.reading import worker_votes
from optiframe_hodgerank.votes.reliability import Crowd, beliefs
from optiframe_hodgerank.votes.tally import Tally, tally
from optiframe_hodgerank.votes.tie_models import VoteModel
from optiframe_hodgerank.votes.workers import WorkerVotes

_MOST = 1e10  # votes by weight, beyond which the prior is within rounding of them


class CrowdBradleyTerry(Solver[PairwiseRanking, Ranking, Crowd | None]):
    """Scores of items and reliability of workers together: Bradley-Terry whose workers may be wrong.

    Worker w votes as Bradley-Terry says with chance eta_w, and the other way round otherwise:

        P(i over j | w) = eta_w s(theta_i - theta_j) + (1 - eta_w) s(theta_j - theta_i)

    with s the logistic function. So the votes of who guesses (eta = 1/2) count for nothing, and those of
    who votes against the others count the other way round. Needs who won, not margins; without a column
    worker, or with one worker, it is Bradley-Terry with the prior below. Needs that most votes are honest:
    scores with all signs and all eta reversed fit as well, and it starts from plain Bradley-Terry.

    Scores are log-odds that sum to zero within each component, with 90% intervals up to 2,000 items, of
    the last iterate (a run that its time limit cut short may lack them). `detail` has each worker's
    reliability, who is unreliable at a false discovery rate of `fdr` (also a finding, and the table
    `reliability`), and `detail.model.chances` of votes. A step takes one pass over the votes for each of
    11 values of eta and a Cholesky factor up to 2,000 items; 5 to 20 suffice. Memory is 70 bytes a vote.

    Notes
    -----
    **Workers.** eta_w is one of 0, 0.1, ..., 1. How often each occurs is estimated from all workers
    (empirical Bayes), pulled with the strength of five workers to a bell at .95 of width .12, plus .01 on
    each value. Scores maximize the likelihood with eta summed out.

    **Votes that hang together.** Who likes sharp images says so again and again, and is then taken for more
    or less reliable than as many independent votes would show. So scores are found with beliefs in which n
    votes of a worker count as n e (a power posterior), and then multiplied by the number with which votes are
    likeliest, each for itself; by these scores workers are judged and flagged. Of 1, 0.3, 0.1 and 0.03, e is
    the one that predicts votes left out best (the least log-loss, in a vote of anybody, over three folds; a
    worker's votes on one pair stay together), and 1 where that gains less than .002 a vote. Beyond 20,000
    votes, where it would take longer than the scores, with fewer than 100, and with covariates, e is 1.

    **The scale.** Reliable workers and close items make nearly the same votes as unreliable workers and items
    far apart: only the shape of the logistic function tells. In generated crowds of 100 workers and more with
    40 votes and more, scores are .9 to 1.07 times the true ones: too large where workers are perfect, since
    no share is above 1. Where all workers are about equally unreliable they are .6 to .7 times as large, and
    intervals are too narrow. `detail.chance` of anybody in the crowd takes scale and shares into account.

    **Ties** say nothing about scores here; a tie counted as half a win of each would pull scores together.
    Leaving them out is consistent under Davidson's model, whose parameter is found afterwards.

    **The prior of the scores** is normal scores of variance 10, which is weak. Without workers, or with one,
    it is normal scores as wide as the votes make likely, where before them a standard deviation of
    1 is the likeliest; where items have 100 votes and more, of the variance of plain Bradley-Terry less what
    noise adds.

    **Intervals** take the larger of two errors: by Louis' information, and by leaving out each of 20 groups
    of workers (or each of fewer workers, with one factor for all items), which also sees that one worker's
    votes hang together. To either comes what is not known of the distribution of eta.
    Without workers and up to 200 items, intervals allow for a spread of the scores that is not known: the
    prior is chosen from the votes, and of few votes it may be too narrow.

    **Covariates** z of the comparisons, left minus right, add their effects b to the difference of scores, in
    the votes of reliable workers; who votes the other way round does so there, too. Effects have normal
    priors of variance 10 for the root mean square of the column, and the same two errors as scores.
    `detail.effects` and the table `effects` have them. It takes votes of two workers or more and up to 2,000
    items. The scale of effects is that of the scores, so that 90% intervals held the true effect in 79 to 91%
    of generated crowds of 60 workers with 40 votes each, up to 20% of them adversaries.
    """

    name = "ranking.crowd-bt"
    reference = "Chen, Bennett, Collins-Thompson, Horvitz 2013; Louis 1982; Davidson 1970"
    solves = PairwiseRanking
    residual_meaning = "the largest change of a score, or of an effect, in the last step"
    uses_covariates: ClassVar[bool] = True

    fdr: Annotated[float, Field(gt=0, lt=1)] = Field(
        default=0.05, description="share of wrong ones expected among the workers who are called unreliable"
    )
    evidence: Annotated[float, Field(gt=0, le=1)] | None = Field(
        default=None,
        description="as what part of an independent vote each counts where workers are judged for scores; "
        "none: what predicts best, and 1 beyond 20,000 votes or with covariates",
    )

    def unsuited(self, problem: PairwiseRanking) -> str | None:
        if problem.comparisons.graded:
            return "it needs who won (column label), not margins; hodge.l2 takes margins"
        table = problem.comparisons
        if table.weight is not None and table.weight.sum() > _MOST:
            return (
                f"weights count votes here, and they add up to {number(table.weight.sum())}; rounding "
                "then swallows the prior; divide the weights by one number"
            )
        if table.covariates is None:
            return None
        if _by_worker(table) is None:
            return (
                "it finds effects of covariates where two workers or more decided for a side; "
                "hodge.bradley-terry finds them without workers"
            )
        if len(table.item_ids) > DENSE:
            return (
                f"it finds effects of covariates up to {DENSE:,} items; hodge.bradley-terry finds them beyond"
            )
        return confounded(table)

    def iterates(self, problem: PairwiseRanking, run: Run) -> Iterates:
        table = problem.comparisons
        votes = tally(problem.graph)
        decided = votes.decided
        points: Iterator[tuple[Point | CrowdPoint, float]]
        by_worker = _by_worker(table)
        rows = None if table.covariates is None else covariate_votes(table)
        if by_worker is not None:
            why = f"normal scores of variance {1 / PRECISION:g}"
            first = score_prior.nearly(
                decided, None if rows is None else rows._replace(tied=np.zeros_like(rows.tied))
            )
            if rows is not None:
                likelihood: CrowdLikelihood = CovariateCrowd.of(table, decided, by_worker, rows)
                likelihood = replace(likelihood, evidence=self.evidence or 1.0)
            else:
                evidence = self.evidence or most_predictive(decided, by_worker, first.centred(), run)
                likelihood = CrowdLikelihood(decided, by_worker, evidence=evidence)
            points = climb(likelihood.start(np.append(first.centred(), first.effects)))
        else:
            prior = score_prior.chosen(decided)
            why = prior.why
            points = without_workers(Likelihood(decided, precision=prior.precision))
        for point, residual in points:
            # What only the answer needs is computed where the core will stop, not at every iterate.
            over = residual <= run.budget.tolerance or run.steps_left() <= 1 or run.stopping
            crowd = errors = None
            if over:
                theta = point.whole.theta if isinstance(point, CrowdPoint) else point.theta
                evidence = point.of.evidence if isinstance(point, CrowdPoint) else 1.0
                model, effects = _tie_model(votes, theta, rows), None
                if isinstance(point, CrowdPoint) and rows is not None:
                    errors = standard_errors(point)
                    effects = _effects(table, rows, theta, errors, model)
                crowd = Crowd(*beliefs(table, point, by_worker), self.fdr, model, why, effects, evidence)
                run.findings += crowd.findings()
            yield Iterate(
                (point, crowd, errors), residual, info={"log_likelihood": -point.loss}, detail=crowd
            )

    def finish(self, problem: PairwiseRanking, iterate: Iterate) -> Ranking:
        point, crowd, errors = iterate.x
        graph, table, ends = problem.graph, problem.comparisons, None
        if crowd is None:
            return problem.ranking(graph.centred(point.theta[: graph.items]), scale="log-odds")
        theta = point.whole.theta if isinstance(point, CrowdPoint) else point.theta
        scores: Array = graph.centred(theta[: graph.items])
        if graph.items <= DENSE:
            if errors is None:
                of_crowd = isinstance(point, CrowdPoint)
                errors = standard_errors(point) if of_crowd else score_prior.errors(point)
            half = NORMAL_90 * errors[: graph.items]
            ends = (scores - half, scores + half)
        verdicts = crowd.verdicts if len(crowd.worker) else None
        if crowd.effects is None:
            strength = crowd.model.surprise(graph.margin, graph.differences(scores))
            answer = problem.ranking(scores, strength=strength, scale="log-odds", intervals=ends)
            return replace(answer, verdicts=verdicts)
        answer = problem.ranking(scores, scale="log-odds", intervals=ends)
        return replace(answer, strength=crowd.effects.surprise(table, scores), verdicts=verdicts)

    def standard_errors(self, problem: PairwiseRanking, solution: Ranking) -> Array:
        """Of the scores, shape (items,): those that the intervals of the answer were made with."""
        if solution.low is None or solution.high is None:
            raise InvalidInput(
                f"this answer of {self.name} has no intervals; they take up to {DENSE:,} items"
            )
        return np.asarray((solution.high - solution.low) / (2 * NORMAL_90))


def _by_worker(table: Comparisons) -> WorkerVotes | None:
    """The decided votes in order of their workers; None unless two or more cast one."""
    if table.worker is None or not table.margin.any():
        return None
    votes = worker_votes(table)
    return votes if len(votes.counts) > 1 else None


def _effects(
    table: Comparisons, rows: CovariateVotes, theta: Array, errors: Array, model: VoteModel
) -> Effects:
    """Effects and their errors, which come after those of the scores."""
    assert table.covariates is not None
    some = slice(len(table.item_ids), None)
    effect, error = theta[some] / rows.scale, errors[some] / rows.scale
    return Effects(table.covariates.names, effect, error, rows.scale, model, backend=table.backend)


def _tie_model(votes: Tally, theta: Array, rows: CovariateVotes | None) -> VoteModel:
    """Davidson's, with as many ties as these scores make likeliest; none where nothing tied."""
    if not votes.tied.any():
        return VoteModel("half", 0.0)
    scores, effects = theta[: votes.items], None if rows is None else theta[votes.items :]
    return Likelihood(votes, "davidson", covariates=rows).settled(scores, effects).vote_model
