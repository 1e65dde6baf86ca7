"""A comparison's file, or the same in Python, to a plan of cells.

`compare_file` says what a file holds. Every combination of problem, solver and seed is a cell. All
that can be wrong without loading a problem is found before anything runs; problems are loaded by
the cells' own processes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any, Literal

import numpy as np

from optiframe.comparison.cells import Cell, Choice, Limits, Measure, Plan
from optiframe.comparison.plan.choices import Chooser
from optiframe.comparison.plan.compare_file import SETTINGS, CompareFile, Entry, entries_in_python
from optiframe.comparison.plan.content_key import cell_key
from optiframe.comparison.plan.first_import import import_survivors
from optiframe.comparison.plan.settings import (
    ExecutorTable,
    LimitsTable,
    OutputTable,
    Settings,
    as_table,
)
from optiframe.comparison.plan.sweep import MOST
from optiframe.comparison.plan.table_facts import names_in
from optiframe.comparison.records import Direction
from optiframe.errors import InvalidInput
from optiframe.files.toml_lines import Keys
from optiframe.files.toml_writer import as_toml
from optiframe.registry.user_modules import absolute
from optiframe.solving.budget import Budget


@dataclass(frozen=True)
class Care:
    """How much a plan trusts the code it needs: by default, modules are imported in a child first.

    `import_modules` imports modules and the classes with these names, and gives those that it could import;
    `may_build` is asked before a class runs, see `Contents`.
    """

    import_modules: Callable[[Sequence[str], Iterable[str]], tuple[str, ...]] = import_survivors
    may_build: Callable[[str, Mapping[str, Any]], bool] = lambda kind, table: True


def read_plan(
    path: str | Path, overrides: Iterable[str] = (), modules: Iterable[str] = (), *, care: Care | None = None
) -> Plan:
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
    care
        How modules are imported and classes made.

    Raises
    ------
    InvalidInput
        For all that is wrong, each with file, line and key.
    """
    care = care or Care()
    overrides = list(overrides)
    document = CompareFile.read(path, overrides)
    named = [document.table.get(kind) for kind in ("problem", "solver")]
    modules = care.import_modules(absolute(modules), names_in(named))
    text = as_toml(document.table) if overrides else document.text
    stem = "comparison" if document.path is None else document.path.stem
    return _plan(document, {}, modules, text, Path("results") / stem, care=care)


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
        "gaps": None if gaps is None else list(gaps),
        "better": dict(better or {}),
        "budget": as_table(budget, "budget"),
        "limits": as_table(limits, "limits"),
        "executor": chosen if workers is None else {**chosen, "workers": workers},
    }
    given = {"problem": problems, "solver": solvers}
    entries = {kind: entries_in_python(kind, each) for kind, each in given.items()}
    named = [entry.given for each in entries.values() for entry in each]
    modules = import_survivors(absolute(modules), names_in(named))
    table = {key: value for key, value in table.items() if value is not None and value != {}}
    base = (Path() if folder is None else Path(folder)).absolute()
    document = CompareFile(None, "", table, frozenset(), base)
    written = {kind: [entry.written() for entry in each] for kind, each in entries.items()}
    return _plan(document, entries, modules, as_toml({**table, **written}), None, care=Care())


def renewed(plan: Plan, *, care: Care | None = None) -> Plan:
    """The same comparison with what is installed and on disk now: new contents, versions and keys.

    Its modules are imported; as `read_plan` does it.

    Parameters
    ----------
    plan
        A plan, such as a store keeps; its cells' tables are taken, not its text.
    care
        How modules are imported and classes made.

    Raises
    ------
    InvalidInput
        For an object made in Python that a store does not keep, and for what is no longer known.
    """
    document = CompareFile(None, "", {}, frozenset(), plan.folder)
    tables = [choice.table for cell in plan.cells for choice in (cell.problem, cell.solver)]
    care = care or Care()
    plan = replace(plan, modules=care.import_modules(plan.modules, names_in(tables)))
    chooser = Chooser(document, plan.modules, plan.cells[0].seed if plan.cells else 0, care.may_build)
    fresh: dict[tuple[str, str], Choice] = {}
    for cell in plan.cells:
        for kind, choice in (("problem", cell.problem), ("solver", cell.solver)):
            if (kind, choice.title) not in fresh:
                fresh[kind, choice.title] = chooser.again(kind, choice)
    chooser.raise_found()
    cells = [
        (fresh["problem", cell.problem.title], fresh["solver", cell.solver.title], cell.seed)
        for cell in plan.cells
    ]
    return replace(plan, cells=_keyed(cells, plan.budget, plan.limits, plan.measure))


def _plan(
    document: CompareFile,
    entries: Mapping[str, list[Entry]],
    modules: tuple[str, ...],
    text: str,
    default_output: Path | None,
    *,
    care: Care,
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
            keys = table if section else {key: table[key] for key in SETTINGS if key in table}
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
    chooser = Chooser(document, modules, settings.seeds[0], care.may_build)
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
    cells = _keyed(
        product(chosen["problem"], chosen["solver"], settings.seeds), budget, limits, settings.measure()
    )
    order = [int(place) for place in np.random.default_rng(settings.order_seed).permutation(len(cells))]
    return Plan(
        cells=tuple(cells[place] for place in order),
        budget=budget,
        limits=limits,
        measure=settings.measure(),
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


def _keyed(
    cells: Iterable[tuple[Choice, Choice, int]], budget: Budget, limits: Limits, measure: Measure
) -> tuple[Cell, ...]:
    return tuple(
        Cell(
            cell_key(problem, solver, seed, budget=budget, limits=limits, measure=measure),
            problem,
            solver,
            seed,
        )
        for problem, solver, seed in cells
    )
