"""The range of each figure over a benchmark's last runs, and the claims in the docs that quote it.

A section of docs/measurements.md ends in a table of the last runs. A page quotes a range by a comment
behind it, which names the benchmark and the figure:

    takes 3.2 to 3.4<!-- comrade_sparse: newton.exact on a9a, times faster than lbfgs --> times as long

`measure.py` writes what stands before the comment again after its runs; with `--claims` it runs nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

KEPT = 3  # runs
_TARGET = re.compile(
    r"^ *(?P<name>\S.*?)(?::| {2,}) *(?P<value>[-+]?\d[\d.]*(?:e[-+]?\d+)?)(?P<unit>[^,\d]*), "
    r"target (?P<target>.*): (?:reached|MISSED)$"
)
_ROW = re.compile(r"^\| (?P<name>[^|]+) \| (?P<target>[^|]+) \| [^|]+ \| (?P<runs>[^|]+) \|$", re.MULTILINE)
_HEAD = "| figure | target | range | last runs, newest first |\n| --- | --- | --- | --- |\n"
_CLAIM = re.compile(
    r"[\d.,]+(?: to [\d.,]+)?(?: \((?:goal|one run)[^)]*\))?<!-- (?P<benchmark>\w+): (?P<name>.+?) -->"
)


@dataclass(frozen=True)
class Figure:
    """A figure with a target, and its values in the last runs, newest first."""

    target: str
    runs: tuple[float, ...]

    @property
    def range(self) -> str:
        """From the least to the greatest, in three digits."""
        low, high = _short(min(self.runs)), _short(max(self.runs))
        return low if low == high else f"{low} to {high}"

    @property
    def missed(self) -> int:
        """How many of the runs missed the target."""
        bound = re.search(r"at (least|most) ([\d.e+-]+)", self.target)
        if bound is None:
            return 0
        goal, least = float(bound[2]), bound[1] == "least"
        return sum(value < goal if least else value > goal for value in self.runs)

    @property
    def quoted(self) -> str:
        """As a page says it: the range, and the goal where a run missed it; or that there was one run."""
        if not self.missed:
            return self.range if len(self.runs) > 1 else f"{self.range} (one run)"
        share = (
            "missed" if self.missed == len(self.runs) else f"missed in {self.missed} of {len(self.runs)} runs"
        )
        return f"{self.range} (goal {self.target.removesuffix(' x')}: {share})"


def printed(output: str) -> dict[str, Figure]:
    """The figures with a target that a benchmark printed.

    A name that stands there more than once gets the line in front that it belongs to: for an indented
    figure the last one without indent, for others the last that begins with two dashes.
    """
    found, heads = [], {True: "", False: ""}
    for line in output.splitlines():
        figure = _TARGET.match(line)
        indented = line.startswith(" ")
        if figure is not None:
            found.append((heads[indented], _plain(figure["name"]), figure))
        elif line.startswith("-- "):
            heads[False] = line.removeprefix("-- ")
        elif not indented:
            heads[True] = line
    times = Counter(name for _, name, _ in found)
    return {
        f"{head}: {name}" if times[name] > 1 and head else name: Figure(
            each["target"], (float(each["value"]),)
        )
        for head, name, each in found
    }


def stored(section: str) -> dict[str, Figure]:
    """The figures of a section of the page; those of its only run where it has no table of runs."""
    _, _, table = section.partition(_HEAD)
    return {
        found["name"]: Figure(found["target"], tuple(map(float, found["runs"].split(", "))))
        for found in _ROW.finditer(table)
    } or printed(section)


def joined(now: Mapping[str, Figure], before: Mapping[str, Figure]) -> dict[str, Figure]:
    """The figures of a run with those of the runs before it; a figure that is no longer printed goes."""
    return {
        name: Figure(each.target, (each.runs + (before[name].runs if name in before else ()))[:KEPT])
        for name, each in now.items()
    }


def table(figures: Mapping[str, Figure]) -> str:
    """The end of a section; empty without figures."""
    rows = [
        f"| {name} | {each.target} | {each.range} | {', '.join(f'{value:.4g}' for value in each.runs)} |"
        for name, each in figures.items()
    ]
    body = "\n".join(rows)
    return f"\n{_HEAD}{body}\n" if rows else ""


def quoted(page: str, known: Mapping[str, Mapping[str, Figure]]) -> str:
    """A page with its claims written again.

    Raises
    ------
    LookupError
        When a claim names a figure that no benchmark has on the page of measurements.
    """

    def again(claim: re.Match[str]) -> str:
        try:
            figure = known[claim["benchmark"]][claim["name"]]
        except KeyError:
            raise LookupError(
                f"{claim['benchmark']} has no figure {claim['name']!r} on the page of measurements"
            ) from None
        return f"{figure.quoted}<!-- {claim['benchmark']}: {claim['name']} -->"

    return _CLAIM.sub(again, page)


def pages(docs: Path) -> list[Path]:
    """Those which may quote ranges: all of docs but the page of measurements."""
    return [file for file in sorted(docs.rglob("*.md")) if file != docs / "measurements.md"]


def _plain(name: str) -> str:
    """Without a figure in brackets at its end, which differs from run to run, and without bars."""
    return re.sub(r" \([^)]*\)$", "", name.strip()).replace("|", "/")


def _short(value: float) -> str:
    """Three digits, no exponent between a thousandth and a million."""
    if value and not 1e-3 <= abs(value) < 1e6:
        return f"{value:.2g}"
    if abs(value) >= 1000:
        return f"{float(f'{value:.3g}'):,.0f}"
    return f"{value:.3g}"
