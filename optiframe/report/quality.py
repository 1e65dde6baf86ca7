"""How good the answers are: each solver's value with its interval, and that value against time."""

from __future__ import annotations

import math
from collections.abc import Sequence

from optiframe.comparison.records import Records
from optiframe.comparison.stats.digits import digits_apart
from optiframe.comparison.stats.intervals import Interval
from optiframe.comparison.stats.loss_table import directions, metric_tie
from optiframe.comparison.stats.summary import Summary
from optiframe.numbers import number, seconds
from optiframe.report.drawing import (
    LINE,
    WIDTH,
    Drawing,
    Scale,
    bottom_axis,
    drawn,
    left_axis,
    legend,
    line,
    mark,
    of_solver,
    scale_of,
    text,
    wrapped,
)
from optiframe.report.looks import looks
from optiframe.report.writing import csv_text, stem

_NAMES = 148.0  # units of a drawing's width for the names of solvers
_FAINT = 'stroke="currentColor" stroke-width="2" stroke-opacity=".55"'


def by_solver(records: Records, summaries: Sequence[Summary], problem: str, measure: str) -> Drawing | None:
    """Medians of one measure on one problem with their 95% intervals, the best first; None without any.

    A solver whose runs all failed comes last, with the number of failures; unsuited ones are left out.
    """
    rows = _ordered(records, summaries, problem, measure)
    if not rows:
        return None
    scale = _scale(records, [s.measures[measure] for s in rows if measure in s.measures], measure)
    place = {title: n for n, title in enumerate(records.solvers)}
    seen = looks(records.solvers)
    values = [s.measures[measure].median for s in rows if measure in s.measures]
    digits = digits_apart(values, tolerance=records.tolerance)
    parts, y, top = [], LINE, 6.0
    for summary in rows:
        lines = wrapped(summary.solver, _NAMES - 24)
        middle = y + (len(lines) - 1) * LINE / 2
        look, value = seen[summary.solver], summary.measures.get(measure)
        names = [
            text(20, y + 4 + n * LINE, words, 'fill="var(--of-ink, #1b1e24)"')
            for n, words in enumerate(lines)
        ]
        own = [mark(8, middle, look), *names]
        said = f"{summary.failures} of {summary.runs} failed" if summary.failures else ""
        if value is None or not math.isfinite(value.median):
            words = f"{said or 'no value'}"
            own.append(text(_NAMES + 8, middle + 4, words, 'fill="var(--of-ink, #1b1e24)" opacity=".8"'))
        else:
            if _known(value):
                own.append(line(scale(value.low), middle, scale(value.high), middle, _FAINT))
            own.append(mark(scale(value.median), middle, look))
            shown = _shown(records, value.median, measure, digits)
            if said:
                own.append(text(WIDTH, middle + 4 + LINE, said, 'text-anchor="end" fill="#b3261e"'))
                lines = [*lines, ""] if len(lines) < 2 else lines
            own.append(text(WIDTH, middle + 4, shown, 'text-anchor="end" fill="var(--of-ink, #1b1e24)"'))
        parts.append(of_solver(place[summary.solver], look, own, _told(summary, measure)))
        y += len(lines) * LINE + 9
    axis = bottom_axis(scale, y - 4, top, _label(records, measure))
    caption = f"{_capital(measure)} by solver"
    return Drawing(
        f"{stem(measure)}-by-solver-{stem(problem)}",
        caption,
        drawn([*axis, *parts], y + 2.6 * LINE, f"{caption} on {problem}; the tables give the figures"),
        _csv(rows, measure),
    )


def against_time(
    records: Records, summaries: Sequence[Summary], problem: str, measure: str
) -> Drawing | None:
    """One measure against the time inside the solver; solvers that none beats in both are joined and filled.

    None where fewer than two solvers have both.
    """
    rows = [s for s in _ordered(records, summaries, problem, measure) if _both(s, measure)]
    if len(rows) < 2:
        return None
    front = pareto_front(records, rows, measure)
    seen, place = looks(records.solvers), {title: n for n, title in enumerate(records.solvers)}
    left, bottom, top = 58.0, 270.0, 34.0
    ends = [
        v for s in rows for v in (s.measures["time"].low, s.measures["time"].median, s.measures["time"].high)
    ]
    x = scale_of(ends, left, WIDTH - 8, log=True)
    y = _scale(records, [s.measures[measure] for s in rows], measure, bottom, top)
    corners = sorted((x(s.measures["time"].median), y(s.measures[measure].median)) for s in front)
    steps = [f"M{corners[0][0]:.1f},{corners[0][1]:.1f}", *(f"H{a:.1f}V{b:.1f}" for a, b in corners[1:])]
    parts = [
        *bottom_axis(x, bottom, top, "time inside the solver (s)"),
        *left_axis(y, left, WIDTH - 8, _label(records, measure)),
        f'<path d="{"".join(steps)}" fill="none" stroke="currentColor" stroke-dasharray="5 4"/>',
    ]
    for summary in rows:
        time, value, look = summary.measures["time"], summary.measures[measure], seen[summary.solver]
        at = x(time.median), y(value.median)
        own = []
        if _known(time):
            own.append(line(x(time.low), at[1], x(time.high), at[1], _FAINT))
        if _known(value):
            own.append(line(at[0], y(value.low), at[0], y(value.high), _FAINT))
        own.append(mark(*at, look, hollow=summary not in front))
        parts.append(
            of_solver(place[summary.solver], look, own, f"{_told(summary, measure)}, {seconds(time.median)}")
        )
    entries = [(place[s.solver], s.solver, seen[s.solver]) for s in rows]
    named, end = legend(entries, bottom + 3.6 * LINE)
    caption = f"{_capital(measure)} against time"
    return Drawing(
        f"{stem(measure)}-against-time-{stem(problem)}",
        f"{caption} (filled: Pareto front)",
        drawn([*parts, *named], end, f"{caption} on {problem}; the tables give the figures"),
        _csv(rows, measure, [s in front for s in rows]),
    )


def pareto_front(records: Records, rows: Sequence[Summary], measure: str) -> list[Summary]:
    """Those that no other equals or beats in both value and time; ties of values as in ranks."""
    sign = _sign(records, measure)
    found: list[Summary] = []
    least = math.inf
    for summary in sorted(rows, key=lambda s: (s.measures["time"].median, sign * s.measures[measure].median)):
        loss = sign * summary.measures[measure].median
        if loss < least - _width(records, loss, measure):
            found.append(summary)
            least = loss
    return found


def _width(records: Records, loss: float, measure: str) -> float:
    return records.tolerance if measure == "suboptimality" else metric_tie(loss, records.tolerance)


def _sign(records: Records, measure: str) -> float:
    return -1.0 if directions(records).get(measure) == "higher" else 1.0


def _ordered(records: Records, summaries: Sequence[Summary], problem: str, measure: str) -> list[Summary]:
    rows = [s for s in summaries if s.problem == problem and s.runs]
    having = [s for s in rows if measure in s.measures and math.isfinite(s.measures[measure].median)]
    if not having or (measure == "suboptimality" and _all_tie(records, having)):
        return []
    # A majority vote has no objective: that is no failure, and it is left out.
    others = [s for s in rows if s not in having and s.failures]
    sign = _sign(records, measure)
    return [*sorted(having, key=lambda s: sign * s.measures[measure].median), *others]


def _all_tie(records: Records, rows: Sequence[Summary]) -> bool:
    return all(s.measures["suboptimality"].median <= records.tolerance for s in rows)


def _both(summary: Summary, measure: str) -> bool:
    found = [summary.measures.get(name) for name in (measure, "time")]
    known = all(value is not None and math.isfinite(value.median) for value in found)
    return known and summary.measures["time"].median > 0


def _scale(
    records: Records,
    values: Sequence[Interval],
    measure: str,
    start: float = _NAMES + 6,
    end: float = WIDTH - 64,
) -> Scale:
    ends = [v for value in values for v in (value.low, value.median, value.high)]
    if measure != "suboptimality":
        return scale_of(ends, start, end)
    # What the tolerance makes equal is drawn at its end: nobody is to read a difference out of it.
    least = max(records.tolerance, min((v for v in ends if v > 0), default=1e-16))
    return scale_of([max(v, least) for v in ends if math.isfinite(v)], start, end, log=True)


def _shown(records: Records, value: float, measure: str, digits: int = 3) -> str:
    """A value in words; gaps within the tolerance are equal, so that none of their digits is shown."""
    tied = measure == "suboptimality" and 0 < value <= records.tolerance
    return f"≤ {records.tolerance:.0e}".replace("e-0", "e-") if tied else number(value, digits)


def _known(value: Interval) -> bool:
    return math.isfinite(value.low) and math.isfinite(value.high) and value.low != value.high


def _told(summary: Summary, measure: str) -> str:
    value = summary.measures.get(measure)
    if value is None or not math.isfinite(value.median):
        return summary.solver
    interval = f" ({number(value.low)} to {number(value.high)})" if _known(value) else ""
    return f"{summary.solver}: {measure} {number(value.median)}{interval}"


def _label(records: Records, measure: str) -> str:
    better = directions(records).get(measure)
    return f"{measure} ({better} is better)" if better else measure


def _capital(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}"


def _csv(rows: Sequence[Summary], measure: str, front: Sequence[bool] | None = None) -> str:
    names = ["problem", "solver", "runs", "failures"]
    ends = [f"{name}{end}" for name in (measure, "time") for end in ("", "_low", "_high")]
    table: list[list[object]] = []
    for number_, s in enumerate(rows):
        found = [s.measures.get(name) for name in (measure, "time")]
        values = [v for i in found for v in ((i.median, i.low, i.high) if i else (math.nan,) * 3)]
        table.append([s.problem, s.solver, s.runs, s.failures, *values, *([front[number_]] if front else [])])
    return csv_text([*names, *ends, *(["pareto_front"] if front else [])], table)
