"""Collaborative ranking: a ranking for every user from a few comparisons each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, NonNegativeFloat, PlainValidator, PositiveInt, model_validator

from optiframe.errors import InvalidInput
from optiframe.findings import Finding
from optiframe.problems.minimize import Minimize
from optiframe.problems.problem import Formulation, Problem
from optiframe.records.fields import Accepts, Array
from optiframe.solving.sources import Source, answer_of, part_of
from optiframe.tables.columns import Columns
from optiframe.tables.field import ColumnNames
from optiframe.tables.ids import Ids
from optiframe.tables.outcomes import read_outcomes
from optiframe_manifold import metrics
from optiframe_manifold.answer import Population, Rankings
from optiframe_manifold.data import Choices, ChoiceTable
from optiframe_manifold.low_rank import LowRank, Rank
from optiframe_manifold.objective.btl import BtlObjective, Penalty, Scale
from optiframe_manifold.population import population
from optiframe_manifold.read.ids import read_ids, sizes
from optiframe_manifold.read.known_scores import read_truth
from optiframe_manifold.read.tables import COLUMNS, read_comparisons, read_held_out
from optiframe_manifold.trust import findings as trust

_TABLE = "data frame, mapping of columns, or path of a CSV or Parquet file, with the columns "
_FOLLOWED = 10_000_000  # entries of a truth up to which each recorded iterate is compared with it
_USUAL_RANK = 2
_LISTED = 100  # best items of each user in the answer's table; the factors give all the others


class CollaborativeRanking(Problem[Rankings]):
    """Find a ranking of the items for every user, from comparisons by each of a few of them.

    The Bradley-Terry-Luce model with a score matrix X, users x items: user i prefers item j to
    item k with chance f(X_ij - X_ik), f(z) = 1/(1 + exp(-z/sigma)). X is of low rank, a few tastes
    of which each user is a mixture, so that users learn from those who share their tastes.

    Minimizes, over matrices of rank at most `rank`, the negative log-likelihood

        sum over comparisons of  log(1 + exp(-(X_winner - X_loser)/sigma))

    plus `multiplier` times lambda times the penalty (Eq. 9 for "log-sum-exp"). Without a rank the solver
    recommended is `btl.personal`, which chooses how personal rankings are; the others take rank 2.

    Comparisons are grouped by user, and equal ones merged into one with the sum of their
    weights (`choices`), which changes no sum.

    Notes
    -----
    **A tie** counts as half a win for either side: the likelihood of a draw decided by lot.

    **Weights** multiply a comparison's term; a weight of 2 is the same as writing the row twice.

    **lambda** is r^2 sqrt(K) log K for K users and K items. With m users and n items K is
    sqrt(m n): the penalty is about the m n entries of X, and depends on K through their number
    (`strength`).

    **What cannot be known.** A constant added to all scores of one user changes no comparison.
    Items that no chain of comparisons joins to others can be moved against them. The penalty
    settles both; findings say where.

    Memory: 41 bytes a row for the codes, 16 a merged row.
    """

    name = "collaborative-ranking"
    reference = "Dong et al., Secs. III and IV"
    better: ClassVar[dict[str, Literal["lower", "higher"]]] = {
        **dict.fromkeys(("relative_error", "centred_error", "scaled_error", "held_out_loss"), "lower"),
        **dict.fromkeys(("kendall_tau", "top_overlap", "held_out_accuracy"), "higher"),
    }

    # The order matters: reading a table looks at the fields before it.
    columns: Annotated[dict[str, str], ColumnNames(COLUMNS)] = Field(
        default_factory=dict, description="names of the columns where they differ from ours"
    )
    outcomes: Annotated[
        dict[str, str], PlainValidator(read_outcomes), Accepts("table of label to left, right or tie")
    ] = Field(default_factory=dict, description="what labels stand for that are not the winner's id")
    users: Annotated[Ids | None, PlainValidator(read_ids), Accepts("list of ids")] = Field(
        default=None,
        description="all users, also those without a comparison; default: those of the comparisons",
    )
    items: Annotated[Ids | None, PlainValidator(read_ids), Accepts("list of ids")] = Field(
        default=None, description="all items, also those never compared; default: those of the comparisons"
    )
    comparisons: Annotated[
        ChoiceTable,
        PlainValidator(read_comparisons),
        Accepts(_TABLE + "user, left, right, label (the winner's id; empty or 0: a tie); weight"),
    ] = Field(description="which item each user preferred to which")
    sigma: Scale = Field(
        default=0.18,
        description="scale of the model: scores so far apart are chosen 73 to 27; the paper's 0.18",
    )
    rank: PositiveInt | None = Field(
        default=None,
        description="rank of the score matrix: the number of tastes; none: chosen by btl.personal, 2 with "
        "other solvers",
    )
    penalty: Penalty = Field(
        default="log-sum-exp",
        description="log-sum-exp: the paper's, O(users items rank) time; frobenius: nearly the same, "
        "cheap; none: nothing keeps scores finite",
    )
    multiplier: NonNegativeFloat = Field(
        default=1.0, description="strength of the penalty, in units of lambda"
    )
    truth: Annotated[
        LowRank | Array | None,
        PlainValidator(read_truth),
        Accepts("users x items matrix, its path (NPY), or " + _TABLE + "user, item, score"),
    ] = Field(default=None, description="known true scores, for the metrics only")
    held_out: Annotated[ChoiceTable | None, PlainValidator(read_held_out), Accepts("as comparisons")] = Field(
        default=None, description="further comparisons to predict, for the metrics only"
    )
    top: PositiveInt = Field(default=10, description="best items counted by the metric top_overlap")

    @model_validator(mode="after")
    def _possible(self) -> Self:
        users, items = self.shape
        if self.rank is not None and self.rank > min(users, items):
            text = (
                f"is {self.rank}, but scores of {sizes(self.shape)} have rank "
                f"{min(users, items)} at most; give a rank up to that"
            )
            raise InvalidInput(f"rank: {text}", [(("rank",), text)])
        return self

    @property
    def user_ids(self) -> NDArray[Any]:
        """What the codes of users stand for, shape (users,)."""
        return self.comparisons.user_ids

    @property
    def item_ids(self) -> NDArray[Any]:
        """What the codes of items stand for, shape (items,)."""
        return self.comparisons.item_ids

    @property
    def shape(self) -> tuple[int, int]:
        """Users and items."""
        return self.comparisons.shape

    @property
    def rows(self) -> int:
        """Number of comparisons, before merging."""
        return len(self.comparisons)

    @property
    def choices(self) -> Choices:
        """Comparisons grouped by user and merged."""
        return self.comparisons.choices

    @cached_property
    def population(self) -> Population | None:
        """What users without a comparison and items never compared are given; None without such."""
        return population(self.likelihood)

    @property
    def factor_rank(self) -> int:
        """The rank of the matrices that are searched: `rank`, or 2 where that is not given."""
        return min(_USUAL_RANK, *self.shape) if self.rank is None else self.rank

    @property
    def strength(self) -> float:
        """What the penalty is multiplied by: multiplier x r^2 sqrt(K) log K, K = sqrt(users x items)."""
        size = math.sqrt(math.prod(self.shape))
        return self.multiplier * self.factor_rank**2 * math.sqrt(size) * math.log(size)

    @cached_property
    def likelihood(self) -> BtlObjective:
        """What is minimized: the negative log-likelihood plus the penalty, a function of the factors."""
        users, items = self.shape
        rows = self.choices
        return BtlObjective(
            users=users,
            items=items,
            winner=rows.winner,
            loser=rows.loser,
            pointer=rows.pointer,
            weight=rows.weight,
            sigma=self.sigma,
            penalty=self.penalty,
            strength=self.strength,
        )

    def formulate(self) -> Formulation:
        return Formulation(
            Minimize(self.likelihood, over=Rank(*self.shape, self.factor_rank)),
            interpret=self.from_factors,
            encode=self.to_factors,
        )

    def like(self, comparisons: ChoiceTable, **changed: Any) -> Self:
        """The same problem with other comparisons; without its truth and its held-out comparisons."""
        kept = {name: getattr(self, name) for name in ("sigma", "rank", "penalty", "multiplier", "top")}
        return type(self)(comparisons=comparisons, **(kept | changed))

    def from_factors(self, factors: LowRank) -> Rankings:
        """The answer with these scores."""
        table = self.comparisons
        return Rankings(table.user_ids, table.item_ids, factors, self.sigma, table.backend, self.population)

    def to_factors(self, solution: Rankings) -> LowRank:
        """The scores of an answer, in this problem's sigma."""
        self.check(solution)
        factors = solution.factors
        if solution.sigma == self.sigma:
            return factors
        return LowRank(factors.left, factors.right * (self.sigma / solution.sigma))

    def recommended(self) -> Sequence[tuple[str, str]]:
        of_rank = "manifold.trust-region", "it needs the fewest passes over the comparisons"
        if self.rank is not None:
            return (of_rank,)
        why = (
            "no rank was given, and it serves personal rankings only where they predict held-out comparisons "
            "better than one ranking for all"
        )
        return (("btl.personal", why), of_rank)

    def check(self, solution: Any) -> None:
        """Raise `InvalidInput` unless this is an answer for these users and items."""
        if not isinstance(solution, Rankings):
            raise InvalidInput(
                "an answer to collaborative-ranking is a Rankings, such as the solution of an earlier run, "
                f"not a {type(solution).__name__}"
            )
        for mine, theirs, what in (
            (self.user_ids, solution.users, "users"),
            (self.item_ids, solution.items, "items"),
        ):
            if mine is not theirs and not np.array_equal(mine, theirs):
                raise InvalidInput(f"this answer is for other {what} than the problem's")
        if solution.factors.shape != self.shape:
            raise InvalidInput(
                f"the factors of this answer are of a {solution.factors.shape} matrix; "
                f"there are {self.shape[0]} users and {self.shape[1]} items"
            )

    def violation(self, solution: Rankings) -> float:
        most = min(self.shape) if self.rank is None else self.rank
        return Rank(*self.shape, most).violation(solution.factors)

    def metrics(self, solution: Rankings) -> dict[str, float]:
        """Against `truth` and `held_out`, where they are given; nothing else is looked at.

        `relative_error` (Eq. 27), `centred_error` and `scaled_error` of the scores, see
        `metrics.of_scores`; `kendall_tau` (tau-b) and `top_overlap`, means over users;
        `held_out_accuracy` and `held_out_loss` of comparisons held out. Errors are of the factors,
        the others of the scores given out (`Rankings.served`).
        """
        found: dict[str, float] = {}
        if self.truth is not None:
            found |= metrics.of_scores(self.truth, solution.factors)
            agreement = metrics.of_rankings(self.truth, solution.served, self.top)
            for name in ("kendall_tau", "top_overlap"):
                found[name] = metrics.mean_over_users(agreement[name])
        if self.held_out is not None:
            found |= metrics.of_held_out(self.held_out, solution.served, solution.sigma, solution.reliability)
        return found

    def baseline_metrics(self) -> dict[str, float]:
        """`kendall_tau` 0, where there is a truth."""
        return {} if self.truth is None else {"kendall_tau": 0.0}

    def trace_metrics(self, solution: Rankings) -> dict[str, float]:
        """`relative_error` of each recorded iterate, where there is a truth of up to ten million entries.

        O(users items rank) time.
        """
        if self.truth is None or self.shape[0] * self.shape[1] > _FOLLOWED:
            return {}
        return {"relative_error": metrics.of_scores(self.truth, solution.factors)["relative_error"]}

    def diagnose(self, solution: Rankings) -> tuple[Finding, ...]:
        rank, penalized = self.factor_rank, self.penalty != "none" and self.strength != 0
        if solution.prior is not None:
            rank, penalized = 0, True  # chosen with a prior that bounds what each direction may say
        return tuple(trust.report(self.comparisons, solution.factors, rank=rank, penalized=penalized))

    def to_tables(self, solution: Rankings) -> dict[str, Columns]:
        """Tables `rankings` (the best 100 items of each user), and the factors by user and by item.

        A score is the product of a user's and an item's factors, so that these hold everything. Where
        there are users without a comparison a last factor `population` gives them all users' scores.
        With a truth also `agreement`, for each user compared.
        """
        served, rank = solution.served, solution.factors.rank
        tables: dict[str, Columns] = {
            "rankings": solution.columns(_LISTED),
            "users": {"user": self.user_ids, **_numbered(served.left, rank)},
            "items": {"item": self.item_ids, **_numbered(served.right, rank)},
        }
        if self.truth is not None:
            found = metrics.of_rankings(self.truth, served, self.top)
            row = found.pop("row").astype(np.int64)
            tables["agreement"] = {"user": self.user_ids[row], **found}
        return tables


def _numbered(factor: Array, rank: int) -> dict[str, Array]:
    return {f"factor_{k}" if k <= rank else "population": column for k, column in enumerate(factor.T, 1)}


def answered(source: Source, solution: object = None) -> tuple[CollaborativeRanking, Rankings]:
    """The problem and the answer, which is checked; without one, that of the result or fitted estimator.

    Raises
    ------
    InvalidInput
        When there is no problem or no answer, or the answer is for another problem.
    """
    wanted = "a collaborative-ranking problem, the result of a solver for it or a fitted CollaborativeRanker"
    problem = part_of(source, CollaborativeRanking, "problem", wanted=wanted)
    answer: Rankings = answer_of(source, solution)
    problem.check(answer)
    return problem, answer
