"""What a crowd said and what is known of it, as everything else reads it: codes, ids and counts."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from optiframe.findings import Finding
from optiframe.records.fields import Array
from optiframe.tables.ids import Ids, locked
from optiframe_rankone.ids import Codes, exact_positions, fixed_codes, union
from optiframe_rankone.kernels.labels import count_codes, vote

Policy: TypeAlias = Literal["error", "agreeing", "first", "last", "majority", "drop"]
"""What to do with a pair that has several rows.

- ``error``: refuse the table, naming the rows;
- ``agreeing``: rows that agree count once, rows that disagree are refused, naming them;
- ``first``, ``last``: the first or last row counts;
- ``majority``: the label most of its rows give counts; a pair without such a label is left out;
- ``drop``: rows that agree count once, a pair whose rows disagree is left out.
"""


@dataclass(frozen=True)
class Repeats:
    """What was done about pairs with several rows.

    Parameters
    ----------
    policy
        The policy that was followed.
    pairs, disagreeing
        How many pairs had several rows, and how many of those had rows that disagree.
    left_out
        The pairs left out, as (task, worker).
    tasks, workers
        Ids that lost their last label by it, so that the answer omits them.
    """

    policy: Policy
    pairs: int
    disagreeing: int
    left_out: tuple[tuple[object, object], ...]
    tasks: tuple[object, ...] = ()
    workers: tuple[object, ...] = ()


@dataclass(frozen=True, eq=False)
class LabelTable:
    """Labels as codes, sorted by task and then by worker.

    Parameters
    ----------
    task, worker, label
        Codes, shape (labels,), into the three id tables; kept as read-only codes of 32 bits.
    task_ids, worker_ids, label_ids
        What the codes stand for. Every id occurs in some row.
    weight
        How many times each label counts, above 0, shape (labels,); None: each once.
    backend
        The data-frame library the labels came from, for the way out. Not content.
    repeats
        What was done about rows that repeat a pair; None when there were none. Not content.
    look_alike
        Column -> ids that occur both as text and as something else that prints the same, such as "1"
        and 1, and so count as two. Not content.
    remarks
        What reading the table left open. Not content.
    merged
        Ids of each group of workers who have one vote together, first the one under whose name. Not content.
    """

    task: Codes
    worker: Codes
    label: Codes
    task_ids: Ids
    worker_ids: Ids
    label_ids: Ids
    weight: Array | None = None
    backend: str | None = field(default=None, compare=False)
    repeats: Repeats | None = field(default=None, compare=False)
    look_alike: Mapping[str, tuple[str, ...]] = field(default_factory=dict, compare=False)
    remarks: tuple[Finding, ...] = field(default=(), compare=False)
    merged: tuple[Ids, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        for name in ("task", "worker", "label"):
            object.__setattr__(self, name, fixed_codes(getattr(self, name)))
        if self.weight is not None:
            object.__setattr__(self, "weight", locked(self.weight))

    def __len__(self) -> int:
        return len(self.task)

    @cached_property
    def per_task(self) -> NDArray[np.int64]:
        """Number of labels of each task, shape (tasks,)."""
        return np.diff(self.first)

    @cached_property
    def per_worker(self) -> NDArray[np.int64]:
        """Number of labels of each worker, shape (workers,)."""
        return count_codes(self.worker, len(self.worker_ids))

    @property
    def counted_per_task(self) -> Array:
        """How many labels each task has by their weights, shape (tasks,)."""
        return self._counted(self.task, self.per_task)

    @property
    def counted_per_worker(self) -> Array:
        """How many labels each worker has by their weights, shape (workers,)."""
        return self._counted(self.worker, self.per_worker)

    def _counted(self, codes: Codes, plain: NDArray[np.int64]) -> Array:
        if self.weight is None:
            return plain.astype(np.float64)
        return np.asarray(np.bincount(codes, weights=self.weight, minlength=len(plain)), dtype=np.float64)

    def weighted(self, values: Array) -> Array:
        """Values of the labels, shape (labels,), each as many times as its label counts."""
        return values if self.weight is None else values * self.weight

    def votes(self, label: Codes, weight: Array, classes: int) -> Array:
        """Sum of the weights of the workers who gave each class, shape (tasks, classes).

        Parameters
        ----------
        label
            Index into the classes of each label, shape (labels,).
        weight
            What a label of each worker counts, shape (workers,), times the label's own weight.
        classes
            Number of classes.
        """
        weight = np.ascontiguousarray(weight, dtype=np.float64)
        if self.weight is None:
            return vote(self.first, self.worker, label, weight, classes)
        each = np.arange(len(self), dtype=np.int32)  # as if each label had a worker of its own
        return vote(self.first, each, label, weight[self.worker] * self.weight, classes)

    @cached_property
    def first(self) -> NDArray[np.int64]:
        """Where the labels of each task begin, and their number, shape (tasks + 1,)."""
        later = np.flatnonzero(self.task[1:] != self.task[:-1]) + 1  # a third of the time of counting
        return np.concatenate([[0], later, [len(self)]])

    def __repr__(self) -> str:
        return (
            f"<{len(self)} labels of {len(self.task_ids)} tasks by {len(self.worker_ids)} workers, "
            f"{len(self.label_ids)} values>"
        )

    def __getstate__(self) -> dict[str, Any]:
        return {each.name: self.__dict__[each.name] for each in dataclasses.fields(self)}


@dataclass(frozen=True, eq=False)
class TruthTable:
    """Known true labels of some tasks: the truth, or gold.

    Parameters
    ----------
    label
        Codes, shape (tasks,), into `label_ids`; -1 where the truth is not known.
    label_ids
        The labels that occur in the truth.
    ignored
        Tasks of the truth that nobody labelled.
    """

    label: NDArray[np.int64]
    label_ids: Ids
    ignored: Ids

    def __repr__(self) -> str:
        return f"<truth of {int((self.label >= 0).sum())} tasks>"

    def codes_in(self, classes: Ids) -> NDArray[np.int64]:
        """Index into `classes` of each task's true label, -1 where not known, shape (tasks,)."""
        place = np.append(exact_positions(classes, self.label_ids), -1)
        return np.asarray(place[self.label])

    def classes_after(self, classes: Ids) -> Ids:
        """`classes`, and after them the labels of these tasks that are none of them."""
        known = np.zeros(len(self.label_ids) + 1, dtype=bool)
        known[self.label] = True  # the last: tasks without a label
        more = self.label_ids[known[:-1] & (exact_positions(classes, self.label_ids) < 0)]
        if not len(more):
            return classes
        kind = classes.dtype if classes.dtype == more.dtype else np.dtype(object)
        return np.concatenate([classes.astype(kind), more.astype(kind)])


@dataclass(frozen=True, eq=False)
class SkillTable:
    """True skills of some workers.

    Parameters
    ----------
    skill
        Shape (workers,); nan where not known.
    ignored
        Workers with a skill who labelled nothing.
    """

    skill: Array
    ignored: Ids

    def __repr__(self) -> str:
        return f"<skills of {int((~np.isnan(self.skill)).sum())} workers>"


@dataclass(frozen=True, eq=False)
class Crowd:
    """The labels of a crowd, with the true labels and true skills that are known.

    Everything but the tables is computed on first use and dropped when pickled.

    Parameters
    ----------
    labels
        Who said what about which task.
    truth, gold
        Known true labels, for the metrics and to build on; None without any.
    skills
        Known true skills; None without any.
    """

    labels: LabelTable
    truth: TruthTable | None = None
    gold: TruthTable | None = None
    skills: SkillTable | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {each.name: self.__dict__[each.name] for each in dataclasses.fields(self)}

    @cached_property
    def classes(self) -> Ids:
        """Every label that occurs in the labels or the gold, sorted; those of the truth change nothing."""
        given = self.labels.label_ids
        return given if self.gold is None else union(given, self.gold.label_ids)

    @cached_property
    def true_classes(self) -> Ids:
        """What `truth_codes` stand for: `classes`, then the true labels that are none of them."""
        return self.classes if self.truth is None else self.truth.classes_after(self.classes)

    @cached_property
    def label_codes(self) -> Codes:
        """Index into `classes` of each label, shape (labels,)."""
        place = exact_positions(self.classes, self.labels.label_ids)
        same = len(place) == len(self.classes)
        return self.labels.label if same else fixed_codes(place[self.labels.label])

    @cached_property
    def truth_codes(self) -> NDArray[np.int64]:
        """Index into `true_classes` of each task's true label, -1 where not known, shape (tasks,)."""
        return self._codes(self.truth, self.true_classes)

    @cached_property
    def gold_codes(self) -> NDArray[np.int64]:
        """Index into `classes` of each task's gold label, -1 where there is none, shape (tasks,)."""
        return self._codes(self.gold, self.classes)

    def _codes(self, known: TruthTable | None, classes: Ids) -> NDArray[np.int64]:
        if known is None:
            return np.full(len(self.labels.task_ids), -1, dtype=np.int64)
        return known.codes_in(classes)

    def votes(self, weight: Array) -> Array:
        """Sum of the weights of the workers who gave each class, shape (tasks, classes).

        ``weight`` has a number for each worker.
        """
        return self.labels.votes(self.label_codes, weight, len(self.classes))

    def expected_hits(self, posterior: Array) -> Array:
        """Expected number of right labels of each worker when task t has class l with ``posterior[t, l]``."""
        labels = self.labels
        right = labels.weighted(posterior[labels.task, self.label_codes])
        hits = np.bincount(labels.worker, weights=right, minlength=len(labels.worker_ids))
        return np.asarray(hits, dtype=np.float64)

    @property
    def true_skills(self) -> Array | None:
        """Known true skill of each worker, nan where not known, shape (workers,); None without any."""
        return None if self.skills is None else self.skills.skill

    def with_gold_as_worker(self) -> Crowd:
        """The same labels, each counted once, and one more worker, the last, who gave every gold label."""
        labels, known = self.labels, np.flatnonzero(self.gold_codes >= 0)
        at, workers = labels.first[known + 1], len(labels.worker_ids)
        table = LabelTable(
            task=np.insert(labels.task, at, known),
            worker=np.insert(labels.worker, at, workers),
            label=np.insert(self.label_codes, at, self.gold_codes[known]),
            task_ids=labels.task_ids,
            worker_ids=np.arange(workers + 1),
            label_ids=self.classes,
        )
        return Crowd(table)

    @cached_property
    def asked_gold(self) -> NDArray[np.bool_]:
        """Workers who labelled a task with gold, shape (workers,)."""
        asked = np.zeros(len(self.labels.worker_ids), dtype=bool)
        asked[self.labels.worker[self.gold_codes[self.labels.task] >= 0]] = True
        return asked

    @cached_property
    def gold_agreement(self) -> Array:
        """N_i C_i of each worker with the gold, shape (workers,); 0 for who labelled none of it."""
        labels = self.labels
        codes = self.gold_codes, labels.task, labels.worker, self.label_codes
        return agreement_with(*codes, workers=len(labels.worker_ids), classes=len(self.classes))


def agreement_with(
    gold: NDArray[np.int64], task: Codes, worker: Codes, label: Codes, *, workers: int, classes: int
) -> Array:
    """N_i C_i of each worker with the gold, shape (workers,): products of labels, summed over its gold tasks.

    A product is 1 where the labels are equal and -1/(M-1) where they differ: Lemma 7 with a second worker
    of skill 1, whose expectation is the skill.
    """
    truth = gold[task]
    asked = np.flatnonzero(truth >= 0)
    product = np.where(label[asked] == truth[asked], 1.0, -1.0 / (classes - 1))
    return np.asarray(np.bincount(worker[asked], weights=product, minlength=workers), dtype=np.float64)
