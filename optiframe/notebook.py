"""What a notebook shows of our objects: the answer first, then a small curve, and the rest folded.

Plain HTML with its own style, light and dark, that loads nothing; it works wherever `_repr_html_` does.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib import resources
from typing import Any

from optiframe.numbers import DASH, number
from optiframe.printable import printable

ROWS = 8  # of a table, before "more rows"
_CELL = 60  # letters
_WIDTH, _HEIGHT = 320, 90


class InNotebook:
    """Gives a `_repr_html_`: sentences, then the first rows of ``columns()`` or what plain fields hold.

    The sentences are those of ``in_words()``, or the short text where there is no such method.
    """

    def _repr_html_(self) -> str:
        words = getattr(self, "in_words", None)
        sentences = words() if callable(words) else [f"{self!r}".strip("<>")]
        columns = getattr(self, "columns", None)
        rest = table(columns()) if callable(columns) else folded("fields", [facts(_plain_fields(self))])
        return block([*map(paragraph, sentences), rest])


def in_notebook() -> bool:
    """Whether we run in a kernel that shows HTML; only somebody who imported IPython can."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell"


class Bar:
    """A progress bar of HTML below the cell, for any front end, without widgets; it takes itself away."""

    def __init__(self, total: float | None) -> None:
        from IPython.display import HTML, display

        self._html: Any = HTML
        self._total = total
        self._shown: Any = display(HTML(""), display_id=True)

    def update(self, words: str, completed: float) -> None:
        """Draw the bar again, with these words beside it."""
        of = "" if self._total is None else f' value="{completed:g}" max="{self._total:g}"'
        self._shown.update(self._html(f"<progress{of}></progress> {escape(printable(words))}"))

    def stop(self) -> None:
        """Take the bar away."""
        self._shown.update(self._html(""))


def block(parts: Iterable[str]) -> str:
    """The parts, which are HTML, with the style of everything of ours in a notebook."""
    style = (resources.files("optiframe") / "notebook.css").read_text("utf-8")
    return f'<div class="optiframe"><style>{style}</style>{"".join(parts)}</div>'


def paragraph(words: str, *, strong: bool = False) -> str:
    """A paragraph of plain text."""
    inner = escape(printable(words))
    return f"<p><strong>{inner}</strong></p>" if strong else f"<p>{inner}</p>"


def items(entries: Iterable[tuple[str, str]]) -> str:
    """A list of sentences, each with its level: note, warning or error."""
    listed = [
        f'<li><span class="{escape(level)}">{escape(level)}</span>: {escape(printable(words))}</li>'
        for level, words in entries
    ]
    return f"<ul>{''.join(listed)}</ul>" if listed else ""


def folded(title: str, parts: Iterable[str]) -> str:
    """What is shown after a click on the title; nothing where there is nothing."""
    inner = "".join(parts)
    return f"<details><summary>{escape(title)}</summary>{inner}</details>" if inner else ""


def table(columns: Mapping[str, Any], rows: int = ROWS) -> str:
    """The first rows of a table, numbers with three digits, and how many more there are."""
    taken = {name: list(values[: rows + 1]) for name, values in columns.items()}
    total = max((len(values) for values in columns.values()), default=0)
    numeric = {name for name, cells in taken.items() if all(_is_number(cell) for cell in cells)}
    mark = {name: ' class="number"' if name in numeric else "" for name in taken}
    head = "".join(f"<th{mark[name]}>{escape(printable(str(name)))}</th>" for name in taken)
    rows_shown = [
        "".join(f"<td{mark[name]}>{_cell(cells[at])}</td>" for name, cells in taken.items())
        for at in range(min(rows, total))
    ]
    body = "".join(f"<tr>{cells}</tr>" for cells in rows_shown)
    more = f"<p><small>and {number(total - rows)} more rows</small></p>" if total > rows else ""
    return f"<div><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}</div>"


def facts(pairs: Mapping[str, Any]) -> str:
    """Names with their values."""
    rows = "".join(f"<tr><th>{escape(str(k))}</th><td>{_cell(v)}</td></tr>" for k, v in pairs.items())
    return f"<div><table><tbody>{rows}</tbody></table></div>" if rows else ""


def curve(values: Sequence[float], title: str) -> str:
    """A small drawing of one value against its place, its ends in words; nothing for fewer than two."""
    known = [(at, float(value)) for at, value in enumerate(values) if math.isfinite(value)]
    if len(known) < 2:
        return ""
    known = known[:: math.ceil(len(known) / 300)] + known[-1:]
    heights = [value for _, value in known]
    log = min(heights) > 0 and max(heights) >= 100 * min(heights)
    drawn = [math.log10(value) if log else value for value in heights]
    low, span = min(drawn), max(drawn) - min(drawn) or 1.0
    last = known[-1][0] or 1
    points = " ".join(
        f"{4 + (_WIDTH - 8) * at / last:.1f},{4 + (_HEIGHT - 8) * (1 - (value - low) / span):.1f}"
        for (at, _), value in zip(known, drawn, strict=True)
    )
    caption = f"{title}: {number(heights[0])} to {number(heights[-1])}{', log scale' if log else ''}"
    return (
        f"<figure><figcaption><small>{escape(caption)}</small></figcaption>"
        f'<svg width="{_WIDTH}" height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="{escape(caption)}"><polyline points="{points}" fill="none" stroke="currentColor" '
        f'stroke-width="1.5" stroke-linejoin="round"/></svg></figure>'
    )


def _plain_fields(shown: Any) -> dict[str, Any]:
    """Names and values of an object's fields, without arrays and other objects."""
    return {name: value for name, value in vars(shown).items() if isinstance(value, str | int | float)}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) or getattr(getattr(value, "dtype", None), "kind", "") in (
        "i",
        "u",
        "f",
    )


def shown(value: Any) -> str:
    """A value of a table as text: three digits, a dash for nothing, no control characters, not too long."""
    if getattr(getattr(value, "dtype", None), "kind", "") in ("i", "u", "f", "b"):
        value = value.item()
    if value is None:
        return DASH
    if isinstance(value, float):
        return number(0.0 if abs(value) <= 1e-15 else value)  # a dash for nan
    text = printable(str(value))
    return text if len(text) <= _CELL else f"{text[: _CELL - 1]}…"


def _cell(value: Any) -> str:
    return escape(shown(value))
