"""The tables of the page, as plain rows: what each cell shows and what it is sorted by."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from statistics import median

from optiframe.comparison.records import Records
from optiframe.comparison.stats import profiles, ranking
from optiframe.comparison.stats.digits import digits_apart
from optiframe.comparison.stats.intervals import Interval
from optiframe.comparison.stats.loss_table import directions
from optiframe.comparison.stats.pair_tests import PairVerdict
from optiframe.comparison.stats.paired_samples import unit as unit_of
from optiframe.comparison.stats.summary import Summary
from optiframe.numbers import DASH, counted, number, seconds, size

_UNITS: dict[str, Callable[[float], str]] = {"time": seconds, "memory": size}
_SUMMARY = ("time", "iterations", "suboptimality", "objective", "memory")
_NAMES = {"memory": "peak memory"}


@dataclass(frozen=True)
class Value:
    """What one cell of a table shows; `detail` is smaller, `sort` orders numbers, `link` is an address."""

    text: str
    detail: str = ""
    sort: float | None = None
    solver: str = ""
    tone: str = ""
    link: str = ""


@dataclass(frozen=True)
class Table:
    """A table with a caption; the first `heads` columns name the row, `numeric` ones are numbers."""

    name: str
    caption: str
    columns: list[str]
    rows: list[list[Value]]
    heads: int = 1
    numeric: frozenset[int] = field(default_factory=frozenset)


def trimmed(table: Table, optional: Sequence[str] = ()) -> Table:
    """The table without columns that hold nothing: only dashes, or only zeros in an optional one."""
    kept = [
        place
        for place, column in enumerate(table.columns)
        if place < table.heads
        or not table.rows
        or any(
            row[place].text != DASH and not (column in optional and row[place].text == "0")
            for row in table.rows
        )
    ]
    return replace(
        table,
        columns=[table.columns[place] for place in kept],
        rows=[[row[place] for place in kept] for row in table.rows],
        numeric=frozenset(new for new, place in enumerate(kept) if place in table.numeric),
    )


def solver_value(title: str) -> Value:
    """A solver's name with its colour and marker."""
    return Value(title, solver=title)


def _number(value: float, show: Callable[[float], str] = number, detail: str = "") -> Value:
    return Value(show(value), detail, None if math.isnan(value) else value)


def _interval(interval: Interval | None, show: Callable[[float], str] = number) -> Value:
    if interval is None or math.isnan(interval.median):
        return Value(DASH)
    low, high = show(interval.low), show(interval.high)
    known = not (math.isnan(interval.low) or math.isnan(interval.high)) and low != high
    return _number(interval.median, show, f"{low} to {high}" if known else "")


def interval_value(interval: Interval | None, measure: str) -> Value:
    """A median with its interval, in the unit of its measure."""
    return _interval(interval, _UNITS.get(measure, number))


def _statuses(summary: Summary) -> Value:
    parts = [
        f"{count}\u202f\u00d7\u202f{str(name).replace('_', ' ')}" for name, count in summary.statuses.items()
    ]
    words = ", ".join(parts) if len(parts) > 1 else str(next(iter(summary.statuses), DASH)).replace("_", " ")
    return Value(words, summary.reason, tone="bad" if summary.failures else "")


def summary(records: Records, summaries: Iterable[Summary]) -> Table:
    """One row for each problem and solver: how it ended, and the median of what every run has."""
    found = list(summaries)
    used = [name for name in _SUMMARY if any(_known(s, name) for s in found)]
    rows = [
        [
            Value(s.problem),
            solver_value(s.solver),
            _number(s.runs),
            _number(s.failures) if not s.failures else Value(str(s.failures), "", s.failures, tone="bad"),
            _statuses(s),
            *(_interval(s.measures.get(name), _UNITS.get(name, number)) for name in used),
        ]
        for s in found
    ]
    columns = ["problem", "solver", "runs", "failures", "status", *(_NAMES.get(n, n) for n in used)]
    spread = any(value.detail for row in rows for value in row[5:])
    caption = f"Medians over seeds{'; below each, its 95% bootstrap interval' if spread else ''}."
    table = Table("Summary", caption, columns, rows, 2, frozenset({2, 3, *range(5, len(columns))}))
    return trimmed(table, ["failures"])


def _known(summary: Summary, name: str) -> bool:
    interval = summary.measures.get(name)
    return interval is not None and not math.isnan(interval.median)


def metrics(records: Records, summaries: Iterable[Summary]) -> Table | None:
    """Each metric of each problem and solver, with the direction that is better."""
    found = list(summaries)
    names = list(dict.fromkeys(n for r in records.rows if r.outcome for n in r.outcome.metrics))
    kept = [s for s in found if any(_known(s, name) for name in names)]
    if not kept:
        return None
    better = directions(records)
    heads = [f"{name} ({better[name]} is better)" if name in better else name for name in names]
    digits = {
        (problem, name): digits_apart(
            (s.measures[name].median for s in kept if s.problem == problem and name in s.measures),
            tolerance=records.tolerance,
        )
        for problem in dict.fromkeys(s.problem for s in kept)
        for name in names
    }
    rows = [
        [
            Value(s.problem),
            solver_value(s.solver),
            *(_interval(s.measures.get(n), partial(number, significant=digits[s.problem, n])) for n in names),
        ]
        for s in kept
    ]
    spread = any(value.detail for row in rows for value in row[2:])
    caption = f"Scores of the answers: medians over seeds{' with 95% intervals' if spread else ''}."
    columns = ["problem", "solver", *heads]
    return trimmed(Table("Metrics", caption, columns, rows, 2, frozenset(range(2, len(columns)))))


def standings(records: Records, measure: str) -> Table:
    """The solvers in order of their mean rank."""
    found = ranking.standings(records, measure)
    rows = [
        [
            solver_value(s.solver),
            _number(s.mean_rank),
            _number(s.wins),
            _number(s.shared),
            _number(s.problems),
            _number(s.failures),
        ]
        for s in found
    ]
    columns = ["solver", "mean rank", "wins", "shared wins", "problems", "failures"]
    last = "; a failure ranks last" if any(s.failures for s in found) else ""
    caption = f"Ranks by {measure} on each problem (median over seeds), averaged{last}."
    table = Table("Standings", caption, columns, rows, 1, frozenset(range(1, 6)))
    return trimmed(table, ["wins", "shared wins", "failures"])


def pairs(measure: str, verdicts: Sequence[PairVerdict]) -> Table:
    """What can be said of each pair of solvers."""
    rows = [
        [
            Value(v.text, tone="good" if v.distinguishable else ""),
            _number(v.problems),
            _number(v.difference),
            _number(v.p),
            _number(v.p_corrected),
        ]
        for v in sorted(verdicts, key=lambda v: not v.distinguishable)
    ]
    unit = f"{unit_of(verdicts)}s"
    columns = ["verdict", unit, "median difference", "p", "p after correction"]
    caption = f"Paired over {unit}, by {measure}: Wilcoxon signed-rank tests with Holm's correction."
    return Table("Pair by pair", caption, columns, rows, 1, frozenset(range(1, 5)))


def time_to_target(records: Records) -> Table | None:
    """Seconds until the relative suboptimality is first within each gap: median, and how many got there."""
    reached = {gap: profiles.time_to_target(records, gap, cost="time") for gap in records.gaps}
    cells: dict[tuple[str, str], dict[float, list[float]]] = defaultdict(lambda: defaultdict(list))
    for place, row in enumerate(records.rows):
        if row.outcome is not None and row.outcome.suited:
            for gap, values in reached.items():
                cells[row.problem, row.solver][gap].append(values[place])
    kept = {
        pair: found
        for pair, found in cells.items()
        if not all(math.isnan(value) for values in found.values() for value in values)
    }
    if not any(math.isfinite(v) for found in kept.values() for values in found.values() for v in values):
        return None
    rows = [
        [Value(problem), solver_value(solver), *(_reached(found[gap]) for gap in records.gaps)]
        for (problem, solver), found in kept.items()
    ]
    columns = ["problem", "solver", *(f"gap {gap:g}" for gap in records.gaps)]
    all_there = all(math.isfinite(v) for found in kept.values() for values in found.values() for v in values)
    never = "" if all_there else "; a run that never gets there counts as ∞"
    caption = (
        f"Time until the relative suboptimality is within the gap: median over seeds{never}. "
        "Below, how many got there."
    )
    return Table("Time to target", caption, columns, rows, 2, frozenset(range(2, len(columns))))


def _reached(values: list[float]) -> Value:
    known = [math.inf if math.isnan(value) else value for value in values]
    there = sum(math.isfinite(value) for value in known)
    return _number(median(known), seconds, f"{there} of {counted(len(known), 'run')}")
