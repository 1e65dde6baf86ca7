"""The figure of the README: errors of four solvers on real crowd labels, against labels for each task.

    python docs/figures/readme.py            # draws docs/assets/readme.svg again, in some ten seconds

It needs the RTE labels (`optiframe datasets`). The file is small enough to be kept with the sources, so that
the README shows it wherever it is read; a test draws it again and compares.
"""

from __future__ import annotations

import sys
from pathlib import Path

from optiframe_rankone import accuracy_by_labels
from optiframe_rankone.problem import LabelAggregation

import optiframe

TARGET = Path(__file__).parents[1] / "assets" / "readme.svg"
# Fixed before the first run; colours that differ in lightness too (Okabe and Ito).
SOLVERS = {
    "labels.majority": ("#8a8f94", "majority vote"),
    "rankone.pgd": ("#e69f00", "rank-one completion"),
    "labels.dawid-skene": ("#56b4e9", "EM, confusion matrices"),
    "labels.crowd": ("#0b4f7a", "the default"),
}
LABELS = (1, 2, 3, 4, 5, 6, 8, 10)
DRAWINGS = 5

_WIDTH, _HEIGHT = 760, 360
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 740, 50, 306
_MOST = 0.35  # of the axis


def drawn() -> str:
    """The figure as SVG."""
    problem = optiframe.problem(dataset="labels.rte")
    assert isinstance(problem, LabelAggregation)
    table = accuracy_by_labels(problem, list(SOLVERS), labels_per_task=LABELS, repeats=DRAWINGS)
    parts = [_axes()]
    for number, (name, (colour, words)) in enumerate(SOLVERS.items()):
        accuracies = [
            a for a, solver in zip(table["accuracy"], table["solver"], strict=True) if solver == name
        ]
        points = [(_x(k), _y(1 - a)) for k, a in zip(LABELS, accuracies, strict=True)]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in points)
        y = _TOP + 14 + 24 * number
        parts.append(
            f'<g fill="{colour}" stroke="{colour}">'
            f'<polyline points="{line}" fill="none" stroke-width="2.5"/>{dots}'
            f'<path d="M350 {y - 5}h26" stroke-width="2.5"/><circle cx="363" cy="{y - 5}" r="3"/></g>'
            f'<text x="386" y="{y}"><tspan font-family="monospace">{name}</tspan>'
            f'<tspan x="562" class="quiet">{words}</tspan></text>'
        )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        'font-family="system-ui, Helvetica, Arial, sans-serif" font-size="14" fill="#222">\n'
        "<title>Share of wrong answers against labels for each task, by four solvers (RTE)</title>\n"
        "<style>.quiet{fill:#5a5a5a;font-size:14px}</style>\n"
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" rx="6" fill="#fff"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _axes() -> str:
    title = "Wrong answers on 800 tasks (RTE), by labels for each task"
    lines = [f'<text x="{_LEFT}" y="28" font-size="16" font-weight="600">{title}</text>']
    for tenths in range(0, 36, 5):
        y = _y(tenths / 100)
        lines.append(f'<path d="M{_LEFT} {y:.1f}H{_RIGHT}" stroke="{"#888" if tenths == 0 else "#e8e8e8"}"/>')
        if tenths % 10 == 0:
            lines.append(
                f'<text class="quiet" x="{_LEFT - 8}" y="{y + 5:.1f}" text-anchor="end">{tenths}%</text>'
            )
    lines += [
        f'<text class="quiet" x="{_x(k):.1f}" y="{_BOTTOM + 20}" text-anchor="middle">{k}</text>'
        for k in LABELS
    ]
    middle = (_LEFT + _RIGHT) / 2
    lines.append(
        f'<text class="quiet" x="{middle}" y="{_BOTTOM + 44}" text-anchor="middle">labels for each task '
        f"(mean of {DRAWINGS} drawings; 10 is all there are)</text>"
    )
    return "\n".join(lines)


def _x(labels: float) -> float:
    return _LEFT + 16 + (labels - 1) / 9 * (_RIGHT - _LEFT - 32)


def _y(error: float) -> float:
    return _BOTTOM - error / _MOST * (_BOTTOM - _TOP)


if __name__ == "__main__":
    TARGET.write_text(drawn(), encoding="utf-8")
    sys.stdout.write(f"wrote {TARGET.relative_to(Path.cwd())}\n")
