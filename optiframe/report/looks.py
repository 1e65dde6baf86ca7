"""How a solver looks: one colour, line and marker, the same in every chart, page and figure.

The colours keep their distance from one another under the three kinds of colour blindness
(simulated after Machado, Oliveira and Fernandes 2009) and a contrast of at least 3 to the
background; line and marker tell solvers apart where there is no colour at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

LIGHT = ("#0060a8", "#d55e00", "#009d73", "#c45f9c", "#6a4c00", "#3d97d3", "#30343c")
DARK = ("#4fa3ff", "#ff8a3d", "#1fd18f", "#e58fc4", "#f0d94a", "#b3ccff", "#f4f4ee")
# Each line as Plotly names it, and as Matplotlib and SVG want it (lengths of dash and gap).
_LINES: tuple[tuple[str, tuple[int, ...]], ...] = (
    ("solid", ()),
    ("8px,3px", (8, 3)),
    ("8px,3px,2px,3px", (8, 3, 2, 3)),
    ("2px,2px", (2, 2)),
    ("12px,3px,3px,3px,3px,3px", (12, 3, 3, 3, 3, 3)),
)
# Each marker as Plotly and Matplotlib name it, and its outline in a square from -5 to 5 for the legend.
_MARKERS = (
    ("circle", "o", "M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0Z"),
    ("square", "s", "M-3.6,-3.6H3.6V3.6H-3.6Z"),
    ("diamond", "D", "M0,-5L5,0L0,5L-5,0Z"),
    ("triangle-up", "^", "M0,-4.6L4.6,3.8H-4.6Z"),
    ("triangle-down", "v", "M0,4.6L4.6,-3.8H-4.6Z"),
    ("cross", "P", "M-1.6,-4.6H1.6V-1.6H4.6V1.6H1.6V4.6H-1.6V1.6H-4.6V-1.6H-1.6Z"),
)


@dataclass(frozen=True)
class Look:
    """Colour on light and on dark, line and marker of one solver."""

    light: str
    dark: str
    dash: str
    dashes: tuple[int, ...]
    symbol: str
    marker: str
    outline: str


def looks(solvers: Sequence[str]) -> dict[str, Look]:
    """A look for every solver, by its place in the plan.

    The numbers of colours, lines and markers have no common factor (7, 5, 6), so that the
    first 210 solvers all differ.
    """
    made = {}
    for place, solver in enumerate(solvers):
        dash, dashes = _LINES[place % len(_LINES)]
        symbol, marker, outline = _MARKERS[place % len(_MARKERS)]
        light, dark = LIGHT[place % len(LIGHT)], DARK[place % len(DARK)]
        made[solver] = Look(light, dark, dash, dashes, symbol, marker, outline)
    return made
