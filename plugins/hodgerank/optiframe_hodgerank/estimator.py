"""Robust ranking in the manner of scikit-learn: parameters, `fit`, and what was learnt ends in `_`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray

from optiframe.estimator import BudgetLike
from optiframe.records.fields import Array
from optiframe.solving.sources import SolverChoice
from optiframe.tables.frames import to_frame
from optiframe.tables.ids import Ids
from optiframe.tables.pairs import share_right
from optiframe.tables.read import encode, read_table
from optiframe_hodgerank.answer import Ranking
from optiframe_hodgerank.item_ranker import ItemRanker
from optiframe_hodgerank.path.path import Path
from optiframe_hodgerank.problem import PairwiseRanking
from optiframe_hodgerank.read.formats import Format, sides
from optiframe_hodgerank.votes.effects import Effects

_EQUAL = 1e-9  # two scores within this, relative to the largest, predict a tie
_UNKNOWN = "never compared"


class RobustRanker(ItemRanker[PairwiseRanking]):
    """Scores of items, and the comparisons that are wrong, from a table of comparisons.

    An `optiframe.estimator.Estimator`: in the manner of scikit-learn, which it does not need.

    Parameters
    ----------
    solver, seed, budget, columns
        As for every estimator. ``"lbi"``, ``"hlasso"``, ``"l2"``, ... are short for ``"hodge.lbi"``, ...; by
        default the solver that the problem recommends.
    outlier_price
        Of the problem `pairwise-ranking`: lambda of Huber-LASSO, which only general solvers need.
    covariates, position
        Of the problem `pairwise-ranking`: columns of properties of a comparison, left minus right, that may
        sway a vote, and whether being the left item may.
    format, outcomes
        Of the problem `pairwise-ranking`: how tables of comparisons are written, such as "arena", and what
        their labels stand for where they are not the winner's id.

    Attributes
    ----------
    scores_
        A frame of the kind given to `fit`: item, rank, score (and low, high; component), best first.
    ranking_
        Item ids, best first, shape (items,); components one after the other.
    outliers_
        A frame: the comparisons taken for outliers, in order of entry.
    workers_
        A frame: what each worker did, and who clicks on one side or contradicts the ranking.
    effects_
        A frame: the effects of covariates and position on a vote, with intervals; see `Effects`.
    path_
        The `Path` of a method that follows one.
    result_, findings_, n_iter_
        As of every estimator.
    """

    families: ClassVar[tuple[str, ...]] = ("hodge", "ranking")

    _truth: Any

    def __init__(
        self,
        solver: SolverChoice = None,
        *,
        seed: int = 0,
        budget: BudgetLike = None,
        columns: Mapping[str, str] | None = None,
        outlier_price: float | None = None,
        covariates: Sequence[str] = (),
        position: bool = False,
        format: Format | None = None,
        outcomes: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(solver, seed=seed, budget=budget, columns=columns)
        self.outlier_price = outlier_price
        self.covariates = covariates
        self.position = position
        self.format = format
        self.outcomes = outcomes

    def fit(self, frame: Any, truth: Any = None) -> Self:
        """Learn from all comparisons at once, forgetting what was learnt before.

        Parameters
        ----------
        frame
            The comparisons: a data frame (pandas, polars, pyarrow), a mapping of columns, or the path
            of a CSV or Parquet file, with the columns left, right, label or margin, and optionally
            worker and weight; or as `format` says.
        truth
            Known true scores (item, score), for ``result_.metrics`` only.

        Raises
        ------
        InvalidInput, UnknownName, Unsuited
            Saying what is wrong with a parameter or with which rows; what was learnt before
            is then kept.
        """
        return self._keep(self._problem(frame, truth), truth)

    def partial_fit(self, frame: Any, truth: Any = None) -> Self:
        """Learn from a further batch of comparisons together with all earlier ones.

        The answer is that of `fit` on all of them. New items and new workers are welcome. Only the batch is
        read and merged: earlier comparisons are kept as codes and merged rows. The solver then runs
        on all merged rows, from the earlier scores if it takes a start (`hodge.bradley-terry`); a path
        has to be followed again from its beginning.

        Parameters
        ----------
        frame
            The further comparisons, with the columns of the earlier ones.
        truth
            As for `fit`; None keeps what was given before.

        Raises
        ------
        InvalidInput, UnknownName, Unsuited
            As `fit`; also when one batch has labels and the other margins, or covariates were changed.
        """
        if not hasattr(self, "result_"):
            return self.fit(frame, truth)
        truth = self._truth if truth is None else truth
        problem, before = (
            self._problem(self._asked().comparisons, None).extended(frame, truth),
            self._answer(),
        )
        return self._keep(problem, truth, start=lambda: _carried_over(before, problem))

    def predict(self, pairs: Any) -> Any:
        """Who would win: a frame of the kind given with left, right, margin and winner.

        `margin` is the difference of the scores (log-odds for Bradley-Terry), nan where no chain of
        comparisons joins the two; `winner` is then None, as for items of equal score. Effects of covariates
        are left out: it is who would win if nothing but the items differed.

        Parameters
        ----------
        pairs
            A table with the columns left and right, called as in the comparisons or as in a format
            (model_a and model_b).

        Raises
        ------
        InvalidInput
            Before `fit`, and for items that were not among the comparisons, naming them.
        """
        left, right, backend = self._pairs(pairs)
        items = self._answer().items
        margin = self._margin(left, right)
        winner = np.full(len(margin), None, dtype=object)
        for which, side in ((margin > 0, left), (margin < 0, right)):
            winner[which] = items[side[which]]
        columns = {"left": items[left], "right": items[right], "margin": margin, "winner": winner}
        return self._given_out(to_frame(columns, backend))

    def score(self, frame: Any, truth: Any = None) -> float:
        """Share of the decided comparisons of a table whose winner has the higher score.

        `truth` is not looked at: estimators' scores take a second argument.
        Equal scores, and items that no chain of comparisons joins, count one half; ties are left
        out; weights count. nan when every comparison is a tie.
        """
        table = PairwiseRanking(comparisons=frame, **self._reading()).comparisons
        codes = self._places(table.item_ids, _UNKNOWN)
        margin = np.nan_to_num(self._margin(codes[table.left], codes[table.right]))
        return share_right(margin, table.margin, table.weight)

    @property
    def outliers_(self) -> Any:
        """Comparisons taken for outliers; see the class. AttributeError where the method names none."""
        return self._of_answer("outliers_", "outliers", "takes no comparison for an outlier")

    @property
    def workers_(self) -> Any:
        """What each worker did; see the class. AttributeError without a column worker."""
        return self._of_answer("workers_", "workers", "was given no column worker")

    @property
    def effects_(self) -> Any:
        """Effects of covariates; see the class. AttributeError without any."""
        detail = self._learnt("effects_").detail
        effects = detail if isinstance(detail, Effects) else getattr(detail, "effects", None)
        if effects is None:
            raise AttributeError(f"{self!r} was given no covariates and no position")
        return self._given_out(effects.frame())

    @property
    def path_(self) -> Path:
        """The path; see the class. AttributeError where the method follows none."""
        path = self._learnt("path_").detail
        if not isinstance(path, Path):
            raise AttributeError(f"{self!r} follows no path; lbi, iss, hlasso and hlasso-l2 do")
        return path

    def _of_answer(self, name: str, table: str, why_not: str) -> Any:
        result = self._learnt(name)
        tables = result.to_tables()
        if table not in tables:
            raise AttributeError(f"{self!r} {why_not}")
        return self._given_out(to_frame(tables[table], result.solution.backend))

    def _problem(self, frame: Any, truth: Any) -> PairwiseRanking:
        return PairwiseRanking(
            comparisons=frame,
            truth=truth,
            **self._reading(),
            outlier_price=self.outlier_price,
            covariates=cast(Any, self.covariates),
            position=self.position,
        )

    def _reading(self) -> dict[str, Any]:
        """How tables of comparisons are read, covariates aside."""
        return {"columns": self.columns or {}, "format": self.format, "outcomes": self.outcomes or {}}

    def _keep(self, problem: PairwiseRanking, truth: Any, start: Callable[[], Ranking] | None = None) -> Self:
        self._learn(problem, start=start)
        self._truth = truth
        return self

    def _pairs(self, pairs: Any) -> tuple[NDArray[np.int64], NDArray[np.int64], str | None]:
        """Codes of both sides of a table of pairs, and the library it came from."""
        self._answer()
        rename = sides(pairs, self.columns or {})
        table = read_table(pairs, ("left", "right"), title="pairs", rename=rename)
        left, right = (self._coded(table[side]) for side in ("left", "right"))
        return left, right, table.backend

    def _coded(self, ids: Ids) -> NDArray[np.int64]:
        code, unique = encode(ids)
        return self._places(unique, _UNKNOWN)[code]

    def _margin(self, left: NDArray[np.int64], right: NDArray[np.int64]) -> Array:
        answer = self._answer()
        margin = answer.scores[left] - answer.scores[right]
        margin[np.abs(margin) <= _EQUAL * float(np.abs(answer.scores).max(initial=0.0))] = 0.0
        margin[answer.component[left] != answer.component[right]] = np.nan
        return np.asarray(margin)


def _carried_over(before: Ranking, problem: PairwiseRanking) -> Ranking:
    """Scores of earlier items for a problem that may have more; new items begin at 0."""
    scores = np.zeros(len(problem.item_ids))
    place = {item: code for code, item in enumerate(problem.item_ids.tolist())}
    scores[[place[item] for item in before.items.tolist()]] = before.scores
    return problem.ranking(scores, scale=before.scale)
