"""Whether the libraries behind registered names work, tried in processes of their own.

Some libraries cannot live in one process, and one that crashes must not take `doctor` with it:
names that need the same modules share a child, which says for each name how its trial ended.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import groupby
from textwrap import shorten
from typing import Any, Literal

from optiframe.comparison.processes.watched import WatchedChild, private_channel
from optiframe.errors import MissingPackage, distribution, distribution_of, is_installed, module_of, remedy
from optiframe.registry.contracts import import_class
from optiframe.registry.plugins import Entry
from optiframe.registry.registry import BY_CODE

SECONDS = 120.0
"""How long one name may take: the slowest import seen, with a cold disk, took some 20 s."""


@dataclass(frozen=True)
class Trial:
    """How it went: `said` is the library's own error, or the command that installs what is missing."""

    libraries: tuple[str, ...]
    names: tuple[str, ...]
    state: Literal["not installed", "broken"]
    said: str
    working: int = 0
    """How many other names run with the same library."""


def trials(found: Iterable[tuple[Entry, type[Any]]]) -> Iterator[Trial]:
    """What does not work among the libraries these classes need, names with the same trouble together."""
    wanting = [(cls.requires, entry) for entry, cls in found if cls.requires]
    wanting.sort(key=lambda one: (one[0], one[1].name))
    for requires, group in groupby(wanting, key=lambda one: one[0]):
        members = [entry for _, entry in group]
        together: dict[tuple[tuple[str, ...], str, str], list[str]] = {}
        working = 0
        for entry, (state, said) in zip(members, _run(requires, members), strict=True):
            working += state == "works"
            if state == "not installed":
                missing = _missing(requires, said)
                together.setdefault((missing, state, remedy(missing, entry.distribution)), []).append(
                    entry.name
                )
            elif state == "broken":
                tried = tuple(map(distribution_of, requires))
                together.setdefault((tried, state, said), []).append(entry.name)
        for (tried, state, said), names in together.items():
            yield Trial(tried, tuple(names), state, said, working)  # type: ignore[arg-type]  # of these two states


def _missing(requires: Sequence[str], module: str) -> tuple[str, ...]:
    """The distributions that are not installed, or else the one that should have had the module."""
    names = tuple(name for name in map(distribution_of, requires) if not is_installed(name))
    return names or (distribution(module),)


def _run(requires: tuple[str, ...], members: Sequence[Entry]) -> list[tuple[str, str]]:
    """State and text of each member; after a death or a hang the rest go on in a new child."""
    # A class registered by code may be of a module that nobody else can import: then only its libraries are.
    paths = [None if entry.distribution == BY_CODE else entry.path for entry in members]
    ended: list[tuple[str, str]] = []
    while len(ended) < len(paths):
        child = WatchedChild(__name__, {"requires": requires, "classes": paths[len(ended) :]})
        try:
            while len(ended) < len(paths) and (said := child.next(SECONDS)) is not None:
                ended.append((said["state"], said["said"]))
            if len(ended) < len(paths):
                ended.append(("broken", child.why_gone(SECONDS).partition("; it ")[0]))
        finally:
            child.kill()
    return ended


def _trial(requires: Sequence[str], path: str | None) -> tuple[str, str]:
    try:
        if path is None:
            for requirement in requires:
                import_module(module_of(requirement))
        else:
            import_class(path).try_requires()
    except MissingPackage as error:
        cause = error.__context__
        return "not installed", (getattr(cause, "name", None) or module_of(requires[0])).partition(".")[0]
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing in {module_of(each).partition(".")[0] for each in requires}:
            return "not installed", missing
        return "broken", _words(error)
    except BaseException as error:  # a library that leaves by SystemExit is broken, too
        return "broken", _words(error)
    return "works", ""


def _words(error: BaseException) -> str:
    # Some libraries explain themselves at length; the beginning says which trouble it is.
    return shorten(f"{type(error).__name__}: {error}", 240, placeholder=" ...")


def main() -> None:
    """The child: reads a task, says for each class how its trial ended."""
    say = private_channel()  # libraries print
    task = json.load(sys.stdin)
    for path in task["classes"]:
        state, said = _trial(task["requires"], path)
        say(state=state, said=said)
    os._exit(0)  # what libraries do at exit is not asked
