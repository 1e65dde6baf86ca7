"""Small charts as SVG text: axes, marks and names that wrap between words.

A drawing is light on its own, so that a downloaded file prints well: colours are attributes, which the
style sheets of pages and notebooks override on a dark screen (`.of-solver`, `.of-drawing`). Text and lines
take the text's colour.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from optiframe.comparison import units
from optiframe.numbers import number
from optiframe.report.looks import Look

WIDTH = 440.0  # of every drawing, in units of its text's 12: readable at the width of a phone
LINE = 15.0  # from one line of text to the next
_LABEL = 45.0  # least distance of two labels beside each other on an axis
_LETTER = 6.3  # how wide a letter of 12 units is, on average


@dataclass(frozen=True)
class Drawing:
    """One figure: what its file is called, its caption, the SVG element, and its data as CSV."""

    name: str
    caption: str
    svg: str
    csv: str


@dataclass(frozen=True)
class Scale:
    """Where a value stands between `start` and `end`, in units of the drawing, and not beyond them."""

    low: float
    high: float
    start: float
    end: float
    log: bool

    def __call__(self, value: float) -> float:
        """The place of a value."""
        low, high, at = self.low, self.high, min(max(value, self.low), self.high)
        if self.log:
            low, high, at = math.log10(low), math.log10(high), math.log10(at)
        return self.start + (self.end - self.start) * (at - low) / (high - low)

    def ticks(self) -> list[float]:
        """Round values along the axis, as many as their words have room for."""
        upright = self.end < self.start
        most = max(2, int(abs(self.end - self.start) / (45 if upright else 70)))
        if self.log:
            decades = range(
                math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9) + 1
            )
            if len(decades) >= 2:
                every = math.ceil(len(decades) / (most + 1))
                return [10.0**power for power in decades if power % every == 0]
            powers = range(decades.start - 1, decades.stop + 1)
            for leading in ((1, 2, 3, 5, 7), (1, 2, 5), (1, 3), (1,)):
                every_one = [m * 10.0**p for p in powers for m in leading]
                found = [value for value in every_one if self.low <= value <= self.high]
                gaps = [abs(self(b) - self(a)) for a, b in pairwise(found)]
                if min(gaps, default=math.inf) >= (LINE if upright else _LABEL):
                    break
            return found
        rough = (self.high - self.low) / most
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= rough * (1 - 1e-9))
        first = math.ceil(self.low / step - 1e-9)
        return [n * step for n in range(first, math.floor(self.high / step + 1e-9) + 1)]


def scale_of(values: Iterable[float], start: float, end: float, *, log: bool | None = None) -> Scale:
    """A scale that holds the finite values; logarithmic where they are positive and a hundredfold apart."""
    known = [value for value in values if math.isfinite(value)]
    positive = [value for value in known if value > 0]
    if log is None:
        log = len(positive) == len(known) and bool(known) and max(known) >= 100 * min(known)
    if log:
        low, high = min(positive, default=1.0), max(positive, default=1.0)
        margin = max((high / low) ** 0.06, 1.15)
        return Scale(low / margin, high * margin, start, end, True)
    low, high = min(known, default=0.0), max(known, default=1.0)
    margin = 0.06 * (high - low) or 0.05 * abs(high) or 1.0
    return Scale(0.0 if low >= 0 > low - margin else low - margin, high + margin, start, end, False)


def wrapped(title: str, width: float) -> list[str]:
    """Lines of at most that width in a drawing, broken between words."""
    return units.wrapped(title, max(4, int(width / _LETTER)))


def text(x: float, y: float, words: str, more: str = "") -> str:
    """A line of text; `more` are further attributes."""
    return f'<text x="{x:.1f}" y="{y:.1f}" {more}>{escape(words)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, more: str) -> str:
    """A straight line."""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" {more}/>'


def mark(x: float, y: float, look: Look, *, hollow: bool = False) -> str:
    """A solver's marker; hollow ones stand back."""
    fill = 'fill="none" stroke="currentColor" stroke-width="1.6"' if hollow else 'fill="currentColor"'
    return f'<path d="{look.outline}" transform="translate({x:.1f} {y:.1f})" {fill}/>'


def of_solver(place: int, look: Look, parts: Sequence[str], title: str = "") -> str:
    """What belongs to one solver: in its colour, and named by a pointer that rests on it."""
    named = f"<title>{escape(title)}</title>" if title else ""
    return (
        f'<g class="of-solver" data-solver="{place}" color="{look.light}" style="--dark:{look.dark}">'
        f"{named}{''.join(parts)}</g>"
    )


def bottom_axis(scale: Scale, y: float, top: float, label: str) -> list[str]:
    """Grid, ticks and label of a horizontal axis at height `y`."""
    parts = [line(scale.start, y, scale.end, y, 'stroke="currentColor" stroke-opacity=".5"')]
    for value in scale.ticks():
        x = scale(value)
        parts += [
            line(x, top, x, y, 'stroke="currentColor" stroke-opacity=".14"'),
            text(x, y + LINE, tick(value), 'text-anchor="middle" opacity=".8"'),
        ]
    return [*parts, text((scale.start + scale.end) / 2, y + 2.3 * LINE, label, 'text-anchor="middle"')]


def left_axis(scale: Scale, x: float, right: float, label: str) -> list[str]:
    """Grid, ticks and, above them, the label of a vertical axis at `x`."""
    parts = [line(x, scale.start, x, scale.end, 'stroke="currentColor" stroke-opacity=".5"')]
    for value in scale.ticks():
        y = scale(value)
        parts += [
            line(x, y, right, y, 'stroke="currentColor" stroke-opacity=".14"'),
            text(x - 6, y + 4, tick(value), 'text-anchor="end" opacity=".8"'),
        ]
    return [*parts, text(2, min(scale.start, scale.end) - 10, label)]


def tick(value: float) -> str:
    """A value on an axis, short."""
    if value and not 1e-3 <= abs(value) < 1e5:
        return number(value, 1)
    return f"{value:.6g}"


def legend(solvers: Sequence[tuple[int, str, Look]], top: float) -> tuple[list[str], float]:
    """Marker and name of each solver, in two columns where the names are short; and where it ends."""
    columns = 2 if all(len(title) * _LETTER < WIDTH / 2 - 30 for _, title, _ in solvers) else 1
    width = WIDTH / columns
    parts, y = [], top
    for begin in range(0, len(solvers), columns):
        row = [(one, wrapped(one[1], width - 30)) for one in solvers[begin : begin + columns]]
        for column, ((place, title, look), lines) in enumerate(row):
            x = column * width
            words = [
                text(x + 22, y + 4 + LINE * n, words, 'fill="var(--of-ink, #1b1e24)"')
                for n, words in enumerate(lines)
            ]
            parts.append(of_solver(place, look, [mark(x + 10, y, look), *words], title))
        y += LINE * max(len(lines) for _, lines in row) + 3
    return parts, y


def drawn(parts: Iterable[str], height: float, label: str) -> str:
    """The SVG element of these parts; `label` is what a screen reader says."""
    return (
        f'<svg class="of-drawing" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:g} {height:.0f}" '
        f'width="{WIDTH:g}" height="{height:.0f}" role="img" aria-label="{escape(label)}" color="#1b1e24" '
        'font-family="system-ui, sans-serif" font-size="12">'
        f'<g fill="currentColor">{"".join(parts)}</g></svg>'
    )
