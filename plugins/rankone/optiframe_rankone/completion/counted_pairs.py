"""Rank-one completion straight from a table of counted pairs, without a matrix of them.

A pass over the counts of a thousand workers, two bytes for each pair, takes a third of the time of
products with two dense matrices, and making those takes longer than ten passes over them.
"""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from pydantic import Field, PlainValidator, PositiveInt, model_validator

from optiframe.errors import InvalidInput
from optiframe.records.fields import Accepts, Array
from optiframe_rankone.completion.fit import RankOneFit
from optiframe_rankone.completion.objective import PairwiseLeastSquares
from optiframe_rankone.completion.pairs import EntryPairs, Pairs, correlations_of, of_entries
from optiframe_rankone.kernels import prepared
from optiframe_rankone.kernels.count_table import CountTable
from optiframe_rankone.worker_graph import WorkerGraph

_FILLED = 3  # a pass over the table is the quicker one where a third of its pairs met, or more


def worth_dense(table: CountTable) -> bool:
    """Whether passes over the table are quicker than over a sparse matrix of the pairs that met."""
    return bool(np.count_nonzero(table.counts) * _FILLED >= len(table.counts))


class CountedPairs(Pairs):
    """Pairs of workers in a table of counts: N and (M - 1) N C = M A - N, A what was agreed on.

    The products are compiled passes over the table, 1 or 4 bytes for each of size^2 entries. What
    is asked for seldom is left to matrices, made on first use: sweeps and blocks of rows.

    Parameters
    ----------
    table
        The counts.
    classes
        Number of classes, M.
    """

    def __init__(self, table: CountTable, classes: int) -> None:
        self.size, self._classes = table.workers, classes
        self._table, self._shift = prepared.fixed(table.counts, table.counts.dtype), table.shift
        self._counted = table

    @cached_property
    def entries(self) -> EntryPairs:
        """The same pairs one by one; 40 bytes for each ordered pair that met, or more."""
        shared, agreed = self._counted.entries()
        values = correlations_of(shared, agreed, self._classes)
        return of_entries(shared, sp.csr_array((values, shared.indices, shared.indptr), shared.shape))

    def _products(self, x: Array, y: Array) -> tuple[Array, Array]:
        """(N * C) x and N y."""
        pull, weight = np.zeros(self.size), np.zeros(self.size)
        x, y = prepared.fixed(x, np.float64), prepared.fixed(y, np.float64)
        kernel = prepared.kernels("compiled_pairs").table_products
        kernel(self._table, self._shift, float(self._classes), x, y, pull, weight)
        return pull / (self._classes - 1.0), weight

    def pulls(self, x: Array) -> tuple[Array, Array]:
        return self._products(x, x * x)

    def weights(self, x: Array) -> Array:
        return self._products(x, x)[1]

    def products(self, x: Array) -> Array:
        return self._products(x, x)[0]

    def cost(self, x: Array) -> float:
        x = prepared.fixed(x, np.float64)
        kernel = prepared.kernels("compiled_pairs").table_misses
        return float(kernel(self._table, self._shift, float(self._classes), x)) / 2

    def absolute_sums(self) -> Array:
        return self.entries.absolute_sums()

    def sweep(self, x: Array, lower: Array, upper: Array) -> tuple[Array, float]:
        return self.entries.sweep(x, lower, upper)

    @cached_property
    def component(self) -> NDArray[np.int64]:
        return self.entries.component

    def block(self, members: NDArray[np.intp]) -> Array:
        return self.entries.block(members)


def _counts(value: Any) -> NDArray[np.unsignedinteger[Any]]:
    counts = np.asarray(value)
    if counts.dtype not in (np.uint16, np.uint64) or counts.ndim != 1:
        raise InvalidInput(f"must be a table of counts, got {counts.dtype} of shape {counts.shape}")
    return prepared.fixed(counts, counts.dtype)


class CountedLeastSquares(PairwiseLeastSquares):
    """The weighted least squares of Lemma 6 with the shared tasks as weights, from a table of counts.

    The same numbers as `RankOneLeastSquares` of the matrices N and C.
    """

    name = "counted-least-squares"
    reference = "Ma et al., Lemmas 6 and 7"

    counts: Annotated[
        NDArray[np.unsignedinteger[Any]],
        PlainValidator(_counts),
        Accepts("counts of pairs, as of a `CountTable`"),
    ] = Field(description="tasks shared and agreed on by each pair of workers")
    workers: PositiveInt = Field(description="number of workers")
    classes: Annotated[int, Field(ge=2)] = Field(description="number of classes, M")

    @model_validator(mode="after")
    def _triangle(self) -> Self:
        if len(self.counts) != self.workers * (self.workers - 1) // 2:
            raise InvalidInput(f"{self.workers} workers have other pairs than {len(self.counts)} counts")
        return self

    @cached_property
    def pairs(self) -> CountedPairs:
        return CountedPairs(CountTable(self.counts, self.workers), self.classes)

    @property
    def known(self) -> sp.csr_array:
        """Tasks shared by each pair of workers; made on first use, 40 bytes a pair."""
        return self.pairs.entries.known

    @property
    def targets(self) -> sp.csr_array:
        """Correlation of each pair of workers; made on first use."""
        return self.pairs.entries.targets


class CountedCorrelations(RankOneFit):
    """Rank-one completion of the correlations of workers, from a table of counts.

    What `label-aggregation` formulates to when compiled kernels are at hand and most of the workers
    share tasks; weights are the numbers of shared tasks. The same solvers take it.
    """

    name = "counted-correlations"
    reference = "Ma et al., Lemma 6 and Sec. 6 (the box)"

    counted: CountedLeastSquares = Field(description="the counts, as an objective")

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        self.check_bounds()
        return self

    @property
    def least_squares(self) -> CountedLeastSquares:
        return self.counted

    @classmethod
    def of_table(
        cls,
        table: CountTable,
        classes: int,
        lower: Array,
        upper: Array,
        *,
        sign_weights: Array | None = None,
        graph: WorkerGraph,
    ) -> CountedCorrelations:
        """The problem of a table; arrays of shape (workers,), and a graph with the same components."""
        counted = CountedLeastSquares(counts=table.counts, workers=table.workers, classes=classes)
        counted.pairs.__dict__["component"] = graph.component  # a cached property
        return cls(counted=counted, lower=lower, upper=upper, sign_weights=sign_weights)
