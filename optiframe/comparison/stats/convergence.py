"""How suboptimality falls with time or iterations: one curve a solver, over seeds.

Curves are drawn together only where they mean the same: within one problem, solvers that
answered the same problem actually solved (see `loss_table.incomparable`); where they did not,
a problem has several groups of curves. A problem without objective has none.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from optiframe.comparison.records import Outcome, Records
from optiframe.comparison.stats.loss_table import has_objective, incomparable
from optiframe.comparison.stats.points import trace_points
from optiframe.errors import InvalidInput

_POINTS = 200  # a figure some 600 pixels wide shows no more
_OUTER = 0.1  # the band leaves out the outer tenths: of up to ten seeds it is the whole range
_Array = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Convergence:
    """Suboptimality, or a metric, of one solver on one problem, over its seeds.

    Parameters
    ----------
    problem, solver
        Their titles.
    solved
        Names the group of curves that may share a figure: the fingerprint of the problem actually
        solved (the first one's, where every seed draws its own instance).
    x
        Seconds inside the solver or iterations, rising; at most 200 points, each one recorded.
    median, low, high
        Over seeds, at each `x`, steps after the point: the median, and the band that leaves out the
        best and the worst tenth of the seeds (with ten or fewer: the whole range). `high` may be inf;
        all may be 0, at the best objective known.
    seeds
        How many runs, failed ones included.
    """

    problem: str
    solved: str
    solver: str
    x: tuple[float, ...]
    median: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    seeds: int


def convergence(records: Records, *, against: Literal["time", "iterations"] = "time") -> list[Convergence]:
    """Convergence curves, in the plan's order of problems and solvers.

    A run's value is that of its last recorded point, not of the best so far, so that a method which
    rises again is seen to; after its end a run keeps its last value. It is inf before its first point,
    where the point is infeasible, and for a failed run from its end on (one without trace: throughout).
    A curve is drawn where the median over seeds is finite: while more than half the runs have
    something to show.

    Raises
    ------
    InvalidInput
        If `against` is neither "time" nor "iterations".
    """
    if against not in ("time", "iterations"):
        raise InvalidInput(f"against must be time or iterations, got {against!r}")
    curves = []
    for (problem, solver), (solved, ended) in _groups(records).items():
        runs = [_steps(outcome, records, against) for outcome in ended]
        union = np.unique(np.concatenate([x[np.isfinite(x)] for x, _ in runs]))
        if not len(union):
            continue
        grid = _thin(union)
        values = np.sort([_at(grid, x, y) for x, y in runs], axis=0)
        with np.errstate(invalid="ignore"):  # inf less inf, between two seeds
            median = np.median(values, axis=0)
        shown = np.isfinite(median)
        if not shown.any():
            continue
        low = np.quantile(values, _OUTER, axis=0, method="lower")
        high = np.quantile(values, 1 - _OUTER, axis=0, method="higher")
        x, y, bottom, top = (tuple(column[shown].tolist()) for column in (grid, median, low, high))
        curves.append(Convergence(problem, solved, solver, x, y, bottom, top, len(runs)))
    return curves


def metric_progress(
    records: Records, metric: str, *, against: Literal["time", "iterations"] = "time"
) -> list[Convergence]:
    """How a metric develops, as `convergence` does for suboptimality; one group a problem.

    Over the successful runs whose trace has the metric (`Problem.trace_metrics`), at each point over those
    that have begun; a run keeps its last value. A curve is drawn where at least half of them have begun.
    """
    runs: dict[tuple[str, str], list[tuple[_Array, _Array]]] = {}
    for row, outcome in records.outcomes:
        values = outcome.trace.get(metric, ())
        if outcome.succeeded and len(values):
            points = trace_points(outcome)
            x = points.times if against == "time" else points.iterations
            y = np.array([math.nan if v is None else v for v in values], dtype=float)[: len(x)]
            known = np.isfinite(y) & np.isfinite(x[: len(y)])
            if known.any():
                runs.setdefault((row.problem, row.solver), []).append((x[: len(y)][known], y[known]))
    curves = []
    for (problem, solver), found in runs.items():
        grid = _thin(np.unique(np.concatenate([x for x, _ in found])))
        values_at = np.array([_at(grid, x, y, before=math.nan) for x, y in found])
        shown = 2 * np.isfinite(values_at).sum(axis=0) >= len(found)
        part = values_at[:, shown]
        low = np.nanquantile(part, _OUTER, axis=0, method="lower")
        high = np.nanquantile(part, 1 - _OUTER, axis=0, method="higher")
        columns = (grid[shown], np.nanmedian(part, axis=0), low, high)
        places, middle, bottom, top = (tuple(column.tolist()) for column in columns)
        curves.append(Convergence(problem, problem, solver, places, middle, bottom, top, len(found)))
    return curves


def _groups(records: Records) -> dict[tuple[str, str], tuple[str, list[Outcome]]]:
    """By problem and solver, in the plan's order: the group's name, and the runs.

    On a problem comparable by objective all solvers are one group. Else two solvers are in one
    where a chain of fingerprints they share joins them, since each seed may draw its own instances.
    """
    apart = incomparable(records)
    runs: dict[tuple[str, str], list[Outcome]] = {}
    solved: dict[tuple[str, str], list[str]] = {}
    for row, outcome in records.outcomes:
        if not outcome.suited:
            continue
        runs.setdefault((row.problem, row.solver), []).append(outcome)
        if outcome.answered and has_objective(outcome):
            solved.setdefault((row.problem, row.solver), []).append(outcome.solved)
    joined: dict[str, list[list[str]]] = {}  # by problem, the fingerprints of each group
    for (problem, _), prints in solved.items():
        groups = joined.setdefault(problem, [])
        touched = [g for g in groups if problem not in apart or not set(prints).isdisjoint(g)]
        merged = [p for g in touched for p in g] + prints
        joined[problem] = [g for g in groups if g not in touched] + [merged]
    found = {}
    for pair, prints in solved.items():  # without an answer or an objective there is nothing to draw
        name = next(group[0] for group in joined[pair[0]] if prints[0] in group)
        found[pair] = (name, runs[pair])
    return found


def _steps(outcome: Outcome, records: Records, against: str) -> tuple[_Array, _Array]:
    """Where a run's value changes, and what it is from there on."""
    if not outcome.trace and not outcome.succeeded:
        return np.empty(0), np.empty(0)
    points = trace_points(outcome)
    x = points.times if against == "time" else points.iterations
    y = points.suboptimality(records.best.get(outcome.solved, math.nan))
    y = np.where(np.isnan(y), math.inf, y)
    if not outcome.succeeded:
        end = outcome.time if against == "time" else float(outcome.iterations)
        last = float(np.max(x, initial=0.0, where=np.isfinite(x)))
        x = np.append(x, max(last, end) if math.isfinite(end) else last)
        y = np.append(y, math.inf)
    return x, y


def _at(grid: _Array, x: _Array, y: _Array, before: float = math.inf) -> _Array:
    """A run's values at the grid: of the last point recorded by then, and what holds before the first."""
    place = np.searchsorted(x, grid, side="right")
    return np.concatenate(([before], y))[place]


def _thin(union: _Array) -> _Array:
    """At most 200 of the points, half of them even on a linear axis and half on a logarithmic one."""
    if len(union) <= _POINTS:
        return union
    half = _POINTS // 2
    positive = union[union > 0]
    even = np.linspace(union[0], union[-1], half)
    ratios = np.geomspace(positive[0], positive[-1], half)
    wanted = np.concatenate((even, ratios))
    return union[np.unique(np.clip(np.searchsorted(union, wanted, side="right") - 1, 0, None))]
