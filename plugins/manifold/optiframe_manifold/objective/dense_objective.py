"""A function of a whole matrix as an objective over its factors, for small matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Self

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from optiframe.errors import InvalidInput
from optiframe.problems.objectives.objective import FromFunction, Objective
from optiframe.problems.points import named
from optiframe.records.fields import Accepts, Array
from optiframe_manifold.low_rank import LowRank


class OfMatrix(Objective):
    """An objective over m x n arrays, taken at X = left @ right.T.

    Lets ``Minimize(OfMatrix(objective=f), over=Rank(m, n, r))`` use any function of a matrix:
    squared distance, `from_function` with derivatives by autograd, your own. Every
    evaluation makes the matrix itself, 8 m n bytes: for small matrices only. It has the
    derivatives that `objective` has.

    Raises
    ------
    InvalidInput
        When the points of `objective` are not arrays with two indices.
    """

    name = "of-matrix"
    point_type = LowRank

    function: Annotated[
        Objective,
        BeforeValidator(named("objective")),
        Accepts("an objective over matrices by name with its parameters"),
    ] = Field(alias="objective", description="the function of the whole matrix")

    @model_validator(mode="after")
    def _takes_matrices(self) -> Self:
        if self.function.point_type is not np.ndarray or len(self.function.shape) != 2:
            raise InvalidInput(
                f"objective: {self.function.known_as!r} takes points of shape "
                f"{self.function.shape}; a matrix has rows and columns"
            )
        return self

    @property
    def shape(self) -> tuple[int, ...]:
        return self.function.shape

    def offers(self, operation: Callable[..., Any]) -> bool:
        derivative = operation.__name__ in ("gradient", "hessian_product")
        return self.function.offers(operation) if derivative else super().offers(operation)

    def value(self, x: LowRank) -> float:
        return self.function.value(x.dense())

    def gradient(self, x: LowRank) -> LowRank:
        _, slope = self._at(x)
        return LowRank(slope @ x.right, slope.T @ x.left)

    def hessian_product(self, x: LowRank, v: LowRank) -> LowRank:
        dense, slope = self._at(x)
        bend = self.function.hessian_product(dense, v.left @ x.right.T + x.left @ v.right.T)
        return LowRank(bend @ x.right + slope @ v.right, bend.T @ x.left + slope.T @ v.left)

    @property
    def naive(self) -> Callable[[Any], Any] | None:
        """The function itself, where it was given as one that autograd takes."""
        return self.function.function if isinstance(self.function, FromFunction) else None

    def _at(self, x: LowRank) -> tuple[Array, Array]:
        """The matrix and its gradient; a trust region asks for many products at one point."""
        last = self.__dict__.get("_last")
        if last is None or last[0] is not x:
            dense = x.dense()
            last = self.__dict__["_last"] = (x, dense, np.asarray(self.function.gradient(dense)))
        return last[1], last[2]
