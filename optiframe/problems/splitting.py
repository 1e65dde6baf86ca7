"""A problem with regularizers as a `Minimize` with the same answer, where there is one.

Smooth regularizers are added to the objective. A sum of absolute values is linear in the positive and
negative parts of a point, x = p - q with both at least zero: the problem over (p, q) has only bounds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from pydantic import Field

from optiframe.problems.objectives.objective import Objective
from optiframe.problems.regularizers.norms import L1, ElasticNet
from optiframe.problems.regularizers.regularizer import Regularizer
from optiframe.problems.sets.constraint_set import ConstraintSet, WholeSpace
from optiframe.problems.sets.vector_sets import Box, NonNegative
from optiframe.records.fields import Array


class PlusSmooth(Objective):
    """An objective and smooth regularizers added up."""

    base: Objective = Field(description="the objective")
    terms: tuple[Regularizer, ...] = Field(description="regularizers with a gradient")

    @property
    def shape(self) -> tuple[int, ...]:
        return self.base.shape

    def value(self, x: Array) -> float:
        return self.base.value(x) + sum(term.value(x) for term in self.terms)

    def gradient(self, x: Array) -> Array:
        return np.asarray(sum((term.gradient(x) for term in self.terms), start=self.base.gradient(x)))

    def as_cvxpy(self, x: Any) -> Any:
        parts = [self.base.as_cvxpy(x), *(term.as_cvxpy(x) for term in self.terms)]
        return None if any(part is None for part in parts) else sum(parts[1:], start=parts[0])

    def offers(self, operation: Any) -> bool:
        return super().offers(operation) and self.base.offers(operation)


class InParts(Objective):
    """An objective of x = p - q plus a weight on the sum of p and q; a point is the pair."""

    base: Objective = Field(description="the objective of x")
    weight: float = Field(description="of the sum of all entries of p and q")

    @property
    def shape(self) -> tuple[int, ...]:
        return (2, *self.base.shape)

    def value(self, x: Array) -> float:
        return self.base.value(x[0] - x[1]) + self.weight * float(x.sum())

    def gradient(self, x: Array) -> Array:
        g = self.base.gradient(x[0] - x[1])
        return np.stack([g, -g]) + self.weight

    def hessian_product(self, x: Array, v: Array) -> Array:
        product = self.base.hessian_product(x[0] - x[1], v[0] - v[1])
        return np.stack([product, -product])

    def offers(self, operation: Any) -> bool:
        return super().offers(operation) and self.base.offers(operation)


@dataclass(frozen=True)
class Split:
    """An objective over a set without regularizers, and the way between its points and those of the first."""

    objective: Objective
    over: ConstraintSet
    interpret: Callable[[Any], Any]
    encode: Callable[[Any], Any]


def without_regularizers(
    objective: Objective, over: ConstraintSet, terms: tuple[Regularizer, ...]
) -> Split | None:
    """The same problem without regularizers, or None where one cannot be rewritten."""
    if objective.point_type is not np.ndarray:
        return None
    absolute, smooth = _sorted_out(terms)
    if absolute is None:
        return None
    base = PlusSmooth(base=objective, terms=smooth) if smooth else objective
    if absolute == 0.0:
        return Split(base, over, _same, _same)
    bounds = _bounds(over)
    if bounds is None:
        return None
    # p - q lies between the bounds of x when p and q lie between these.
    lower, upper = (np.broadcast_to(side, objective.shape) for side in bounds)
    box = Box(
        lower=np.stack([np.maximum(lower, 0.0), np.maximum(-upper, 0.0)]),
        upper=np.stack([np.maximum(upper, 0.0), np.maximum(-lower, 0.0)]),
    )
    return Split(InParts(base=base, weight=absolute), box, _joined, _parts)


def _sorted_out(terms: tuple[Regularizer, ...]) -> tuple[float | None, tuple[Regularizer, ...]]:
    """The weight of the sum of absolute values and the smooth terms; no weight where others are left."""
    smooth: list[Regularizer] = []
    absolute = 0.0
    for term in terms:
        if isinstance(term, L1):
            absolute += term.weight
        elif isinstance(term, ElasticNet):
            first, second = term.parts()
            absolute += first.weight
            smooth.append(second)
        elif term.offers(Regularizer.gradient):
            smooth.append(term)
        else:
            return None, ()
    return absolute, tuple(smooth)


def _bounds(over: ConstraintSet) -> tuple[Any, Any] | None:
    if isinstance(over, Box):
        return over.lower, over.upper
    if isinstance(over, NonNegative):
        return 0.0, np.inf
    return (-np.inf, np.inf) if isinstance(over, WholeSpace) else None


def _same(x: Any) -> Any:
    return x


def _joined(pair: Array) -> Array:
    return np.asarray(pair[0] - pair[1])


def _parts(x: Array) -> Array:
    x = np.asarray(x, dtype=np.float64)
    return np.stack([np.maximum(x, 0.0), np.maximum(-x, 0.0)])
