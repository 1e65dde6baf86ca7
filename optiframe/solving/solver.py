"""Solvers: what one gives (iterates) and what it gets (a run)."""

from __future__ import annotations

import math
import threading
from abc import abstractmethod
from collections.abc import Callable, Generator
from typing import Any, ClassVar, Generic, NoReturn, TypeVar

import numpy as np

from optiframe.findings import Finding
from optiframe.problems.problem import Problem
from optiframe.problems.sets.constraint_set import ConstraintSet
from optiframe.records.record import Record
from optiframe.solving.budget import Budget
from optiframe.solving.clock import Clock
from optiframe.solving.evaluation import Evaluation
from optiframe.solving.result import Result

P = TypeVar("P")
S = TypeVar("S")
D = TypeVar("D")


# What other libraries call the limits.
_BUDGET_KEYS = {
    **dict.fromkeys(
        ("iterations", "max_iter", "maxiter", "max_iterations", "n_iter", "num_iter"), "iterations"
    ),
    **dict.fromkeys(("tolerance", "tol"), "tolerance"),
    **dict.fromkeys(("time", "timeout", "time_limit", "max_time"), "time"),
}


class Iterate:
    """One point a solver has reached.

    Parameters
    ----------
    x
        The point, in the solver's own terms; valid until the generator resumes, and left
        as it is by a generator that then ends.
    residual
        Distance from being done, as the solver documents it; nan when not computed.
    steps
        How many cheap steps this iterate stands for; counts against the budget.
    info
        Scalars that become columns of the trace.
    detail
        The solver's extra answer so far; that of the iterate that is kept (the last, unless
        the solver is not monotone) becomes `Result.detail`. Its methods ``tables()`` and ``diagnose()``,
        where it has them, add tables and findings to the result.
    """

    __slots__ = ("detail", "info", "residual", "steps", "x")

    def __init__(
        self,
        x: Any,
        residual: float = math.nan,
        steps: int = 1,
        info: dict[str, float] | None = None,
        detail: Any = None,
    ) -> None:
        self.x = x
        self.residual = residual
        self.steps = steps
        self.info = info
        self.detail = detail


# The return type is (Status, str) or None. It is written as Any, since type checkers otherwise
# ask every generator that sometimes gives a verdict for a `return None` at its end.
Iterates = Generator[Iterate, None, Any]
"""What `Solver.iterates` is: a generator of iterates, which may end with a status and a message."""


class Run:
    """What a solver is given besides the problem.

    `rng` is the only source of randomness a solver may use; a comparison runs a solver that never asks for it
    with one seed only where the data do not depend on the seed either. `start` is the caller's start,
    encoded in the terms of the solver's problem, or None. `budget` holds the limits; the
    core enforces them between iterates, a solver that takes long steps may look ahead
    with `time_left()`, `steps_left()` and `stopping`.
    """

    def __init__(
        self,
        rng: np.random.Generator,
        start: Any,
        budget: Budget,
        clock: Clock,
        *,
        stop: threading.Event,
        inner: Callable[..., Result[Any, Any]],
    ) -> None:
        self._rng = rng
        self.drew = False  # whether the solver has asked for random numbers
        self.start = start
        self.budget = budget
        self.iterations = 0
        self.findings: list[Finding] = []
        self._clock = clock
        self._stop = stop
        self._inner = inner

    @property
    def rng(self) -> np.random.Generator:
        """The only source of randomness a solver may use."""
        self.drew = True
        return self._rng

    def time_left(self) -> float:
        """Seconds of the time budget left; inf when there is no limit."""
        return math.inf if self.budget.time is None else max(0.0, self.budget.time - self._clock.read())

    def inner_seed(self) -> int:
        """A seed for a solver inside this one; whether that one draws numbers is found out from it."""
        return int(self._rng.integers(2**63))

    @property
    def stopping(self) -> bool:
        """Whether the user has asked the run to stop: a long step then does well to end where it is."""
        return self._stop.is_set()

    def steps_left(self) -> float:
        """Iterations of the budget left; inf when there is no limit."""
        limit = self.budget.iterations
        return math.inf if limit is None else max(0, limit - self.iterations)

    def warn(self, text: str, about: tuple[Any, ...] = (), *, identifier: str = "") -> None:
        """Add a sentence to the findings of the result; see `Finding`."""
        self.findings.append(Finding("warning", text, about, identifier))

    def solve(
        self,
        solver: Solver[Any, Any, Any],
        problem: Problem[Any],
        *,
        start: Any = None,
        budget: Budget | None = None,
    ) -> Result[Any, Any]:
        """Run a solver inside this one: within the time left, no bar, no signal handler.

        Its random numbers are drawn from this run's generator; a stop asked for by the
        user ends it too. The result has no metrics and no trust report.
        """
        return self._inner(solver, problem, start, budget or Budget())

    @property
    def nested(self) -> NoReturn:
        """The former name of `solve`."""
        raise AttributeError("`nested` of a run is now called `solve`: run.solve(solver, problem)")


class Solver(Record, Generic[P, S, D]):
    """A method: problem type `P`, solution type `S`, detail type `D`.

    A frozen record whose fields are its parameters. Lifetime: built once, may run many
    problems, keeps nothing between runs. For each run the core finds the first problem in
    the chain of formulations that is a `solves` and for which `unsuited` gives no reason,
    calls `iterates` once, resumes it until a limit, convergence or its own end, and calls
    `finish` on the iterates it records and on the last.

    Class attributes: `name` (``family.method``), `solves` (a `Problem` class), `point_type`
    (what it calculates with: arrays by default, `object` for anything), `accepts_start`,
    `monotone` (False: the objective may rise, so the core keeps the best recorded iterate),
    `uses` (the operations of objectives and sets it calls, such as ``Objective.gradient``; a problem whose
    parts lack one is refused by the core; by default the projection),
    `residual_meaning` (what the residual is, in words), `requires` (distributions that do the work, such
    as ``"cvxpy"`` or ``"scikit-learn:sklearn"``, whose versions are recorded with the result and whose
    modules `optiframe doctor` tries), `one_shot` (a black box: it yields once and is then asked
    for its verdict, whatever limit was reached), `reference` (paper and equation).
    """

    solves: ClassVar[type[Problem[Any]]]
    uses: ClassVar[tuple[Callable[..., Any], ...]] = (ConstraintSet.project,)
    accepts_start: ClassVar[bool] = False
    monotone: ClassVar[bool] = True
    residual_meaning: ClassVar[str] = ""
    residual: ClassVar[str]  # its name until 0.1; declared so that the registry can say the new one
    one_shot: ClassVar[bool] = False
    point_type: ClassVar[type] = np.ndarray

    @classmethod
    def hint_for_unknown_key(cls, key: str, value: Any) -> str:
        """Other libraries' parameters for what is a budget here are sent there."""
        limit = _BUDGET_KEYS.get(key.lower())
        if limit is None:
            return super().hint_for_unknown_key(key, value)
        number = value if isinstance(value, int | float) and not isinstance(value, bool) else "..."
        return f"that is a budget: budget={{{limit!r}: {number}}}, or {limit} = {number} under [budget]"

    @abstractmethod
    def iterates(self, problem: P, run: Run) -> Iterates:
        """Yield an `Iterate` for each point reached; the starting point is not yielded.

        May end with ``return Status.STALLED, "why"``; a plain end means `finished`. An
        infeasible problem is ``return Status.INFEASIBLE, "why"`` without an iterate.
        """

    def finish(self, problem: P, iterate: Iterate) -> S:
        """The solution an iterate stands for; its `x` by default. Must not change the iterate."""
        solution: S = iterate.x
        return solution

    def remarks(self, problem: Problem[Any], kept: Evaluation, last: Evaluation) -> tuple[Finding, ...]:
        """What to say where the answer is an earlier iterate, `kept`, and not the last; nothing by default.

        `problem` is the posed one. Called once, at the end, off the clock.
        """
        return ()

    def unsuited(self, problem: P) -> str | None:
        """Why this solver cannot take this problem, in words; None when it can. Never raises."""
        return None
