"""Regularizers: penalties that are added to an objective. The ready-made ones are in `regularizers`."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field, NonNegativeFloat, PlainSerializer

from optiframe.errors import Unsuited
from optiframe.records.fields import Accepts, Array
from optiframe.registry.by_name import Part, part

_ROUNDING = 1e-12  # relative: a dual point so little outside its ball lies on it


class Regularizer(Part):
    """A penalty of a point, chosen by name; a frozen record whose fields are its parameters.

    A subclass gives `name` (``regularizer.mine``), its fields and `value`, and of the other operations those
    that it has: `prox` for proximal methods, `gradient` where it is smooth, `conjugate` for duality gaps,
    `as_cvxpy` where it is convex. `separable` says that it is a sum over entries, of the same convex
    function of each: then its proximal step over bounds is the clipped one without them.
    """

    family = "regularizer"

    convex: ClassVar[bool] = True
    separable: ClassVar[bool] = False

    weight: NonNegativeFloat = Field(default=1.0, description="factor of the penalty")

    @abstractmethod
    def value(self, x: Array) -> float:
        """The penalty of `x`, weight included."""

    def prox(self, v: Array, step: float) -> Array:
        """A point z that minimizes ``step * value(z) + |z - v|^2 / 2``."""
        raise self._lacks("proximal step")

    def gradient(self, x: Array) -> Array:
        """Gradient at `x`, where the penalty is smooth."""
        raise self._lacks("gradient")

    def conjugate(self, y: Array) -> float:
        """Largest ``<y, x> - value(x)`` over all x; infinite where there is no largest."""
        raise self._lacks("conjugate")

    def as_cvxpy(self, x: Any) -> Any:
        """The penalty as a CVXPY expression of `x`; None where it is not convex."""
        return None

    def check_shape(self, shape: tuple[int, ...]) -> None:
        """Raise `InvalidInput` when points of this shape have no such penalty; fine by default."""

    def offers(self, operation: Callable[..., Any]) -> bool:
        """Whether it has the operation: ``regularizer.offers(Regularizer.prox)``."""
        mine = getattr(type(self), operation.__name__)
        return mine is not getattr(Regularizer, operation.__name__)

    def _lacks(self, what: str) -> Unsuited:
        return Unsuited(f"{self.name!r} has no {what}")


class Norm(Regularizer):
    """A norm (or seminorm) times the weight: its conjugate is zero in a ball of the dual norm, else infinite.

    A subclass gives `polar` beside `value` and `prox`.
    """

    @abstractmethod
    def polar(self, y: Array) -> float:
        """The dual norm of `y` over the weight: at most 1 in the ball where the conjugate is zero."""

    def conjugate(self, y: Array) -> float:
        return 0.0 if self.polar(y) <= 1 + _ROUNDING else math.inf


def over_weight(size: float, weight: float) -> float:
    """`size / weight`, where 0 / 0 is 0."""
    return size / weight if weight > 0 else math.inf if size > 0 else 0.0


def _terms(value: Any) -> Any:
    """One regularizer or several, each itself, a name or a table."""
    several = [value] if isinstance(value, str | Mapping | Regularizer) else value
    family: type[Any] = Regularizer
    return tuple(part(family, each) for each in several) if isinstance(several, list | tuple) else value


Terms = Annotated[
    tuple[Regularizer, ...],
    BeforeValidator(_terms),
    PlainSerializer(lambda terms: [Part.table(term) for term in terms]),
    Accepts("a regularizer by name, a table with its name and parameters, or a list of them"),
]
