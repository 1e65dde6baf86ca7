"""How far each answer is from the best solver's by a metric, which all formulations have in common."""

from __future__ import annotations

import math
from collections.abc import Mapping

from optiframe.comparison.records import Records
from optiframe.comparison.stats.loss_table import directions, metric_tie
from optiframe.errors import InvalidInput, nearest

_NO_METRIC = ("suboptimality", "objective", "time")
_STEPS = 3  # a decade each, from the farthest answer down: few problems tell closer ones apart


def distances(records: Records, measure: str) -> dict[tuple[str, int, str], float]:
    """Distances by problem, seed and solver, in the metric's own unit: 0 for the best.

    inf for a run that failed or was unsuited, or that lacks the metric. Left out are solvers that
    never have it, problems where none of the answers has, and instances that some other solver has
    not ended. A problem that nobody answered stays: all failed.

    Raises
    ------
    InvalidInput
        If `measure` is no metric whose direction is known.
    """
    known = {name: way for name, way in directions(records).items() if name not in _NO_METRIC}
    if measure not in known:
        raise InvalidInput(
            f"no metric {measure!r} is known to be better when lower or higher{nearest(measure, known)}; "
            f"known are {', '.join(sorted(known)) or 'none'}; say so under [better] in the plan"
        )
    sign = 1.0 if known[measure] == "lower" else -1.0
    values: dict[tuple[str, int], dict[str, float]] = {}
    answered: set[str] = set()
    problems: set[str] = set()  # those that have the metric
    solvers: set[str] = set()
    for row in records.rows:
        number = math.inf  # for a failure
        if row.outcome is None:
            number = math.nan
        elif row.outcome.succeeded:
            answered.add(row.problem)
            if math.isfinite(row.outcome.metrics.get(measure, math.nan)):
                number = sign * row.outcome.metrics[measure]
                problems.add(row.problem)
                solvers.add(row.solver)
        values.setdefault((row.problem, row.seed), {})[row.solver] = number
    found = {}
    for (problem, seed), by_solver in values.items():
        own = {solver: number for solver, number in by_solver.items() if solver in solvers}
        if problem in answered - problems or any(map(math.isnan, own.values())):
            continue
        best = min(own.values(), default=math.inf)
        for solver, number in own.items():
            apart = number - best if math.isfinite(number) else math.inf
            tied = math.isfinite(apart) and apart <= metric_tie(best, records.tolerance)
            found[problem, seed, solver] = 0.0 if tied else apart
    return found


def targets(apart: Mapping[tuple[str, int, str], float]) -> list[float]:
    """Distances that tell answers apart, the widest first: up to three powers of ten, and 0 for the best."""
    between = [distance for distance in apart.values() if 0.0 < distance < math.inf]
    if not between:
        return [0.0]
    low, high = math.ceil(math.log10(min(between))), math.floor(math.log10(max(between)))
    powers = range(max(high, low), max(low, high - _STEPS + 1) - 1, -1)
    return [*(float(f"1e{power}") for power in powers), 0.0]
