"""Rankings of several items in the manner of scikit-learn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from optiframe.errors import InvalidInput
from optiframe.tables.columns import as_column
from optiframe.tables.ids import listed
from optiframe_hodgerank.item_ranker import ItemRanker
from optiframe_hodgerank.listwise.problem import ListwiseRanking


class ListwiseRanker(ItemRanker[ListwiseRanking]):
    """Scores of items from rankings of several of them, and from choices out of sets.

    An `optiframe.estimator.Estimator`: in the manner of scikit-learn, which it does not need.

    Parameters
    ----------
    solver, seed, budget, columns
        As for every estimator. ``"plackett-luce"`` is short for ``"ranking.plackett-luce"``, the default.

    Attributes
    ----------
    scores_
        A frame of the kind given to `fit`: item, rank, score (and low, high; component), best first.
    ranking_
        Item ids, best first, shape (items,); components one after the other.
    result_, findings_, n_iter_
        As of every estimator.
    """

    families: ClassVar[tuple[str, ...]] = ("ranking",)

    def fit(self, rankings: Any = None, choices: Any = None) -> Self:
        """Learn from all rankings and choices at once, forgetting what was learnt before.

        Parameters
        ----------
        rankings, choices
            Of the problem `listwise-ranking`: lists of items, the best first, or a table with the columns
            ranking, item, position; lists of winner and set, or a table with the columns choice, item,
            chosen. One of the two may be None.

        Raises
        ------
        InvalidInput, UnknownName, Unsuited
            Saying what is wrong with a parameter or with which rankings; what was learnt before is then kept.
        """
        return self._learn(
            ListwiseRanking(columns=dict(self.columns or {}), rankings=rankings, choices=choices)
        )

    def predict(self, sets: Sequence[Sequence[Any]]) -> NDArray[Any]:
        """Which item of each set would most likely be chosen, shape (sets,); of equal scores the first.

        Raises
        ------
        InvalidInput
            Before `fit`, for an empty set, and for items that were in no ranking, naming them.
        """
        answer = self._answer()
        chosen = []
        for at, given in enumerate(sets):
            items = as_column(given)
            if not len(items):
                raise InvalidInput(f"sets[{at}] is empty; give items to choose from")
            place = self._places(items, f"sets[{at}]: in no ranking")
            if len(np.unique(answer.component[place])) > 1:
                raise InvalidInput(
                    f"sets[{at}]: no chain of rankings joins {listed(items)}, so nothing says which is chosen"
                )
            chosen.append(answer.items[place[np.argmax(answer.scores[place])]])
        return as_column(chosen)
