"""The one way kernels are compiled here; imported only where numba is wanted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])
# Errors of arithmetic as in NumPy: a division by zero is inf, and no branch is spent on it.
compiled = cast("Callable[[F], F]", numba.njit(cache=True, nogil=True, error_model="numpy"))
# For small functions with many arrays as arguments, which cost more to pass than the function does.
inlined = cast("Callable[[F], F]", numba.njit(inline="always", error_model="numpy"))
