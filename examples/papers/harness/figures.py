"""What the items' figures share: panels, and curves of means with their intervals."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from harness.claims import Mean, mean
from harness.runs import Run, Runs
from harness.slim import slim
from optiframe.report.looks import looks

_STYLE = {
    "font.size": 9,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
}


def panels(columns: int, rows: int = 1, *, width: float = 8.0, height: float = 3.2) -> tuple[Figure, Any]:
    """A figure and its axes, an array of `rows` x `columns`, one row given as a line; `height` is a row's."""
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(width, height * rows), layout="constrained")
        axes = figure.subplots(rows, columns, squeeze=False)
    return figure, axes if rows > 1 else axes[0]


def curves(
    axis: Axes,
    runs: Runs,
    *,
    x: str,
    y: str | Callable[[Run], float],
    by: str = "solver",
    only: Sequence[Any] = (),
) -> None:
    """Means of `y` over seeds against `x`, a curve for each value of `by`, with 95% bootstrap bands.

    Parameters
    ----------
    x, by
        Keys as of `Runs.distinct`: ``"dataset.samples"``, ``"solver"``.
    y
        A metric, or a function of a run.
    only
        The values of `by` to draw, in the order of the legend; default: all. The look of a curve is
        that of its place here, so that panels of one figure agree when they name the same ones.
    """
    chosen = list(only) or runs.distinct(by)
    for name, look in zip(chosen, looks([str(each) for each in chosen]).values(), strict=True):
        mine = runs.where(**{by: name})
        at = sorted(mine.distinct(x))
        means = [_mean(mine.where(**{x: place}), y) for place in at]
        axis.plot(
            at,
            [each.value for each in means],
            color=look.light,
            marker=look.marker,
            dashes=look.dashes or (None, None),
            linewidth=1.4,
            markersize=4,
            label=str(name),
        )
        low, high = [each.low for each in means], [each.high for each in means]
        axis.fill_between(at, low, high, color=look.light, alpha=0.13, linewidth=0)


def legend_below(figure: Figure, axis: Axes, columns: int = 4) -> None:
    """One legend for all panels, below them, from the curves of `axis`."""
    handles, names = axis.get_legend_handles_labels()
    with mpl.rc_context(_STYLE):
        figure.legend(handles, names, loc="outside lower center", ncols=columns, handlelength=3)


def save(figure: Figure, file: Path) -> None:
    """As a small SVG file of which the same figure gives the same bytes; text stays text."""
    file.parent.mkdir(parents=True, exist_ok=True)
    drawn = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": file.stem, "svg.fonttype": "none", "path.simplify_threshold": 0.5}):
        nobody = {"Date": None, "Creator": None}
        figure.savefig(drawn, format="svg", bbox_inches="tight", dpi=110, metadata=nobody)
    file.write_text(slim(drawn.getvalue()), encoding="utf-8")


def _mean(runs: Runs, y: str | Callable[[Run], float]) -> Mean:
    return mean([run.value(y) if isinstance(y, str) else y(run) for run in runs])
