"""Label aggregation in the manner of scikit-learn: parameters, `fit`, and what was learnt ends in `_`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Literal, NamedTuple, Self, cast

import numpy as np
from numpy.typing import NDArray

from optiframe.errors import InvalidInput, nearest
from optiframe.estimator import BudgetLike, Estimator
from optiframe.records.fields import Array
from optiframe.solving.result import Result
from optiframe.solving.solve import whole_seed
from optiframe.solving.sources import SolverChoice
from optiframe.tables.columns import Columns
from optiframe.tables.ids import Ids
from optiframe.tables.read import read_table, to_frame
from optiframe_rankone.answer import Aggregation
from optiframe_rankone.data import Policy
from optiframe_rankone.ids import exact_positions
from optiframe_rankone.problem import LabelAggregation

_COLUMNS = ("task", "worker", "label")
_TIES = ("seed", "keep")


class _Known(NamedTuple):
    """Tables of true labels as given, or None."""

    truth: Any
    gold: Any


class LabelAggregator(Estimator[LabelAggregation, Aggregation]):
    """The true labels of tasks, and the skills of workers, from a table of crowd labels.

    An `optiframe.estimator.Estimator`: in the manner of scikit-learn, which it does not need.

    Parameters
    ----------
    solver, seed, budget, columns
        As for every estimator. ``"dawid-skene"`` and ``"pgd"`` are short for ``"labels.dawid-skene"`` and
        ``"rankone.pgd"``; by default the solver that the problem recommends. The seed also draws among
        tied labels.
    weights, tau
        Of the problem `label-aggregation`: how pairs of workers are weighted ("count",
        "count-squared" or "binary") and how far skills stay inside their box.
    ties
        "seed": a tied task gets one of the tied labels, drawn with the seed. "keep": it gets
        none; the column `tied` names them either way.
    duplicates
        What to do with several rows of one task and worker; of the problem, "error" by default.

    Attributes
    ----------
    classes_
        The labels that occur, sorted, shape (classes,).
    skills_
        A frame of the kind given to `fit` with the columns worker, labels, skill, accuracy,
        skill_low, skill_high (a 90% interval); the first two when the solver estimates none.
    result_, findings_, n_iter_
        As of every estimator.
    """

    families: ClassVar[tuple[str, ...]] = ("labels", "rankone")

    classes_: Ids
    _known: _Known

    def __init__(
        self,
        solver: SolverChoice = None,
        *,
        weights: Literal["count", "count-squared", "binary"] = "count",
        tau: float = 1.0,
        seed: int = 0,
        budget: BudgetLike = None,
        ties: Literal["seed", "keep"] = "seed",
        columns: Mapping[str, str] | None = None,
        duplicates: Policy = "error",
    ) -> None:
        super().__init__(solver, seed=seed, budget=budget, columns=columns)
        self.weights = weights
        self.tau = tau
        self.ties = ties
        self.duplicates = duplicates

    def fit(self, frame: Any, truth: Any = None, *, gold: Any = None) -> Self:
        """Learn from all labels at once, forgetting what was learnt before.

        Parameters
        ----------
        frame
            The labels: a data frame (pandas, polars, pyarrow), a mapping of columns, or the
            path of a CSV or Parquet file, with the columns task, worker, label.
        truth
            Known true labels (task, label), for ``result_.metrics`` only.
        gold
            True labels (task, label) to build on: certain in the answer, and they settle
            which side of a disagreement is right.

        Raises
        ------
        InvalidInput, UnknownName, Unsuited
            Saying what is wrong with a parameter or with which rows; what was learnt before
            is then kept.
        """
        known = _Known(truth, gold)
        return self._keep(self._problem(frame, known), known)

    def partial_fit(self, frame: Any, truth: Any = None, *, gold: Any = None) -> Self:
        """Learn from a further batch of labels together with all earlier ones.

        New workers and new tasks are welcome, and so are more labels of tasks known before.
        The answer is that of `fit` on all labels. Solvers that fit correlations (`rankone.*`) begin
        at the skills learnt so far and need fewer iterations; theirs is the same answer up to the
        tolerance. The others start afresh, for EM ends elsewhere from another start; so do all
        where the batch joins groups of workers that had shared no task, since their signs were
        settled apart. The cost besides the iterations is that of
        reading all labels again.

        Parameters
        ----------
        frame
            The further labels, as for `fit`; the answers come in the kind of this frame.
        truth, gold
            As for `fit`; None keeps what was given before.

        Raises
        ------
        InvalidInput, UnknownName, Unsuited
            As `fit`; also when `duplicates` is "majority" or "drop", which would need the
            rows that earlier batches left out. Rows are counted after those learnt before.
        """
        if not hasattr(self, "result_"):
            return self.fit(frame, truth, gold=gold)
        if self.duplicates in ("majority", "drop"):
            raise InvalidInput(
                f"partial_fit cannot go with duplicates = {self.duplicates!r}: rows left out of earlier "
                "batches are gone; fit all labels at once, or choose error, agreeing, first or last"
            )
        earlier = self._asked()
        theirs = dict(self.columns or {})
        batch = read_table(frame, _COLUMNS, title="labels", rename=theirs)
        rows = _decoded(earlier)
        joined = {theirs.get(name, name): _joined(rows[name], batch[name]) for name in _COLUMNS}
        known = _Known(
            self._known.truth if truth is None else truth, self._known.gold if gold is None else gold
        )
        try:
            problem = self._problem(joined, known)
        except InvalidInput as error:
            note = f"{error} (rows are counted after the {len(earlier.labels)} labels learnt before)"
            raise InvalidInput(note, error.problems) from None
        problem = problem.model_copy(update={"labels": replace(problem.labels, backend=batch.backend)})
        before = self.result_
        return self._keep(problem, known, start=lambda: warm_start(problem, before))

    def predict(self) -> Any:
        """Labels of all tasks learnt from: a frame of the kind given with task, label, confidence, tied.

        Confidence is the share of the votes, or the posterior, of the winner. Raises
        `InvalidInput` before `fit`.
        """
        solution = self._answer()
        columns = dict(solution.columns())
        if self.ties == "seed":
            columns["label"] = solution.predicted(whole_seed(self.seed))
        return to_frame(columns, solution.backend)

    def fit_predict(self, frame: Any, truth: Any = None, *, gold: Any = None) -> Any:
        """`fit`, then `predict`."""
        return self.fit(frame, truth, gold=gold).predict()

    def predict_proba(self) -> Any:
        """A frame of the kind given: task, then the probability of each of `classes_` under its name.

        Probabilities of a solver without posteriors, such as majority, are shares of votes.
        Raises `InvalidInput` before `fit`, or when two classes would share a column.
        """
        solution = self._answer()
        names = [str(value) for value in solution.classes.tolist()]
        if len({"task", *names}) <= len(names):
            raise InvalidInput(
                f"the classes {', '.join(map(repr, solution.classes.tolist()))} and the column 'task' cannot "
                "each name a column; use result_.solution.probabilities, an array in the order of classes_"
            )
        columns: dict[str, Any] = {"task": solution.task_ids}
        columns |= dict(zip(names, solution.probabilities.T, strict=True))
        return to_frame(columns, solution.backend)

    @property
    def skills_(self) -> Any:
        """What was learnt about workers; see the class."""
        result = self._learnt("skills_")
        return to_frame(result.to_tables()["workers"], result.solution.backend)

    def _problem(self, labels: Any, known: _Known) -> LabelAggregation:
        if self.ties not in _TIES:
            hint = nearest(str(self.ties), _TIES)
            raise InvalidInput(f"ties must be 'seed' or 'keep', got {self.ties!r}{hint}")
        return LabelAggregation(
            labels=labels,
            truth=known.truth,
            gold=known.gold,
            columns=cast(Any, {} if self.columns is None else self.columns),
            weights=self.weights,
            tau=self.tau,
            duplicates=self.duplicates,
            tie_seed=whole_seed(self.seed),
        )

    def _keep(
        self,
        problem: LabelAggregation,
        known: _Known,
        start: Callable[[], Aggregation | None] | None = None,
    ) -> Self:
        self._learn(problem, start=start)
        self.classes_ = problem.classes
        self._known = known  # a later batch may hold tasks that only occurred there
        return self


def warm_start(problem: LabelAggregation, before: Result[Any, Any]) -> Aggregation | None:
    """A start for a problem that adds labels to an earlier one: its skills, one half for new workers.

    A worker of skill 0 counts as new: 0 is what is given where nothing was known. None when
    nothing is carried over: skills were not fitted to correlations (EM from another start may end
    at another answer, and a worse one), or workers of groups whose signs were settled apart are
    now in one group, where these signs may contradict each other.
    """
    earlier: Any = before.problem
    solution: Aggregation = before.solution
    if not solution.fitted or solution.skills is None or not solution.skills.any():
        return None
    ids = problem.labels.worker_ids
    place = exact_positions(ids, earlier.labels.worker_ids)
    compared = ~earlier.worker_graph.isolated
    groups = np.stack(
        [earlier.worker_graph.component[compared], problem.worker_graph.component[place[compared]]]
    )
    together = np.unique(groups, axis=1)[1]
    if len(np.unique(together)) < len(together):
        return None
    skills: Array = np.full(len(ids), 0.5)
    learnt = solution.skills != 0
    skills[place[learnt]] = solution.skills[learnt]
    return problem.weighted_vote(np.clip(skills, *problem.box))


def _decoded(problem: LabelAggregation) -> Columns:
    """The labels of a problem as columns of ids."""
    labels = problem.labels
    return {
        "task": labels.task_ids[labels.task],
        "worker": labels.worker_ids[labels.worker],
        "label": labels.label_ids[labels.label],
    }


def _joined(first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
    """One column after the other; values of two kinds stay what they are."""
    if first.dtype != second.dtype:
        first, second = first.astype(object), second.astype(object)
    return np.concatenate([first, second])
