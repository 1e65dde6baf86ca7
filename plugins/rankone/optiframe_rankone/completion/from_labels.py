"""From labels to rank-one completion: the correlations of workers, counted or left in the labels."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from pydantic import Field, PlainValidator, PositiveInt, model_validator

from optiframe.errors import InvalidInput
from optiframe.problems.problem import Finding
from optiframe.records.fields import Accepts, Array
from optiframe_rankone.answer import Aggregation
from optiframe_rankone.completion.counted_pairs import CountedCorrelations, correlations_of, pays
from optiframe_rankone.completion.label_pairs import LabelPairs
from optiframe_rankone.completion.objective import PairwiseLeastSquares
from optiframe_rankone.completion.problem import RankOneCompletion, RankOneFit
from optiframe_rankone.kernels import passes as kernels
from optiframe_rankone.ids import Codes, listed
from optiframe_rankone.read.tables import LabelTable
from optiframe_rankone.worker_graph import WorkerGraph

if TYPE_CHECKING:
    from optiframe_rankone.problem import LabelAggregation

_MOST_PAIRS = 2**22
"""Ordered pairs of workers kept as a matrix at most: 40 bytes each and as much again while they
are counted, together about 300 MB. All pairs of 2,000 workers are within it."""
_WORTH_COUNTING = 64
"""Pairs are counted when there are at most this many on a task for each label. Counting one takes
about as long as one label takes in a product, and a run takes some tens of products."""


def _codes(value: Any) -> Codes:
    codes = np.asarray(value)
    if codes.dtype.kind not in "iu" or codes.ndim != 1:
        raise InvalidInput(f"must be a vector of codes, got {codes.dtype} of shape {codes.shape}")
    codes = codes.view()
    codes.flags.writeable = False
    return codes


CodeVector = Annotated[Codes, PlainValidator(_codes), Accepts("vector of whole numbers from 0")]


class LabelLeastSquares(PairwiseLeastSquares):
    """The squared distance of x_i x_j to the products of the labels of workers i and j (Eq. 2).

    ::

        1/2 sum_t sum_{i<j who labelled t} (y_it y_jt - x_i x_j)^2

    where the product of two labels is 1 when they agree and -1/(M-1) when they do not. By
    Lemma 6 it is the weighted least squares of rank-one completion, with the shared tasks as
    weights, up to a constant: gradients are the same, and no pair of workers is ever counted.

    Time of an evaluation and memory are linear in the labels (see `LabelPairs`).
    """

    name = "label-least-squares"
    reference = "Ma et al., Eq. 2, with the label products of Lemma 7"

    task: CodeVector = Field(description="task of each label, in rising order")
    worker: CodeVector = Field(description="worker of each label; none twice in a task")
    label: CodeVector = Field(description="class of each label")
    workers: PositiveInt = Field(description="number of workers")
    classes: Annotated[int, Field(ge=2)] = Field(description="number of classes, M")

    @model_validator(mode="after")
    def _one_length(self) -> Self:
        if not len(self.task) == len(self.worker) == len(self.label) > 0:
            raise InvalidInput("task, worker and label must have one length, of at least 1")
        if (self.task[1:] < self.task[:-1]).any():  # not by differences: codes may be unsigned
            raise InvalidInput("task: the labels must be in order of tasks")
        return self

    @cached_property
    def pairs(self) -> LabelPairs:
        return LabelPairs(
            self.task,
            self.worker,
            self.label,
            tasks=int(self.task[-1]) + 1,
            workers=self.workers,
            classes=self.classes,
            compiled=kernels.compiled_for(len(self.task)),
        )

    @cached_property
    def _counted(self) -> tuple[sp.csr_array, Array]:
        task, worker, label = self.task, self.worker, self.label
        if ((task[1:] == task[:-1]) & (worker[1:] < worker[:-1])).any():  # pairs are counted in order
            order = np.lexsort([worker, task])
            task, worker, label = task[order], worker[order], label[order]
        return count(task, worker, label, self.workers, self.classes)

    @property
    def known(self) -> sp.csr_array:
        """Tasks shared by each pair of workers; counted on first use, 40 bytes a pair."""
        return self._counted[0]

    @property
    def targets(self) -> sp.csr_array:
        """Correlation of each pair of workers; counted on first use."""
        known, correlation = self._counted
        return sp.csr_array((correlation, known.indices, known.indptr), known.shape)


class LabelCorrelations(RankOneFit):
    """Rank-one completion of the correlations of many workers, without a matrix of them.

    What `label-aggregation` formulates to when pairs of workers are too many to be kept;
    weights are the numbers of shared tasks. The same solvers take it.
    """

    name = "label-correlations"
    reference = "Ma et al., Eq. 2 and Sec. 6 (the box)"

    products: LabelLeastSquares = Field(description="the labels, as an objective")

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        self.check_bounds()
        return self

    @property
    def least_squares(self) -> LabelLeastSquares:
        return self.products


def count(
    task: Codes, worker: Codes, label: Codes, workers: int, classes: int
) -> tuple[sp.csr_array, NDArray[np.float64]]:
    """Tasks shared by each pair of workers, and their correlation (Lemma 7) in the order of ``.data``."""
    shared, agreed = kernels.co_occurrence(
        task, worker, label, tasks=int(task[-1]) + 1, workers=workers, classes=classes
    )
    return shared, correlations_of(shared, agreed, classes)


def formulated(problem: LabelAggregation) -> RankOneFit:
    """The rank-one completion that stands for a label-aggregation problem.

    Pairs of workers are counted where they are few; where they are many, and the weights
    are the counts and nothing is cut off, the labels are used as they are. Both have the
    same gradient, so the same answer.
    """
    labels, lower, upper = problem.labels, *problem.box
    workers, classes = len(labels.worker_ids), len(problem.classes)
    plain = problem.weights == "count" and problem.cutoff is None
    sign_weights = problem.sign_weights
    if plain and not _few_pairs(labels, workers):
        products = LabelLeastSquares(
            task=labels.task,
            worker=labels.worker,
            label=problem.label_codes,
            workers=workers,
            classes=classes,
        )
        return LabelCorrelations(products=products, lower=lower, upper=upper, sign_weights=sign_weights)
    table = kernels.count_table(labels.task, labels.worker, problem.label_codes, workers)
    if plain and table is not None and pays(table):
        return CountedCorrelations.of_table(
            table, classes, lower, upper, sign_weights=sign_weights, graph=problem.worker_graph
        )
    if table is None:
        shared, correlation = count(labels.task, labels.worker, problem.label_codes, workers, classes)
    else:
        shared, agreed = table.entries()
        correlation = correlations_of(shared, agreed, classes)
    weights = shared.data
    if problem.weights != "count":
        weights = weights**2 if problem.weights == "count-squared" else np.ones(shared.nnz)
    if problem.cutoff is None:
        known = sp.csr_array((weights, shared.indices, shared.indptr), shared.shape)
        return RankOneCompletion.of_counts(
            known, correlation, lower, upper, sign_weights=sign_weights, graph=problem.worker_graph
        )
    weights = np.where(_uninformative(problem, shared, correlation), 0.0, weights)
    kept = sp.csr_array((weights, shared.indices, shared.indptr), shared.shape).sum(axis=1)
    ignored = (kept == 0) & (np.diff(shared.indptr) > 0)
    lower, upper = np.where(ignored, 0.0, lower), np.where(ignored, 0.0, upper)
    return RankOneCompletion(
        weights=sp.csr_array((weights, shared.indices, shared.indptr), shared.shape),
        values=sp.csr_array((correlation, shared.indices, shared.indptr), shared.shape),
        lower=lower,
        upper=upper,
        sign_weights=sign_weights,
    )


def _few_pairs(labels: LabelTable, workers: int) -> bool:
    size, possible = labels.per_task, workers * (workers - 1.0)
    met = float(np.dot(size, size - 1.0))  # ordered pairs on each task, summed
    return min(met, possible) <= _MOST_PAIRS and met <= _WORTH_COUNTING * len(labels)


def _uninformative(problem: LabelAggregation, shared: sp.csr_array, correlation: Array) -> NDArray[np.bool_]:
    """Pairs that the cut-off drops (after Theorem 12): too little correlation to speak of."""
    assert problem.cutoff is not None
    noise = np.sqrt(np.log(shared.shape[0]) / shared.data)
    return np.asarray(np.abs(correlation) < problem.cutoff + problem.cutoff_noise * noise)


def graph_of_kept(problem: LabelAggregation) -> WorkerGraph:
    """Workers joined where the cut-off keeps their correlation."""
    formulation = problem.formulation
    assert formulation is not None
    assert isinstance(formulation.problem, RankOneFit)
    return WorkerGraph(formulation.problem.least_squares.known)


def cut_off(problem: LabelAggregation, solution: Aggregation) -> Iterator[Finding]:
    """Workers whom the cut-off leaves without a pair."""
    if problem.cutoff is None or solution.skills is None:
        return
    labels = problem.labels
    alone = WorkerGraph.of_labels(labels.task, labels.worker, len(labels.worker_ids)).isolated
    ignored = labels.worker_ids[problem.worker_graph.isolated & ~alone]
    if len(ignored):
        yield Finding(
            "note",
            f"{len(ignored)} worker{'s' if len(ignored) > 1 else ''} without a correlation beyond the "
            f"cut-off: taken for guessing, so without weight: {listed(ignored)}",
            tuple(ignored.tolist()),
        )
