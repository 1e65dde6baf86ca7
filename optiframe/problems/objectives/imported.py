"""A function of one's own by name, for files: ``function = "mymodule:f"``, with ``--import mymodule.py``."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, NonNegativeInt, model_validator

from optiframe.errors import InvalidInput
from optiframe.problems.objectives.from_function import from_function
from optiframe.problems.objectives.objective import FromFunction, Objective
from optiframe.records.fields import Accepts, Array
from optiframe.registry.user_modules import imported_function


def _as_shape(value: Any) -> Any:
    return (value,) if isinstance(value, int) and not isinstance(value, bool) else value


class ImportedFunction(Objective):
    """A Python function of a module that was named to be imported, as by `from_function`.

    A file cannot make anybody run code: the module must come by ``--import`` on the command line, or by
    ``imports`` of a comparison.

    Raises
    ------
    InvalidInput
        When the module was not imported so, or has no such function.
    """

    name = "function"

    function: str = Field(description="module:name of the function; its module comes by --import")
    point_shape: Annotated[
        tuple[NonNegativeInt, ...], BeforeValidator(_as_shape), Accepts("whole number, or a list of them")
    ] = Field(alias="shape", description="number of entries of a point, or its shape")
    given_gradient: str | None = Field(
        default=None, alias="gradient", description="module:name of its gradient; default: derived"
    )
    derivatives: Literal["autograd", "jax", "torch", "differences"] = Field(
        default="autograd", description="where derivatives come from that are not given"
    )

    @model_validator(mode="after")
    def _is_there(self) -> Self:
        for key, text in (("function", self.function), ("gradient", self.given_gradient)):
            try:
                _ = text is None or imported_function(text)
            except InvalidInput as error:
                raise InvalidInput(f"{key}: {error}", [((key,), str(error))]) from None
        _ = self._inner
        return self

    @cached_property
    def _inner(self) -> FromFunction:
        slope = None if self.given_gradient is None else imported_function(self.given_gradient)
        return from_function(
            imported_function(self.function), self.point_shape, slope, derivatives=self.derivatives
        )

    @property
    def shape(self) -> tuple[int, ...]:
        return self._inner.shape

    def value(self, x: Array) -> float:
        return self._inner.value(x)

    def gradient(self, x: Array) -> Array:
        return self._inner.gradient(x)

    def value_and_gradient(self, x: Array) -> tuple[float, Array]:
        return self._inner.value_and_gradient(x)

    def hessian_product(self, x: Array, v: Array) -> Array:
        return self._inner.hessian_product(x, v)

    def offers(self, operation: Callable[..., Any]) -> bool:
        return super().offers(operation) and self._inner.offers(operation)

    def lacks(self, *operations: Callable[..., Any]) -> str | None:
        return self._inner.lacks(*operations)
