"""A comparison in a terminal: one line a problem and solver, and why what failed did."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from optiframe.comparison.records import Direction, Records, Row
from optiframe.comparison.stats.digits import digits_apart
from optiframe.comparison.stats.no_ranking_reason import no_metrics_reason, no_ranking_reason
from optiframe.comparison.store.tracebacks import traceback_file
from optiframe.comparison.units import wrapped
from optiframe.solving.result import FEASIBLE, Status

_TITLES = 0.5  # share of the terminal's width that problems and solvers may take together
_LONG = 160  # characters of a reason; the whole of it is in the store
_STYLES = {  # of the others: red
    Status.CONVERGED: "green",
    Status.FINISHED: "green",
    Status.ITERATION_LIMIT: "yellow",
    Status.TIME_LIMIT: "yellow",
    Status.EVALUATION_LIMIT: "yellow",
    Status.STALLED: "yellow",
    Status.UNSUITED: "dim",
    Status.CANCELLED: "dim",
}


def style_of(status: Status) -> str:
    """The colour of a status in a terminal."""
    return _STYLES.get(status, "red")


def print_table(records: Records, console: Console) -> None:
    """Print the outcomes of a comparison, problem by problem.

    Shown are medians over the cells with an answer: the time inside the solver, and the metric whose
    direction is given first or, without one, the objective. The best of a problem is bold, among
    solvers all of whose answers are feasible.
    Objectives only compare within one formulation: where solvers solved different ones no
    objective is bold, and a note says so.
    """
    cells: dict[tuple[str, str], list[Row]] = {}
    for row in records.rows:
        cells.setdefault((row.problem, row.solver), []).append(row)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    if why := no_ranking_reason(records):
        console.print(Text(why))
    widths = _widths(records.problems, records.solvers, console.width)
    for title, width in zip(("problem", "solver")[-len(widths) :], widths, strict=True):
        table.add_column(title, width=width)
    table.add_column("runs", overflow="fold", min_width=9)  # the longest word of a status
    table.add_column("time", justify="right", no_wrap=True)
    measured = any(
        math.isfinite(_median(rows, _measure(_of(problem, cells), records)[0]))
        for problem in records.problems
        for rows in _of(problem, cells).values()
    )
    if measured:  # a column of nothing would look like a fault
        table.add_column("result", justify="right")
    for problem in records.problems:
        _add_problem(table, problem, _of(problem, cells), records, (widths, measured))
    console.print(table)
    for sentence in (*_reasons(records.rows), *_notes(records, cells)):
        console.print(sentence)


def _widths(problems: Sequence[str], solvers: Sequence[str], console: int) -> list[int]:
    """Widths of problems and solvers that keep words whole, such as a value and its bracket.

    Where there is no room for both, one: problems then stand in lines of their own above their solvers.
    """
    widths = []
    for titles in (problems, solvers):
        word = max((len(word) for title in titles for word in title.split()), default=0)
        longest = max(map(len, titles), default=0)
        widths.append(max(1, min(longest, max(word, console // 4))))
    return widths if sum(widths) <= _TITLES * console else [max(8, min(max(widths), console // 2 - 4))]


def _of(problem: str, cells: dict[tuple[str, str], list[Row]]) -> dict[str, list[Row]]:
    """The cells of one problem by solver."""
    return {solver: rows for (title, solver), rows in cells.items() if title == problem}


def _add_problem(
    table: Table,
    problem: str,
    group: dict[str, list[Row]],
    records: Records,
    layout: tuple[Sequence[int], bool],
) -> None:
    widths, measured = layout
    measure, direction = _measure(group, records)
    values = {solver: _median(rows, measure) for solver, rows in group.items()}
    known = [value for value in values.values() if math.isfinite(value)]
    feasible = {solver: values[solver] for solver, rows in group.items() if not _outside(rows)}
    ranked = [value for value in feasible.values() if math.isfinite(value)]
    comparable = measure != "objective" or len(_solved(group)) <= 1
    best = (max if direction == "higher" else min)(ranked) if len(ranked) > 1 and comparable else None
    digits = digits_apart(known, tolerance=records.tolerance) if measure != "objective" else 3
    # Text: a title may hold what rich takes for markup.
    heading = Text("\n".join(wrapped(problem, widths[0])))
    if len(widths) == 1:
        table.add_row(heading, style="bold")
    for number, (solver, rows) in enumerate(group.items()):
        value = values[solver]
        result = Text("" if math.isnan(value) else f"{measure} {_number(value, digits)}")
        if best is not None and solver in feasible and math.isclose(value, best, rel_tol=1e-6, abs_tol=1e-12):
            result.stylize("bold")
        table.add_row(
            *([heading if number == 0 else Text("")] if len(widths) > 1 else []),
            Text("\n".join(wrapped(solver, widths[-1]))),
            _statuses(rows),
            _seconds(_median(rows, "time")),
            *([result] if measured else []),
            end_section=number == len(group) - 1,
        )


def _measure(group: dict[str, list[Row]], records: Records) -> tuple[str, Direction]:
    """What the results of a problem are shown by, and which direction is better."""
    outcomes = [row.outcome for rows in group.values() for row in rows if row.outcome is not None]
    for outcome in outcomes:  # in the order of the directions, as the page has them
        for name, direction in {**outcome.better, **records.better}.items():
            if name in outcome.metrics:
                return name, direction
    if not any(math.isfinite(outcome.objective) for outcome in outcomes):
        for outcome in outcomes:
            for name in outcome.metrics:
                return name, "lower"
    return "objective", "lower"


def _solved(group: dict[str, list[Row]]) -> set[str]:
    """Fingerprints of what was solved, apart from what a seed changes."""
    by_seed: dict[int, set[str]] = {}
    for rows in group.values():
        for row in rows:
            if row.outcome is not None and row.outcome.answered and row.outcome.solved:
                by_seed.setdefault(row.seed, set()).add(row.outcome.solved)
    return max(by_seed.values(), key=len, default=set())


def _median(rows: Sequence[Row], measure: str) -> float:
    values = []
    for row in rows:
        if row.outcome is not None and row.outcome.answered:
            outcome = row.outcome
            own = {"time": outcome.time, "objective": outcome.objective}
            values.append(own.get(measure, outcome.metrics.get(measure, math.nan)))
    values = [value for value in values if not math.isnan(value)]
    return statistics.median(values) if values else math.nan


def _statuses(rows: Sequence[Row]) -> Text:
    counts = Counter("not run" if row.outcome is None else row.outcome.status for row in rows)
    parts: list[Text] = []
    for status, count in counts.items():
        style = style_of(Status(status)) if status != "not run" else "dim"
        words = str(status).replace("_", " ")
        parts.append(Text(words if len(rows) == 1 else f"{count} {words}", style=style))
    return Text(", ").join(parts)


def _reasons(rows: Sequence[Row]) -> list[Text]:
    """A line for each problem, solver and reason that there is no answer, with the seeds it befell."""
    reasons: dict[tuple[str, str, Status, str], list[Row]] = {}
    for row in rows:
        outcome = row.outcome
        if outcome is not None and not outcome.answered:
            message = " ".join(outcome.message.split()) or outcome.status.meaning
            reasons.setdefault((row.problem, row.solver, outcome.status, message), []).append(row)
    lines = []
    for (problem, solver, status, message), befallen in reasons.items():
        seeds = [row.seed for row in befallen]
        files = [traceback_file(row.key) for row in befallen if row.outcome and row.outcome.traceback]
        where = f" (traceback: {files[0]})" if files else ""
        said = message if len(message) <= _LONG else f"{message[: _LONG - 3]}..."
        style = style_of(status)
        many = f" (seeds {', '.join(map(str, seeds))})" if len(seeds) > 1 else f" (seed {seeds[0]})"
        seeds_said = "" if status is Status.UNSUITED else many
        words = Text(str(status).replace("_", " "), style=style)
        lines.append(Text.assemble(words, f": {solver} on {problem}{seeds_said}: {said}{where}"))
    return lines


def _notes(records: Records, cells: dict[tuple[str, str], list[Row]]) -> list[Text]:
    notes = []
    if why := no_metrics_reason(records):
        notes.append(Text.assemble(("note", "dim"), f": {why}"))
    for problem in records.problems:
        group = _of(problem, cells)
        if _measure(group, records)[0] == "objective" and len(_solved(group)) > 1:
            text = f"{problem}: the objectives are of different formulations and do not compare"
            notes.append(Text.assemble(("note", "dim"), f": {text}"))
    outside = [f"{row.solver} on {row.problem} (seed {row.seed})" for row in _outside(records.rows)]
    if outside:
        text = f": outside the constraints by more than {FEASIBLE:g}: {', '.join(outside[:5])}"
        more = f" and {len(outside) - 5} more" if len(outside) > 5 else ""
        notes.append(Text.assemble(("warning", "yellow"), f"{text}{more}"))
    return notes


def _outside(rows: Sequence[Row]) -> list[Row]:
    """Those with an answer that violates the constraints."""
    return [row for row in rows if row.outcome and row.outcome.answered and row.outcome.violation > FEASIBLE]


def _number(value: float, digits: int = 3) -> str:
    """Four decimals, or more where values that differ would else read the same."""
    if 1e-3 <= abs(value) < 1e4 or value == 0:
        decimals = digits - 1 - math.floor(math.log10(abs(value))) if value and digits > 3 else 4
        return f"{value:.{max(4, decimals)}f}"
    return f"{value:.{max(4, digits)}g}"


def _seconds(value: float) -> str:
    if math.isnan(value):
        return ""
    return f"{value:.3g} s" if value >= 1 else f"{value * 1e3:.3g} ms"
