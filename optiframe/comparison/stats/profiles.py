"""Performance and data profiles: how many instances each solver solves, how quickly.

An instance is one problem with one seed. It is solved to a gap by the first recorded point
that is feasible and whose suboptimality, from the best objective known, is at most the gap;
what it cost until then is read off the trace.

All solvers are counted over the same instances, so a failure is an instance not solved, and so
is a pair the solver is not suited to. An instance nobody solves stays in the denominator: no
curve then reaches 1. Left out are problems that cannot be compared by objective (see
`excluded`), solvers none of whose answers has one or that suit none of the problems, and instances that
some other solver has not ended.
A solver that has an objective on some problems only has not solved the others.

Solvers of different formulations, and those without an objective, are compared by a metric
instead: an instance is solved by an answer whose metric is within a distance of the best
solver's on that instance, at the cost of the whole run, since metrics are of answers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from optiframe.comparison.records import Outcome, Records, Row
from optiframe.comparison.stats.distances import distances
from optiframe.comparison.stats.loss_table import (
    above,
    has_objective,
    incomparable,
    value,
    without_objective,
)
from optiframe.comparison.stats.points import trace_points
from optiframe.comparison.units import joined
from optiframe.errors import InvalidInput

Cost = Literal["time", "iterations", "evaluations"]
# A ratio needs costs above zero: a tick of the clock, the first iteration, less than a term of a pass.
_LEAST = {"time": 1e-9, "iterations": 1.0, "evaluations": 1e-9}
_MARGIN = 1.1  # curves go on for a tenth beyond the last jump, so that it is seen
_Array = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Curve:
    """A rising step curve of one solver: from `x[i]` on, up to the next, it is `y[i]`.

    Draw it with steps after the point (``shape="hv"`` in Plotly, ``where="post"`` in Matplotlib).
    All curves of a profile begin and end at the same `x`; `y` is a share, from 0 to 1.
    """

    solver: str
    x: tuple[float, ...]
    y: tuple[float, ...]


def time_to_target(records: Records, gap: float, cost: Cost = "time") -> list[float]:
    """What each row spent until it was within the gap; aligned with `records.rows`.

    Parameters
    ----------
    records, gap
        The comparison, and the suboptimality to reach: see `suboptimality`.
    cost
        "time" in seconds inside the solver, "iterations", or "evaluations". Evaluations are counted
        over a whole run, kinds summed; those until the target are taken to be in proportion to the
        iterations, which is exact where every iteration costs the same.

    Returns
    -------
    list of float
        inf for a run that failed or ended without reaching the target, and for an unsuited pair;
        nan where it cannot be told: the run has not ended, its problem or its solver is left out
        (`excluded`), or its evaluations were not counted. A run without trace is judged by its final
        answer.
    """
    _check(gap, cost)
    left_out = incomparable(records)
    solvers = _with_objective(records)
    costs = []
    for row in records.rows:
        if row.outcome is None or row.problem in left_out or row.solver not in solvers:
            costs.append(math.nan)
        elif not row.outcome.suited or not row.outcome.succeeded:
            costs.append(math.inf)
        else:
            costs.append(_cost(row.outcome, records, gap, cost))
    return costs


def performance_profile(
    records: Records,
    *,
    gap: float | None = None,
    cost: Cost = "time",
    measure: str = "suboptimality",
    within: float | None = None,
) -> list[Curve]:
    """Dolan-More performance profiles: the share of instances solved within `x` times the least cost.

    The least cost is that of the solver quickest on the instance. At x = 1 a curve shows how
    often its solver was the quickest, ties for all of them; at its end, how often it
    reached the target at all. Where more than two solvers are compared, the order of two curves
    may depend on the others: it is the best solver that the ratio is taken to.

    Source: Dolan and More, Benchmarking optimization software with performance profiles, 2002.

    Parameters
    ----------
    records
        The comparison.
    gap
        The suboptimality that counts as solved.
    cost
        What is spent: see `time_to_target`. For a metric "time" alone, since iterations of
        different methods are not one unit.
    measure, within
        A metric whose direction is known, in place of suboptimality, and how far from the best
        solver's on the same instance, in the metric's own unit, still counts as solved.

    Returns
    -------
    list of Curve
        One a solver, in the plan's order; empty where there is no instance to count. A solver
        without any objective (or metric, where that is the measure), or suited to no problem, has none.

    Raises
    ------
    InvalidInput
        For a gap, cost, measure or distance that there is not, or that do not go together.
    """
    solvers, costs = _costs(records, gap, cost, measure, within)
    if not len(costs):
        return []
    costs = np.maximum(costs, _LEAST[cost])
    best = costs.min(axis=1, keepdims=True)
    ratios = np.where(np.isfinite(costs), costs / np.where(np.isfinite(best), best, 1.0), np.inf)
    return step_curves(solvers, ratios, 1.0)


def data_profile(
    records: Records,
    *,
    gap: float | None = None,
    cost: Cost = "time",
    measure: str = "suboptimality",
    within: float | None = None,
) -> list[Curve]:
    """Data profiles: the share of instances solved within a cost of `x`; as `performance_profile`.

    They show what a budget buys, and a solver's curve does not depend on the others. The source
    counts evaluations in units of a problem's dimension plus one; here the cost is as measured,
    since most problems have no such number.

    Source: More and Wild, Benchmarking derivative-free optimization algorithms, 2009.
    """
    solvers, costs = _costs(records, gap, cost, measure, within)
    if not len(costs):
        return []
    finite = costs[np.isfinite(costs)]
    return step_curves(solvers, costs, float(finite.min()) if len(finite) else _LEAST[cost])


def excluded(records: Records) -> list[str]:
    """What profiles by suboptimality do not count, and what they count as not solved, with the reason."""
    left_out = incomparable(records)
    notes = [f"{problem} is left out: {why}" for problem, why in left_out.items()]
    if len(left_out) == len(records.problems):
        return notes
    drawn = _with_objective(records)
    never = _suited_to_none(records)
    if named := [solver for solver in records.solvers if solver in never]:
        are = "is left out: it is" if len(named) == 1 else "are left out: they are"
        notes.append(f"{joined(named)} {are} unsuited to every problem counted here")
    if apart := [solver for solver in records.solvers if solver not in drawn and solver not in never]:
        be, have = ("is", "its answers have") if len(apart) == 1 else ("are", "their answers have")
        notes.append(f"{joined(apart)} {be} left out: {have} no objective")
    for problem, solvers in without_objective(records).items():
        if lacking := [solver for solver in solvers if solver in drawn]:
            have = "has" if len(lacking) == 1 else "have"
            notes.append(f"{joined(lacking)} {have} no objective on {problem}, which counts as not solved")
    return notes


def _with_objective(records: Records) -> list[str]:
    """The solvers but those whose answers on comparable problems never have an objective."""
    left_out = incomparable(records)
    without = {solver for solvers in without_objective(records).values() for solver in solvers}
    having = {
        row.solver
        for row, outcome in records.outcomes
        if outcome.answered and row.problem not in left_out and has_objective(outcome)
    }
    return [solver for solver in records.solvers if solver in having or solver not in without]


def _suited_to_none(records: Records) -> set[str]:
    """The solvers that ended on problems comparable by objective, and were unsuited to each."""
    left_out = incomparable(records)
    ended = [(row.solver, outcome) for row, outcome in records.outcomes if row.problem not in left_out]
    return {solver for solver, _ in ended} - {solver for solver, outcome in ended if outcome.suited}


def _check(gap: float, cost: str) -> None:
    if not gap >= 0.0:
        raise InvalidInput(f"a gap is a suboptimality of 0 or more, got {gap}")
    if cost not in get_args(Cost):
        raise InvalidInput(f"cost must be one of {', '.join(get_args(Cost))}, got {cost!r}")


def _cost(outcome: Outcome, records: Records, gap: float, cost: Cost) -> float:
    best = records.best.get(outcome.solved, math.nan)
    whole = value(outcome, cost, records.best)
    if math.isnan(whole):
        return math.nan
    points = trace_points(outcome)
    near = points.suboptimality(best) <= gap
    if near.any():
        at = int(np.argmax(near))
        if cost == "evaluations":
            return whole * float(points.iterations[at]) / outcome.iterations if outcome.iterations else whole
        return float((points.times if cost == "time" else points.iterations)[at])
    return whole if above(outcome.objective, best) <= gap else math.inf


def _costs(
    records: Records, gap: float | None, cost: Cost, measure: str, within: float | None
) -> tuple[list[str], _Array]:
    """Costs by instance and solver; only instances where each cost is known (or infinite)."""
    if measure == "suboptimality":
        if gap is None or within is not None:
            raise InvalidInput("a profile by suboptimality takes a `gap` (`within` goes with a metric)")
        never = _suited_to_none(records)
        solvers = [solver for solver in _with_objective(records) if solver not in never]
        spent = time_to_target(records, gap, cost)
    else:
        if within is None or gap is not None:
            raise InvalidInput(
                f"a profile by {measure} needs `within`, a distance from the best; leave out `gap`, which is "
                "for suboptimality"
            )
        if not within >= 0.0:
            raise InvalidInput(f"`within` is a distance of 0 or more, got {within}")
        if cost != "time":
            raise InvalidInput(
                f"set cost = 'time' for a profile by {measure}: a metric is known for the last answer alone"
            )
        apart = distances(records, measure)
        having = {solver for _, _, solver in apart}
        solvers = [solver for solver in records.solvers if solver in having]
        spent = [_until_within(row, apart, within) for row in records.rows]
    place = {solver: number for number, solver in enumerate(solvers)}
    table: dict[tuple[str, int], list[float]] = {}
    for row, one in zip(records.rows, spent, strict=True):
        if row.solver in place:
            table.setdefault((row.problem, row.seed), [math.nan] * len(solvers))[place[row.solver]] = one
    known = [costs for costs in table.values() if not any(map(math.isnan, costs))]
    return solvers, np.array(known, dtype=float).reshape(len(known), len(solvers))


def _until_within(row: Row, apart: dict[tuple[str, int, str], float], within: float) -> float:
    distance = apart.get((row.problem, row.seed, row.solver), math.nan)
    if row.outcome is None or math.isnan(distance):
        return math.nan
    return row.outcome.time if distance <= within else math.inf


def step_curves(solvers: list[str], costs: _Array, begin: float) -> list[Curve]:
    """The share of instances (rows) whose cost is at most x, for each solver (column), from `begin` on."""
    finite = costs[np.isfinite(costs)]
    end = float(finite.max() if len(finite) else begin) * _MARGIN
    curves = []
    for solver, own in zip(solvers, costs.T, strict=True):
        jumps = np.unique(np.concatenate(([begin, end], own[np.isfinite(own)])))
        shares = np.searchsorted(np.sort(own), jumps, side="right") / len(own)
        curves.append(Curve(solver, tuple(jumps.tolist()), tuple(shares.tolist())))
    return curves
