"""Whether the libraries behind registered names work, tried in processes of their own.

Some libraries cannot live in one process, and one that crashes must not take `doctor` with it:
names that need the same modules share a child, which says for each name how its trial ended.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import groupby
from textwrap import shorten
from typing import Any, Literal

from optiframe.errors import MissingPackage, distribution, is_installed, remedy
from optiframe.registry.contracts import import_class
from optiframe.registry.registry import BY_CODE, Entry

SECONDS = 120.0
"""How long one child may take: the slowest import seen, with a cold disk, took some 20 s."""


@dataclass(frozen=True)
class Trial:
    """How it went: `said` is the library's own error, or what to install."""

    needs: tuple[str, ...]
    names: tuple[str, ...]
    state: Literal["not installed", "broken"]
    said: str
    working: int = 0
    """How many other names run with the same library."""


def trials(found: Iterable[tuple[Entry, type[Any]]]) -> Iterator[Trial]:
    """What does not work among the libraries these classes need, names with the same trouble together."""
    wanting = [(cls.needs, entry, cls) for entry, cls in found if getattr(cls, "needs", ())]
    wanting.sort(key=lambda one: (one[0], one[1].name))
    for needs, group in groupby(wanting, key=lambda one: one[0]):
        members = [(entry, cls) for _, entry, cls in group]
        together: dict[tuple[str, str], list[str]] = {}
        working = 0
        for (entry, cls), (state, said) in zip(members, _run(needs, members), strict=True):
            working += state == "works"
            if state != "works":
                text = _install(entry.distribution, cls, said) if state == "not installed" else said
                together.setdefault((state, text), []).append(entry.name)
        for (state, text), names in together.items():
            yield Trial(needs, tuple(names), state, text, working)  # type: ignore[arg-type]  # of the two states left


def _install(of: str, cls: type[Any], module: str) -> str:
    """The command that installs what is missing: the class's own `packages`, else the module's."""
    packages = [name for name in getattr(cls, "packages", ()) if not is_installed(name)]
    return remedy(packages or [distribution(module)], of)


def _run(needs: tuple[str, ...], members: Sequence[tuple[Entry, type[Any]]]) -> list[tuple[str, str]]:
    """State and text of each member; after a death or a hang the rest go on in a new child."""
    # A class registered by code may be of a module that nobody else can import: then only its needs are.
    paths = [None if entry.distribution == BY_CODE else entry.path for entry, _ in members]
    ended: list[tuple[str, str]] = []
    while len(ended) < len(paths):
        task = {"path": sys.path, "needs": needs, "classes": paths[len(ended) :]}
        child = subprocess.Popen(
            [sys.executable, "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        try:
            said, _ = child.communicate(json.dumps(task), timeout=SECONDS)
            why = f"the process died with exit code {child.returncode}"
        except subprocess.TimeoutExpired:
            child.kill()
            said, _ = child.communicate()
            why = f"took more than {SECONDS:g} s"
        ended += [(line["state"], line["said"]) for line in map(json.loads, said.splitlines())]
        if len(ended) < len(paths):
            ended.append(("broken", why))
    return ended


def _trial(needs: Sequence[str], path: str | None) -> tuple[str, str]:
    try:
        if path is None:
            for module in needs:
                import_module(module)
        else:
            import_class(path).try_needs()
    except MissingPackage as error:
        cause = error.__context__
        return "not installed", (getattr(cause, "name", None) or needs[0]).partition(".")[0]
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing in {module.partition(".")[0] for module in needs}:
            return "not installed", missing
        return "broken", _words(error)
    except BaseException as error:  # a library that leaves by SystemExit is broken, too
        return "broken", _words(error)
    return "works", ""


def _words(error: BaseException) -> str:
    # Some libraries explain themselves at length; the beginning says which trouble it is.
    return shorten(f"{type(error).__name__}: {error}", 240, placeholder=" ...")


def main() -> None:
    """The child: reads a task, writes one line for each class as its trial ends."""
    task = json.loads(sys.stdin.read())
    sys.path[:] = task["path"]
    # Libraries print; what they say must not get between the lines.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for path in task["classes"]:
        state, said = _trial(task["needs"], path)
        print(json.dumps({"state": state, "said": said}), file=answers, flush=True)
    answers.flush()
    os._exit(0)  # what libraries do at exit is not asked


if __name__ == "__main__":
    main()
