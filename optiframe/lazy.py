"""Names of a package imported on use, so that importing the package costs nothing."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

_NAMED = re.compile(r"^    from (\S+) import (\w+) as \2$", re.MULTILINE)


def exports(
    package: str, former: Mapping[str, str] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """``__getattr__``, ``__dir__`` and ``__all__`` of a package whose names live in its modules.

    The names are those that the package imports for type checkers, which follow no ``__getattr__``: lines
    ``from module import name as name`` below ``if TYPE_CHECKING:`` in its own source.

    Parameters
    ----------
    package
        The package's own ``__name__``.
    former
        Names the package no longer has -> what to use instead, in words, for the error.
    """
    here: Any = sys.modules[package]
    source = here.__spec__.loader.get_data(here.__file__).decode()  # from an archive, too
    module_of = {name: module for module, name in _NAMED.findall(source)}
    names = sorted(module_of)

    def get(name: str) -> Any:
        if former is not None and name in former:
            # Not an AttributeError: `from package import name` would lose its text.
            raise ImportError(f"{package} has no {name} any more; instead: {former[name]}", name=package)
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(module_of[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return get, lambda: [*vars(sys.modules[package]), *names], names
