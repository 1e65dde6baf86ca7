"""A comparison as one HTML file that needs nothing else and asks the network for nothing."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from optiframe.comparison.records import Records
from optiframe.comparison.stats import loss_table, profiles
from optiframe.comparison.stats.loss_table import Failure, reason
from optiframe.comparison.stats.no_ranking_reason import no_metrics_reason, ranking_measures
from optiframe.comparison.stats.pair_tests import PairVerdict, overall
from optiframe.comparison.stats.paired_samples import one_data_set, pairs, too_few, unit
from optiframe.comparison.stats.summary import Summary, summarize
from optiframe.comparison.units import duration
from optiframe.errors import require
from optiframe.numbers import DASH, counted, size
from optiframe.report import charts, tables
from optiframe.report.document import Trusted, document, own_text
from optiframe.report.drawing import Drawing
from optiframe.report.looks import looks
from optiframe.report.quality import against_time, by_solver
from optiframe.report.redact import anonymous, redact
from optiframe.report.verdict import verdict
from optiframe.report.writing import write_bytes
from optiframe.solving.result import Status


def write_page(records: Records, path: str | Path, *, again: str = "") -> Path:
    """Write the page of a comparison; it opens from a file, without a network.

    Parameters
    ----------
    records
        The comparison.
    path
        The file to write; its folder is made.
    again
        The command line that repeats the comparison, to be shown.

    Raises
    ------
    MissingPackage
        Without Plotly or Jinja.
    InvalidInput
        When the file cannot be written.
    """
    return write_bytes(Path(path), page(records, again=again).encode())


def page(records: Records, *, again: str = "", shared: str = "", home: str = "", cells: str = "") -> str:
    """The page of a comparison as text; see `write_page`.

    As part of a site, `shared` is the address of Plotly's script, which is then not in the page, `home` that
    of the site's first page, and `cells` that of a file with the cells.
    """
    offline = require("plotly.offline", "report")
    content = _content(records)
    return document(
        "template.html",
        {
            **content,
            "again": again,
            "shared": shared,
            "home": home,
            "cells": cells,
            "data": Trusted(charts.embedded(content["drawn"])),
        },
        {"plotly": "" if shared else offline.get_plotlyjs(), "script": own_text("page.js")},
    )


def _content(records: Records) -> dict[str, Any]:
    summaries = summarize(records)
    ranked = ranking_measures(records) if len(records.solvers) > 1 else []
    judged = {measure: pairs(records, measure) for measure in ranked}
    drawn = charts.chart_data(records)
    return {
        "title": records.title or "Comparison",
        "config": redact(records.config),
        "records": records,
        "looks": looks(records.solvers),
        "facts": _facts(records),
        "verdict": verdict(records, judged),
        "excluded": profiles.excluded(records),
        "metrics_first": _metrics_first(records, drawn),
        "absent": _absent(drawn, bool(ranked)),
        "without_objective": _without_curve(records, drawn),
        "quality": _quality(records, summaries, ranked),
        "any_interval": any(not math.isnan(i.low) for s in summaries for i in s.measures.values()),
        "any_failed": any(s.failures for s in summaries),
        "drawn": drawn,
        "summary": tables.summary(records, summaries),
        "metrics": tables.metrics(records, summaries),
        "no_metrics_reason": no_metrics_reason(records),
        "target": tables.time_to_target(records),
        "rankings": [_ranking(records, measure, judged[measure]) for measure in ranked],
        "failures": failures(records),
        "environment": _environment(records),
    }


@dataclass(frozen=True)
class Quality:
    """The drawings of one problem by one measure: the values, and the values against time."""

    problem: str
    measure: str
    drawings: list[Drawing]


def _quality(records: Records, summaries: list[Summary], ranked: list[str]) -> list[Quality]:
    found = []
    for problem in records.problems:
        for measure in ranked:
            made = [draw(records, summaries, problem, measure) for draw in (by_solver, against_time)]
            if kept := [drawing for drawing in made if drawing]:
                found.append(Quality(problem, measure, kept))
    return found


@dataclass(frozen=True)
class Ranking:
    """Sentences about one measure: `pairs` where there is more to say of them than one sentence."""

    measure: str
    sentences: list[str]
    standings: tables.Table
    pairs: tables.Table | None
    told: int
    tested: int


def _ranking(records: Records, measure: str, verdicts: list[PairVerdict]) -> Ranking:
    tested = [pair for pair in verdicts if pair.problems]
    told = sum(pair.distinguishable for pair in tested)
    needed = too_few(verdicts)
    all_solvers = overall(records, measure)
    sentences = []
    # The test over all solvers is over problems, and where it finds nothing the pairs say so too.
    if unit(verdicts) == "problem" and (all_solvers.distinguishable or not needed):
        sentences.append(f"{all_solvers.text[0].upper()}{all_solvers.text[1:]}.")
    if needed:
        most = max(pair.problems for pair in tested)
        have = f"{counted(most, unit(verdicts))} {'is' if most == 1 else 'are'} too few"
        sentences.append(
            f"{have} to distinguish any two of these solvers by {measure}; at least {needed} are needed."
        )
        if unit(verdicts) == "problem" and (why := one_data_set(records)):
            sentences.append(f"{why[0].upper()}{why[1:]}.")
    table = tables.pairs(measure, verdicts) if verdicts and not needed else None
    return Ranking(measure, sentences, tables.standings(records, measure), table, told, len(tested))


def _facts(records: Records) -> list[tuple[str, str]]:
    seeds = len({row.seed for row in records.rows})
    facts = [
        ("problems", str(len(records.problems))),
        ("solvers", str(len(records.solvers))),
        ("seeds", str(seeds)),
        ("runs", str(len(records.rows))),
    ]
    if records.started:
        facts.append(("started", _moment(records.started)))
    if records.started and records.ended:
        facts.append(("took", _duration(records.started, records.ended)))
    return facts


def _moment(text: str) -> str:
    try:
        return f"{datetime.fromisoformat(text):%d %b %Y, %H:%M} UTC"
    except ValueError:
        return text


def _duration(started: str, ended: str) -> str:
    try:
        span = datetime.fromisoformat(ended) - datetime.fromisoformat(started)
    except (ValueError, TypeError):
        return DASH
    # Rounded, and with spaces that do not break between a number and its unit.
    return re.sub(r"(\d) ", "\\1\u202f", duration(round(span.total_seconds())))


def _metrics_first(records: Records, drawn: dict[str, Any]) -> bool:
    """Whether the metrics say more than curves: no common objective is drawn for most of the solvers."""
    groups = [group for group in drawn["convergence"] if group["measure"] == "suboptimality"]
    common = max((len({curve["solver"] for curve in group["time"]}) for group in groups), default=0)
    return 2 * common <= len(records.solvers)


def _absent(drawn: dict[str, Any], ranked: bool) -> str:
    """Which sections have nothing to show, and why."""
    said = []
    if not drawn["convergence"] and not drawn["profiles"]:
        said.append("Suboptimality and Profiles, since no run recorded an objective that can be compared")
    elif not drawn["convergence"]:
        said.append("Suboptimality, since no run recorded an objective that can be compared")
    elif not drawn["profiles"]:
        said.append("Profiles, since no run came within any of the gaps of a best known objective")
    if not ranked:
        said.append("Who is better, since no measure compares two solvers")
    return f"Left out: {'; '.join(said)}." if said else ""


def _without_curve(records: Records, drawn: dict[str, Any]) -> list[str]:
    curves = {g["problem"] for g in drawn["convergence"] if g["measure"] == "suboptimality"}
    return [problem for problem in records.problems if problem not in curves]


@dataclass(frozen=True)
class Group:
    """Runs of one solver on one problem that failed in the same way; the text is of the first."""

    problem: str
    solver: str
    status: Status
    message: str
    seeds: list[int]
    stderr: str
    traceback: str


def failures(records: Records) -> list[Group]:
    """What failed, alike runs together, and after that what was unsuited."""
    unsuited = [
        Failure(row.problem, row.solver, row.seed, outcome.status, reason(outcome))
        for row, outcome in records.outcomes
        if not outcome.suited
    ]
    groups: dict[tuple[str, str, Status, str], list[Failure]] = {}
    for one in (*loss_table.failures(records), *unsuited):
        groups.setdefault((one.problem, one.solver, one.status, one.message), []).append(one)
    return [
        Group(
            *(problem, solver, status, redact(message)),
            sorted(one.seed for one in alike),
            redact(alike[0].stderr.strip()),
            redact(alike[0].traceback.strip()),
        )
        for (problem, solver, status, message), alike in groups.items()
    ]


def _environment(records: Records) -> list[tuple[str, list[tuple[str, str]]]]:
    """Tables of the environment: the main process's plain facts first, then each nested table.

    Versions come from the cells, where the work was done, with those of the main process. What
    names the machine or its user stays in the store: a page is passed on.
    """
    plain: list[tuple[str, str]] = []
    nested: list[tuple[str, list[tuple[str, str]]]] = []
    for key, value in anonymous(records.environment).items():
        if isinstance(value, Mapping):
            rows = [(str(name), _shown(name, item)) for name, item in anonymous(value).items()]
            nested.append((key, rows))
        else:
            plain.append((key, _shown(key, value)))
    found: dict[str, dict[str, set[str]]] = {"versions": {}, "environment": {}}
    for _, outcome in records.outcomes:
        for part, facts in (("versions", outcome.versions), ("environment", outcome.environment)):
            for name, item in anonymous(facts).items():
                found[part].setdefault(name, set()).add(_shown(name, item))
    for part, title in (("versions", "versions in the runs"), ("environment", "as the runs saw it")):
        if found[part]:
            nested.append((title, [(name, "; ".join(sorted(seen))) for name, seen in found[part].items()]))
    return [(title, rows) for title, rows in [("machine", plain), *nested] if rows]


def _shown(name: Any, value: Any) -> str:
    if name == "memory" and isinstance(value, int | float):
        return size(float(value))
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_shown(key, item)}" for key, item in anonymous(value).items())
    if isinstance(value, list | tuple):
        return "; ".join(_shown("", item) for item in value)
    return "not known" if value is None else redact(str(value))
