"""Low-rank matrix completion: known entries of a matrix, the rest to be found."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from pydantic import Field, NonNegativeFloat, PositiveInt, model_validator

from optiframe.errors import InvalidInput, require
from optiframe.problems.objectives.objective import Objective
from optiframe.records.fields import Array, Places, Vector
from optiframe_manifold.low_rank import LowRank


class KnownEntries(Objective):
    """Half the squared misfit to the known entries of a matrix, by its factors.

    f(X) = 1/2 sum over known (i, j) of w (X_ij - value)^2 + ridge/2 |X|^2, with w = 1.
    An entry given twice counts twice. Without a ridge a row or column with no known entry is
    not determined. One evaluation costs O((k + m + n) r^2) time for k entries; memory is
    about 56 k bytes.

    Raises
    ------
    InvalidInput
        When the lists differ in length, or an index is outside the matrix (naming the first).
    """

    name = "known-entries"
    point_type = LowRank

    rows: PositiveInt = Field(description="rows of the matrix")
    columns: PositiveInt = Field(description="columns of the matrix")
    row: Places = Field(description="row of each known entry, from 0")
    column: Places = Field(description="column of each known entry, from 0")
    entry: Vector = Field(description="value of each known entry")
    ridge: NonNegativeFloat = Field(default=0.0, description="weight of half the squared norm of the matrix")

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        lengths = {len(self.row), len(self.column), len(self.entry)}
        if len(lengths) > 1:
            raise InvalidInput(
                f"row, column and entry have {len(self.row)}, {len(self.column)} and {len(self.entry)} "
                "values; each known entry needs one of each"
            )
        for what, given, size in (("row", self.row, self.rows), ("column", self.column, self.columns)):
            wrong = np.flatnonzero((given < 0) | (given >= size))
            if len(wrong):
                raise InvalidInput(
                    f"{what} {given[wrong[0]]} of known entry {wrong[0]} is outside the matrix; "
                    f"it has {what}s 0 to {size - 1}"
                )
        return self

    @property
    def shape(self) -> tuple[int, ...]:
        return self.rows, self.columns

    def value(self, x: LowRank) -> float:
        misfit = self._misfit(x).data
        value = float(misfit @ misfit / 2)
        if self.ridge:
            value += self.ridge / 2 * float(np.vdot(_gram(x.left), _gram(x.right)))
        return value

    def gradient(self, x: LowRank) -> LowRank:
        misfit = self._misfit(x)
        return LowRank(
            misfit @ x.right + self.ridge * (x.left @ _gram(x.right)),
            misfit.T @ x.left + self.ridge * (x.right @ _gram(x.left)),
        )

    def hessian_product(self, x: LowRank, v: LowRank) -> LowRank:
        """How the gradient's two factors change when x's move along those of `v`."""
        misfit = self._misfit(x)
        movement = LowRank(np.hstack([v.left, x.left]), np.hstack([x.right, v.right]))
        bend = self._sparse(movement.at(*self._order))
        return LowRank(
            bend @ x.right + misfit @ v.right + self.ridge * self._ridge_change(x, v),
            bend.T @ x.left
            + misfit.T @ v.left
            + self.ridge * self._ridge_change(LowRank(x.right, x.left), LowRank(v.right, v.left)),
        )

    def naive(self, x: Any) -> Any:
        """The objective of a whole array, as one would write it down for autograd."""
        anp = require("autograd.numpy", "autodiff")
        misfit = x[self.row, self.column] - self.entry
        return anp.sum(misfit**2) / 2 + self.ridge / 2 * anp.sum(x**2)

    @staticmethod
    def _ridge_change(x: LowRank, v: LowRank) -> Array:
        both = v.right.T @ x.right
        return np.asarray(v.left @ _gram(x.right) + x.left @ (both + both.T))

    @cached_property
    def _pattern(self) -> tuple[NDArray[np.intp], sp.csr_array]:
        """The order of the entries by row, and their places."""
        order = np.lexsort((self.column, self.row))
        counts = np.bincount(self.row, minlength=self.rows)
        indptr = np.concatenate([[0], np.cumsum(counts)])
        places = sp.csr_array((np.zeros(len(order)), self.column[order], indptr), shape=self.shape)
        return order, places

    @cached_property
    def _order(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        order, _ = self._pattern
        return self.row[order], self.column[order]

    @cached_property
    def _known(self) -> Array:
        return np.asarray(self.entry[self._pattern[0]])

    def _sparse(self, entries: Array) -> sp.csr_array:
        _, places = self._pattern
        return sp.csr_array((entries, places.indices, places.indptr), shape=self.shape)

    def _misfit(self, x: LowRank) -> sp.csr_array:
        # A trust region asks for many products at one point.
        last = self.__dict__.get("_last")
        if last is None or last[0] is not x:
            last = self.__dict__["_last"] = (x, self._sparse(x.at(*self._order) - self._known))
        found: sp.csr_array = last[1]
        return found


def _gram(factor: Array) -> Array:
    return np.asarray(factor.T @ factor)
