"""Which iterates are evaluated, what is written down, and which answer is kept."""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from optiframe.errors import BrokenPlugin
from optiframe.solving.chain import Chain
from optiframe.solving.evaluation import Evaluation, numbers_by_name
from optiframe.solving.result import FEASIBLE, Trace
from optiframe.solving.solver import Iterate, Solver

_DENSE = 10  # this many first iterates are all recorded
_RATIO = 1.1  # then each recorded iteration count is about this multiple of the one before
_ROUNDING = 1e-12  # an objective lower by less than this, relatively, is not better


class Recorder:
    """The trace of a run and its best answer; everything here happens off the solver's clock."""

    def __init__(self, chain: Chain, solver: Solver[Any, Any, Any], record: bool) -> None:
        self.trace = Trace()
        self.seconds = 0.0  # spent on evaluating iterates
        # Where the best is kept, iterates are evaluated whether or not they are written down.
        self._evaluating = record or not solver.monotone
        self.next = 1.0 if self._evaluating else math.inf  # the iteration from which to evaluate again
        self._chain = chain
        self._solver = solver
        self._last: tuple[int, Evaluation] | None = None
        self._best: tuple[int, Evaluation, Any] | None = None  # with its detail; copied
        self._record = record

    def evaluate(self, iterate: Iterate, iteration: int, elapsed: float) -> str:
        """Evaluate and record an iterate; says why the run has diverged, and nothing where it has not."""
        began = perf_counter()
        # A point that is not finite is a verdict here, not a reason for NumPy to warn.
        with np.errstate(invalid="ignore", over="ignore"):
            solution = self._solver.finish(self._chain.last, iterate)
            if is_complex(solution):  # a later one, too: judging it would drop the imaginary part
                raise BrokenPlugin(f"{self._solver.name} gave complex numbers; an answer is real")
            evaluated = self._chain.evaluate(solution)
        row = {
            "iteration": iteration,
            "time": elapsed,
            "objective": evaluated.objective,
            "violation": evaluated.violation,
            "residual": float(iterate.residual),
        }
        if self._record and (gap := self._chain.duality_gap(solution)) is not None:
            row["duality_gap"] = gap
        info = numbers_by_name(iterate.info or {}, f"{self._solver.name}: info")
        if not row.keys().isdisjoint(info):
            raise BrokenPlugin(f"{self._solver.name}: info cannot hold {', '.join(row.keys() & info.keys())}")
        if self._record:
            posed = self._chain.problems[0]
            told = posed.trace_metrics(evaluated.solution)
            scores = numbers_by_name(told, f"{posed.name}: trace_metrics()")
            taken = row.keys() & scores.keys()
            if taken:
                raise BrokenPlugin(f"{posed.name}: trace_metrics cannot hold {', '.join(taken)}")
            self.trace.append(row | {name: float(value) for name, value in (scores | info).items()})
        if self._evaluating:
            self.next = iteration + 1 if iteration < _DENSE else max(iteration + 1, iteration * _RATIO)
        before, self._last = self._last, (iteration, evaluated)
        if not self._solver.monotone and (
            self._best is None or self._rank(evaluated) < self._rank(self._best[1])
        ):
            # Both at once: where they are one object, they stay one.
            outer, given = copy.deepcopy((evaluated.solution, evaluated.given))
            kept = replace(evaluated, solution=outer, given=given)
            self._best = (iteration, kept, copy.deepcopy(iterate.detail))
        self.seconds += perf_counter() - began
        had_value = before is not None and not math.isnan(before[1].objective)
        lost_value = had_value and math.isnan(evaluated.objective)
        # The objective of an answer that is proved best may be beyond float64.
        overflown = evaluated.objective_diverged and iterate.residual != 0
        if overflown or lost_value or _not_finite(solution):
            first = before is None and not _not_finite(solution)
            where = ", already at the first recorded point: give another start" if first else ""
            return f"the answer or its objective is no longer finite{where}"
        return "the objective is nan; check its function and its data" if evaluated.lacks_objective else ""

    def has(self, iteration: int) -> bool:
        """Whether the latest recorded iterate is this one."""
        return self._last is not None and self._last[0] == iteration

    @property
    def last(self) -> Evaluation:
        """The latest recorded iterate, evaluated."""
        assert self._last is not None
        return self._last[1]

    def keep(self, iterate: Iterate) -> tuple[Evaluation, Any, str]:
        """The answer to give, its detail, and a note when it is not the last iterate's."""
        assert self._last is not None
        evaluated = self._last[1]
        if self._best is not None and self._clearly_better(self._best[1], evaluated):
            at, best, detail = self._best
            return best, detail, f"; kept the best recorded iterate, number {at}"
        return evaluated, iterate.detail, ""

    def _clearly_better(self, best: Evaluation, last: Evaluation) -> bool:
        (best_class, best_value), (last_class, last_value) = self._rank(best), self._rank(last)
        if best_class != last_class:
            return best_class < last_class
        return best_value < last_value - _ROUNDING * max(1.0, abs(best_value))

    def _rank(self, evaluated: Evaluation) -> tuple[int, float]:
        """Feasible before infeasible; then by objective or by violation; not finite last."""
        if not evaluated.violation <= FEASIBLE:
            return 1, evaluated.violation if math.isfinite(evaluated.violation) else math.inf
        return 0, evaluated.objective if math.isfinite(evaluated.objective) else math.inf


def is_complex(solution: Any) -> bool:
    """Whether an answer is an array of complex numbers, or holds one."""
    parts = (solution,) if isinstance(solution, np.ndarray) else getattr(solution, "__dict__", {}).values()
    return any(isinstance(part, np.ndarray) and part.dtype.kind == "c" for part in parts)


def _not_finite(solution: Any) -> bool:
    return (
        isinstance(solution, np.ndarray)
        and solution.dtype.kind == "f"
        and not bool(np.isfinite(solution).all())
    )
