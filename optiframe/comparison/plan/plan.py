"""A comparison's file, or the same in Python, to a plan of cells.

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

    [[problem]]                # sweeps at any depth; {from = "seed"} draws anew for each seed
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

Every combination of problem, solver and seed is a cell. All that can be wrong without loading
a problem is found before anything runs; problems are loaded by the cells' own processes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from optiframe.comparison.plan.choices import Chooser, Entry, by_name
from optiframe.comparison.plan.content_key import cell_key
from optiframe.comparison.plan.first_import import bring_survivors
from optiframe.comparison.plan.requests import request_of
from optiframe.comparison.plan.settings import (
    ExecutorTable,
    LimitsTable,
    OutputTable,
    Settings,
    as_list,
    as_table,
)
from optiframe.comparison.plan.sweep import MOST
from optiframe.comparison.plan.table_facts import names_in
from optiframe.comparison.plan.toml_writer import as_toml
from optiframe.comparison.records import Cell, Choice, Direction, Plan
from optiframe.errors import InvalidInput
from optiframe.files.toml_source import Document, Keys
from optiframe.solving.budget import Budget

__all__ = ["make_plan", "read_plan", "renewed", "request_of"]

_SETTINGS = tuple(Settings.model_fields)


@dataclass(frozen=True)
class _Comparison(Document):
    """The file of a comparison, or what stands for it in Python; `base` is where its paths begin then."""

    known = (*_SETTINGS, "problem", "solver", "budget", "limits", "executor", "output")

    base: Path = Path()

    def check_keys(self) -> None:
        """Nothing yet: keys that mean nothing are told with all else that is wrong."""

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
            return [Entry(kind, (kind, str(number)), each) for number, each in enumerate(given)]
        if isinstance(given, Mapping | str):
            return [Entry(kind, (kind,), given)]
        example = "a name or a dataset" if kind == "problem" else "a name"
        raise self.error([((kind,), f"there is none; add [[{kind}]] with {example}")])


def read_plan(path: str | Path, overrides: Iterable[str] = (), modules: Iterable[str] = ()) -> Plan:
    """Read a comparison's file into a plan.

    Parameters
    ----------
    path
        The file.
    overrides
        ``key.path=value``, such as ``budget.time=5`` or ``solver.0.step=0.1``.
    modules
        Python files or modules to import first, for what they register; every cell's process
        imports them too. One that crashes or hangs on import is left out, and so is a plugin's: the
        cells of the solvers that need it say why.

    Raises
    ------
    InvalidInput
        For all that is wrong, each with file, line and key.
    """
    overrides = list(overrides)
    document = _Comparison.read(path, overrides)
    named = [document.table.get(kind) for kind in ("problem", "solver")]
    modules = bring_survivors(_absolute(modules), names_in(named))
    text = as_toml(document.table) if overrides else document.text
    stem = "comparison" if document.path is None else document.path.stem
    return _plan(document, {}, modules, text, Path("results") / stem)


def make_plan(
    problems: Any,
    solvers: Any,
    *,
    seeds: int | Sequence[int] = 1,
    budget: Any = None,
    repeat: int | Literal["auto"] = 1,
    warmup: bool = True,
    count: bool = True,
    limits: Any = None,
    workers: int | None = None,
    executor: Any = "local",
    order_seed: int = 0,
    gaps: Sequence[float] | None = None,
    better: Mapping[str, Direction] | None = None,
    modules: Iterable[str] = (),
    folder: str | Path | None = None,
) -> Plan:
    """Make a plan of Python objects, names and tables.

    Parameters
    ----------
    problems
        A list, or a mapping of title to problem: a problem, a data set, the name of one, or a
        table as in a file.
    solvers
        A list, or a mapping of title to solver: a solver, its name, or a table as in a file.
    seeds, budget, repeat, warmup, count, limits, executor, order_seed, gaps, better
        As in a file; records (`Budget`, `Limits`, ...) are taken too.
    workers
        Cells run at once; wins over `executor`'s.
    modules
        Files or modules that are imported first, here and by every cell's process.
    folder
        Where relative paths begin; default: the current folder.

    Raises
    ------
    InvalidInput
        For all that is wrong, each with its key.
    """
    chosen = {"name": executor} if isinstance(executor, str) else as_table(executor, "executor")
    table = {
        "seeds": seeds,
        "repeat": repeat,
        "warmup": warmup,
        "count": count,
        "order_seed": order_seed,
        "gaps": as_list(gaps),
        "better": dict(better or {}),
        "budget": as_table(budget, "budget"),
        "limits": as_table(limits, "limits"),
        "executor": chosen if workers is None else {**chosen, "workers": workers},
    }
    entries = {"problem": _entries("problem", problems), "solver": _entries("solver", solvers)}
    named = [entry.given for each in entries.values() for entry in each]
    modules = bring_survivors(_absolute(modules), names_in(named))
    table = {key: value for key, value in table.items() if value is not None and value != {}}
    base = (Path() if folder is None else Path(folder)).absolute()
    document = _Comparison(None, "", table, frozenset(), base)
    written = {kind: [_written(entry) for entry in each] for kind, each in entries.items()}
    return _plan(document, entries, modules, as_toml({**table, **written}), None)


def renewed(plan: Plan) -> Plan:
    """The same comparison with what is installed and on disk now: new contents, versions and keys.

    Its modules are imported; as `read_plan` does it.

    Parameters
    ----------
    plan
        A plan, such as a store keeps; its cells' tables are taken, not its text.

    Raises
    ------
    InvalidInput
        For an object made in Python that a store does not keep, and for what is no longer known.
    """
    document = _Comparison(None, "", {}, frozenset(), plan.folder)
    tables = [choice.table for cell in plan.cells for choice in (cell.problem, cell.solver)]
    plan = replace(plan, modules=bring_survivors(plan.modules, names_in(tables)))
    chooser = Chooser(document, plan.modules, plan.cells[0].seed if plan.cells else 0)
    fresh: dict[tuple[str, str], Choice] = {}
    for cell in plan.cells:
        for kind, choice in (("problem", cell.problem), ("solver", cell.solver)):
            if (kind, choice.title) not in fresh:
                fresh[kind, choice.title] = chooser.again(kind, choice)
    chooser.raise_found()
    cells = []
    for cell in plan.cells:
        problem, solver = fresh["problem", cell.problem.title], fresh["solver", cell.solver.title]
        key = cell_key(
            problem, solver, cell.seed, budget=plan.budget, limits=plan.limits, measure=plan.measure
        )
        cells.append(Cell(key, problem, solver, cell.seed))
    return replace(plan, cells=tuple(cells))


def _entries(kind: str, given: Any) -> list[Entry]:
    """What was given in Python: a list, a mapping of titles, or a single one."""
    is_titles = isinstance(given, Mapping) and not {"name", "dataset"} & set(given)
    if is_titles:
        entries = [Entry(kind, (kind, str(title)), each, str(title)) for title, each in given.items()]
    else:
        single = (
            isinstance(given, str | Mapping)
            or not isinstance(given, Iterable)
            or hasattr(given, "fingerprint")
        )
        values = [given] if single else list(given)
        entries = [Entry(kind, (kind, str(number)), each) for number, each in enumerate(values)]
    if not entries:
        raise InvalidInput(f"give at least one {kind}")
    return entries


def _written(entry: Entry) -> Any:
    """An entry as its text shows it, with the title it was given."""
    if entry.title is None:
        return by_name(entry.kind, entry.given) if isinstance(entry.given, str) else entry.given
    if isinstance(entry.given, Mapping):
        return {"title": entry.title, **entry.given}
    if isinstance(entry.given, str):
        return {"title": entry.title, **by_name(entry.kind, entry.given)}
    return {"title": entry.title, "object": entry.given}


def _plan(
    document: _Comparison,
    entries: Mapping[str, list[Entry]],
    modules: tuple[str, ...],
    text: str,
    default_output: Path | None,
) -> Plan:
    """Check everything, and put the cells in the order of running."""
    problems: list[tuple[Keys, str]] = []
    try:
        document.check_meaning()
    except InvalidInput as error:
        problems.append(((), str(error)))

    def checked(make: Any, *section: str) -> Any:
        try:
            table = document.section(section[0], needed=False) if section else document.table
            keys = table if section else {key: table[key] for key in _SETTINGS if key in table}
            with document.located(*section):
                return make(**keys)
        except InvalidInput as error:
            problems.append(((), str(error)))
            return make()

    settings: Settings = checked(Settings)
    budget: Budget = checked(Budget, "budget")
    limits = checked(LimitsTable, "limits").limits()
    executor = checked(ExecutorTable, "executor").executor()
    output = checked(OutputTable, "output").path(default_output)
    chooser = Chooser(document, modules, settings.seeds[0])
    chosen: dict[str, list[Choice]] = {}
    for kind in ("problem", "solver"):
        try:
            chosen[kind] = chooser.choices(entries.get(kind) or document.entries(kind))
            chooser.raise_found()
        except InvalidInput as error:
            problems.append(((), str(error)))
            chooser.problems.clear()
    if problems:
        raise InvalidInput("\n".join(line for _, line in problems), problems)
    count = len(chosen["problem"]) * len(chosen["solver"]) * len(settings.seeds)
    if count > MOST:
        raise InvalidInput(f"this makes {count:,} cells; at most {MOST:,} are run together")
    measure = settings.measure()
    cells = [
        Cell(
            cell_key(problem, solver, seed, budget=budget, limits=limits, measure=measure),
            problem,
            solver,
            seed,
        )
        for problem in chosen["problem"]
        for solver in chosen["solver"]
        for seed in settings.seeds
    ]
    order = [int(place) for place in np.random.default_rng(settings.order_seed).permutation(len(cells))]
    return Plan(
        cells=tuple(cells[place] for place in order),
        budget=budget,
        limits=limits,
        measure=measure,
        executor=executor,
        order_seed=settings.order_seed,
        gaps=settings.gaps,
        better=settings.better,
        text=text,
        folder=document.folder.absolute(),
        modules=modules,
        output=output,
        positions=tuple(order),
    )


def _absolute(modules: Iterable[str]) -> list[str]:
    """Files to import by their whole paths: a cell's process may be started elsewhere."""
    return [str(Path(module).absolute()) if module.endswith(".py") else module for module in modules]
