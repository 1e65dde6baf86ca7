"""How a solver's value and time changed from one run of a comparison to the next."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from optiframe.comparison.stats.summary import Summary
from optiframe.report.drawing import (
    LINE,
    WIDTH,
    Drawing,
    drawn,
    left_axis,
    legend,
    line,
    mark,
    of_solver,
    scale_of,
    text,
)
from optiframe.report.looks import looks
from optiframe.report.writing import csv_text, stem

_LEFT, _BOTTOM, _TOP = 58.0, 190.0, 34.0
_DATES = 6  # written below the axis; more would touch each other


@dataclass(frozen=True)
class Moment:
    """What one solver did on one problem in one run of a comparison, by the measure that ranks there.

    `solved` are the fingerprints of what it solved: runs that have one in common are of the same data.
    """

    comparison: str
    address: str
    problem: str
    solver: str
    started: str
    version: str
    measure: str
    summary: Summary
    solved: frozenset[str]

    def continues(self, other: Moment) -> bool:
        """Whether both are of the same problem with the same data."""
        if self.solved or other.solved:
            same = not self.solved.isdisjoint(other.solved)
        else:
            same = self.address == other.address
        return same and self.problem == other.problem


def history(moments: Sequence[Moment], measure: str) -> list[Drawing]:
    """A measure and the time against the date of the run, oldest first; empty for a single run."""
    if len({m.started for m in moments}) < 2:
        return []
    wanted = dict.fromkeys((measure, "time"))
    return [drawing for name in wanted if (drawing := _drawing(moments, name))]


def _drawing(moments: Sequence[Moment], measure: str) -> Drawing | None:
    known = [m for m in moments if math.isfinite(_ends(m, measure)[0])]
    if not known:
        return None
    dates = sorted({m.started for m in moments})
    place = {date: _LEFT + 14 + (WIDTH - _LEFT - 28) * n / (len(dates) - 1) for n, date in enumerate(dates)}
    y = scale_of((v for m in known for v in _ends(m, measure)), _BOTTOM, _TOP)
    solvers = list(dict.fromkeys(m.solver for m in known))
    seen = looks(solvers)
    label = "time (s)" if measure == "time" else measure
    parts = left_axis(y, _LEFT, WIDTH, label)
    parts.append(line(_LEFT, _BOTTOM, WIDTH, _BOTTOM, 'stroke="currentColor" stroke-opacity=".5"'))
    same_day = len({_day(date, "%d %b %y") for date in dates}) < len(dates)
    for date in dates[:: math.ceil(len(dates) / (_DATES - same_day))]:
        anchor = "end" if date == dates[-1] else "middle"
        words = _day(date, "%d %b, %H:%M" if same_day else "%d %b %y")
        at = WIDTH if anchor == "end" else place[date]
        parts.append(text(at, _BOTTOM + LINE, words, f'text-anchor="{anchor}" opacity=".8"'))
    for number, solver in enumerate(solvers):
        own = [m for m in known if m.solver == solver]
        points = [(place[m.started], y(_ends(m, measure)[0])) for m in own]
        path = "L".join(f"{a:.1f},{b:.1f}" for a, b in points)
        marks = [f'<path d="M{path}" fill="none" stroke="currentColor" stroke-width="1.6"/>']
        for m, (a, b) in zip(own, points, strict=True):
            _, low, high = _ends(m, measure)
            if math.isfinite(low) and math.isfinite(high):
                marks.append(line(a, y(low), a, y(high), 'stroke="currentColor" stroke-opacity=".55"'))
            marks.append(mark(a, b, seen[solver]))
        parts.append(of_solver(number, seen[solver], marks, solver))
    named, end = legend([(n, s, seen[s]) for n, s in enumerate(solvers)], _BOTTOM + 2.6 * LINE)
    problem = moments[0].problem
    caption = f"{measure[:1].upper()}{measure[1:]} by date of the run"
    rows = [[m.started, m.solver, m.problem, *_ends(m, measure), m.version] for m in known]
    columns = ["started", "solver", "problem", measure, f"{measure}_low", f"{measure}_high", "versions"]
    return Drawing(
        f"{stem(measure)}-by-date-{stem(problem)}",
        caption,
        drawn([*parts, *named], end, f"{caption} on {problem}; the table gives the figures"),
        csv_text(columns, rows),
    )


def _ends(moment: Moment, measure: str) -> tuple[float, float, float]:
    found = moment.summary.measures.get(measure)
    return (found.median, found.low, found.high) if found else (math.nan, math.nan, math.nan)


def _day(started: str, form: str) -> str:
    try:
        return datetime.fromisoformat(started).strftime(form)
    except ValueError:
        return started[:10]
