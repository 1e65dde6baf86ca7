"""A folder of stored comparisons as a static site: an index, a page a comparison, a page a solver."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from optiframe.comparison.records import Records, Row
from optiframe.comparison.stats.loss_table import measures
from optiframe.comparison.stats.summary import Summary, summarize
from optiframe.comparison.store.export import export
from optiframe.comparison.store.failures import StoreFailed
from optiframe.comparison.store.schema import FILE
from optiframe.comparison.store.store import Store
from optiframe.comparison.units import joined
from optiframe.errors import InvalidInput, require
from optiframe.numbers import counted
from optiframe.report.again import rerun_line
from optiframe.report.history import Moment, history
from optiframe.report.page import page
from optiframe.report.plain import Section, plain_page
from optiframe.report.tables import Table, Value, interval_value
from optiframe.report.verdict import verdict
from optiframe.report.writing import stem, write_bytes

_MARK = '<meta name="generator" content="optiframe">'  # in an index of ours, which may be replaced
_PLOTLY = "plotly.js"


@dataclass(frozen=True)
class Stored:
    """One store: its address in the site, and what each of its plans did, the latest at the end."""

    folder: Path
    address: str
    title: str
    history: list[Records]

    @property
    def latest(self) -> Records:
        """What the page of this comparison shows."""
        return self.history[-1]


def stored_comparisons(root: Path, skipped: Callable[[str], None]) -> list[Stored]:
    """Every comparison in the folder and below it, the one started last first.

    A store that cannot be read is reported to `skipped` and left out.

    Raises
    ------
    InvalidInput
        When there is no comparison that can be read.
    """
    folders = sorted(path.parent for path in root.rglob(FILE))
    found: list[Stored] = []
    for folder in folders:
        # Not shorter, even where that is clear: an address must hold when other comparisons come.
        name = folder.relative_to(root).as_posix() if folder != root else root.absolute().name
        try:
            with Store(folder, create=False) as store:
                records = store.history()
        except (InvalidInput, StoreFailed) as error:
            skipped(f"{folder} is left out: {error}")
            continue
        found.append(Stored(folder, _address(name, [one.address for one in found]), name, records))
    if not found:
        raise InvalidInput(
            f"{root} holds no comparison that can be read; run optiframe compare first, or give the folder "
            "that its results are in"
        )
    return sorted(found, key=lambda one: one.latest.started, reverse=True)


def write_site(stored: Sequence[Stored], folder: Path, title: str) -> list[Path]:
    """Write the site of these comparisons; gives the files written, the index first.

    Addresses depend on names alone, so that links from elsewhere hold when the site is written again:
    ``comparisons/<folder>/`` and ``solvers/<name>/``. Pages of what is no longer stored are removed.

    Raises
    ------
    MissingPackage
        Without Plotly or Jinja.
    InvalidInput
        When a file cannot be written, or the folder's index is of another program.
    """
    index = folder / "index.html"
    if index.exists() and _MARK not in index.read_text("utf-8", errors="replace"):
        raise InvalidInput(f"{index} was written by another program; choose another folder with --output")
    offline = require("plotly.offline", "report")
    solvers = _solvers(stored)
    pages = {index: _index(stored, solvers, title)}
    pages[folder / _PLOTLY] = offline.get_plotlyjs()
    for one in stored:
        place = folder / "comparisons" / one.address / "index.html"
        export(one.latest, cells=[place.parent / "cells.csv"], traces=[], force=True)
        pages[place] = page(
            one.latest,
            again=rerun_line(one.folder),
            shared=f"../../{_PLOTLY}",
            home="../../index.html",
            cells="cells.csv",
        )
    for name, address in solvers.items():
        pages[folder / "solvers" / address / "index.html"] = _solver_page(name, stored)
    written = [write_bytes(path, content.encode()) for path, content in pages.items()]
    _remove_others(folder, {path.parent for path in written})
    return written


def _remove_others(site: Path, kept: set[Path]) -> None:
    """Remove the pages of an earlier site that this one has not, and nothing that it did not write."""
    for index in site.glob("*/*/index.html"):
        place = index.parent
        if place.parent.name in ("comparisons", "solvers") and place not in kept:
            for name in ("index.html", "cells.csv"):
                (place / name).unlink(missing_ok=True)
            with suppress(OSError):  # somebody put something else there
                place.rmdir()


def _address(name: str, taken: Iterable[str]) -> str:
    """The part of an address that a name becomes, which no other has."""
    own, used = stem(name) or "comparison", set(taken)
    return next(found for n in range(len(used) + 1) if (found := f"{own}-{n + 1}" if n else own) not in used)


def _solvers(stored: Sequence[Stored]) -> dict[str, str]:
    """Registered names of solvers with their addresses; names keep their dots, which are safe in one."""
    names = sorted({row.solver_name for one in stored for records in one.history for row in records.rows})
    found: dict[str, str] = {}
    for name in names:
        parts = ".".join(stem(part) for part in name.split("."))
        free = bool(parts.strip(".")) and parts not in found.values()
        found[name] = parts if free else _address(name, found.values())
    return found


def _index(stored: Sequence[Stored], solvers: Mapping[str, str], title: str) -> str:
    rows = [
        [
            Value(one.title, link=f"comparisons/{quote(one.address)}/index.html"),
            _lead(one.latest),
            Value(one.latest.started[:10], tone="whole"),
            Value(str(len(one.latest.problems)), sort=len(one.latest.problems)),
            Value(str(len(one.latest.solvers)), sort=len(one.latest.solvers)),
            Value(str(len(one.latest.rows)), sort=len(one.latest.rows)),
        ]
        for one in stored
    ]
    columns = ["comparison", "what it says", "started", "problems", "solvers", "runs"]
    comparisons = Table("Comparisons", "The latest first.", columns, rows, 1, frozenset({3, 4, 5}))
    lines = []
    for name, own in solvers.items():
        having = [one for one in stored if any(row.solver_name == name for row in one.latest.rows)]
        rows_of = [row for one in having for row in one.latest.rows]
        problems = {row.problem for row in rows_of if row.solver_name == name}
        lines.append(
            [
                Value(name, link=f"solvers/{quote(own)}/index.html"),
                Value(str(len(having)), sort=len(having)),
                Value(str(len(problems)), sort=len(problems)),
            ]
        )
    heads = ["solver", "comparisons", "problems"]
    table = Table("Solvers", "Each with its results everywhere.", heads, lines, 1, frozenset({1, 2}))
    lead = [f"{counted(len(stored), 'comparison')} of {counted(len(solvers), 'solver')}."]
    sections = [Section("Comparisons", tables=[comparisons]), Section("Solvers", tables=[table])]
    return plain_page(title, "Benchmark", lead, sections)


def _lead(records: Records) -> Value:
    """The first sentence of what the page says."""
    first, *_ = verdict(records).opening[0].partition(". ")
    return Value(first if first.endswith(".") else f"{first}.", tone="lead")


def _solver_page(name: str, stored: Sequence[Stored]) -> str:
    """Everything that one solver did, problem by problem, and how it changed over time."""
    moments = [moment for one in stored for records in one.history for moment in _moments(name, one, records)]
    moments.sort(key=lambda moment: moment.started)
    problems: list[list[Moment]] = []
    for moment in moments:
        group = next((found for found in problems if any(map(moment.continues, found))), None)
        if group is None:
            problems.append([moment])
        else:
            group.append(moment)
    sections = []
    for group in sorted(problems, key=lambda found: found[-1].started, reverse=True):
        measure = next((m.measure for m in reversed(group) if m.measure != "time"), "time")
        drawings = history(group, measure)
        sections.append(Section(group[0].problem, drawings=drawings, tables=[_results(group, measure)]))
    ran = {m.address for m in moments}
    where = counted(len(ran), "comparison")
    lead = [f"{name} took part in {where}, on {counted(len(problems), 'problem')}."]
    versions = list(dict.fromkeys(m.version for m in moments if m.version))
    if len(versions) > 1:
        lead.append(f"Versions, the first one first: {joined(versions)}.")
    return plain_page(name, "Solver", lead, sections, home="../../index.html")


def _moments(name: str, one: Stored, records: Records) -> list[Moment]:
    titles = {row.solver for row in records.rows if row.solver_name == name}
    known = measures(records)
    ours = [s for s in summarize(records) if s.solver in titles]
    found = []
    for s in ours:
        measure = next((m for m in known if m in s.measures), "time")
        rows = [row for row in records.rows if (row.problem, row.solver) == (s.problem, s.solver)]
        found.append(
            Moment(
                comparison=one.title,
                address=one.address,
                problem=s.problem,
                solver=s.solver,
                started=records.started,
                version=_version(rows),
                measure=measure,
                summary=s,
                solved=frozenset(row.outcome.solved for row in rows if row.outcome and row.outcome.solved),
            )
        )
    return found


def _version(rows: Sequence[Row]) -> str:
    """Versions of what did the work, as the last run saw them; Python's aside."""
    found = [row.outcome.versions for row in rows if row.outcome is not None and row.outcome.versions]
    if not found:
        return ""
    return ", ".join(f"{name} {version}" for name, version in found[-1].items() if name != "python")


def _results(moments: Sequence[Moment], measure: str) -> Table:
    rows = [
        [
            Value(m.started[:16].replace("T", " "), tone="whole"),
            Value(m.comparison, link=f"../../comparisons/{quote(m.address)}/index.html"),
            Value(m.solver),
            interval_value(m.summary.measures.get(measure), measure),
            *([] if measure == "time" else [interval_value(m.summary.measures.get("time"), "time")]),
            _failures(m.summary),
            Value(m.version),
        ]
        for m in reversed(moments)
    ]
    columns = ["started", "comparison", "solver", *dict.fromkeys((measure, "time")), "failures", "versions"]
    numeric = frozenset(range(3, len(columns) - 1))
    return Table(moments[0].problem, "Medians over seeds, the latest first.", columns, rows, 3, numeric)


def _failures(summary: Summary) -> Value:
    if not summary.runs:
        return Value("unsuited", summary.reason, math.nan)
    tone = "bad" if summary.failures else ""
    return Value(f"{summary.failures} of {summary.runs}", "", summary.failures, tone=tone)
