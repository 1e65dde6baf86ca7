"""The finished cells of an item's comparison, chosen by what their tables say."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optiframe.comparison.cells import Plan
from optiframe.comparison.records import Outcome, Records


@dataclass(frozen=True)
class Run:
    """One cell: the tables of its problem and solver, sweeps resolved, its seed and its outcome."""

    problem_title: str
    solver_title: str
    problem: Mapping[str, Any]
    solver: Mapping[str, Any]
    seed: int
    outcome: Outcome

    def value(self, name: str) -> float:
        """A metric, or a number of the outcome (`objective`, `time`, `cpu`, `iterations`)."""
        if name in self.outcome.metrics:
            return float(self.outcome.metrics[name])
        return float(getattr(self.outcome, name, np.nan)) if self.outcome.answered else np.nan

    def has(self, key: str, value: Any) -> bool:
        """Whether the tables say so; keys read `solver`, `problem`, `title` or `dataset.tasks`."""
        if key == "solver":
            return value in (self.solver_title, self.solver["name"])
        if key in ("problem", "title"):
            return value in (self.problem_title, self.problem.get("title"))
        return value in (_at(self.problem, key), _at(self.solver, key))


class Runs(Sequence[Run]):
    """The runs of one item, in the plan's order.

    `size` is "quick" or "full", `folder` where the item's results are, `older` how many runs were made by
    an earlier version of the code or of the comparison file, `stored` whether nothing may be run.
    """

    def __init__(
        self, runs: Sequence[Run], size: str, folder: str = "", *, older: int = 0, stored: bool = False
    ) -> None:
        self._runs = list(runs)
        self.size = size
        self.folder = folder
        self.older = older
        self.stored = stored

    @classmethod
    def of(cls, plan: Plan, records: Records, size: str, folder: str = "", *, stored: bool = False) -> Runs:
        """Join a plan, which knows the tables, with its records, which know the outcomes.

        They are joined by titles and seeds, not by keys: records of an earlier version of the code or file
        count, and `older` says how many they are.
        """
        cells = {(cell.problem.title, cell.solver.title, cell.seed): cell for cell in plan.cells}
        runs, older = [], 0
        for row in records.rows:
            cell = cells.get((row.problem, row.solver, row.seed))
            if row.outcome is None or cell is None:
                continue
            older += row.key != cell.key
            problem, solver = cell.problem.table or {}, cell.solver.table or {}
            runs.append(Run(row.problem, row.solver, problem, solver, row.seed, row.outcome))
        return cls(runs, size, folder, older=older, stored=stored)

    def where(self, **chosen: Any) -> Runs:
        """Runs that match every key: ``where(solver="rankone.pgd", dataset__tasks=20)`` (`__` for a dot)."""
        keys = {key.replace("__", "."): value for key, value in chosen.items()}
        return self.those(lambda run: all(run.has(key, value) for key, value in keys.items()))

    def those(self, chosen: Callable[[Run], bool]) -> Runs:
        """Runs for which `chosen` says so."""
        kept = [run for run in self._runs if chosen(run)]
        return Runs(kept, self.size, self.folder, older=self.older, stored=self.stored)

    def values(self, name: str, **chosen: Any) -> NDArray[np.float64]:
        """A metric of the matching runs, by seed; the order is that of every other solver's.

        Raises
        ------
        LookupError
            When no run matches, so that a misspelt key is no empty claim.
        """
        found = sorted(self.where(**chosen), key=lambda run: run.seed)
        if not found:
            raise LookupError(f"no run has {chosen}")
        return np.array([run.value(name) for run in found])

    def by_seed(self) -> Runs:
        """The same runs in the order of their seeds."""
        ordered = sorted(self._runs, key=lambda run: run.seed)
        return Runs(ordered, self.size, self.folder, older=self.older, stored=self.stored)

    def distinct(self, key: str) -> list[Any]:
        """The values that a key takes, in order: ``distinct("dataset.tasks")``."""
        found: dict[Any, None] = {}
        for run in self._runs:
            if key == "solver":
                found[run.solver_title] = None
            elif key in ("problem", "title"):
                found[run.problem_title] = None
            else:
                value = _at(run.problem, key)
                found[_at(run.solver, key) if value is None else value] = None
        return [value for value in found if value is not None]

    def failed(self) -> list[Run]:
        """Runs that ended by an error, a crash, a limit of time or memory."""
        return [
            run for run in self._runs if not run.outcome.answered and str(run.outcome.status) != "unsuited"
        ]

    def __getitem__(self, index: Any) -> Any:
        return self._runs[index]

    def __len__(self) -> int:
        return len(self._runs)

    def __iter__(self) -> Iterator[Run]:
        return iter(self._runs)


def _at(table: Mapping[str, Any], path: str) -> Any:
    value: Any = table
    for key in path.split("."):
        if not isinstance(value, Mapping):
            return None
        value = value.get(key)
    return value
