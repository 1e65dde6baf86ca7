"""Whether projections run compiled: by their size, or because somebody asked.

Never by what a process happened to have loaded: among supports that tie, the two paths may choose
different ones, and the same call has the same answer.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec

_PLAIN = 2000
"""Elements up to which plain NumPy answers unless asked otherwise: some five milliseconds there, where
loading the compiled code takes half a second and compiling it most of a minute."""

_asked: list[bool] = []  # not empty once this process prefers compiled projections


def uses_compiled(elements: int) -> bool:
    """Whether a projection of so many elements runs compiled."""
    return (elements > _PLAIN or bool(_asked)) and has_numba()


@cache
def has_numba() -> bool:
    """Whether the compiler is installed; it is not loaded."""
    return find_spec("numba") is not None


def prefer_compiled() -> None:
    """Run every projection compiled from now on, whatever its size, where numba is installed."""
    _asked.append(True)
