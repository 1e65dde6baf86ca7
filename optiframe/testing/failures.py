"""What went wrong inside somebody's code: the error with its file and line, and what is the same again."""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from traceback import extract_tb
from typing import Any

import optiframe
from optiframe.raised import innermost, is_library, words_of

_CORE = (
    "optiframe.solving.solver",
    "optiframe.records.record",
)  # bases of every solver, where nothing of its own is
_FRAME = re.compile(r"^(?P<file>.+) line \d+, (?P<name>.+)$")


def described_error(error: BaseException, solver: Any) -> str:
    """An error as ``KeyError: 'gone' at mine.py:48 (in iterates)``, at the solver's own innermost line.

    Where none of the solver's code was running, at the line that raised; an error that the core
    raises on purpose speaks for itself.
    """
    from optiframe.errors import OptiframeError

    kind = type(error).__name__
    text = f"{kind}: {error}" if str(error) else kind
    where = own_place(error, solver) or ("" if isinstance(error, OptiframeError) else innermost(error))
    return f"{text} at {where}" if where else text


def own_place(error: BaseException, solver: Any) -> str:
    """The innermost line of the solver's own code that was running, ``mine.py:48 (in iterates)``; or none."""
    files, folders = _own(type(solver))
    for frame in reversed(extract_tb(error.__traceback__)):
        path = Path(frame.filename)
        if frame.filename in files or any(folder in path.parents for folder in folders):
            return words_of(frame)
    return ""


def place_beyond(error: BaseException, solver: Any) -> str:
    """The line of somebody else's code that raised and that the solver had called, such as an objective's."""
    theirs = [frame for frame in extract_tb(error.__traceback__) if not is_library(frame.filename)]
    if not theirs:
        return ""
    files, folders = _own(type(solver))
    last, core = theirs[-1], Path(optiframe.__file__).parent
    ours = last.filename in files or any(f in Path(last.filename).parents for f in (*folders, core))
    return "" if ours else words_of(last)


def likeness(failure: str) -> str:
    """What two failures have in common that are the same fault: all but the line a loop was stopped in."""
    head, *rest = failure.splitlines() or [""]
    frames = [found for found in map(_FRAME.match, rest) if found]
    if not frames:
        return failure
    own = [found for found in frames if not is_library(found["file"])] or frames
    return f"{head}\n{own[0]['file']} {own[0]['name']}"


def _own(cls: type[Any]) -> tuple[set[str], set[Path]]:
    """Files of a class and of what it inherits, and the folders of the packages they are in."""
    files: set[str] = set()
    folders: set[Path] = set()
    for kind in cls.__mro__:
        module = kind.__module__
        top = sys.modules.get(module.partition(".")[0])
        if module in _CORE or top is None or not _is_solver(kind):
            continue
        try:
            files.add(inspect.getfile(kind))
        except (TypeError, OSError):  # written in a notebook or a shell
            continue
        if "." in module and module.partition(".")[0] != "optiframe" and top.__file__:
            folders.add(Path(top.__file__).parent)
    return files, folders


def _is_solver(kind: type[Any]) -> bool:
    from optiframe.solving.solver import Solver

    return issubclass(kind, Solver)
