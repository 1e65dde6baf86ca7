"""A comparison in a notebook: sentences, drawings and tables in plain HTML, light and dark."""

from __future__ import annotations

from html import escape

from optiframe.comparison.records import Records
from optiframe.comparison.stats.no_ranking_reason import ranking_measures
from optiframe.comparison.stats.summary import summarize
from optiframe.notebook import block
from optiframe.report import tables
from optiframe.report.looks import Look, looks
from optiframe.report.quality import against_time, by_solver
from optiframe.report.verdict import verdict

_PROBLEMS = 3  # drawn; the report has all of them
_ROWS = 60  # of a table


def comparison_html(records: Records) -> str:
    """What a notebook shows of a comparison: who wins, drawings of the first problems and a table."""
    summaries = summarize(records)
    parts = [f"<p>{escape(sentence)}</p>" for sentence in verdict(records).opening]
    ranked = ranking_measures(records) if len(records.solvers) > 1 else []
    drawn = 0
    for problem in records.problems:
        for measure in ranked:
            made = [draw(records, summaries, problem, measure) for draw in (by_solver, against_time)]
            if any(made):
                parts += [
                    f"<figure><figcaption>{escape(problem)}: {escape(d.caption)}</figcaption>{d.svg}</figure>"
                    for d in made
                    if d
                ]
                drawn += 1
                break
        if drawn == _PROBLEMS:
            break
    if drawn < len(records.problems) and drawn == _PROBLEMS:
        parts.append(
            f"<p>Drawn: the first {_PROBLEMS} problems. The report draws all: comparison.report(...)</p>"
        )
    table = tables.metrics(records, summaries) or tables.summary(records, summaries)
    parts.append(_table(table, looks(records.solvers)))
    return block(parts)


def _table(table: tables.Table, seen: dict[str, Look]) -> str:
    heads = "".join(f"<th{_class(n, table)}>{escape(name)}</th>" for n, name in enumerate(table.columns))
    rows = []
    for row in table.rows[:_ROWS]:
        cells = []
        for n, value in enumerate(row):
            look = seen.get(value.solver)
            swatch = ""
            if look:
                marker = f'<path d="{look.outline}" fill="currentColor"/>'
                swatch = (
                    f'<span class="of-solver" style="--light:{look.light};--dark:{look.dark}">'
                    f'<svg width="14" height="14" viewBox="-7 -7 14 14">{marker}</svg></span> '
                )
            detail = f"<small>{escape(value.detail)}</small>" if value.detail else ""
            kind = "solver" if look else value.tone
            cells.append(f"<td{_class(n, table, kind)}>{swatch}{escape(value.text)}{detail}</td>")
        rows.append(f"<tr>{''.join(cells)}</tr>")
    more = len(table.rows) - _ROWS
    caption = table.caption + (
        f" The first {_ROWS} rows; {more} more in comparison.table()." if more > 0 else ""
    )
    return (
        f"<div><table><caption>{escape(caption)}</caption><thead><tr>{heads}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _class(place: int, table: tables.Table, tone: str = "") -> str:
    words = " ".join(filter(None, ("number" if place in table.numeric else "", tone)))
    return f' class="{words}"' if words else ""
