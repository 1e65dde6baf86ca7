"""What decides the outcome of a cell, as hashes: equal content need not be run again.

Beside what the file says this counts what it names: the checksums of files and data sets, the
versions of the distributions that do the work, and the source of whatever has no version that
changes with it (a class registered by code, a package installed for editing).
"""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from optiframe.comparison.cells import Choice, Limits, Measure
from optiframe.comparison.plan.sources import code_of, files_of, package_source
from optiframe.errors import DISTRIBUTION, InvalidInput
from optiframe.problems.datasets import DataSet
from optiframe.records.fingerprint import fingerprint
from optiframe.records.record import Record
from optiframe.registry.contracts import GROUP
from optiframe.registry.plugins import Entry
from optiframe.registry.registry import BY_CODE, registry
from optiframe.registry.versions import version
from optiframe.solving.budget import Budget
from optiframe.tables.excel import workbook

UNREADABLE = "unreadable: "
"""Begins what stands for the checksum of a file that cannot be read; the reason follows."""


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


def named_file(text: str, folder: Path) -> Path | None:
    """The file that a text names, seen from a folder; None where there is none."""
    path = workbook(Path(os.path.join(folder, os.path.expanduser(text))))[0]
    return path if os.path.isfile(path) else None


def checksum(path: Path) -> str:
    """SHA-256 of a file, or why it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        return f"{UNREADABLE}{error.strerror}"


def data_set_checksums(data: DataSet) -> dict[str, str]:
    """The checksums of a data set's files, by name. Downloads the data now, once for all cells.

    Data that is missing or cannot be read still counts as content: an empty name with the reason. The child
    process reports the error.
    """
    try:
        return data.checksums()
    except InvalidInput:  # MissingData among them
        return {"": "missing"}
    except Exception as error:  # someone else's code: the child gives the row and the traceback
        return {"": f"unavailable: {type(error).__name__}"}


def origin(entry: Entry, source: Callable[[str], str] = package_source) -> dict[str, str]:
    """Version of the distribution behind a name, and its `source` where the version does not tell."""
    if entry.distribution == BY_CODE:
        return {f"source of {entry.path}": code_of(registry().get(entry.kind, entry.name))}
    found = {entry.distribution: version(entry.distribution)}
    package = entry.path.partition(":")[0].partition(".")[0]
    if entry.distribution != DISTRIBUTION and package and _edited(entry.distribution):
        found[f"source of {package}"] = source(package)
    return found


def source_of(made_of: tuple[Any, ...], source: Callable[[str], str] = package_source) -> dict[str, str]:
    """The source of classes and functions, where no installed version stands for it."""
    found = {}
    for part in made_of:
        distribution = registry().distribution(part) if isinstance(part, type) else None
        if distribution in (None, BY_CODE):
            if part.__module__.partition(".")[0] != GROUP:
                found[f"source of {part.__module__}:{part.__qualname__}"] = code_of(part)
        else:
            entries = registry().find(part.name)
            found |= origin(next(entry for entry in entries if entry.distribution == distribution), source)
    return found


def code_files(origins: Mapping[str, str]) -> dict[str, str]:
    """Checksums, by path, of the files whose source is among what `origin` or `source_of` gave."""
    return {path: known for said in origins.values() for path, known in files_of(said).items()}


def classes_and_functions(thing: Record) -> tuple[Any, ...]:
    """What an object is made of, at any depth: of this only the names are its content, and not the code."""
    found: dict[int, Any] = {}
    for part in _held(thing):
        if isinstance(part, Record):
            found[id(type(part))] = type(part)
        elif inspect.isroutine(part) and getattr(part, "__module__", None) in sys.modules:
            found[id(part)] = part
    return tuple(found.values())


def _held(value: Any) -> Iterator[Any]:
    """A value and what it holds: fields, entries of mappings and of lists."""
    yield value
    inside: Any = ()
    if isinstance(value, Record):
        inside = (getattr(value, key) for key in type(value).model_fields)
    elif isinstance(value, Mapping):
        inside = value.values()
    elif isinstance(value, list | tuple) and not isinstance(next(iter(value), None), str | int | float):
        inside = value  # of numbers and text there may be millions
    for inner in inside:
        yield from _held(inner)


@cache
def _edited(distribution: str) -> bool:
    """Whether the distribution is installed for editing (PEP 660), so that its version says little."""
    try:
        said = metadata.distribution(distribution).read_text("direct_url.json")
        return bool(said and json.loads(said).get("dir_info", {}).get("editable"))
    except (metadata.PackageNotFoundError, ValueError, AttributeError):
        return False
