"""The answer to a collaborative-ranking problem: a ranking for every user."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from optiframe.errors import InvalidInput, nearest
from optiframe.notebook import InNotebook
from optiframe.records.fields import Array
from optiframe.tables.columns import Columns
from optiframe.tables.frames import to_frame
from optiframe.tables.ids import Ids
from optiframe_manifold.agreement import nearness
from optiframe_manifold.data import Codes
from optiframe_manifold.low_rank import LowRank, blocks

_BLOCK = 1 << 22  # scores held at a time, 32 MB each array; also the pairs of one user in Eq. 2


@dataclass(frozen=True, eq=False)
class Population:
    """What those are given for whom the factors say nothing.

    Parameters
    ----------
    scores
        Scores of all users together, in the unit of X, shape (items,); they sum to zero.
    silent
        Users without a comparison, shape (users,).
    unseen
        Items never compared, shape (items,).
    """

    scores: Array
    silent: NDArray[np.bool_]
    unseen: NDArray[np.bool_]

    def served(self, factors: LowRank) -> LowRank:
        """The scores given out, each row's mean zero: rank r, and one more where users are silent."""
        right = factors.right - factors.right[~self.unseen].mean(axis=0)
        right[self.unseen] = 0.0
        if not self.silent.any():
            return LowRank(factors.left, right)
        left = np.where(self.silent[:, None], 0.0, factors.left)
        return LowRank(
            np.column_stack([left, self.silent.astype(np.float64)]), np.column_stack([right, self.scores])
        )


@dataclass(frozen=True, eq=False)
class FactorPrior:
    """Precisions of independent normal priors of the factors' columns, in log-odds.

    Parameters
    ----------
    tastes
        Of the users' factors but the first, shape (r - 1,); the first is 1 for everybody, held fixed.
    items
        Shape (r,).
    """

    tastes: Array
    items: Array


@dataclass(frozen=True, eq=False)
class Rankings(InNotebook):
    """Scores of items for every user, as two factors; rankings are made for whom one asks.

    The comparisons say nothing of a constant added to all scores of a user: every score given out
    here is relative to the user's average item. `factors` are as the solver left them, and what the
    objective is about; the scores given out are `served`, which differ for users without a
    comparison and for items never compared.

    Memory: 8 (users + items) r bytes; whatever is asked for comes on top.

    Parameters
    ----------
    users, items
        Ids, shapes (users,) and (items,).
    factors
        The score matrix X, users x items.
    sigma
        Scale of the model: P(j beats k) = 1/(1 + exp(-(X_ij - X_ik)/sigma)).
    backend
        The data-frame library `frame` answers in.
    population
        What users without a comparison and items never compared are given; None where there are none.
    reliability
        Chance that a user chooses by the scores and not the other way round, shape (users,); None: 1 each.
        It changes chances, and neither scores nor rankings.
    prior
        Of a solver with priors of its own on the factors; None: the penalty of the problem.
    """

    users: Ids
    items: Ids
    factors: LowRank
    sigma: float
    backend: str | None = None
    population: Population | None = None
    reliability: Array | None = None
    prior: FactorPrior | None = None

    def __repr__(self) -> str:
        return f"<rankings of {len(self.items)} items for {len(self.users)} users, rank {self.factors.rank}>"

    @cached_property
    def served(self) -> LowRank:
        """The scores given out, relative to each user's average item.

        Those of the factors; but users without a comparison have those of all users together, and
        an item never compared has the average of the items compared (see
        `optiframe_manifold.population`). Rank r, or r + 1 where there are such users.
        """
        if self.population is not None:
            return self.population.served(self.factors)
        return LowRank(self.factors.left, self.factors.right - self.factors.right.mean(axis=0))

    @cached_property
    def _user_codes(self) -> dict[Any, int]:
        return {user: code for code, user in enumerate(self.users.tolist())}

    def code(self, user: Hashable) -> int:
        """Row of a user.

        Raises
        ------
        InvalidInput
            For a user there is not, with the nearest.
        """
        found = self._user_codes.get(user) if isinstance(user, Hashable) else None
        if found is None:
            spelled = [known for known in self._user_codes if str(known) == str(user)]
            near = (
                f"; did you mean {spelled[0]!r}, which is of type {type(spelled[0]).__name__}?"
                if spelled
                else nearest(str(user), map(str, self.users.tolist()))
            )
            raise InvalidInput(f"there is no user {user!r} among the {len(self.users)} ranked{near}")
        return found

    def chance(self, user: Codes, left: Codes, right: Codes) -> Array:
        """Chance that each user prefers `left` to `right`; codes, shape (pairs,)."""
        gap = self.served.at(user, left) - self.served.at(user, right)
        return chances(gap / self.sigma, None if self.reliability is None else self.reliability[user])

    def scores(self, user: Hashable) -> Array:
        """Scores of all items for one user, shape (items,); they sum to zero."""
        return self.served.row(self.code(user))

    def preference(self, user: Hashable) -> Array:
        """tau_j of Eq. 2, shape (items,): the chance that an item beats one drawn at random from all.

        The item itself is among those drawn (against itself it wins half the time). It orders
        items as the scores do. O(items^2) time.
        """
        scores = self.scores(user) / self.sigma
        found = np.empty(len(scores))
        for block in blocks(len(scores), max(1, _BLOCK // len(scores))):
            # The logistic function as a hyperbolic tangent, which does not overflow.
            gap = scores[block, None] - scores
            found[block] = 0.5 + 0.5 * np.tanh(gap / 2).mean(axis=1)
        return found

    def ranking(self, user: Hashable, top: int | None = None) -> Any:
        """One user's items, best first: a frame `item, rank, score, preference` of the best `top`.

        Raises
        ------
        InvalidInput
            For a user there is not, and a `top` that is no whole number of at least 1.
        """
        scores = self.scores(user)
        rank, order = (found[0] for found in _ranked(scores[None, :]))
        best = order[: self._most(top)]
        table = {
            "item": self.items[best],
            "rank": rank[best],
            "score": scores[best],
            "preference": self.preference(user)[best],
        }
        return to_frame(table, self.backend)

    def _most(self, top: int | None) -> int:
        if top is None:
            return len(self.items)
        if isinstance(top, bool) or not isinstance(top, int | np.integer) or top < 1:
            raise InvalidInput(f"top must be a whole number of at least 1, or None for all, got {top!r}")
        return min(int(top), len(self.items))

    def columns(self, top: int | None = None) -> Columns:
        """Columns `user, item, rank, score`: the best `top` items of every user (None: all), best first.

        Equal scores share the best rank. Memory: 40 bytes a row, rows = users x top.

        Raises
        ------
        InvalidInput
            For a `top` that is no whole number of at least 1.
        """
        each = self._most(top)
        users = len(self.users)
        item = np.empty((users, each), dtype=np.int64)
        rank, score = np.empty_like(item), np.empty((users, each))
        for block in blocks(users, max(1, _BLOCK // len(self.items))):
            scores = self.served.left[block] @ self.served.right.T
            ranks, order = _ranked(scores)
            item[block] = order[:, :each]
            rank[block] = np.take_along_axis(ranks, item[block], axis=1)
            score[block] = np.take_along_axis(scores, item[block], axis=1)
        return {
            "user": np.repeat(self.users, each),
            "item": self.items[item.ravel()],
            "rank": rank.ravel(),
            "score": score.ravel(),
        }

    def frame(self, top: int | None = None) -> Any:
        """`columns(top)` as the kind of data frame the comparisons came in; a dict of arrays for files."""
        return to_frame(self.columns(top), self.backend)


def chances(gap: Array, reliability: Array | float | None = None) -> Array:
    """Chances that left is preferred, given log-odds and how reliable each user is (None: wholly)."""
    chance = np.asarray(expit(gap), dtype=np.float64)
    return chance if reliability is None else reliability * chance + (1 - reliability) * (1 - chance)


def _ranked(scores: Array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Ranks from 1 (ties share the best one), and items best first (equal ones by code), of each row."""
    order = np.argsort(-scores, axis=1, kind="stable")
    falling = np.take_along_axis(scores, order, axis=1)
    fresh = np.ones(scores.shape, dtype=bool)
    fresh[:, 1:] = falling[:, :-1] - falling[:, 1:] > nearness(scores)
    at = np.arange(scores.shape[1])
    rank = np.empty(scores.shape, dtype=np.int64)
    np.put_along_axis(rank, order, np.maximum.accumulate(np.where(fresh, at, 0), axis=1) + 1, axis=1)
    return rank, order
