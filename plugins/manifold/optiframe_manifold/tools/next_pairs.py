"""Which pairs to ask next: those whose answer is expected to tell most."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from optiframe.errors import InvalidInput
from optiframe.records.fields import Array
from optiframe.solving.result import Result
from optiframe.solving.sources import Source
from optiframe.tables.frames import to_frame
from optiframe_manifold.answer import Rankings
from optiframe_manifold.problem import CollaborativeRanking, answered
from optiframe_manifold.trust.curvature import Blocks, information, information_of

_MOST = 200_000_000
"""Pairs of items of all users that are looked at without a user named: some ten seconds."""


def suggest(
    problem: Source,
    solution: Rankings | Result[Any, Any] | None = None,
    n: int = 10,
    *,
    user: Hashable | None = None,
    weight: float = 1.0,
) -> Any:
    """The comparisons expected to tell most, for one user or whoever tells most, the best first.

    What a comparison of items j and k by user i tells of its margin X_ij - X_ik is at most
    ``log(1 + weight I s^2)/2`` nats: s^2 is the margin's variance now (by `trust.curvature.Blocks`: of the
    user's taste and of both items) and I = P(1 - P)/sigma^2 what a choice of probability P tells. So a
    pair whose outcome is plain tells little, however little else is known of it, and a pair that is even
    and well known as well. Pairs are chosen one by one, each as if those before it had been answered.

    Parameters
    ----------
    problem, solution
        The comparisons so far, and an answer to them; or the result of a solver, or a fitted
        `CollaborativeRanker`, alone.
    n
        How many to suggest; a pair may come more than once.
    user
        Whom to ask; None: the users from whom most is to be learnt.
    weight
        What one comparison weighs.

    Returns
    -------
    frame
        user, left, right, gain (nats), chance (that left is preferred), in the kind the comparisons came
        in.

    Raises
    ------
    InvalidInput
        For a user there is not, an n or weight that is not positive, fewer than two items, or
        more than 200 million pairs of items of all users where no user is named.

    Notes
    -----
    Which side is called left carries no meaning. Each suggestion costs items^2 r for the user asked, and
    the first one as much for all users considered; memory is 24 items^2 bytes.
    """
    asked_of, answer = answered(problem, solution)
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise InvalidInput(f"n must be a whole number of at least 1, got {n!r}")
    if not (weight > 0 and np.isfinite(weight)):
        raise InvalidInput(f"weight must be a positive number, got {weight}")
    users, items = asked_of.shape
    if items < 2:
        raise InvalidInput("there is one item only, and nothing to compare it with")
    considered = list(range(users)) if user is None else [answer.code(user)]
    if len(considered) * items**2 > _MOST:
        raise InvalidInput(
            f"{users:,} users and {items:,} items make more than {_MOST:,} pairs to look at; name the user"
        )
    known = _Known(asked_of, answer, weight)
    best = {u: known.best(u) for u in considered}
    rows: list[tuple[int, int, int, float, float]] = []
    for _ in range(n):
        asked = max(best, key=lambda u: best[u][0])
        # What was learnt of items changes other users' gains a little, and only downwards: look again
        # until the best one stands.
        while True:
            best[asked] = known.best(asked)
            further = max(best, key=lambda u: best[u][0])
            if further == asked:
                break
            asked = further
        gain, j, k = best[asked]
        rows.append((asked, j, k, gain, known.chance(asked, j, k)))
        known.learn(asked, j, k)
        best[asked] = known.best(asked)
    who, left, right, gains, chances = (np.array(column) for column in zip(*rows, strict=True))
    table = {
        "user": answer.users[who],
        "left": answer.items[left],
        "right": answer.items[right],
        "gain": gains,
        "chance": chances,
    }
    return to_frame(table, asked_of.comparisons.backend)


class _Known:
    """Variances of margins, and how they fall with what is asked."""

    def __init__(self, problem: CollaborativeRanking, solution: Rankings, weight: float) -> None:
        x = problem.to_factors(solution)
        blocks = Blocks.of(*information_of(problem.likelihood, x, solution.prior, solution.reliability))
        self.factors, self.users, self.items = blocks.factors, blocks.users.copy(), blocks.items.copy()
        # Chances by the scores given out, in the problem's unit.
        self.served, self.unit = solution.served, solution.sigma
        self.sigma, self.weight = problem.sigma, weight

    def best(self, user: int) -> tuple[float, int, int]:
        """The largest gain of a user's pairs, and the pair; of equal ones the first."""
        right, mine = self.factors.right, self.factors.left[user]
        taste = right @ self.users[user] @ right.T
        spread = taste.diagonal() + np.einsum("r,jrs,s->j", mine, self.items, mine)
        variance = spread[:, None] + spread[None, :] - 2 * taste
        scores = self.served.row(user) / self.unit
        told = information(scores[:, None] - scores[None, :], 1.0) / self.sigma**2
        gain = np.triu(0.5 * np.log1p(self.weight * told * variance), 1)
        at = int(np.argmax(gain >= (1 - 1e-9) * gain.max()))
        if gain.flat[at] == 0.0:
            at = 1  # nothing is left to learn: the first pair
        j, k = divmod(at, len(right))
        return float(gain[j, k]), j, k

    def chance(self, user: int, j: int, k: int) -> float:
        """That the user prefers j to k."""
        scores = self.served.row(user) / self.unit
        return float(0.5 + 0.5 * np.tanh((scores[j] - scores[k]) / 2))

    def learn(self, user: int, j: int, k: int) -> None:
        """The covariances once this comparison has been made."""
        mine, gap = self.factors.left[user], self.factors.right[j] - self.factors.right[k]
        scores = self.served.row(user) / self.unit
        told = self.weight * float(information(scores[j] - scores[k], 1.0)) / self.sigma**2
        self.users[user] = _reduced(self.users[user], gap, told)
        for item in (j, k):
            self.items[item] = _reduced(self.items[item], mine, told)


def _reduced(covariance: Array, along: Array, told: float) -> Array:
    """(C^-1 + told a a')^-1, by Sherman and Morrison."""
    moved = covariance @ along
    return np.asarray(covariance - np.outer(moved, moved) * (told / (1 + told * float(along @ moved))))
