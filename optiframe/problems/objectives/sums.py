"""Objectives added up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Self

import numpy as np
from pydantic import BeforeValidator, Field, PlainSerializer, model_validator

from optiframe.errors import InvalidInput
from optiframe.problems.objectives.objective import Objective, Quadratic
from optiframe.problems.points import named, table
from optiframe.records.fields import Accepts, Array, Vector

_one = named("objective")
_BY_SUMMING = ("value", "gradient", "hessian_product", "hessian", "curvature", "quadratic", "as_cvxpy")


def _each(value: Any) -> Any:
    return tuple(_one(each) for each in value) if isinstance(value, list | tuple) else value


class Sum(Objective):
    """A weighted sum of objectives of the same points.

    It offers the operations that all of its terms offer; methods of least squares and conjugates are not
    among them. It is convex where every term is convex and no weight is below zero.

    Raises
    ------
    InvalidInput
        When there is no term, points differ, or there are not as many weights as terms.
    """

    name = "sum"

    terms: Annotated[
        tuple[Objective, ...],
        BeforeValidator(_each),
        PlainSerializer(lambda terms: [table(each) for each in terms]),
        Accepts("a list of objectives, each by name with its parameters"),
    ] = Field(description="the objectives")
    weights: Vector | None = Field(default=None, description="one for each term; default: all 1")

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if not self.terms:
            raise InvalidInput("terms: give at least one objective")
        if self.weights is not None and len(self.weights) != len(self.terms):
            raise InvalidInput(f"weights has {len(self.weights)} entries for {len(self.terms)} terms")
        first = self.terms[0]
        for number, term in enumerate(self.terms[1:], start=2):
            if (term.shape, term.point_type) != (first.shape, first.point_type):
                raise InvalidInput(
                    f"terms: points of term 1 have the shape {first.shape}, those of term {number} "
                    f"{term.shape}; they must be the same"
                )
        if first.point_type is not np.ndarray:
            raise InvalidInput(
                "terms: only functions of arrays can be summed; these take points of type "
                f"{first.point_type.__name__}"
            )
        return self

    @property
    def shape(self) -> tuple[int, ...]:
        return self.terms[0].shape

    @property
    def _weights(self) -> Any:
        return np.ones(len(self.terms)) if self.weights is None else self.weights

    @property
    def convex(self) -> bool:  # type: ignore[override]  # of the terms
        return all(term.convex for term in self.terms) and bool((self._weights >= 0).all())

    def offers(self, operation: Callable[..., Any]) -> bool:
        if operation.__name__ not in _BY_SUMMING:
            return super().offers(operation)
        return all(term.offers(operation) for term in self.terms)

    def value(self, x: Array) -> float:
        return float(self._sum(lambda term: term.value(x)))

    def gradient(self, x: Array) -> Array:
        return np.asarray(self._sum(lambda term: term.gradient(x)))

    def hessian_product(self, x: Array, v: Array) -> Array:
        return np.asarray(self._sum(lambda term: term.hessian_product(x, v)))

    def hessian(self, x: Array) -> Array:
        return np.asarray(self._sum(lambda term: term.hessian(x)))

    def curvature(self) -> float:
        return float(
            sum(abs(w) * term.curvature() for w, term in zip(self._weights, self.terms, strict=True))
        )

    def quadratic(self) -> Quadratic:
        from scipy.sparse.linalg import aslinearoperator

        forms = [term.quadratic() for term in self.terms]
        squares = [
            aslinearoperator(form.matrix) * float(weight)
            for weight, form in zip(self._weights, forms, strict=True)
            if form.matrix is not None
        ]
        return Quadratic(
            sum(squares[1:], start=squares[0]) if squares else None,
            np.asarray(sum(w * f.linear for w, f in zip(self._weights, forms, strict=True))),
            float(sum(w * f.constant for w, f in zip(self._weights, forms, strict=True))),
        )

    def as_cvxpy(self, x: Any) -> Any:
        parts = [term.as_cvxpy(x) for term in self.terms]
        if not self.convex or any(part is None for part in parts):
            return None
        return sum(float(w) * part for w, part in zip(self._weights, parts, strict=True))

    def _sum(self, of: Callable[[Objective], Any]) -> Any:
        return sum(w * of(term) for w, term in zip(self._weights, self.terms, strict=True))
