"""Labels that come in batches and are forgotten once they are counted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self, cast

import numpy as np

from optiframe.errors import InvalidInput
from optiframe.estimator import BudgetLike, Estimator
from optiframe.records.fields import Array
from optiframe.solving.solver import Solver
from optiframe.solving.sources import SolverChoice
from optiframe.tables.frames import to_frame
from optiframe.tables.ids import Ids, listed
from optiframe_rankone.answer import Aggregation
from optiframe_rankone.answer_tables import column_for_each_class
from optiframe_rankone.baselines.majority import Majority
from optiframe_rankone.completion.label_counts import LabelCounts
from optiframe_rankone.completion.problem import RankOneCompletion
from optiframe_rankone.data import LabelTable, Policy
from optiframe_rankone.ids import exact_positions, union
from optiframe_rankone.new_tasks import decide
from optiframe_rankone.read.further import FurtherLabels


class LabelStream(Estimator[RankOneCompletion, Array]):
    """Skills of workers, or votes on tasks, from batches of labels that are not kept.

    `partial_fit` adds a batch to counts: the tasks that each pair of workers shares and agrees on
    (`rankone.*`), or the votes on each task (`labels.majority`). No earlier label is read again, so a batch
    costs its own labels and the counts. Skills and answers are those of `LabelAggregator` fitted to all
    labels at once, without gold, up to the tolerance of the run. The default there, `labels.crowd`, needs
    every label again and is not for streams.

    Parameters
    ----------
    solver, seed, budget, columns
        As for every estimator: ``"rankone.pgd"``, another solver of the problem `rank-one-completion`, or
        ``"labels.majority"``.
    tau, orientation, duplicates
        Of the problem `label-aggregation`; duplicates within a batch.

    Attributes
    ----------
    classes_
        The labels that occur, sorted, shape (classes,).
    counts_
        The `LabelCounts`; not with the majority.
    skills_
        A frame of the kind given last: worker, labels, skill, accuracy; not with the majority.
    result_, findings_, n_iter_
        As of every estimator, for the problem `rank-one-completion`, whose rows are the workers of
        ``counts_.worker_ids``; not with the majority.

    Notes
    -----
    Memory is 20 bytes for each ordered pair of workers who share tasks and the ids of all tasks seen, which
    tell where a task comes in two batches; with the majority it is the votes, 8 bytes a task and class.
    """

    families: ClassVar[tuple[str, ...]] = ("labels", "rankone")

    classes_: Ids
    counts_: LabelCounts

    def __init__(
        self,
        solver: SolverChoice = "rankone.pgd",
        *,
        tau: float = 1.0,
        orientation: Literal["labels", "workers"] = "labels",
        seed: int = 0,
        budget: BudgetLike = None,
        columns: Mapping[str, str] | None = None,
        duplicates: Policy = "error",
    ) -> None:
        super().__init__(solver, seed=seed, budget=budget, columns=columns)
        self.tau = tau
        self.orientation = orientation
        self.duplicates = duplicates

    def fit(self, frame: Any) -> Self:
        """Learn from these labels, forgetting what was learnt before; see `partial_fit`."""
        fresh = type(self)(**self.get_params(deep=False)).partial_fit(frame)
        self.__dict__ = fresh.__dict__
        return self

    def partial_fit(self, frame: Any) -> Self:
        """Add a batch of labels to the counts, and solve again from these.

        Parameters
        ----------
        frame
            The labels, as for `LabelAggregator.fit`. All labels of a task come in one batch; with the
            majority later batches may add labels, each task and worker once, which nothing can check.

        Raises
        ------
        InvalidInput, UnknownName
            For what `LabelAggregator.fit` refuses, for tasks of an earlier batch, for labels with weights
            unless the majority counts them, for a solver that needs the labels themselves, for a change
            between the majority and `rankone.*`, and as long as only one label value occurs. What was learnt
            before is then kept.
        """
        labels, majority = self._read(frame), isinstance(self._method(), Majority)
        if hasattr(self, "_last") and majority == hasattr(self, "counts_"):
            kept = "pairs of workers" if hasattr(self, "counts_") else "votes"
            raise InvalidInput(
                f"earlier batches were counted as {kept}, which is not what {self.solver!r} needs; begin "
                "again with fit(frame)"
            )
        if majority:
            answer = _votes(labels)
            return self._keep(_sum(self._last, answer) if hasattr(self, "_last") else answer)
        seen = labels.task_ids
        counts = LabelCounts.of(labels)
        if hasattr(self, "counts_"):
            again = exact_positions(self._seen, seen) >= 0
            if again.any():
                raise InvalidInput(
                    "all labels of a task come in one batch, since those of earlier batches are not kept; "
                    f"{int(again.sum())} of these tasks came before: {listed(seen[again])}"
                )
            counts, seen = self.counts_ + counts, union(self._seen, seen)
        self._learn(counts.completion(tau=self.tau, orientation=self.orientation))
        rows: Any = self.result_.solution
        skills = counts.settled(rows, tau=self.tau, orientation=self.orientation)
        none = np.empty((0, len(counts.label_ids)))
        self.counts_, self._seen = counts, seen
        return self._keep(
            Aggregation(
                seen[:0], counts.worker_ids, counts.label_ids, none, "log-odds", skills, labels.backend
            )
        )

    def predict(self, frame: Any = None) -> Any:
        """Labels of the tasks of a frame: a frame of its kind with task, label, confidence, tied.

        Decided by these labels and the skills learnt, which do not change; a worker who is new counts as the
        average one. With the majority alone, None stands for all tasks seen.

        Raises
        ------
        InvalidInput
            Before a batch, without a frame where labels are needed, and for a label that was not seen.
        """
        return self._decided(frame).frame()

    def predict_proba(self, frame: Any = None) -> Any:
        """A frame with task, and the probability of each of `classes_` under its name; see `predict`."""
        answer = self._decided(frame)
        return to_frame(column_for_each_class(answer), answer.backend)

    @property
    def skills_(self) -> Any:
        """What was learnt about workers; see the class."""
        self._learnt("skills_")
        assert self._last.skills is not None  # as there is a result
        return to_frame(self.counts_.workers(self._last.skills), self._last.backend)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_last")

    _last: Aggregation
    _seen: Ids

    def _read(self, frame: Any) -> LabelTable:
        columns: Any = {} if self.columns is None else self.columns
        return FurtherLabels(columns=columns, duplicates=self.duplicates, labels=frame).labels

    def _method(self) -> Solver[Any, Any, Any]:
        """The solver, which works with counts."""
        if not isinstance(self.solver, Solver) and "name" not in self._table(self.solver):
            raise InvalidInput("name the solver of a stream, such as rankone.pgd or labels.majority")
        solver, _ = self._choose(cast(Any, None))
        if not isinstance(solver, Majority) and not issubclass(RankOneCompletion, solver.solves):
            raise InvalidInput(
                f"{solver.name} needs all labels at once; take LabelAggregator for it, and rankone.pgd or "
                "labels.majority for a stream"
            )
        return solver

    def _keep(self, answer: Aggregation) -> Self:
        self._last, self.classes_ = answer, answer.classes
        return self

    def _decided(self, frame: Any) -> Aggregation:
        if not hasattr(self, "_last"):
            raise InvalidInput("nothing has been learnt yet; call partial_fit(frame) first")
        if frame is not None:
            given = self.counts_.per_worker if hasattr(self, "counts_") else np.empty(0, dtype=np.int64)
            return decide(self._last, given, self._read(frame))
        if hasattr(self, "counts_"):
            raise InvalidInput("labels of earlier batches are not kept; give the labels to decide")
        return self._last


def _votes(labels: LabelTable) -> Aggregation:
    """The majority of a batch."""
    scores = labels.votes(labels.label, np.ones(len(labels.worker_ids)), len(labels.label_ids))
    nobody = labels.worker_ids[:0]
    return Aggregation(labels.task_ids, nobody, labels.label_ids, scores, "votes", backend=labels.backend)


def _sum(one: Aggregation, other: Aggregation) -> Aggregation:
    """The votes of both."""
    tasks, classes = union(one.task_ids, other.task_ids), union(one.classes, other.classes)
    scores = np.zeros((len(tasks), len(classes)))
    for part in (one, other):
        cells = np.ix_(exact_positions(tasks, part.task_ids), exact_positions(classes, part.classes))
        scores[cells] += part.scores
    return Aggregation(tasks, one.worker_ids, classes, scores, "votes", backend=other.backend)
