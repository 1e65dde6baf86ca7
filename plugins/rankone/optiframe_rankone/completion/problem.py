"""Rank-one completion: find x with x_i x_j near the known entries of a symmetric matrix."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from pydantic import Field, model_validator

from optiframe.errors import InvalidInput
from optiframe.findings import Finding
from optiframe.records.fields import Array, Matrix, Vector
from optiframe_rankone.completion import identifiability
from optiframe_rankone.completion.fit import RankOneFit
from optiframe_rankone.completion.objective import RankOneLeastSquares
from optiframe_rankone.completion.pairs import DensePairs, EntryPairs, of_entries
from optiframe_rankone.worker_graph import WorkerGraph


class RankOneCompletion(RankOneFit):
    """Complete a symmetric matrix of rank one from some of its entries, each with a weight.

    Minimizes ``1/2 sum_{i<j} N_ij (C_ij - x_i x_j)^2`` over ``lower <= x <= upper``: the
    weighted least squares of Lemma 6, with each unordered pair counted once. The solution
    is the vector x. Where the graph of known entries is connected and has an odd cycle,
    x is unique up to its sign for values that are exactly of rank one (Theorem 8).
    """

    name = "rank-one-completion"
    reference = "Ma et al., Lemma 6 and Sec. 6 (the box)"
    better: ClassVar[dict[str, Literal["lower", "higher"]]] = {"distance": "lower"}

    weights: Matrix = Field(description="N: symmetric, at least 0, zero for unknown; the diagonal is ignored")
    values: Matrix = Field(description="C: symmetric; only looked at where the weight is not zero")
    truth: Vector | None = Field(default=None, description="the true x, for the metrics only")

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        size = self.least_squares.shape[0]
        self.check_bounds()
        if self.truth is not None and self.truth.shape != (size,):
            raise InvalidInput(f"truth has {len(self.truth)} entries, weights are {size} x {size}")
        return self

    @classmethod
    def of_counts(
        cls,
        weights: Array | sp.csr_array,
        values: Array | sp.csr_array,
        lower: Array,
        upper: Array,
        *,
        sign_weights: Array,
        graph: WorkerGraph,
    ) -> RankOneCompletion:
        """The problem of pairs that were counted, so that nothing about them need be checked.

        Parameters
        ----------
        weights, values
            N and C, both dense, or both sparse with one pattern: sorted indices, positive weights. Symmetric,
            nothing on the diagonal.
        lower, upper, sign_weights
            Shape (size,).
        graph
            Has the same components.

        Nothing is copied, and the arrays are read-only from now on.
        """
        for part in (*_parts(weights), *_parts(values), lower, upper, sign_weights):
            part.flags.writeable = False
        problem = cls.model_construct(
            weights=weights, values=values, lower=lower, upper=upper, sign_weights=sign_weights
        )
        fit = RankOneLeastSquares.model_construct(weights=weights, values=values)
        pairs: EntryPairs
        if isinstance(weights, np.ndarray):
            pairs = DensePairs(weights, values)
        else:
            pairs = of_entries(weights, values)
            fit.__dict__.update(known=weights, targets=values)  # cached properties, as are these
        pairs.__dict__["component"] = graph.component
        fit.__dict__["pairs"] = pairs
        problem.__dict__["least_squares"] = fit
        return problem

    @cached_property
    def least_squares(self) -> RankOneLeastSquares:
        return RankOneLeastSquares(weights=self.weights, values=self.values)

    def metrics(self, solution: Array) -> dict[str, float]:
        """`distance`: the largest difference of an entry to `truth`; empty without a truth.

        That of x or of -x, whichever is nearer: they are equally good (one sign for all
        entries; in a graph of several components each has its own, which is not looked at).
        """
        if self.truth is None:
            return {}
        apart = min(np.abs(sign * solution - self.truth).max() for sign in (1.0, -1.0))
        return {"distance": float(apart)}

    def baseline_metrics(self) -> dict[str, float]:
        """`distance` of the point 0; empty without a truth."""
        return {} if self.truth is None else self.metrics(np.zeros_like(self.truth))

    def diagnose(self, solution: Array) -> tuple[Finding, ...]:
        return tuple(identifiability.report(self.least_squares, self.uncompared, self.bounds))

    def trace_metrics(self, solution: Array) -> dict[str, float]:
        """`distance` at every recorded iterate, as in Figures 4 and 5; empty without a truth."""
        return self.metrics(solution)


def _parts(matrix: Array | sp.csr_array) -> tuple[NDArray[Any], ...]:
    return (matrix,) if isinstance(matrix, np.ndarray) else (matrix.data, matrix.indices, matrix.indptr)
