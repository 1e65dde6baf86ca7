"""Plackett-Luce scores of rankings and choices by maximum likelihood, with or without a prior."""

from __future__ import annotations

import numpy as np
from pydantic import Field, NonNegativeFloat

from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe_hodgerank.answer import NORMAL_90, Ranking
from optiframe_hodgerank.graph.laplacian import DENSE
from optiframe_hodgerank.listwise.likelihood import OrderingLikelihood
from optiframe_hodgerank.listwise.problem import ListwiseRanking
from optiframe_hodgerank.trust.separation import separation
from optiframe_hodgerank.votes.newton import AT_REST, newton


class PlackettLuce(Solver[ListwiseRanking, Ranking, None]):
    """Scores of the Plackett-Luce model by maximum likelihood with a weak prior, by damped Newton steps.

    Each place of a ranking is chosen from the items that are left, item i with chance

        exp(theta_i) / sum of exp(theta_j) over the items left;

    a choice from a set is one such place, and for two items it is Bradley-Terry. Five to ten steps suffice.
    Up to 2,000 items a step is a pass over the pairs of items of each ranking and a Cholesky factor; beyond,
    conjugate gradients, whose every step is a pass over the items of each ranking.

    Scores are log-odds that sum to zero within each group of items that rankings join. The 90% intervals are
    from the observed information of rankings and prior together, up to 2,000 items, of the last iterate (a
    run that its time limit cut short may lack them).

    Notes
    -----
    **The prior** adds ties, each half a win of both sides, to every pair of items of which some ranking puts
    one above the other: 2 prior / m of them, where m is the number of items of the shortest ranking in which
    they met. For pairs that is the prior of `hodge.bradley-terry`; in rankings of any length an item gets
    about as much. Any rankings then have exactly one set of scores.

    **Without a prior** (`prior = 0`) the scores are those of plain maximum likelihood. They are finite if
    and only if no group of items is above the rest of its component in every ranking (Hunter 2004); other
    rankings are refused, and the error names the items.

    **Ties** have no place in the model; a table in which two items share a position is refused.
    """

    name = "ranking.plackett-luce"
    reference = "Plackett 1975; Luce 1959; Hunter 2004"
    solves = ListwiseRanking
    residual_meaning = "the largest change of a score that a further Newton step would make"
    accepts_start = True

    prior: NonNegativeFloat = Field(
        default=0.1,
        description="ties added to every pair that met, fewer in long rankings; above 0 any rankings have "
        "finite scores, and 0 is plain maximum likelihood",
    )

    def unsuited(self, problem: ListwiseRanking) -> str | None:
        found = None if self.prior > 0 else separation(problem.orderings.wins.graph, problem.item_ids)
        if found is None:
            return None
        return (
            f"{found.text}, so without a prior their scores would be infinite; set prior above 0, such as "
            "0.1, or leave these items out"
        )

    def iterates(self, problem: ListwiseRanking, run: Run) -> Iterates:
        start = np.zeros(len(problem.item_ids)) if run.start is None else run.start.scores
        for point, last in newton(self._likelihood(problem).at(start)):
            # What only the answer needs is computed where the core will stop, not at every iterate.
            over = last or point.residual <= run.budget.tolerance or run.steps_left() <= 1
            yield Iterate((point, over or run.stopping), point.residual, info={"log_likelihood": -point.loss})
            if last:
                return AT_REST

    def finish(self, problem: ListwiseRanking, iterate: Iterate) -> Ranking:
        point, over = iterate.x
        scores = point.centred()
        if not over or len(scores) > DENSE:
            return problem.ranking(scores)
        half = NORMAL_90 * point.errors()
        return problem.ranking(scores, intervals=(scores - half, scores + half))

    def _likelihood(self, problem: ListwiseRanking) -> OrderingLikelihood:
        return OrderingLikelihood(problem.orderings, self.prior)
