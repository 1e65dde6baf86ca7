"""What a run gives back: status, trace and result."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Generic, NoReturn, TypeVar

from optiframe.errors import UnknownName, nearest
from optiframe.findings import Finding
from optiframe.notebook import ROWS, block, curve, facts, folded, items, paragraph, table
from optiframe.numbers import number, seconds
from optiframe.problems.problem import Problem
from optiframe.tables.columns import Columns

FEASIBLE = 1e-6
"""A violation up to this is feasible; of its own, since a residual's tolerance may be wide."""

_FEW = 6
"""Findings up to this many are all shown in a notebook; of more, the notes are folded."""

S = TypeVar("S")
D = TypeVar("D")


class Status(StrEnum):
    """How a run ended; closed. The last five only occur in comparisons."""

    CONVERGED = "converged"
    FINISHED = "finished"
    ITERATION_LIMIT = "iteration_limit"
    TIME_LIMIT = "time_limit"
    EVALUATION_LIMIT = "evaluation_limit"
    STALLED = "stalled"
    DIVERGED = "diverged"
    INFEASIBLE = "infeasible"
    CANCELLED = "cancelled"
    ERROR = "error"
    TIMEOUT = "timeout"
    CRASHED = "crashed"
    OUT_OF_MEMORY = "out_of_memory"
    UNSUITED = "unsuited"

    @property
    def meaning(self) -> str:
        """The status in words."""
        return _MEANINGS[self]

    @property
    def of_comparison(self) -> bool:
        """Whether only a comparison gives this status, never a solver."""
        return self in _OF_COMPARISON

    @property
    def short(self) -> bool:
        """Whether a limit or a dead end stopped the solver before its own end."""
        return self in (
            Status.ITERATION_LIMIT,
            Status.TIME_LIMIT,
            Status.EVALUATION_LIMIT,
            Status.STALLED,
        )

    @property
    def complete(self) -> bool:
        """Whether the solver reached its own end rather than a limit."""
        return self in (Status.CONVERGED, Status.FINISHED)


_OF_COMPARISON = (
    Status.ERROR,
    Status.TIMEOUT,
    Status.CRASHED,
    Status.OUT_OF_MEMORY,
    Status.UNSUITED,
)
_MEANINGS = {
    Status.CONVERGED: "the residual is within the tolerance",
    Status.FINISHED: "the solver reached its own end",
    Status.ITERATION_LIMIT: "the iteration budget is used up",
    Status.TIME_LIMIT: "the time budget is used up",
    Status.EVALUATION_LIMIT: "the evaluation budget is used up",
    Status.STALLED: "no further progress is possible",
    Status.DIVERGED: "the iterates stopped being finite or grew without bound",
    Status.INFEASIBLE: "no point satisfies the constraints",
    Status.CANCELLED: "stopped by the user",
    Status.ERROR: "the solver raised an error",
    Status.TIMEOUT: "killed at the hard time limit",
    Status.CRASHED: "the process died",
    Status.OUT_OF_MEMORY: "the memory limit was reached",
    Status.UNSUITED: "the solver cannot take this problem",
}


_ALWAYS = ("iteration", "time", "objective", "violation", "residual")


class Trace:
    """Recorded points of a run, by column: iteration, time (seconds inside the solver),
    objective, violation, residual, and whatever scalars the solver put in `info`.

    A column that was absent at a point holds nan there. Of a run without any recorded point, the first
    five are empty.
    """

    def __init__(self) -> None:
        self._rows: list[dict[str, float]] = []

    def append(self, row: dict[str, float]) -> None:
        """Add one recorded point."""
        self._rows.append(row)

    @property
    def names(self) -> list[str]:
        """Column names, in order of first appearance."""
        return list(dict.fromkeys(key for row in self._rows for key in row))

    def columns(self) -> Columns:
        """The trace as a table."""
        return {name: self[name] for name in self.names}

    def _repr_html_(self) -> str:
        last = {name: values[-ROWS:] for name, values in self.columns().items()}
        return block([*self.drawing(), paragraph(f"{len(self)} points; the last:"), table(last)])

    def drawing(self) -> list[str]:
        """The objective as a small curve in HTML, the residual where there is no objective."""
        made = (curve(self[name], name) for name in ("objective", "residual") if name in self.names)
        return [next(filter(None, made), "")]

    def __repr__(self) -> str:
        return f"<trace of {len(self)} points: {', '.join(self.names)}>"

    def __getitem__(self, name: str) -> list[float]:
        if name not in (self.names or _ALWAYS):
            raise UnknownName(f"the trace has no column {name!r}{nearest(name, self.names)}")
        return [row.get(name, math.nan) for row in self._rows]

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[dict[str, float]]:
        return iter(self._rows)


@dataclass(frozen=True)
class Result(Generic[S, D]):
    """Everything a run gives back.

    `solution` is in the terms of the problem that was posed (None when infeasible);
    `detail` is the solver's own extra answer (a path, prices, a ledger). `time` is seconds
    inside the solver, `setup` seconds of formulating before it, `evaluation_time` seconds of
    evaluating recorded iterates beside it. `evaluated` is the problem that
    `objective` belongs to, `solved` its fingerprint: compare objectives only where that is
    equal. `history` is by evaluation where the budget limits them: a row for each point that was
    better than all before (of the problem that the solver took), with the columns `evaluations`, `objective`
    (the least so far at a feasible point, infinite before there is one) and `merit` (the least so far of
    `counting.merit_of`, which adds a penalty for the violation). `settings` repeats the run: names,
    parameters, seed, budget, versions.
    """

    solution: S
    detail: D
    status: Status
    message: str
    objective: float
    violation: float
    metrics: dict[str, float]
    findings: tuple[Finding, ...]
    iterations: int
    time: float
    setup: float
    evaluation_time: float
    trace: Trace = field(repr=False)
    settings: dict[str, Any] = field(repr=False)
    evaluated: Problem[Any] = field(repr=False)
    problem: Problem[S] = field(repr=False)
    history: Trace = field(default_factory=Trace, repr=False)

    def __repr__(self) -> str:
        names = f"{self.settings.get('problem')} by {self.settings.get('solver', {}).get('name')}"
        shown = {} if math.isnan(self.objective) else {"objective": self.objective}
        numbers = [f"{name} {number(value)}" for name, value in (shown | self.metrics).items()]
        levels = [finding.level for finding in self.findings]
        serious = [
            f"{levels.count(level)} {level}{'s' if levels.count(level) > 1 else ''}"
            for level in ("error", "warning")
            if level in levels
        ]
        steps = f"{number(self.iterations)} iteration{'' if self.iterations == 1 else 's'}"
        return f"<result of {names}: {', '.join([str(self.status), *numbers[:4], steps, *serious])}>"

    def _repr_html_(self) -> str:
        tables = self.to_tables()
        main = next(iter(tables.values()), None)
        words = [] if self.solution is None else list(self.problem.in_words(self.solution))
        solver = self.settings.get("solver", {})
        run = {"status": self.status, "message": self.message, "objective": self.objective}
        run |= {"violation": self.violation, "iterations": self.iterations}
        run |= {"time": seconds(self.time), "setup": seconds(self.setup), "seed": self.settings.get("seed")}
        level = {"error": 0, "warning": 1, "note": 2}
        ordered = sorted(self.findings, key=lambda finding: level[finding.level])
        listed = [(finding.level, finding.text) for finding in ordered]
        loud = [entry for entry in listed if entry[0] != "note"]
        return block(
            [
                paragraph(f"{self!r}".strip("<>"), strong=True),
                *(paragraph(sentence) for sentence in words),
                "" if main is None else table(main),
                items(listed if len(listed) <= _FEW else loud),
                folded(f"{len(listed) - len(loud)} notes", [items(listed[len(loud) :])])
                if len(listed) > _FEW
                else "",
                *self.trace.drawing(),
                folded("run", [facts(run), facts(self.metrics)]),
                folded("parameters", [facts({**solver, **dict(solver.get("parameters", {}))})]),
                *(folded(f"table {name}", [table(columns)]) for name, columns in list(tables.items())[1:]),
            ]
        )

    @property
    def duality_gap(self) -> float | None:
        """How much lower the objective can be at most, where the problem tells (`Problem.duality_gap`)."""
        told = self.solution is not None and self.evaluated is self.problem
        return self.problem.duality_gap(self.solution) if told else None

    @property
    def solved(self) -> str:
        """Fingerprint of the problem the objective belongs to; hashed on first use."""
        return self.evaluated.fingerprint()

    @property
    def judging(self) -> NoReturn:
        """The former name of `evaluation_time`."""
        raise AttributeError("`judging` of a result is now called `evaluation_time`")

    @property
    def judged(self) -> NoReturn:
        """The former name of `evaluated`."""
        raise AttributeError("`judged` of a result is now called `evaluated`")

    @property
    def answer(self) -> NoReturn:
        """The former name of `to_tables`."""
        raise AttributeError("`answer` of a result is now called `to_tables`: result.to_tables()")

    def to_tables(self) -> dict[str, Columns]:
        """The solution as tables, the main one first; empty when there is none.

        Each table is a dict of column name to array, whatever the data came in: ``solution.frame()``, where
        an answer has it, is the main table in the kind of data frame that the data came in, and
        ``pandas.DataFrame(result.to_tables()["workers"])`` makes one of any other.

        A solver's own answer, `detail`, adds its tables where it has a method ``tables()`` that gives
        them by name; the problem's come first and keep their names.
        """
        if self.solution is None:
            return {}
        own = getattr(self.detail, "tables", None)
        answered = self.problem.to_tables(self.solution)
        more: dict[str, Columns] = own() if callable(own) else {}
        return answered | {name: columns for name, columns in more.items() if name not in answered}
