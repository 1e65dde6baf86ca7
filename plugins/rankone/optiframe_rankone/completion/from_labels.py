"""Rank-one completion of the correlations of many workers, left in the labels."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Any, Self

import numpy as np
import scipy.sparse as sp
from pydantic import Field, PlainValidator, PositiveInt, model_validator

from optiframe.errors import InvalidInput
from optiframe.records.fields import Accepts, Array
from optiframe_rankone.completion.counts import co_occurrence, correlations_of
from optiframe_rankone.completion.fit import RankOneFit
from optiframe_rankone.completion.label_pairs import LabelPairs
from optiframe_rankone.completion.objective import PairwiseLeastSquares
from optiframe_rankone.ids import Codes, firsts, fixed_codes
from optiframe_rankone.kernels.labels import sort_labels


def _codes(value: Any) -> Codes:
    codes = np.asarray(value)
    if codes.dtype.kind not in "iu" or codes.ndim != 1:
        raise InvalidInput(f"must be a vector of codes, got {codes.dtype} of shape {codes.shape}")
    return fixed_codes(codes)


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
        )

    @cached_property
    def _counted(self) -> tuple[sp.csr_array, Array]:
        task, worker, label = self.task, self.worker, self.label
        if ((task[1:] == task[:-1]) & (worker[1:] < worker[:-1])).any():  # pairs are counted in order
            _, worker, label = sort_labels(task, worker, label, int(task[-1]) + 1, self.workers)
        shared, agreed = co_occurrence(firsts(np.bincount(task)), worker, label, self.workers)
        return shared, correlations_of(shared.data, agreed, self.classes)

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
