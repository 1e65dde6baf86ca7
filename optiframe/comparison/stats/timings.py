"""How fast solvers are beside one another, and which measured times are too unsteady to say."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from optiframe.comparison.records import Outcome, Records
from optiframe.comparison.run.repeats import order_statistic_interval
from optiframe.comparison.stats.intervals import median
from optiframe.comparison.stats.loss_table import loss_table, medians

_SHORT = 0.05  # seconds: a solve this short is easily doubled by what else the machine does
_UNSTEADY = 2.0  # times of one solve that differ by this factor are worth a warning
_ALIKE = 1.1  # two times within this factor are called equal


@dataclass(frozen=True)
class Unsteady:
    """Times in seconds of one short solve, repeated, that differ by at least a factor of two."""

    problem: str
    solver: str
    low: float
    high: float


@dataclass(frozen=True)
class Speed:
    """How many times faster one solver is than another: the geometric mean over `problems` problems.

    `known` is False where the ratio is within what the times of either vary by.
    """

    faster: str
    slower: str
    ratio: float
    problems: int
    known: bool


def unsteady_times(records: Records) -> list[Unsteady]:
    """The short solves whose times cannot be relied on, the worst first.

    Compared are repeats of one cell and, on a problem with the same data for every seed, its seeds. Of six
    times or more it is the 95% interval of their median that must be narrow, of fewer their range.
    """
    found = []
    for (problem, solver), samples in _samples(records).items():
        spreads = [_spread(sample) for sample in samples if median(sample) < _SHORT]
        low, high = max(spreads, key=lambda ends: ends[1] / ends[0], default=(1.0, 1.0))
        if high >= _UNSTEADY * low:
            found.append(Unsteady(problem, solver, low, high))
    return sorted(found, key=lambda times: times.low / times.high)


def speeds(records: Records, solvers: Sequence[str]) -> list[Speed]:
    """The fastest of these solvers against each other one, the next fastest first.

    A ratio is of medians over seeds, on the problems that all of these solvers succeeded on; empty without
    such a problem.
    """
    table = loss_table(records, "time")
    runs = {p: {s: found[s] for s in solvers if s in found} for p, found in table.items()}
    times = {p: medians(found) for p, found in runs.items() if len(found) == len(solvers)}
    times = {
        p: found for p, found in times.items() if found and all(0 < t < math.inf for t in found.values())
    }
    if not times or len(solvers) < 2:
        return []
    means = {s: math.fsum(math.log(found[s]) for found in times.values()) / len(times) for s in solvers}
    first, *others = sorted(solvers, key=lambda solver: means[solver])
    spreads = time_spreads(records)
    varying = {s: max(spreads[p, s] for p in times) for s in solvers}
    return [
        Speed(first, other, ratio, len(times), ratio > max(_ALIKE, varying[first], varying[other]))
        for other in others
        for ratio in [math.exp(means[other] - means[first])]
    ]


def time_spreads(records: Records) -> dict[tuple[str, str], float]:
    """By problem and solver, by which factor repeated times of one solve differ; 1 without repeats."""
    return {
        pair: max(high / low for low, high in map(_spread, samples))
        for pair, samples in _samples(records).items()
    }


def _samples(records: Records) -> dict[tuple[str, str], list[list[float]]]:
    """Times of the same work, by problem and solver: repeats of a cell, and seeds of one data set."""
    found: dict[tuple[str, str], list[list[float]]] = {}
    for row, outcome in records.outcomes:
        times = _times(outcome)
        if not outcome.succeeded or not times:
            continue
        samples = found.setdefault((row.problem, row.solver), [])
        if row.problem in records.fixed and samples:
            samples[0] = list(dict.fromkeys((*samples[0], *times)))  # a seed may share another's run
        else:
            samples.append(times)
    return found


def _times(outcome: Outcome) -> list[float]:
    return [time for time in (outcome.times or (outcome.time,)) if 0 < time < math.inf]


def _spread(times: Sequence[float]) -> tuple[float, float]:
    return order_statistic_interval(times) or (min(times), max(times))
