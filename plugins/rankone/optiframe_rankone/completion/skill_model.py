"""How skills follow from labels: which pairs of workers count how much, and the completion that fits them."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from optiframe.records.fields import Array
from optiframe.solving import sources
from optiframe_rankone.completion import orientation
from optiframe_rankone.completion.counts import co_occurrence, correlation_table, correlations_of
from optiframe_rankone.completion.fit import RankOneFit
from optiframe_rankone.completion.from_labels import LabelCorrelations, LabelLeastSquares
from optiframe_rankone.completion.objective import PairwiseLeastSquares
from optiframe_rankone.completion.pairs import DensePairs, SparsePairs, worth_dense
from optiframe_rankone.completion.problem import RankOneCompletion
from optiframe_rankone.data import Crowd
from optiframe_rankone.ids import firsts
from optiframe_rankone.worker_graph import WorkerGraph

_MOST_PAIRS = 2**22
"""Ordered pairs of workers kept as a matrix at most: 40 bytes each and as much again while they
are counted, together about 300 MB. All pairs of 2,000 workers are within it."""
_WORTH_COUNTING = 64
"""Pairs are counted when there are at most this many on a task for each label. Counting one takes
about as long as one label takes in a product, and a run takes some tens of products."""


@dataclass(frozen=True, eq=False, kw_only=True)
class SkillModel:
    """The least squares that estimate skills from labels, its box, and what settles the signs.

    The parameters are the fields of `label-aggregation` of the same names, where they are described.
    What is computed from them is computed on first use and dropped when pickled.
    """

    crowd: Crowd
    weights: Literal["count", "count-squared", "binary"]
    cutoff: float | None
    cutoff_noise: float
    orientation: Literal["labels", "workers"]
    tau: float

    def __getstate__(self) -> dict[str, Any]:
        return {each.name: self.__dict__[each.name] for each in dataclasses.fields(self)}

    @property
    def plain(self) -> bool:
        """Whether weights are the shared tasks of all pairs: sums over labels do for sums over pairs."""
        return self.weights == "count" and self.cutoff is None

    @cached_property
    def sign_weights(self) -> Array:
        """What each worker's skill counts in the sum that is positive (`orientation`), shape (workers,)."""
        counts = self.crowd.labels.per_worker
        return np.ones(len(counts)) if self.orientation == "workers" else counts.astype(np.float64)

    @cached_property
    def worker_graph(self) -> WorkerGraph:
        """Who shares tasks with whom; with a cutoff, whose correlations are kept."""
        return self.meetings if self.cutoff is None else WorkerGraph(self.least_squares.known)

    @cached_property
    def meetings(self) -> WorkerGraph:
        """Who shares tasks with whom."""
        labels = self.crowd.labels
        return WorkerGraph.of_labels(labels.task, labels.worker, len(labels.worker_ids))

    @cached_property
    def box(self) -> tuple[Array, Array]:
        """Least and largest skill of each worker, each of shape (workers,)."""
        return orientation.skill_box(self.crowd.labels.per_worker, len(self.crowd.classes), self.tau)

    @cached_property
    def with_gold(self) -> SkillModel:
        """The model whose last row is the gold, as a worker of skill 1; this one where there is no gold."""
        if self.crowd.gold is None:
            return self
        fields = {each.name: getattr(self, each.name) for each in dataclasses.fields(self)}
        return _WithGold(**fields | {"crowd": self.crowd.with_gold_as_worker()})

    @property
    def least_squares(self) -> PairwiseLeastSquares:
        """The objective of `completion`."""
        return self.completion.least_squares

    @cached_property
    def completion(self) -> RankOneFit:
        """The rank-one completion that stands for the labels.

        Pairs of workers are counted where they are few; where they are many, and the weights
        are the counts and nothing is cut off, the labels are used as they are. Both have the
        same gradient, so the same answer.
        """
        crowd, labels = self.crowd, self.crowd.labels
        workers, classes = len(labels.worker_ids), len(crowd.classes)
        lower, upper = self.box
        if self.plain and not self._few_pairs():
            products = LabelLeastSquares(
                task=labels.task,
                worker=labels.worker,
                label=crowd.label_codes,
                workers=workers,
                classes=classes,
            )
            return LabelCorrelations(
                products=products, lower=lower, upper=upper, sign_weights=self.sign_weights
            )
        table = self._table() if self.plain else None
        if table is not None:
            return RankOneCompletion.of_counts(
                *table, lower, upper, sign_weights=self.sign_weights, graph=self.meetings
            )
        shared, correlation = self._counted()
        weights = shared.data
        if self.weights != "count":
            weights = weights**2 if self.weights == "count-squared" else np.ones(shared.nnz)
        if self.cutoff is None:
            pattern = shared.indices, shared.indptr
            return RankOneCompletion.of_counts(
                sp.csr_array((weights, *pattern), shared.shape),
                sp.csr_array((correlation, *pattern), shared.shape),
                lower,
                upper,
                sign_weights=self.sign_weights,
                graph=self.meetings,
            )
        weights = np.where(self._uninformative(shared, correlation), 0.0, weights)
        kept = sp.csr_array((weights, shared.indices, shared.indptr), shared.shape).sum(axis=1)
        ignored = (kept == 0) & (np.diff(shared.indptr) > 0)
        lower, upper = np.where(ignored, 0.0, lower), np.where(ignored, 0.0, upper)
        return RankOneCompletion(
            weights=sp.csr_array((weights, shared.indices, shared.indptr), shared.shape),
            values=sp.csr_array((correlation, shared.indices, shared.indptr), shared.shape),
            lower=lower,
            upper=upper,
            sign_weights=self.sign_weights,
        )

    def _few_pairs(self) -> bool:
        workers, met = len(self.crowd.labels.worker_ids), self._met
        few = min(met, workers * (workers - 1.0)) <= _MOST_PAIRS
        return few and met <= _WORTH_COUNTING * len(self.crowd.labels)

    @cached_property
    def _met(self) -> float:
        """Ordered pairs of labels on each task, summed."""
        size = self.crowd.labels.per_task
        return float(np.dot(size, size - 1.0))

    def _table(self) -> tuple[Array, Array] | None:
        """N and C as dense matrices, where they are small and most pairs of workers share tasks."""
        labels, classes = self.crowd.labels, len(self.crowd.classes)
        workers = len(labels.worker_ids)
        if workers * workers > _MOST_PAIRS or not worth_dense(self._met, workers):
            return None
        codes = labels.first, labels.worker, self.crowd.label_codes
        shared, correlation = correlation_table(*codes, workers, classes)
        return (shared, correlation) if worth_dense(int(np.count_nonzero(shared)), workers) else None

    def _counted(self) -> tuple[sp.csr_array, Array]:
        """N as a sparse matrix, and C in the order of its ``.data``."""
        labels, workers = self.crowd.labels, len(self.crowd.labels.worker_ids)
        shared, agreed = co_occurrence(labels.first, labels.worker, self.crowd.label_codes, workers)
        return shared, correlations_of(shared.data, agreed, len(self.crowd.classes))

    def _uninformative(self, shared: sp.csr_array, correlation: Array) -> NDArray[np.bool_]:
        """Pairs that the cut-off drops (after Theorem 12): too little correlation to speak of."""
        assert self.cutoff is not None
        noise = np.sqrt(np.log(shared.shape[0]) / shared.data)
        return np.asarray(np.abs(correlation) < self.cutoff + self.cutoff_noise * noise)

    def pair_counts(self) -> tuple[sp.csr_array, Array]:
        """Tasks shared by each pair of workers, and the pairs' correlations in the order of ``.data``.

        As counted for the least squares, where its weights are these.
        """
        if self.plain:
            return self.least_squares.known, self.least_squares.targets.data
        return self._counted()

    def pair_counts_of(self, kept: NDArray[np.intp]) -> tuple[sp.csr_array, Array]:
        """`pair_counts` of some workers, rising codes, in that order; of few workers it takes less time."""
        done = self.with_gold.__dict__.get("completion") if self.plain else None
        pairs = None if done is None else done.least_squares.pairs
        if isinstance(pairs, DensePairs):  # counted for the least squares; looking them up is faster
            cells = np.ix_(kept, kept)
            known = pairs.known[cells]
            met = known > 0
            columns, start = np.nonzero(met)[1], firsts(met.sum(axis=1))
            return sp.csr_array((known[met], columns, start), known.shape), pairs.targets[cells][met]
        if isinstance(pairs, SparsePairs):
            shared, correlation = (matrix[kept][:, kept] for matrix in (pairs.known, pairs.targets))
            return shared, correlation.data
        crowd, labels = self.crowd, self.crowd.labels
        place = np.full(len(labels.worker_ids), -1, dtype=np.int32)
        place[kept] = np.arange(len(kept))
        worker = place[labels.worker]
        rows = np.flatnonzero(worker >= 0)
        first = firsts(np.bincount(labels.task[rows], minlength=len(labels.task_ids)))
        shared, agreed = co_occurrence(first, worker[rows], crowd.label_codes[rows], len(kept))
        return shared, correlations_of(shared.data, agreed, len(crowd.classes))

    def with_positive_sums(self, skills: Array) -> Array:
        """Skills with the sign of each component settled.

        Reversed, and clipped to the box, where they contradict the gold or, without gold, where
        their sum (`orientation`) is below 0; all zero where that cancels, since then nothing
        says which side is right.
        """
        return orientation.settled(skills, self.signs_of(skills), self.box)

    def signs_of(self, skills: Array) -> Array:
        """1 where a worker's skill keeps its sign, -1 where it is reversed, 0 where nothing tells."""
        component = self.worker_graph.component
        by_gold = () if self.crowd.gold is None else (self.crowd.gold_agreement * skills,)
        signs = orientation.of_groups(
            component, *by_gold, self.sign_weights * skills, cancel=orientation.CANCEL
        )
        return np.asarray(signs[component])


class _WithGold(SkillModel):
    """Labels of which the last worker is the gold: its skill is 1, whatever the labels."""

    @cached_property
    def box(self) -> tuple[Array, Array]:
        lower, upper = super().box
        lower[-1] = upper[-1] = 1.0
        return lower, upper

    @cached_property
    def sign_weights(self) -> Array:
        weights = np.array(super().sign_weights)
        weights[-1] = 2.0 * weights[:-1].sum()  # the gold's own sign decides
        return weights


WANTED = "a label-aggregation problem, the result of a solver for it or a fitted LabelAggregator"

Source: TypeAlias = SkillModel | sources.Source
"""What tools take labels and their model from."""


def model_of(source: Source) -> SkillModel:
    """The model of a problem, of a result or of a fitted `LabelAggregator`; `InvalidInput` without one."""
    return sources.part_of(source, SkillModel, "problem", "model", wanted=WANTED)
