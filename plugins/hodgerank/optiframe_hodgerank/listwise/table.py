"""The table of an answer to rankings and choices: which ranks remain, and how often items came first."""

from __future__ import annotations

from typing import Any

import numpy as np

from optiframe.records.fields import Array
from optiframe.tables.columns import Columns
from optiframe_hodgerank.answer import Ranking
from optiframe_hodgerank.answer_tables import ranks_and_groups
from optiframe_hodgerank.graph.laplacian import DENSE
from optiframe_hodgerank.listwise.likelihood import OrderingLikelihood
from optiframe_hodgerank.listwise.orderings import Orderings
from optiframe_hodgerank.trust import apart

_PRIOR = 0.1  # the solver's default; without any, items that are always last have no information


def difference_errors(orderings: Orderings, solution: Ranking) -> Array | None:
    """Standard errors of all differences of two scores, shape (items, items); inf between components.

    The errors of the single scores are those of the answer's intervals, and their correlations those of the
    information of the orderings. None without intervals, and beyond 2,000 items.
    """
    if solution.low is None or solution.high is None or len(solution.items) > DENSE:
        return None
    covariance = OrderingLikelihood(orderings, _PRIOR).at(solution.scores).covariance()
    return apart.errors_of_differences(covariance, solution)


def ordering_table(orderings: Orderings, solution: Ranking) -> Columns:
    """The answer's own columns, the ranks and groups of `ranking_table` with intervals; best first.

    Then `votes`, how many rankings and choices have the item, of these `wins`, those it comes first in, and
    `win_rate`; all by weight.
    """
    errors = difference_errors(orderings, solution)
    table: dict[str, Any] = {**solution.columns(), **ranks_and_groups(solution, errors)}
    items, best = len(solution.items), solution.order
    weight = np.ones(len(orderings)) if orderings.weight is None else orderings.weight
    votes = np.bincount(orderings.item, np.repeat(weight, np.diff(orderings.first)), items)[best]
    wins = np.bincount(orderings.item[orderings.first[:-1]], weight, items)[best]
    kind = np.int64 if orderings.weight is None else np.float64
    return {**table, "votes": votes.astype(kind), "wins": wins.astype(kind), "win_rate": wins / votes}
