"""The recorded points of a run as arrays, for whatever is read off traces."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from optiframe.comparison.records import Outcome
from optiframe.solving.result import FEASIBLE

_Array = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Points:
    """Iterations, seconds inside the solver, objectives and violations, in the order recorded."""

    iterations: _Array
    times: _Array
    objectives: _Array
    violations: _Array

    def suboptimality(self, best: float) -> _Array:
        """As `loss_table.suboptimality` point by point: inf where infeasible, nan where unknown."""
        if not math.isfinite(best):
            return np.full(len(self.objectives), math.nan)
        with np.errstate(over="ignore"):  # a run gone astray is not a reason to warn
            gaps = np.maximum(0.0, (self.objectives - best) / max(1.0, abs(best)))
        fair = (self.violations <= FEASIBLE) & ~np.isinf(self.objectives)
        return np.where(fair, gaps, math.inf)


def trace_points(outcome: Outcome) -> Points:
    """The recorded points of the first solve; without a trace, its final answer as the only one.

    A run that was not recorded, or an answer that was not judged on the way, still ended somewhere:
    the final answer then stands at the end of the run.
    """
    columns = [_column(outcome, name) for name in ("iteration", "time", "objective", "violation")]
    length = min(map(len, columns[:3]))
    if length == 0:
        final = (float(outcome.iterations), outcome.time, outcome.objective, outcome.violation)
        return Points(*(np.array([number]) for number in final))
    if len(columns[3]) < length:  # no violation on record: that of the answer has to do
        columns[3] = np.full(length, outcome.violation)
    return Points(*(column[:length] for column in columns))


def _column(outcome: Outcome, name: str) -> _Array:
    # A store may give None for what JSON has no number for.
    return np.array([math.nan if v is None else v for v in outcome.trace.get(name, ())], dtype=float)
