"""What the problems over a space of points share: their parts by name, and the form of a point."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

import numpy as np

from optiframe.errors import InvalidInput


def named(kind: str) -> Callable[[Any], Any]:
    """A validator that builds an objective or set from the table that names it."""

    def built(value: Any) -> Any:
        if kind == "constraint set" and isinstance(value, list | tuple):  # several: their intersection
            value = {"name": "intersection", "sets": value}
        if isinstance(value, str | Mapping):
            from optiframe.registry.registry import build

            return build(kind, value)
        if kind == "objective" and isinstance(value, FunctionType):
            raise InvalidInput("give a function of your own as optiframe.from_function(function, shape)")
        return value

    return built


def table(part: Any) -> dict[str, Any]:
    """What a person writes for an objective or set: its name and its parameters."""
    return {"name": part.name, **part.model_dump(by_alias=True)}


def check_point(point: Any, kind: Any, shape: tuple[int, ...]) -> None:
    """Raise `InvalidInput` unless `point` is one of this type and shape."""
    if not isinstance(point, kind):
        raise InvalidInput(f"a point is of type {kind.__name__}, and this is of type {type(point).__name__}")
    if point.shape != shape:
        raise InvalidInput(f"a point has the shape {shape}, and this has {point.shape}")
    if kind is np.ndarray and point.dtype.kind not in "fiu":
        raise InvalidInput(f"a point holds real numbers, and this holds {point.dtype}")
