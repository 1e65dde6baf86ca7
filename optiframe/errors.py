"""What can go wrong, said for the person at the keyboard.

A message says what was wrong, where (file, row, key) and what to do about it.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from importlib import import_module
from types import ModuleType


class OptiframeError(Exception):
    """Base of every error this package raises on purpose."""


class InvalidInput(OptiframeError, ValueError):
    """An input is wrong.

    ``problems`` holds one ``(path, message)`` pair for each thing found, the path being
    the keys that lead to it, so that a caller who knows the file can add the line.
    """

    def __init__(self, message: str, problems: Iterable[tuple[tuple[str, ...], str]] = ()) -> None:
        super().__init__(message)
        self.problems = tuple(problems) or (((), message),)


class UnknownName(OptiframeError, LookupError):
    """No such solver, problem, data set, objective, constraint set or part."""


class Unsuited(OptiframeError):
    """The solver cannot take this problem; the message says why."""


class BrokenPlugin(OptiframeError):
    """A plugin, or something it registered, does not keep the contract."""


class MissingPackage(OptiframeError, ImportError):
    """An optional package is needed and not installed."""


def nearest(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'x' or 'y'?`, or an empty string when nothing is near.

    Names whose part after a dot is the word (``filter.norm`` for ``norm``) go before all others.
    """
    names = list(dict.fromkeys(known))
    ends = [name for name in names if word and name.endswith(f".{word}")]
    close = ends[:3] or difflib.get_close_matches(word, names, n=3, cutoff=0.6)
    return f"; did you mean {' or '.join(repr(name) for name in close)}?" if close else ""


# Where the name to install is not the name to import.
_DISTRIBUTION = {"sklearn": "scikit-learn", "crowdkit": "crowd-kit"}


def require(package: str, extra: str, of: str = "optiframe") -> ModuleType:
    """Import an optional package on use: one that the `extra` of the distribution `of` brings.

    Raises
    ------
    MissingPackage
        With the command that installs it.
    """
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        if error.name is not None and package.split(".", maxsplit=1)[0] != error.name.split(".")[0]:
            raise  # the package is there; something inside it is not
        top = package.split(".", maxsplit=1)[0]
        raise MissingPackage(
            f"this needs the package {_DISTRIBUTION.get(top, top)!r}, which is not installed; "
            f"run: pip install '{of}[{extra}]'"
        ) from None
