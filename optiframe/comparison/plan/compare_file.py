"""A comparison's file, or what stands for it in Python: its keys, and its problems and solvers as entries.

A file reads::

    seeds = [0, 1, 2]          # or how many: 3 means 0, 1, 2; default 1
    repeat = 3                 # timed solves a cell, or "auto"; default 1
    warmup = true              # a short solve first, timed apart
    count = true               # count evaluations of the objective
    order_seed = 0             # shuffles the order of running
    gaps = [1e-2, 1e-4]        # relative suboptimalities for time to target

    [better]                   # of metrics whose problem does not say
    error = "lower"

    [[problem]]
    title = "bowl"             # optional; else made of the name and the swept values
    name = "minimize"
    [problem.objective]
    name = "least-squares"
    matrix = "A.csv"           # relative to this file

    [[problem]]                # sweeps at any depth; {from = "seed"} draws new data for each seed
    dataset = {name = "synthetic.single-coin", workers = {sweep = [10, 100]}, seed = {from = "seed"}}

    [[solver]]
    name = "rankone.pgd"
    step = {sweep = [0.1, 0.5]}

    [budget]                   # the same for every solver
    iterations = 1000

    [limits]                   # a cell beyond them is killed
    time = 60.0                # seconds
    memory = "2 GB"            # bytes, decimal (kB, MB, GB) or binary (KiB, MiB, GiB) units
    threads = 1

    [executor]
    name = "local"             # or "dask", with address
    workers = 2                # default: as many as the cores have threads for

    [output]
    folder = "results/x"       # from the current folder; default: results/<name of the file>
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from optiframe.comparison.plan.settings import Settings
from optiframe.errors import InvalidInput
from optiframe.files.toml_lines import Keys
from optiframe.files.toml_source import TomlSource
from optiframe.registry import registry

SETTINGS = tuple(Settings.model_fields)
"""The keys at the top level that are no sections."""


@dataclass(frozen=True)
class Entry:
    """One ``[[problem]]`` or ``[[solver]]``, or what stands for it in Python.

    `given` is a table, a name, or an object; `keys` is its place; `title` was given in Python.
    """

    kind: str
    keys: Keys
    given: Any
    title: str | None = None

    @property
    def chosen_title(self) -> Any:
        """The title that somebody chose, as it was given; None without one."""
        return self.title or (self.given.get("title") if isinstance(self.given, Mapping) else None)

    def written(self) -> Any:
        """The entry as a file shows it, with the title it was given."""
        given = by_name(self.kind, self.given) if isinstance(self.given, str) else self.given
        if self.title is None:
            return given
        return {"title": self.title, **(given if isinstance(given, Mapping) else {"object": given})}


@dataclass(frozen=True)
class CompareFile(TomlSource):
    """The file of a comparison, or what stands for it in Python; `base` is where its paths begin then."""

    known = (*SETTINGS, "problem", "solver", "budget", "limits", "executor", "output")

    base: Path = Path()

    def check_keys(self) -> None:
        """Nothing yet: unknown keys are reported together with all other errors."""

    def check_meaning(self) -> None:
        """Raise `InvalidInput` for keys at the top level that mean nothing."""
        super().check_keys()

    @property
    def folder(self) -> Path:
        return self.base if self.path is None else self.path.parent

    def entries(self, kind: str) -> list[Entry]:
        """The entries of ``[[problem]]`` or ``[[solver]]``; a single one may be a table or a name."""
        given = self.table.get(kind)
        if isinstance(given, list) and given:
            return _numbered(kind, given)
        if isinstance(given, Mapping | str):
            return [Entry(kind, (kind,), given)]
        example = "a name or a dataset" if kind == "problem" else "a name"
        raise self.error([((kind,), f"there is none; add [[{kind}]] with {example}")])


def entries_in_python(kind: str, given: Any) -> list[Entry]:
    """The entries of what was given in Python: a list, a mapping of titles, or a single one."""
    if isinstance(given, Mapping) and not {"name", "dataset"} & set(given):
        entries = [Entry(kind, (kind, str(title)), each, str(title)) for title, each in given.items()]
    elif isinstance(given, str | Mapping) or not isinstance(given, Iterable) or hasattr(given, "fingerprint"):
        entries = _numbered(kind, [given])
    else:
        entries = _numbered(kind, given)
    if not entries:
        raise InvalidInput(f"give at least one {kind}")
    return entries


def _numbered(kind: str, given: Iterable[Any]) -> list[Entry]:
    return [Entry(kind, (kind, str(number)), each) for number, each in enumerate(given)]


def by_name(kind: str, name: str) -> dict[str, str]:
    """The table that a name alone stands for: a solver, a data set, or a problem without inputs."""
    return {"dataset" if kind == "problem" and is_known("data set", name) else "name": name}


def is_known(kind: str, name: str) -> bool:
    """Whether something of this kind is registered under the name."""
    return any(entry.kind == kind for entry in registry.registry().find(name))
