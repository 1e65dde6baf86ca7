"""How loops are compiled here; imported by compiled modules only. Needs numba."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])

compiled = cast("Callable[[F], F]", numba.njit(cache=True, nogil=True))
# Sums may be taken in another order, as many terms at a time as the processor can.
compiled_sums = cast(
    "Callable[[F], F]", numba.njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
)
# Written out where it is called: a call that hands on an array costs as much as a few letters.
inlined = cast("Callable[[F], F]", numba.njit(inline="always"))
