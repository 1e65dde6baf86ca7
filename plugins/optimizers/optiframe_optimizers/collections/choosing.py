"""What the fields of collections share: ranges of sizes, and some of many names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from pydantic import AfterValidator, BeforeValidator, PositiveInt

from optiframe.errors import InvalidInput


def _ordered(given: tuple[int, int]) -> tuple[int, int]:
    if given[0] > given[1]:
        raise InvalidInput(f"write the smaller number first, got {list(given)}")
    return given


def _several(given: Any) -> Any:
    return given if isinstance(given, list | tuple) else (given,)


Several = BeforeValidator(_several)
"""For a field that takes one value or a list of them."""

Sizes = Annotated[tuple[PositiveInt, PositiveInt], AfterValidator(_ordered)]
"""The least and the greatest number of variables."""


def evenly(names: Sequence[str], count: int | None) -> list[str]:
    """So many of the names, evenly along the list; all without a count or with fewer than that."""
    if count is None or count >= len(names):
        return list(names)
    return [names[place] for place in np.linspace(0, len(names) - 1, count).round().astype(int)]
