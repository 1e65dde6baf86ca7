"""What decides the outcome of a cell, as hashes: equal content need not be run again.

Beside what the file says this counts what it names: the checksums of files and data sets, the
versions of the distributions that do the work, and the source of whatever has no version that
changes with it (a class registered by code, a package installed for editing).
"""

from __future__ import annotations

import hashlib
import inspect
import json
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from optiframe.comparison.plan.sources import code_of, package_source
from optiframe.comparison.records import Choice, Limits, Measure
from optiframe.errors import DISTRIBUTION, InvalidInput
from optiframe.problems.datasets import DataSet
from optiframe.records.fingerprint import fingerprint
from optiframe.records.record import Record
from optiframe.registry.contracts import GROUP
from optiframe.registry.registry import BY_CODE, Entry, registry
from optiframe.registry.versions import version, versions_of
from optiframe.solving.budget import Budget

UNREADABLE = "unreadable: "
"""What stands before the reason where a file has no checksum."""
_LONGEST_PATH = 4096  # Linux opens no longer one, and text that long is no file name


def cell_key(
    problem: Choice, solver: Choice, seed: int, *, budget: Budget, limits: Limits, measure: Measure
) -> str:
    """The key of a cell.

    The limits count, time and memory too: a cell that was killed at a limit must run again
    when the limit is raised, and rows of one table must have had the same chances. How many
    cells run at once does not count.
    """
    return fingerprint(
        {
            "problem": problem.content,
            "solver": solver.content,
            "versions": dict(solver.versions),
            "seed": seed,
            "budget": budget.model_dump(),
            "limits": limits,
            "measure": measure,
        }
    )


class Checksums:
    """Checksums of files and data sets; each file is read once for a plan."""

    def __init__(self) -> None:
        self._files: dict[Path, str] = {}
        self._datasets: dict[str, dict[str, str]] = {}

    def files(self, value: Any, folder: Path) -> dict[str, str]:
        """Checksum by text, for every text inside `value` that names a file seen from `folder`."""
        found = {}
        for text in _texts(value):
            path = _file(text, folder)
            if path is not None:
                if path not in self._files:
                    self._files[path] = checksum(path)
                found[text] = self._files[path]
        return found

    def dataset(self, data: DataSet) -> dict[str, str]:
        """What `data_set_sums` says; asked once for a plan."""
        try:
            known = data.fingerprint()
        except InvalidInput:
            known = ""
        if known and known in self._datasets:
            return self._datasets[known]
        sums = data_set_sums(data)
        if known:
            self._datasets[known] = sums
        return sums


def data_set_sums(data: DataSet) -> dict[str, str]:
    """A data set's own checksums; what cannot be had is content as well, and the child reports it.

    What can be downloaded is downloaded now: once, and not by several cells together. Where the data
    cannot be had, the only name is empty.
    """
    try:
        return data.checksums()
    except InvalidInput:  # MissingData among them
        return {"": "missing"}
    except Exception as error:  # someone else's code: the child gives the row and the traceback
        return {"": f"unavailable: {type(error).__name__}"}


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)


def _file(text: str, folder: Path) -> Path | None:
    if not text or len(text) > _LONGEST_PATH or "\0" in text:
        return None
    try:
        path = folder / Path(text).expanduser()
        return path if path.is_file() else None
    except (OSError, RuntimeError):  # a name too long for the file system; "~nobody"
        return None


def checksum(path: Path) -> str:
    """SHA-256 of a file, or why it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        return f"{UNREADABLE}{error.strerror}"


def origin(entry: Entry) -> dict[str, str]:
    """Version of the distribution behind a name, and its source where the version does not tell."""
    if entry.distribution == BY_CODE:
        return {f"source of {entry.path}": code_of(registry().get(entry.kind, entry.name))}
    found = {entry.distribution: version(entry.distribution)}
    package = entry.path.partition(":")[0].partition(".")[0]
    if entry.distribution != DISTRIBUTION and package and _edited(entry.distribution):
        found[f"source of {package}"] = package_source(package)
    return found


def solver_versions(entry: Entry | None, solver: Record | None) -> dict[str, str]:
    """Versions of the core and of what does the work; of the distribution alone when it does not load."""
    if solver is not None:
        return versions_of(solver)
    found = {DISTRIBUTION: version(DISTRIBUTION)}
    if entry is not None and entry.distribution != BY_CODE:
        found[entry.distribution] = version(entry.distribution)
    return found


def object_source(thing: Record) -> dict[str, str]:
    """The source of all that an object is made of, where no installed version stands for it."""
    found = {}
    for part in parts_of(thing):
        distribution = registry().distribution(part) if isinstance(part, type) else None
        if distribution in (None, BY_CODE):
            if part.__module__.partition(".")[0] != GROUP:
                found[f"source of {part.__module__}:{part.__qualname__}"] = code_of(part)
        else:
            entries = registry().find(part.name)
            found |= origin(next(entry for entry in entries if entry.distribution == distribution))
    return found


def classes_of(thing: Record) -> list[type[Record]]:
    """The class of an object and those of the objects in it, at any depth."""
    return list(dict.fromkeys(type(part) for part in _parts(thing) if isinstance(part, Record)))


def parts_of(thing: Record) -> tuple[Any, ...]:
    """The classes and functions an object is made of."""
    return (*classes_of(thing), *_functions_of(thing))


def _functions_of(thing: Record) -> list[Any]:
    """The functions in an object: their names are its content, their code is not."""
    found = {id(part): part for part in _parts(thing) if inspect.isroutine(part)}
    return [part for part in found.values() if getattr(part, "__module__", None) in sys.modules]


def _parts(value: Any) -> Iterator[Any]:
    """A value and what it holds: fields, entries of mappings and of lists."""
    yield value
    if isinstance(value, Record):
        for key in type(value).model_fields:
            yield from _parts(getattr(value, key))
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _parts(inner)
    elif isinstance(value, list | tuple) and not isinstance(next(iter(value), None), str | int | float):
        for inner in value:  # of numbers and text there may be millions
            yield from _parts(inner)


@cache
def _edited(distribution: str) -> bool:
    """Whether the distribution is installed for editing (PEP 660), so that its version says little."""
    try:
        said = metadata.distribution(distribution).read_text("direct_url.json")
        return bool(said and json.loads(said).get("dir_info", {}).get("editable"))
    except (metadata.PackageNotFoundError, ValueError, AttributeError):
        return False
