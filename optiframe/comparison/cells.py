"""What is asked for: a plan of cells, and the request that a child process gets for one.

A `Plan` is made of cells; a `Cell` is one problem, one solver and one seed. A `Request` is
all that a child process needs to run a cell. It is plain data: JSON values, and for each object made
in Python a block of pickled bytes that goes through a pipe and never through a file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from optiframe.comparison.records import Direction
from optiframe.solving.budget import Budget


@dataclass(frozen=True)
class Limits:
    """What no cell may exceed; a child over a limit is killed with everything it started.

    Parameters
    ----------
    time
        Seconds of wall time from the start of the child process to its end, with imports,
        loading, warm-up and every repeat.
    memory
        Bytes of resident memory of the child and everything it started; None: no limit.
    threads
        Threads of linear algebra and compiled loops.
    """

    time: float = 300.0
    memory: int | None = None
    threads: int = 1


@dataclass(frozen=True)
class Measure:
    """How a cell is measured.

    Parameters
    ----------
    repeat
        How many timed solves, all with the same seed, each on a fresh copy of the problem;
        "auto" repeats until the interval of the median time is narrow enough.
    warmup
        Whether a short solve comes first, timed apart, so that imports and compilation do not count.
    count
        Whether evaluations of an observed objective are counted (in the first solve).
    """

    repeat: int | Literal["auto"] = 1
    warmup: bool = True
    count: bool = True


@dataclass(frozen=True)
class Checksums:
    """Checksums of what a key was made of.

    Parameters
    ----------
    files
        Of the files that a table names, by their text in the table.
    dataset
        Of the files of its data set, by look-up path.
    code
        Of the Python and compiled files behind it that no version stands for, by path.
    """

    files: Mapping[str, str] = field(default_factory=dict)
    dataset: Mapping[str, str] = field(default_factory=dict)
    code: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Choice:
    """One problem or one solver of a plan, after sweeps: by its table, or an object made in Python.

    Parameters
    ----------
    title
        How tables and figures call it; no other problem (or solver) of the plan has it.
    name
        Its registered name.
    table
        What a file says about it, JSON values only; None for an object. In a problem's table
        a value ``{"from": "seed"}`` stands for the seed of the cell.
    content
        Hash of the content: of the table, with the checksums of the data set and of the files
        it names, or of the object.
    versions
        Versions of the core and of the distributions that do the work; empty for problems.
    where
        Its place in the file, for messages: ``run.toml line 4: problem.0``.
    thing
        The object itself, when it was made in Python.
    checksums
        The checksums in `content`, which a cell holds against what it loads; not kept by a store.
    """

    title: str
    name: str
    table: Mapping[str, Any] | None
    content: str
    versions: Mapping[str, str] = field(default_factory=dict)
    where: str = ""
    thing: Any = field(default=None, compare=False, repr=False)
    checksums: Checksums = field(default=Checksums(), compare=False, repr=False)


@dataclass(frozen=True)
class Cell:
    """One problem, one solver, one seed; `key` is the hash of all that decides the outcome."""

    key: str
    problem: Choice
    solver: Choice
    seed: int


@dataclass(frozen=True)
class ExecutorChoice:
    """Where cells run: `name` is "local" or "dask"; `workers` None: as many as the cores have threads for."""

    name: Literal["local", "dask"] = "local"
    workers: int | None = None
    address: str | None = None


@dataclass(frozen=True)
class Plan:
    """A comparison before it runs.

    `cells` are in the order they are run: shuffled by `order_seed`. `positions` gives, for each
    of them, its place in the order of problems, solvers and seeds as written; empty: the order of
    `cells`. `text` is the file as written, `folder` where its relative paths begin, `modules`
    what to import first (the command line's ``--import``). `better` says of metrics which
    direction is better, `gaps` at which relative suboptimality time-to-target is measured.
    """

    cells: tuple[Cell, ...]
    budget: Budget
    limits: Limits
    measure: Measure
    executor: ExecutorChoice
    order_seed: int = 0
    gaps: tuple[float, ...] = (1e-2, 1e-4, 1e-6)
    better: Mapping[str, Direction] = field(default_factory=dict)
    text: str = ""
    folder: Path = Path()
    modules: tuple[str, ...] = ()
    output: Path | None = None
    positions: tuple[int, ...] = ()


@dataclass(frozen=True)
class Pickled:
    """An object made in Python as bytes: a cloudpickle, and beside it its large arrays as in memory."""

    content: bytes = field(repr=False)
    buffers: tuple[Any, ...] = field(default=(), repr=False)


@dataclass(frozen=True)
class Request:
    """All that a child process needs to run one cell.

    `problem` and `solver` are tables (seed filled in), or None where `objects` has the object under that
    name. `path` is the parent's ``sys.path``. `checksums` are those of the files and the data set that the
    tables name, as they are in `key`. `blocked` are modules that must not be imported, with the reasons.
    """

    key: str
    problem: Mapping[str, Any] | None
    solver: Mapping[str, Any] | None
    seed: int
    budget: Mapping[str, Any]
    limits: Limits
    measure: Measure
    objects: Mapping[str, Pickled] = field(default_factory=dict)
    modules: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    folder: str = "."
    where: str = ""
    checksums: Checksums = field(default=Checksums(), repr=False)
    blocked: Mapping[str, str] = field(default_factory=dict, repr=False)
