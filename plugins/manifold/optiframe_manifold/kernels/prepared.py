"""Whether the passes over comparisons run compiled."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from types import ModuleType

_WORTH_COMPILING = 200_000
"""Comparisons from which the compiled passes are used without being asked. Importing the compiler takes
about a second, compiling once on a machine some more; two hundred Hessian products of so many save
one."""

_here: list[bool] = []  # not empty once this process prefers compiled passes


def passes_for(comparisons: int) -> ModuleType:
    """The module `compiled` of this room where it pays and numba is installed, else `plain`."""
    compiled = _compiled() if _here or comparisons >= _WORTH_COMPILING else None
    return import_module("optiframe_manifold.kernels.plain") if compiled is None else compiled


def prefer_compiled() -> bool:
    """Take the compiled passes for any number of comparisons from now on; False without numba."""
    if _compiled() is None:
        return False
    _here.append(True)
    return True


@cache
def _compiled() -> ModuleType | None:
    try:
        return import_module("optiframe_manifold.kernels.compiled")
    except ImportError:  # not installed, or not for this version of NumPy
        return None
