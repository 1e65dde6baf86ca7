"""Names of a package imported on use, so that importing the package costs nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def exports(
    package: str, homes: Mapping[str, Sequence[str]], former: Mapping[str, str] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """``__getattr__``, ``__dir__`` and ``__all__`` of a package whose names live in its modules.

    Parameters
    ----------
    package
        The package's own ``__name__``.
    homes
        Module of the package -> the names that are imported from there.
    former
        Names the package no longer has -> what to use instead, in words, for the error.
    """
    module_of = {name: module for module, names in homes.items() for name in names}
    names = sorted(module_of)

    def get(name: str) -> Any:
        if former is not None and name in former:
            # Not an AttributeError: `from package import name` would lose its text.
            raise ImportError(f"{package} has no {name} any more; instead: {former[name]}", name=package)
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{module_of[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return get, lambda: [*vars(sys.modules[package]), *names], names
