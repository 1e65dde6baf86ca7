"""A finite sum from a user's own loss of a row, differentiated by autograd."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, Self

import numpy as np
from pydantic import Field, NonNegativeFloat, PositiveInt, model_validator

from optiframe.errors import InvalidInput
from optiframe.problems.objectives.from_function import from_function
from optiframe.problems.objectives.objective import FiniteSum, FromFunction
from optiframe.records.fields import AnyArray, Array


class PerSample(FiniteSum):
    """Mean of a user's loss over rows, plus l2/2 |w|^2. Build it with `mean_of`.

    It has no name to be chosen by, since a configuration file never runs code. Gradient and
    Hessian products cost a few evaluations of the loss, and its temporary arrays.
    """

    loss: Callable[..., Any] = Field(description="losses of the rows at w: loss(w, features, target)")
    features: AnyArray = Field(description="one row for each term")
    target: AnyArray = Field(description="one value or row for each term")
    parameters: PositiveInt = Field(description="number of parameters, the length of w")
    l2: NonNegativeFloat = Field(default=0.0, description="weight of half the squared norm of w")

    @model_validator(mode="after")
    def _lengths_agree(self) -> Self:
        if self.features.ndim == 0 or self.target.ndim == 0 or not len(self.features):
            raise InvalidInput("features and target must each hold a row for every term, at least one")
        if len(self.features) != len(self.target):
            raise InvalidInput(
                f"features has {len(self.features)} rows and target has {len(self.target)}; they must "
                "have the same number"
            )
        return self

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.parameters,)

    def __len__(self) -> int:
        return len(self.target)

    def value(self, x: Array) -> float:
        return self._function.value(x)

    def gradient(self, x: Array) -> Array:
        return self._function.gradient(x)

    def hessian_product(self, x: Array, v: Array) -> Array:
        return self._function.hessian_product(x, v)

    def take(self, indices: Any) -> Self:
        features, target = self.features[indices], self.target[indices]
        if not len(target):
            raise InvalidInput("take at least one row")
        return self.model_copy(update={"features": features, "target": target})

    @cached_property
    def _function(self) -> FromFunction:
        def total(w: Any) -> Any:
            losses = self.loss(w, self.features, self.target)
            if np.shape(losses) != (len(self),):
                raise InvalidInput(
                    f"the loss must give one number a row, an array of shape ({len(self)},), "
                    f"and gave shape {np.shape(losses)}"
                )
            # `w @ w` and `sum` are methods autograd follows on its own arrays.
            return losses.sum() / len(self) + self.l2 / 2 * (w * w).sum()

        return from_function(total, self.parameters)


def mean_of(
    loss: Callable[..., Any], features: Any, target: Any, *, parameters: int | None = None, l2: float = 0.0
) -> PerSample:
    """A finite sum from a loss of rows, for every solver of this plugin.

    Parameters
    ----------
    loss
        ``loss(w, features, target)`` gives the losses of all the rows it is handed, of shape
        (rows,); written with ``autograd.numpy`` in place of ``numpy`` (extra "autodiff").
    features, target
        Arrays with one row a term.
    parameters
        Length of w; by default the number of columns of features.
    l2
        Weight of half the squared norm of w.

    Raises
    ------
    InvalidInput
        When the shapes do not go together; on use when autograd cannot follow the loss.
    """
    shape = np.shape(features)
    if parameters is None:
        if len(shape) != 2:
            raise InvalidInput(
                "give parameters=..., the number of entries of w: it follows from the features only if they "
                "are a matrix"
            )
        parameters = shape[1]
    return PerSample(loss=loss, features=features, target=target, parameters=parameters, l2=l2)
