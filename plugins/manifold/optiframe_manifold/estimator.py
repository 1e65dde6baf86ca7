"""A ranking for every user in the manner of scikit-learn: what was learnt ends in `_`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, ClassVar, Literal, Self, cast

import numpy as np
from numpy.typing import NDArray

from optiframe.errors import InvalidInput
from optiframe.estimator import BudgetLike, Estimator
from optiframe.records.fields import Array
from optiframe.registry.registry import build
from optiframe.solving.recommend import Recommendation
from optiframe.solving.solve import whole_seed
from optiframe.solving.solver import Solver
from optiframe.solving.sources import SolverChoice
from optiframe.tables.frames import to_frame
from optiframe.tables.pairs import share_right
from optiframe_manifold.answer import Rankings
from optiframe_manifold.objective.btl import Penalty
from optiframe_manifold.population import pooled_scores
from optiframe_manifold.problem import CollaborativeRanking
from optiframe_manifold.solvers.personal import PersonalRankings
from optiframe_manifold.tools.intervals import Method, intervals
from optiframe_manifold.tools.next_pairs import suggest
from optiframe_manifold.tools.predictions import Shared, chances_of, codes_among, predicted, table_of
from optiframe_manifold.tools.rank_choice import RankChoice, choose_rank
from optiframe_manifold.tools.updating import carried, with_comparisons
from optiframe_manifold.trust.personal_choice import PersonalChoice, Rule


class CollaborativeRanker(Estimator[CollaborativeRanking, Rankings]):
    """A ranking of the items for every user, from a table of who preferred what to what.

    An `optiframe.estimator.Estimator`: in the manner of scikit-learn, which it does not need.

    Parameters
    ----------
    n_components
        "auto": chosen by cross-validation. By default with `btl.personal`, which serves personal rankings
        only where they predict better than one ranking for all users; with any other solver the rank of
        its score matrix is chosen (`choose_rank`). A number is the rank of the score matrix, the number of
        tastes of which everyone is a mixture (`rank` of the problem, a word that is a method here).
    solver, seed, budget, columns
        As for every estimator. ``"trust-region"``, ``"spg"``, ... are short for ``"manifold.trust-region"``,
        ``"btl.spg"``, ...; by default `btl.personal` for "auto", and for a number the solver that the
        problem recommends.
    penalty, multiplier, sigma
        Of the problem `collaborative-ranking`; `btl.personal` chooses penalties of its own.
    outcomes
        Of the problem `collaborative-ranking`: what labels stand for that are not the winner's id.
    folds, rule
        Of the cross-validation, for "auto"; see `btl.personal` and `choose_rank`.

    Attributes
    ----------
    rank_choice_
        How `fit` chose: a `PersonalChoice` of `btl.personal`, a `RankChoice` with other solvers.
    n_components_
        The rank in use; of `btl.personal` the number of personal directions, 0 where everybody is given
        the same ranking.
    users_, items_
        Ids, in the order of codes.
    result_, findings_, n_iter_
        As of every estimator.
    """

    families: ClassVar[tuple[str, ...]] = ("manifold", "btl")

    n_components_: int

    def __init__(
        self,
        n_components: int | Literal["auto"] = "auto",
        *,
        solver: SolverChoice = None,
        penalty: Penalty = "log-sum-exp",
        multiplier: float = 1.0,
        sigma: float = 0.18,
        folds: int = 5,
        rule: Rule = "best",
        seed: int = 0,
        budget: BudgetLike = None,
        columns: Mapping[str, str] | None = None,
        outcomes: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(solver, seed=seed, budget=budget, columns=columns)
        self.n_components = n_components
        self.penalty = penalty
        self.multiplier = multiplier
        self.sigma = sigma
        self.folds = folds
        self.rule = rule
        self.outcomes = outcomes

    def fit(self, frame: Any, truth: Any = None, *, users: Any = None, items: Any = None) -> Self:
        """Learn from all comparisons at once, forgetting what was learnt before.

        Parameters
        ----------
        frame
            The comparisons: a data frame (pandas, polars, pyarrow), a mapping of columns, the path of a
            CSV or Parquet file, with the columns user, left, right, label (the winner's id; empty or 0: a
            tie) and optionally weight; or an array of these columns in this order.
        truth
            Known true scores, as for the problem, for ``result_.metrics`` only.
        users, items
            All ids, also those in no comparison.

        Raises
        ------
        InvalidInput, UnknownName, Unsuited
            Saying what is wrong with a parameter or with which rows; what was learnt before
            is then kept.
        """
        auto = self.n_components == "auto"
        searching = auto and not self._personal()
        if self.n_components is None or (isinstance(self.n_components, str) and not auto):
            raise InvalidInput(f"n_components must be a whole number or 'auto', got {self.n_components!r}")
        problem = CollaborativeRanking(
            comparisons=table_of(frame),
            truth=truth,
            users=users,
            items=items,
            rank=None if auto else cast(int, self.n_components),
            penalty=self.penalty,
            multiplier=self.multiplier,
            sigma=self.sigma,
            **self._reading(),
        )
        choice: RankChoice | None = None
        if searching:
            solver, _ = self._choose(problem)
            choice = choose_rank(
                problem, folds=self.folds, rule=self.rule, solver=solver, seed=whole_seed(self.seed)
            )
            problem = choice.problem
        self._keep(problem)
        self._choice = choice
        if choice is not None:
            self.findings_ = (*choice.findings, *self.findings_)
        return self

    def partial_fit(self, frame: Any) -> Self:
        """Learn from further comparisons together with all earlier ones, beginning at the last answer.

        Users and items may be new. The rank, also one found by cross-validation, is kept; `btl.personal`
        chooses again, and from the beginning.

        Raises
        ------
        InvalidInput, UnknownName, Unsuited
            As `fit`; what was learnt before is then kept.
        """
        if not hasattr(self, "result_"):
            return self.fit(frame)
        answer = self._answer()
        larger = with_comparisons(self._asked(), table_of(frame))
        return self._keep(larger, start=lambda: carried(larger, answer))

    def predict(self, user: Any, left: Any = None, right: Any = None) -> Any:
        """The chance that a user prefers `left` to `right`.

        A user nobody knows is predicted by the ranking of all users together (`population`), an item
        nobody knows by the average of the others; both are named in a warning, `UnknownId`.

        Parameters
        ----------
        user, left, right
            An id each, or lists or arrays of ids, of one length (a tuple is an id). Or a table with the
            columns user, left and right in place of `user`, and nothing else.

        Returns
        -------
        float, array or frame
            A number for ids, an array for sequences; for a table a frame of its kind with user,
            left, right, probability, and winner, the likelier item (None at equal scores).

        Raises
        ------
        InvalidInput
            Before `fit`, and for sequences that differ in length.
        """
        answer = self._answer()
        found = predicted(answer, self._shared(), (user, left, right), names=self.columns or {})
        return found if isinstance(found, float | np.ndarray) else self._given_out(found)

    def rank(self, user: Hashable, top: int | None = None) -> Any:
        """A user's items, best first: a frame `item, rank, score, preference` of the best `top`.

        Raises
        ------
        InvalidInput
            Before `fit`, and for a user there is not; `population` ranks for users nobody knows.
        """
        self._check_user(user)
        return self._given_out(self._answer().ranking(user, top))

    def scores(self, user: Hashable, *, level: float = 0.9, method: Method = "blocks") -> Any:
        """A user's scores with intervals: a frame `item, score, error, low, high` in the order of `items_`.

        See `optiframe_manifold.intervals` for the methods and what they leave out.

        Raises
        ------
        InvalidInput
            Before `fit`, and for a user there is not.
        """
        self._check_user(user)
        seed = whole_seed(self.seed)
        return self._given_out(intervals(self, user=user, level=level, method=method, seed=seed))

    def population(self) -> Any:
        """The ranking of all users together, for users nobody knows: a frame `item, rank, score`.

        Raises
        ------
        InvalidInput
            Before `fit`.
        """
        problem, scores = self._asked(), self._shared().scores
        order = np.argsort(-scores, kind="stable")
        better = np.searchsorted(np.sort(-scores), -scores[order])
        table = {"item": problem.item_ids[order], "rank": better + 1, "score": scores[order]}
        return self._given_out(to_frame(table, problem.comparisons.backend))

    def suggest(self, n: int = 10, *, user: Hashable | None = None) -> Any:
        """The pairs whose answer is expected to tell most; see `optiframe_manifold.suggest`."""
        if user is not None:
            self._check_user(user)
        return self._given_out(suggest(self._asked(), self._answer(), n, user=user))

    def score(self, frame: Any, truth: Any = None) -> float:
        """Share of the decided comparisons of a table whose winner has the higher score.

        `truth` is not looked at: estimators' scores take a second argument. Equal scores count one
        half; ties are left out; weights count. nan when every comparison is a tie. Users and items nobody
        knows are predicted, and warned of, as by `predict`.

        Raises
        ------
        InvalidInput
            Before `fit`, and for a table that is wrong.
        """
        answer = self._answer()
        table = CollaborativeRanking(comparisons=table_of(frame), **self._reading(), rank=1).comparisons
        user = codes_among(answer, table.user_ids, "user", caller=3)
        item = codes_among(answer, table.item_ids, "item", caller=3)
        u, j, k = user[table.user], item[table.left], item[table.right]
        lead = chances_of(answer, self._shared(), u, j, k) - 0.5
        return share_right(lead, table.outcome, table.weight)

    @property
    def users_(self) -> NDArray[Any]:
        """Ids of the users; see the class."""
        return np.asarray(self._learnt("users_").solution.users)

    @property
    def items_(self) -> NDArray[Any]:
        """Ids of the items; see the class."""
        return np.asarray(self._learnt("items_").solution.items)

    @property
    def rank_choice_(self) -> RankChoice | PersonalChoice:
        """How the rank was chosen; AttributeError where it was given."""
        result = self._learnt("rank_choice_")
        if isinstance(result.detail, PersonalChoice):
            return result.detail
        if self._choice is None:
            raise AttributeError("the rank was given and not chosen; n_components='auto' chooses one")
        return self._choice

    _choice: RankChoice | None = None

    def _reading(self) -> dict[str, Any]:
        """How tables of comparisons are read."""
        return {"columns": self.columns or {}, "outcomes": self.outcomes or {}}

    def _keep(self, problem: CollaborativeRanking, start: Callable[[], Rankings] | None = None) -> Self:
        self._learn(problem, start=start)
        choice = self.result_.detail
        self.n_components_ = choice.rank if isinstance(choice, PersonalChoice) else problem.factor_rank
        return self

    def _personal(self) -> bool:
        """Whether the solver is `btl.personal`, which chooses ranks itself; None is taken for it."""
        given = self.solver
        return isinstance(given, PersonalRankings) or (
            (given is None or isinstance(given, str | Mapping))
            and self._table(given).get("name", PersonalRankings.name) == PersonalRankings.name
        )

    def _choose(self, problem: CollaborativeRanking) -> tuple[Solver[Any, Any, Any], Recommendation | None]:
        if self.n_components != "auto" or isinstance(self.solver, Solver) or not self._personal():
            return super()._choose(problem)
        usual = {"folds": self.folds, "rule": self.rule}
        return build("solver", usual | self._table(self.solver) | {"name": PersonalRankings.name}), None

    def _shared(self) -> Shared:
        """What users nobody knows are predicted by."""
        choice, problem = self.result_.detail, self._asked()
        if isinstance(choice, PersonalChoice):
            return Shared(choice.population, choice.reliability)
        if self._pooled is None or self._pooled[0] is not problem:
            self._pooled = problem, pooled_scores(problem.likelihood)
        return Shared(self._pooled[1])

    _pooled: tuple[CollaborativeRanking, Array] | None = None

    def _check_user(self, user: Hashable) -> None:
        answer = self._answer()
        try:
            answer.code(user)
        except InvalidInput as error:
            raise InvalidInput(f"{error} (population() ranks for users nobody knows)") from None
