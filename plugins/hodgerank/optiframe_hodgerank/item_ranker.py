"""What estimators share whose answer is one ranking of items."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from optiframe.errors import InvalidInput
from optiframe.estimator import Estimator
from optiframe.problems.problem import Problem
from optiframe.tables.ids import Ids, listed, positions
from optiframe_hodgerank.answer import Ranking

P = TypeVar("P", bound=Problem[Any])


class ItemRanker(Estimator[P, Ranking]):
    """An estimator whose answer is one ranking of items.

    Attributes
    ----------
    scores_
        A frame of the kind given to `fit`: item, rank, score (and low, high; component), best first.
    ranking_
        Item ids, best first, shape (items,); components one after the other.
    result_, findings_, n_iter_
        As of every estimator.
    """

    @property
    def scores_(self) -> Any:
        """Scores and ranks; see the class."""
        return self._given_out(self._learnt("scores_").solution.frame())

    @property
    def ranking_(self) -> NDArray[Any]:
        """Items, best first; see the class."""
        solution = self._learnt("ranking_").solution
        return np.asarray(solution.items[solution.order])

    def _places(self, ids: Ids, unknown: str) -> NDArray[np.int64]:
        """Codes of items in the answer; InvalidInput for others, of which `unknown` says what they are."""
        place = positions(self._answer().items, ids)
        if (place < 0).any():
            raise InvalidInput(f"{unknown}, so without a score: {listed(ids[place < 0])}")
        return place
