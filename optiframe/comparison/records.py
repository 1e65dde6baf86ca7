"""What travels between the plan, the child processes, the store and the statistics.

A `Plan` is made of cells; a `Cell` is one problem, one solver and one seed. A `Request` is
all that a child process needs to run a cell, an `Outcome` all that comes back. Both are plain
data: JSON values, and for objects made in Python one block of pickled bytes that goes
through a pipe and never through a file.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from optiframe.solving.budget import Budget
from optiframe.solving.result import Status

Direction = Literal["lower", "higher"]


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
    """Checksums of what a table names: of files by their text in the table, of a data set by look-up path."""

    files: Mapping[str, str] = field(default_factory=dict)
    dataset: Mapping[str, str] = field(default_factory=dict)


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
class Request:
    """All that a child process needs to run one cell.

    `problem` and `solver` are tables (seed filled in), or None where `objects`, a cloudpickle of
    ``{"problem": ..., "solver": ...}``, holds the object; its large arrays are not in it but beside
    it, in `buffers`, as they lie in memory. `path` is the parent's ``sys.path``. `checksums` are those
    of the files and the data set that the tables name, as they are in `key`. `blocked` are modules that
    must not be imported, with the reasons.
    """

    key: str
    problem: Mapping[str, Any] | None
    solver: Mapping[str, Any] | None
    seed: int
    budget: Mapping[str, Any]
    limits: Limits
    measure: Measure
    objects: bytes | None = field(default=None, repr=False)
    modules: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    folder: str = "."
    where: str = ""
    buffers: tuple[Any, ...] = field(default=(), repr=False)
    checksums: Checksums = field(default=Checksums(), repr=False)
    blocked: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Outcome:
    """All that is known about a cell that ended, however it ended.

    Parameters
    ----------
    status, message
        How it ended, in a word and in a sentence.
    objective, violation, metrics, findings, solved, iterations
        As in `Result`, of the first solve; nan, empty or 0 without an answer. A finding is a
        mapping with `level`, `text`, `about`.
    time, times
        Seconds inside the solver: the median over repeats, and each.
    setup, judging
        Seconds of formulating, and of evaluating recorded iterates, of the first solve.
    loading, warmup
        Seconds of imports and building the problem, and of the warm-up solve.
    cpu
        CPU seconds of a solve, judging included, the median over repeats.
    wall
        Seconds from the start of the child process to its end, as the parent saw it.
    memory
        Peak resident bytes of the child together with everything it started.
    evaluations
        Calls of the objective by kind ("value", "gradient", ...), in full passes over its terms;
        empty where the objective is not observed.
    trace
        The first solve's trace by column: iteration, time (stretched to end at the median time),
        objective, violation, residual, info.
    better
        The problem's metrics with the direction that is better, where it says so.
    stderr, traceback
        The end of what the child wrote to standard error (and output); the whole traceback.
    versions, environment
        Versions of what did the work; interpreter, linear algebra, threads, as the child saw them.
    provisional
        Whether this is not the cell's result, since a file changed under it: it is shown, and the
        cell runs again.
    """

    status: Status
    message: str
    objective: float = math.nan
    violation: float = math.nan
    metrics: Mapping[str, float] = field(default_factory=dict)
    findings: tuple[Mapping[str, Any], ...] = ()
    solved: str = ""
    iterations: int = 0
    time: float = math.nan
    times: tuple[float, ...] = ()
    setup: float = math.nan
    judging: float = math.nan
    loading: float = math.nan
    warmup: float = math.nan
    cpu: float = math.nan
    wall: float = math.nan
    memory: float = math.nan
    evaluations: Mapping[str, float] = field(default_factory=dict)
    trace: Mapping[str, list[float]] = field(default_factory=dict, repr=False)
    better: Mapping[str, Direction] = field(default_factory=dict)
    stderr: str = field(default="", repr=False)
    traceback: str = field(default="", repr=False)
    versions: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, Any] = field(default_factory=dict, repr=False)
    provisional: bool = False

    @property
    def answered(self) -> bool:
        """Whether there is an answer that counts: not a failure, not unsuited, not infeasible."""
        return not self.status.of_comparison and self.status not in (
            Status.DIVERGED,
            Status.INFEASIBLE,
            Status.CANCELLED,
        )


@dataclass(frozen=True)
class Row:
    """One cell of a stored comparison, with its outcome; None while it has not ended.

    `parameters` is what the tables of its problem and solver set, by names such as ``solver.step``.
    """

    key: str
    problem: str
    solver: str
    problem_name: str
    solver_name: str
    seed: int
    outcome: Outcome | None
    parameters: Mapping[str, bool | int | float | str] = field(default_factory=dict)


@dataclass(frozen=True)
class Records:
    """A stored comparison as statistics and reports see it.

    `rows` are in the plan's order of problems, solvers and seeds (not the shuffled order of
    running). `best` gives, by the fingerprint of the problem actually solved, the lowest
    objective ever stored for it by a feasible answer. `config` is the text of the file,
    `environment` that of the main process, `started` and `ended` are ISO times in UTC. `fixed` are
    the titles of problems with the same data for every seed, as far as that is known.
    """

    rows: tuple[Row, ...]
    best: Mapping[str, float]
    gaps: tuple[float, ...]
    better: Mapping[str, Direction]
    config: str = ""
    environment: Mapping[str, Any] = field(default_factory=dict)
    title: str = ""
    started: str = ""
    ended: str = ""
    fixed: frozenset[str] = frozenset()

    @property
    def problems(self) -> list[str]:
        """Titles of the problems, in the plan's order."""
        return list(dict.fromkeys(row.problem for row in self.rows))

    @property
    def solvers(self) -> list[str]:
        """Titles of the solvers, in the plan's order."""
        return list(dict.fromkeys(row.solver for row in self.rows))
