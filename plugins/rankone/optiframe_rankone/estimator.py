"""Label aggregation in the manner of scikit-learn: parameters, `fit`, and what was learnt ends in `_`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Literal, NamedTuple, Self, cast

import numpy as np

from optiframe.errors import InvalidInput, nearest
from optiframe.estimator import BudgetLike, Estimator
from optiframe.solving.solve import whole_seed
from optiframe.solving.sources import SolverChoice
from optiframe.tables.frames import to_frame
from optiframe.tables.ids import Ids
from optiframe_rankone.answer import Aggregation
from optiframe_rankone.answer_tables import class_table, column_for_each_class, confusion_table
from optiframe_rankone.batches import all_rows, joined, warm_start
from optiframe_rankone.data import LabelTable, Policy
from optiframe_rankone.new_tasks import decide, share_right
from optiframe_rankone.problem import LabelAggregation
from optiframe_rankone.read.copies import share_as_before
from optiframe_rankone.read.further import FurtherLabels, known_table
from optiframe_rankone.trust.intervals import assumptions_hold

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
    copies
        "share": each group of workers who copy each other has one vote; of the problem, "keep" by default.

    Attributes
    ----------
    classes_
        The labels that occur, sorted, shape (classes,).
    skills_
        A frame of the kind given to `fit` with the columns worker, labels, skill, accuracy, skill_low,
        skill_high, accuracy_low, accuracy_high (90% intervals), intervals_valid (false where a finding says
        that they do not hold); the first two when the solver estimates none.
    confusion_
        A frame with the columns worker, class, label, probability: how likely the worker gives the label to
        a task of the class. AttributeError where the solver has no confusion matrices.
    class_shares_
        A frame with the columns class, share (of the tasks) and labels (how often it was given).
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
        copies: Literal["keep", "share"] = "keep",
    ) -> None:
        super().__init__(solver, seed=seed, budget=budget, columns=columns)
        self.weights = weights
        self.tau = tau
        self.ties = ties
        self.duplicates = duplicates
        self.copies = copies

    def fit(self, frame: Any, truth: Any = None, *, gold: Any = None) -> Self:
        """Learn from all labels at once, forgetting what was learnt before.

        Parameters
        ----------
        frame
            The labels: a data frame (pandas, polars, pyarrow), a mapping of columns, or the
            path of a CSV or Parquet file, with the columns task, worker, label.
        truth
            Known true labels, for ``result_.metrics`` only: a table (task, label), a pandas series whose
            index is the tasks, or an array with one label for each row of the frame.
        gold
            True labels to build on, given alike: certain in the answer, and they teach skills.

        Raises
        ------
        InvalidInput, UnknownName, Unsuited
            Saying what is wrong with a parameter or with which rows; what was learnt before
            is then kept.
        """
        known = self._known_of(frame, truth, gold)
        return self._keep(self._problem(frame, known), known)

    def partial_fit(self, frame: Any, truth: Any = None, *, gold: Any = None) -> Self:
        """Learn from a further batch of labels together with all earlier ones.

        New workers and new tasks are welcome, and so are more labels of tasks known before.
        The answer is that of `fit` on all labels. Solvers that fit correlations (`rankone.*`) begin
        at the skills learnt so far and need fewer iterations; theirs is the same answer up to the
        tolerance. The others start afresh, for EM ends elsewhere from another start; so do all
        where the batch joins groups of workers that had shared no task, since their signs were
        settled apart. Besides the iterations it reads the batch and passes over the codes of the earlier
        labels; only where a task and worker have several rows are all labels read again. For labels that are
        not to be kept, take `LabelStream`, which adds counts.

        Parameters
        ----------
        frame
            The further labels, as for `fit`; the answers come in the kind of this frame.
        truth, gold
            As for `fit`; None keeps what was given before.

        Raises
        ------
        InvalidInput, UnknownName, Unsuited
            As `fit`; also when `duplicates` is "majority" or "drop" or `copies` is "share", which would
            need the rows that earlier batches left out. Rows are counted after those learnt before.
        """
        if not hasattr(self, "result_"):
            return self.fit(frame, truth, gold=gold)
        if self.duplicates in ("majority", "drop"):
            raise InvalidInput(
                f"partial_fit cannot go with duplicates = {self.duplicates!r}: rows left out of earlier "
                "batches are gone; fit all labels at once, or choose error, agreeing, first or last"
            )
        if self.copies == "share":
            raise InvalidInput('partial_fit cannot go with copies = "share"; fit all labels at once')
        earlier, theirs = self._asked().labels, dict(self.columns or {})
        known = self._known_of(frame, truth, gold)
        known = _Known(*(old if new is None else new for old, new in zip(self._known, known, strict=True)))
        try:
            labels = joined(earlier, FurtherLabels(columns=theirs, labels=frame).labels)
        except InvalidInput:
            labels = None  # the rows together tell what is wrong, or which of them counts
        if labels is not None:
            problem = self._problem(labels, known)
        else:
            every, backend = all_rows(earlier, frame, theirs)
            try:
                problem = self._problem(every, known)
            except InvalidInput as error:
                note = f"{error} (rows are counted after the {len(earlier)} labels learnt before)"
                raise InvalidInput(note, error.problems) from None
            problem = problem.model_copy(update={"labels": replace(problem.labels, backend=backend)})
        before = self.result_
        return self._keep(problem, known, start=lambda: warm_start(problem, before))

    def predict(self, frame: Any = None) -> Any:
        """Labels of tasks: a frame of the kind given with task, label, confidence, tied, confidence_valid.

        Of all tasks learnt from; or of the tasks of another frame of labels, from these alone and what was
        learnt about the workers, which is not changed. There a worker who is new counts as the average
        one, and workers who share a vote (`copies`) share it, too. By solvers that give neither confusion
        matrices nor skills, it is the majority.

        Confidence is the share of the votes, or the posterior, of the winner; `confidence_valid` is the same
        for all tasks, false where a finding says that the method's assumptions do not hold. Raises
        `InvalidInput` before `fit`, and for a label that `fit` did not see.
        """
        solution = self._answer() if frame is None else self._decided(self._further(frame).labels)
        columns = dict(solution.columns())
        if self.ties == "seed":
            columns["label"] = solution.predicted(whole_seed(self.seed))
        valid = assumptions_hold(self._asked().model, self._answer())
        columns["confidence_valid"] = np.full(len(solution.task_ids), valid)
        return self._given_out(to_frame(columns, solution.backend))

    def fit_predict(self, frame: Any, truth: Any = None, *, gold: Any = None) -> Any:
        """`fit`, then `predict`."""
        return self.fit(frame, truth, gold=gold).predict()

    def score(self, frame: Any, truth: Any = None) -> float:
        """Share of right labels in `predict(frame)`, as the cross-validation of scikit-learn asks for it.

        ``GridSearchCV(model, {"solver": [...]}, cv=GroupKFold(5)).fit(frame, truth, groups=frame["task"])``
        keeps the labels of a task together; each task is then judged by labels that were not learnt from.
        A tie of k labels with the right one among them counts 1/k.

        Parameters
        ----------
        frame
            Labels, as for `predict`.
        truth
            True labels of some of their tasks, as for `fit`.

        Raises
        ------
        InvalidInput
            Without a known truth, and as `predict`.
        """
        read = self._further(frame, self._known_of(frame, truth, None).truth)
        if read.truth is None or not (read.truth.label >= 0).any():
            raise InvalidInput("score needs `truth`, the true labels of some of these tasks")
        return share_right(self._decided(read.labels), read.truth)

    def predict_proba(self, frame: Any = None) -> Any:
        """A frame of the kind given: task, then the probability of each of `classes_` under its name.

        Probabilities of a solver without posteriors, such as majority, are shares of votes. Of all tasks
        learnt from, or of those of another frame, as by `predict`.
        Raises `InvalidInput` before `fit`, or when two classes would share a column.
        """
        solution = self._answer() if frame is None else self._decided(self._further(frame).labels)
        return self._given_out(to_frame(column_for_each_class(solution), solution.backend))

    @property
    def skills_(self) -> Any:
        """What was learnt about workers; see the class."""
        result = self._learnt("skills_")
        return self._given_out(to_frame(result.to_tables()["workers"], result.solution.backend))

    @property
    def confusion_(self) -> Any:
        """The workers' confusion matrices; see the class."""
        solution = self._learnt("confusion_").solution
        if solution.confusion is None:
            raise AttributeError(
                f"{self.result_.settings['solver']['name']} has no confusion matrices; labels.crowd, "
                "labels.dawid-skene, labels.ebcc and labels.opt-ds have"
            )
        return self._given_out(to_frame(confusion_table(solution), solution.backend))

    @property
    def class_shares_(self) -> Any:
        """How often each class occurs; see the class."""
        result = self._learnt("class_shares_")
        table = class_table(self._asked().crowd, result.solution)
        return self._given_out(to_frame(table, result.solution.backend))

    def _known_of(self, frame: Any, truth: Any, gold: Any) -> _Known:
        return _Known(
            known_table(truth, frame, self.columns, "truth"), known_table(gold, frame, self.columns, "gold")
        )

    def _further(self, frame: Any, truth: Any = None) -> FurtherLabels:
        self._answer()  # says so where there is none
        columns: Any = {} if self.columns is None else self.columns
        return FurtherLabels(columns=columns, duplicates=self.duplicates, labels=frame, truth=truth)

    def _decided(self, labels: LabelTable) -> Aggregation:
        learnt = self._asked()
        return decide(self._answer(), learnt.labels_per_worker, share_as_before(labels, learnt.labels.merged))

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
            copies=self.copies,
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
