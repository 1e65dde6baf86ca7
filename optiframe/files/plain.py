"""Values as JSON has them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

import numpy as np


def plain(value: Any, not_finite: Callable[[float], Any] = float) -> Any:
    """Text and numbers as they are, NumPy's as Python's, containers of them, and the rest as text.

    JSON has no word for nan and infinities: `not_finite` gives what stands for one, itself by default.
    """
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, set | frozenset):
        value = sorted(value, key=repr)  # the same order in every process
    if isinstance(value, Mapping):
        return {str(key): plain(item, not_finite) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item, not_finite) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else not_finite(value)
    return value if value is None or isinstance(value, bool | int | str) else str(value)
