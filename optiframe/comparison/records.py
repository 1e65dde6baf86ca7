"""What came of it: the outcome of a cell, and a whole comparison as statistics and reports see it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

from optiframe.printable import all_printable
from optiframe.solving.result import FEASIBLE, Status

Direction = Literal["lower", "higher"]
HISTORY = ("evaluations", "per_variable", "merit")
"""Columns of `Outcome.history`."""


@dataclass(frozen=True)
class Outcome:
    """All that is known about a cell that ended, however it ended.

    Parameters
    ----------
    status, message
        How it ended, in a word and in a sentence.
    objective, violation, metrics, findings, solved, iterations
        As in `Result`, of the first solve; nan, empty or 0 without an answer. A finding is a
        mapping with `level`, `text`, `about` and `identifier`, as in `Finding`; one that an earlier
        version stored may have no identifier.
    time, times
        Seconds inside the solver: the median over repeats, and each.
    setup, evaluation_time
        Seconds of formulating, and of evaluating recorded iterates, of the first solve.
    loading, warmup
        Seconds of imports and building the problem, and of the warm-up solve.
    cpu
        CPU seconds of a solve, evaluation of iterates included, the median over repeats.
    wall
        Seconds from the start of the child process to its end, as the parent saw it.
    memory
        Peak resident bytes of the child together with everything it started.
    evaluations
        Calls of the objective by kind ("value", "gradient", ...), in full passes over its terms;
        empty where the objective is not observed.
    trace
        The first solve's trace by column: iteration, time (stretched to end at the median time),
        objective, violation, residual, info. As the cell claims it: only the final answer is judged apart.
    history
        By evaluation, where the budget limits them: the columns "evaluations", "per_variable" (evaluations
        over n + 1 for n variables) and "merit", the least so far; the first row is the start's.
    better
        The problem's metrics with the direction that is better, where it says so.
    stderr, traceback
        The end of what the child wrote to standard error (and output); the whole traceback.
    versions, environment
        Versions of what did the work; interpreter, linear algebra, threads, as the child saw them.
    optimum
        The known optimum of the problem solved, where somebody has stated it (`Problem.known_optimum`); nan
        otherwise. Stored among the best objectives only.
    provisional
        Whether this is not the cell's result, since a file changed under it: it is shown, and the
        cell runs again.
    seed_matters
        False where the solver asked for no random numbers, so that another seed gives the same on the same
        data; not stored.
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
    evaluation_time: float = math.nan
    loading: float = math.nan
    warmup: float = math.nan
    cpu: float = math.nan
    wall: float = math.nan
    memory: float = math.nan
    evaluations: Mapping[str, float] = field(default_factory=dict)
    trace: Mapping[str, list[float]] = field(default_factory=dict, repr=False)
    history: Mapping[str, list[float]] = field(default_factory=dict, repr=False)
    better: Mapping[str, Direction] = field(default_factory=dict)
    stderr: str = field(default="", repr=False)
    traceback: str = field(default="", repr=False)
    versions: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, Any] = field(default_factory=dict, repr=False)
    optimum: float = math.nan
    provisional: bool = False
    seed_matters: bool = True

    @property
    def answered(self) -> bool:
        """Whether there is an answer that counts: not a failure, not unsuited, not infeasible."""
        return not self.status.of_comparison and self.status not in (
            Status.DIVERGED,
            Status.INFEASIBLE,
            Status.CANCELLED,
        )

    @property
    def suited(self) -> bool:
        """Whether the solver could take the problem: such runs succeed or fail."""
        return self.status is not Status.UNSUITED

    @property
    def succeeded(self) -> bool:
        """Whether there is an answer that counts, and it is feasible within 1e-6."""
        return self.answered and self.violation <= FEASIBLE

    def printable(self) -> Outcome:
        """This outcome without control characters in its texts, which foreign code has written."""
        texts = {part.name: getattr(self, part.name) for part in fields(self) if part.name not in _NUMBERS}
        columns = {all_printable(name): column for name, column in self.trace.items()}
        return replace(self, trace=columns, **{name: all_printable(value) for name, value in texts.items()})


_NUMBERS = ("status", "trace", "history", "times")  # what `printable` need not walk through


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
    objective ever stored for it by a feasible answer, or its known optimum where that is lower.
    `config` is the text of the file, `environment` that of the main process, `started` and `ended` are
    ISO times in UTC. `fixed` are the titles of problems with the same data for every seed, as far as that
    is known. `tolerance` is the budget's: relative gaps of objectives and metrics up to it are ties.
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
    tolerance: float = 1e-6

    @property
    def outcomes(self) -> list[tuple[Row, Outcome]]:
        """The rows that have ended, each with its outcome."""
        return [(row, row.outcome) for row in self.rows if row.outcome is not None]

    @property
    def problems(self) -> list[str]:
        """Titles of the problems, in the plan's order."""
        return list(dict.fromkeys(row.problem for row in self.rows))

    @property
    def solvers(self) -> list[str]:
        """Titles of the solvers, in the plan's order."""
        return list(dict.fromkeys(row.solver for row in self.rows))
