"""The chances of a vote between any two items, as the scores of an answer say."""

from __future__ import annotations

import numpy as np

from optiframe.errors import InvalidInput
from optiframe_hodgerank.answer import Ranking
from optiframe_hodgerank.data import Comparisons
from optiframe_hodgerank.trust.bootstrap_answer import Bootstrap
from optiframe_hodgerank.votes.maximum import Likelihood
from optiframe_hodgerank.votes.tally import tally
from optiframe_hodgerank.votes.tie_models import Outcomes, VoteModel


def chance_matrices(comparisons: Comparisons, answer: Ranking, detail: object = None) -> Outcomes:
    """Chances that the row's item wins, ties and loses, shape (items, items) each.

    They are 0 on the diagonal, and nan between components. `detail` is that of the result, whose model of
    ties is taken; without one, Davidson's with as many ties as the scores make likeliest.

    Raises
    ------
    InvalidInput
        When scores are not log-odds.
    """
    if answer.scale != "log-odds":
        raise InvalidInput(
            "chances to win follow from scores in log-odds, and these are not; solve by ranking.crowd-bt or "
            "hodge.bradley-terry"
        )
    chances = _model(comparisons, answer, detail).chances(answer.scores[:, None] - answer.scores[None, :])
    apart = answer.component[:, None] != answer.component[None, :]
    own = np.eye(len(answer.items), dtype=bool)
    return Outcomes(*(np.where(apart, np.nan, np.where(own, 0.0, chance)) for chance in chances))


def _model(comparisons: Comparisons, answer: Ranking, detail: object) -> VoteModel:
    """How scores become chances: as the solver says, else by Davidson's model."""
    if isinstance(detail, Bootstrap):
        detail = detail.detail
    model = getattr(detail, "model", detail)
    if isinstance(model, VoteModel):
        return model
    votes = tally(comparisons.graph)
    if not votes.tied.any():
        return VoteModel("half", 0.0)
    return Likelihood(votes, "davidson").settled(answer.scores).vote_model
