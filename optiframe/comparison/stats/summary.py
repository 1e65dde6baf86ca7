"""One summary for each pair of problem and solver: how its runs ended, and medians with intervals."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

from optiframe.comparison.records import Outcome, Records
from optiframe.comparison.stats.intervals import Interval, median_intervals
from optiframe.comparison.stats.loss_table import reason, suboptimality, value

_OF_SUCCESSES = ("time", "cpu", "memory", "iterations", "objective", "evaluations")


@dataclass(frozen=True)
class Summary:
    """All runs of one solver on one problem, over seeds.

    Parameters
    ----------
    problem, solver
        Their titles.
    runs
        Runs that ended; an unsuited pair has none.
    failures
        How many of them failed: no answer, or an infeasible one.
    statuses
        How many ended with which status, unsuited ones included; the names as text.
    measures
        Medians with intervals by measure. "suboptimality" is over all runs, with inf for a
        failure. All others ("time", "cpu", "memory", "iterations", "objective", "evaluations" and
        the metrics) are over the successful runs, so a solver that fails early does not look
        quick: read them beside the number of failures. What was never measured is absent.
    reason
        Why it could not take the problem, or the commonest reason of its failures; else empty.
    """

    problem: str
    solver: str
    runs: int
    failures: int
    statuses: dict[str, int]
    measures: dict[str, Interval]
    reason: str


def summarize(records: Records) -> list[Summary]:
    """One summary a pair of problem and solver, in the plan's order; pairs without an end are left out."""
    pairs: dict[tuple[str, str], list[Outcome]] = {}
    for row, outcome in records.outcomes:
        pairs.setdefault((row.problem, row.solver), []).append(outcome)
    samples: dict[tuple[str, str, str], list[float]] = {}
    for (problem, solver), outcomes in pairs.items():
        for measure, values in _samples(outcomes, records).items():
            samples[problem, solver, measure] = values
    intervals = median_intervals(list(samples.values()))
    found: dict[tuple[str, str], dict[str, Interval]] = {pair: {} for pair in pairs}
    for (problem, solver, measure), interval in zip(samples, intervals, strict=True):
        if interval.count:
            found[problem, solver][measure] = interval
    return [_summary(*pair, outcomes, found[pair]) for pair, outcomes in pairs.items()]


def _samples(outcomes: list[Outcome], records: Records) -> dict[str, list[float]]:
    runs = [outcome for outcome in outcomes if outcome.suited]
    successes = [outcome for outcome in runs if outcome.succeeded]
    metrics = dict.fromkeys(name for outcome in successes for name in outcome.metrics)
    found = {
        name: [value(outcome, name, records.best) for outcome in successes]
        for name in (*metrics, *_OF_SUCCESSES)  # a metric named like one of ours does not hide it
    }
    # With no success it is not known whether the problem has an objective at all.
    found["suboptimality"] = [suboptimality(outcome, records.best) for outcome in runs if successes]
    if all(math.isnan(number) for number in found["objective"]):  # nan only: no objective
        found["suboptimality"] = []
    order = ("time", "cpu", "memory", "iterations", "evaluations", "objective", "suboptimality")
    return {name: found[name] for name in dict.fromkeys((*order, *metrics))}


def _summary(problem: str, solver: str, outcomes: list[Outcome], intervals: dict[str, Interval]) -> Summary:
    runs = [outcome for outcome in outcomes if outcome.suited]
    failed = [outcome for outcome in runs if not outcome.succeeded]
    reasons = Counter(reason(outcome) for outcome in failed or [o for o in outcomes if not o.suited])
    return Summary(
        problem=problem,
        solver=solver,
        runs=len(runs),
        failures=len(failed),
        statuses=dict(Counter(str(outcome.status) for outcome in outcomes)),
        measures=intervals,
        reason=reasons.most_common(1)[0][0] if reasons else "",
    )
