"""What skills follow from, counted over labels: sums that can be added, whoever counted them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from optiframe.errors import InvalidInput
from optiframe.records.fields import Array
from optiframe.tables.columns import Columns
from optiframe.tables.ids import Ids
from optiframe_rankone.completion import orientation as signs
from optiframe_rankone.completion.counts import co_occurrence, correlations_of
from optiframe_rankone.completion.problem import RankOneCompletion
from optiframe_rankone.data import LabelTable
from optiframe_rankone.ids import exact_positions, union
from optiframe_rankone.read.blocks import Span, refuse_overlap
from optiframe_rankone.worker_graph import WorkerGraph


@dataclass(frozen=True, eq=False)
class LabelCounts:
    """Counts of labels by worker, and of shared tasks by pair of workers.

    The counts of labels that share no task add up, as in ``sum(parts[1:], parts[0])``: those of several files
    are counted apart, in any order and on any machine, and added.

    Parameters
    ----------
    worker_ids, label_ids
        Shapes (workers,) and (classes,), sorted.
    per_worker, per_label
        Number of labels of each worker, and of each class.
    pairs
        For each ordered pair of workers the number of tasks they share, and as the imaginary part that on
        which they agree; symmetric, shape (workers, workers).
    tasks
        Number of tasks.
    spans
        The tasks of each file, so that no task counts in two parts.

    Notes
    -----
    Memory is 20 bytes for each ordered pair of workers who share tasks, and as much again for an addition.
    """

    worker_ids: Ids
    label_ids: Ids
    per_worker: NDArray[np.int64]
    per_label: NDArray[np.int64]
    pairs: sp.csr_array
    tasks: int
    spans: tuple[Span, ...] = ()

    @classmethod
    def of(cls, labels: LabelTable, spans: tuple[Span, ...] = ()) -> LabelCounts:
        """The counts of labels in memory, each counted once.

        Raises
        ------
        InvalidInput
            When they have weights.
        """
        if labels.weight is not None:
            raise InvalidInput("labels with weights cannot be counted: each counts once here")
        workers = len(labels.worker_ids)
        shared, agreed = co_occurrence(labels.first, labels.worker, labels.label, workers)
        return cls(
            worker_ids=labels.worker_ids,
            label_ids=labels.label_ids,
            per_worker=labels.per_worker,
            per_label=np.bincount(labels.label, minlength=len(labels.label_ids)),
            pairs=sp.csr_array((shared.data + 1j * agreed, shared.indices, shared.indptr), shared.shape),
            tasks=len(labels.task_ids),
            spans=spans,
        )

    def __len__(self) -> int:
        return int(self.per_worker.sum())

    def __repr__(self) -> str:
        return (
            f"<{len(self)} labels of {self.tasks} tasks by {len(self.worker_ids)} workers, "
            f"{len(self.label_ids)} values>"
        )

    def __add__(self, other: LabelCounts) -> LabelCounts:
        """The counts of both.

        Raises
        ------
        InvalidInput
            When a task may be in both: the spans overlap.
        """
        spans = _joined(self.spans, other.spans)
        refuse_overlap(spans)
        workers, labels = _both(self.worker_ids, other.worker_ids), _both(self.label_ids, other.label_ids)
        mine, yours = self._among(workers, labels), other._among(workers, labels)
        return LabelCounts(
            worker_ids=workers,
            label_ids=labels,
            per_worker=mine.per_worker + yours.per_worker,
            per_label=mine.per_label + yours.per_label,
            pairs=sp.csr_array(mine.pairs + yours.pairs),
            tasks=self.tasks + other.tasks,
            spans=spans,
        )

    def _among(self, workers: Ids, labels: Ids) -> LabelCounts:
        """The same counts with further ids."""
        if len(workers) == len(self.worker_ids) and len(labels) == len(self.label_ids):
            return self
        place, size = exact_positions(workers, self.worker_ids), len(workers)
        entries = self.pairs.tocoo()
        moved = sp.coo_array((entries.data, (place[entries.row], place[entries.col])), shape=(size, size))
        return LabelCounts(
            worker_ids=workers,
            label_ids=labels,
            per_worker=_spread(self.per_worker, place, size),
            per_label=_spread(self.per_label, exact_positions(labels, self.label_ids), len(labels)),
            pairs=sp.csr_array(moved),
            tasks=self.tasks,
            spans=self.spans,
        )

    @cached_property
    def graph(self) -> WorkerGraph:
        """Who shares tasks with whom."""
        return WorkerGraph.of_pairs(self._shared)

    @property
    def _shared(self) -> sp.csr_array:
        pairs = self.pairs
        return sp.csr_array((np.ascontiguousarray(pairs.data.real), pairs.indices, pairs.indptr), pairs.shape)

    def box(self, tau: float = 1.0) -> tuple[Array, Array]:
        """Least and largest skill of each worker, as in `label-aggregation`."""
        return signs.skill_box(self.per_worker, self._classes(), tau)

    def completion(
        self, *, tau: float = 1.0, orientation: Literal["labels", "workers"] = "labels"
    ) -> RankOneCompletion:
        """The problem of the skills, for any solver of ``rank-one-completion``.

        Parameters
        ----------
        tau, orientation
            As in `label-aggregation`.

        Raises
        ------
        InvalidInput
            When only one label value occurs.
        """
        shared, classes = self._shared, self._classes()
        values = correlations_of(shared.data, np.array(self.pairs.data.imag), classes)
        return RankOneCompletion.of_counts(
            shared,
            sp.csr_array((values, shared.indices, shared.indptr), shared.shape),
            *self.box(tau),
            sign_weights=self._sign_weights(orientation),
            graph=self.graph,
        )

    def settled(
        self, skills: Array, *, tau: float = 1.0, orientation: Literal["labels", "workers"] = "labels"
    ) -> Array:
        """Skills with the sign of each component settled, as in `label-aggregation` without gold."""
        component = self.graph.component
        sign = signs.of_groups(component, self._sign_weights(orientation) * skills, cancel=signs.CANCEL)
        return signs.settled(skills, sign[component], self.box(tau))

    def workers(self, skills: Array) -> Columns:
        """A table of the workers: columns `worker, labels, skill, accuracy`."""
        right = (1.0 + (self._classes() - 1) * skills) / self._classes()
        return {"worker": self.worker_ids, "labels": self.per_worker, "skill": skills, "accuracy": right}

    def _sign_weights(self, orientation: Literal["labels", "workers"]) -> Array:
        counts = self.per_worker.astype(np.float64)
        return np.ones(len(counts)) if orientation == "workers" else counts

    def _classes(self) -> int:
        if len(self.label_ids) < 2:
            raise InvalidInput(f"only one label value occurs ({self.label_ids[0]}), nothing to aggregate")
        return len(self.label_ids)


def _both(one: Ids, other: Ids) -> Ids:
    same = one.dtype == other.dtype and np.array_equal(one, other)
    return one if same else union(one, other)


def _spread(counts: NDArray[np.int64], place: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    spread = np.zeros(size, dtype=np.int64)
    spread[place] = counts
    return spread


def _joined(one: tuple[Span, ...], other: tuple[Span, ...]) -> tuple[Span, ...]:
    """Both, where blocks of a file that follow one another become one."""
    if one and other and one[-1].title == other[0].title and one[-1].last < other[0].first:
        return (*one[:-1], Span(one[-1].first, other[0].last, one[-1].title), *other[1:])
    return one + other
