"""Several stored comparisons on one page: what each says, and what differs problem by problem."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from optiframe.comparison.records import Records
from optiframe.comparison.stats.intervals import Interval
from optiframe.comparison.stats.loss_table import directions, metric_tie
from optiframe.comparison.stats.no_ranking_reason import ranking_measures
from optiframe.comparison.stats.summary import Summary, summarize
from optiframe.comparison.stats.timings import time_spreads
from optiframe.comparison.units import joined
from optiframe.numbers import DASH
from optiframe.report.plain import Section, plain_page
from optiframe.report.quality import by_solver
from optiframe.report.redact import redact
from optiframe.report.tables import Table, Value, interval_value, solver_value, trimmed
from optiframe.report.verdict import verdict

_TOLD = 1.1  # a time that changed by less is not remarked on


def side_by_side(comparisons: Mapping[str, Records]) -> str:
    """The page of two or more comparisons, by the names to show, as text.

    Of the changes from the first to the last, those of values stand out where they exceed the tolerance and
    the intervals do not overlap; those of times where they exceed a tenth and what repeated times vary by.
    """
    shared = _with_common_best(comparisons)
    names = list(shared)
    problems = list(dict.fromkeys(p for records in shared.values() for p in records.problems))
    solvers = list(dict.fromkeys(s for records in shared.values() for s in records.solvers))
    summaries = {
        name: {(s.problem, s.solver): s for s in summarize(records)} for name, records in shared.items()
    }
    sections = [_said(shared)]
    for problem in problems:
        having = [name for name in names if problem in shared[name].problems]
        sections.append(_of_problem(problem, having, shared, summaries, solvers))
    sections.append(_environment(shared))
    lead = [_scope(shared, problems)]
    return plain_page(joined(names), "Comparisons side by side", lead, sections, solvers=solvers)


def _scope(shared: Mapping[str, Records], problems: Sequence[str]) -> str:
    common = [p for p in problems if all(p in records.problems for records in shared.values())]
    if not common:
        return "These comparisons have no problem in common (problems are matched by their titles)."
    which = "the problem" if len(common) == 1 else f"{len(common)} problems:"
    return f"In common: {which} {joined(common)}."


def _with_common_best(comparisons: Mapping[str, Records]) -> dict[str, Records]:
    """Gaps count from the best objective that any of the comparisons knows."""
    best: dict[str, float] = {}
    for records in comparisons.values():
        for solved, objective in records.best.items():
            best[solved] = min(objective, best.get(solved, math.inf))
    return {name: replace(records, best=best) for name, records in comparisons.items()}


def _said(shared: Mapping[str, Records]) -> Section:
    notes = []
    for name, records in shared.items():
        opening = verdict(records).opening
        notes.append(f"{name}: {' '.join(dict.fromkeys((opening[0], opening[-1])))}")
    return Section("What each of them says", notes)


def _of_problem(
    problem: str,
    having: Sequence[str],
    shared: Mapping[str, Records],
    summaries: Mapping[str, Mapping[tuple[str, str], Summary]],
    solvers: Sequence[str],
) -> Section:
    measure = next((m for name in having for m in _measures(shared[name], problem)), "time")
    columns, rows = ["solver"], []
    for what in dict.fromkeys((measure, "time")):
        columns += [f"{what}: {name}" for name in having]
        if len(having) > 1:
            columns.append(f"change of {what}")
    spreads = {name: time_spreads(shared[name]) for name in having}
    lower = directions(shared[having[0]]).get(measure) != "higher"
    for solver in solvers:
        found = [summaries[name].get((problem, solver)) for name in having]
        if not any(found):
            continue
        row = [solver_value(solver)]
        for what in dict.fromkeys((measure, "time")):
            values = [s.measures.get(what) if s else None for s in found]
            row += [interval_value(value, what) for value in values]
            if len(having) > 1:
                if what == "time":
                    noise = max(spreads[name].get((problem, solver), 1.0) for name in having)
                    row.append(_time_change(values[0], values[-1], max(noise, _TOLD)))
                else:
                    row.append(_change(values[0], values[-1], what, lower, shared[having[0]].tolerance))
        rows.append(row)
    caption = f"Medians over seeds on {problem}, by {measure} and time"
    table = Table(problem, f"{caption}.", columns, rows, 1, frozenset(range(1, len(columns))))
    drawings = []
    for name in having:
        made = by_solver(shared[name], list(summaries[name].values()), problem, measure)
        if made is not None:
            file = f"{made.name}-{name}"
            drawings.append(replace(made, caption=f"{made.caption}: {name}", name=file))
    notes = []
    if len(having) > 1 and not _same_data(problem, having, shared):
        notes.append(
            "The answers belong to different problems actually solved: data or formulation differ, so that "
            "values do not compare."
        )
    return Section(problem, notes, drawings, [trimmed(table)])


def _measures(records: Records, problem: str) -> list[str]:
    having = {name for row, o in records.outcomes if row.problem == problem for name in o.metrics}
    return [m for m in ranking_measures(records) if m in having or m == "suboptimality"]


def _change(first: Interval | None, last: Interval | None, what: str, lower: bool, tolerance: float) -> Value:
    """What changed from the first to the last, in a good or a bad tone where it is more than noise."""
    if first is None or last is None or not (math.isfinite(first.median) and math.isfinite(last.median)):
        return Value(DASH)
    one, other = first.median, last.median
    size = 1.0 if what == "suboptimality" else max(abs(one), abs(other))
    if abs(other - one) <= metric_tie(size, tolerance):
        return Value("same", sort=0.0)
    better = (other < one) == lower
    tone = "" if _overlap(first, last) else "good" if better else "bad"
    return Value(f"{other - one:+.3g}", sort=other - one, tone=tone)


def _time_change(first: Interval | None, last: Interval | None, noise: float) -> Value:
    """The last time as a multiple of the first, in a tone where that is beyond what times vary by."""
    if first is None or last is None or not (0 < first.median < math.inf and 0 < last.median < math.inf):
        return Value(DASH)
    ratio = last.median / first.median
    words = f"\u00d7 {ratio:.2g}" if ratio < 10 else f"\u00d7 {ratio:.0f}"
    beyond = max(ratio, 1 / ratio) > noise and not _overlap(first, last)
    return Value(words, sort=ratio, tone=("good" if ratio < 1 else "bad") if beyond else "")


def _overlap(first: Interval, last: Interval) -> bool:
    """Whether the intervals meet; where one is not known they do not."""
    return first.low <= last.high and last.low <= first.high


def _same_data(problem: str, having: Sequence[str], shared: Mapping[str, Records]) -> bool:
    prints = [
        {o.solved for row, o in shared[name].outcomes if row.problem == problem and o.solved}
        for name in having
    ]
    return not all(prints) or bool(set.intersection(*prints))


def _environment(shared: Mapping[str, Records]) -> Section:
    """Facts about the machine and versions that differ."""
    facts = {name: _facts(records) for name, records in shared.items()}
    keys = dict.fromkeys(key for found in facts.values() for key in found)
    rows = [
        [Value(key), *(Value(facts[name].get(key, DASH)) for name in shared)]
        for key in keys
        if len({facts[name].get(key, DASH) for name in shared}) > 1
    ]
    if not rows:
        return Section("Environment", ["Machine and versions are the same."])
    return Section("Environment", [], [], [Table("Environment", "What differs.", ["", *shared], rows)])


def _facts(records: Records) -> dict[str, str]:
    found = {"started": records.started[:16].replace("T", " ")}
    for name in ("python", "platform", "cpu", "cores"):
        if name in records.environment:
            found[name] = redact(str(records.environment[name]))
    versions: dict[str, set[str]] = {}
    for _, outcome in records.outcomes:
        for name, version in outcome.versions.items():
            versions.setdefault(name, set()).add(version)
    return found | {name: "; ".join(sorted(seen)) for name, seen in versions.items()}
