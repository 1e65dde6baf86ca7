"""Pictures of comparisons of methods: convergence, error against samples, time against size.

Every function returns a matplotlib `Figure` and shows or saves nothing:
``figure.savefig("convergence.pdf")``. matplotlib is imported on use (extra `plots`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from optiframe.errors import InvalidInput, require
from optiframe.plotting import LOOKS, empty_figure, legend_below
from optiframe.solving.result import Result
from optiframe.tables.number_columns import numbers
from optiframe.tables.read import read_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARKED = 12  # marks along a curve; more would run together
_ROUNDING = 1e-15  # differences of objectives below this share of them are rounding and not shown
_LETTER, _HANDLE = 0.09, 0.7  # inches of the legend that a letter, and a line with its gap, take

_AXES = {
    "gradient": "gradient norm",
    "gap": "objective less the best of all",
    "iteration": "outer iterations",
    "time": "seconds",
}

Against = Literal["time", "iteration"]
Quantity = Literal["gradient", "gap"]


def plot_convergence(
    results: Mapping[str, Result[Any, Any]],
    quantities: tuple[Quantity, ...] = ("gradient", "gap"),
    against: tuple[Against, ...] = ("iteration", "time"),
) -> Figure:
    """How fast methods converge, as the paper's Fig. 2: a row of panels for each quantity.

    Parameters
    ----------
    results
        Runs with a trace on one problem, by the name to show.
    quantities
        "gradient": what the solver calls its residual; for most it is a gradient norm, but not in the
        same metric, which its `residual_meaning` says. "gap": the objective less the lowest of all runs,
        where it is more than rounding.
    against
        "iteration", "time", or both side by side.

    Raises
    ------
    InvalidInput
        Without a run, for a run without a trace, when the problems solved differ, or for a name there
        is not.
    MissingPackage
        Without matplotlib.
    """
    for name, asked, known in (
        ("quantities", quantities, ("gradient", "gap")),
        ("against", against, ("iteration", "time")),
    ):
        if not asked or not set(asked) <= set(known):
            raise InvalidInput(f"{name} must be some of {', '.join(known)}, got {asked!r}")
    if not results:
        raise InvalidInput("give at least one result, by the name to show")
    if len({result.solved for result in results.values()}) > 1:
        raise InvalidInput("these runs have solved different problems; their objectives cannot be compared")
    for name, result in results.items():
        if len(result.trace) == 0:
            raise InvalidInput(f"the run of {name} has no trace; solve with trace=True")
    least = min(min(result.trace["objective"]) for result in results.values())
    across, down = len(against), len(quantities)
    figure = empty_figure(4.2 * across + 0.4, 2.9 * down + 0.9)
    panels = figure.subplots(down, across, squeeze=False, sharex="col", sharey="row")
    for axes, quantity, axis in zip(panels.flat, np.repeat(quantities, across), against * down, strict=True):
        for index, (name, result) in enumerate(results.items()):
            x, value = np.array(result.trace[axis]), np.array(result.trace["residual"])
            if quantity == "gap":
                objective = np.array(result.trace["objective"])
                value = np.where(objective - least > _ROUNDING * np.abs(objective), objective - least, np.nan)
            shown = np.isfinite(value) & (value > 0)
            every = max(1, int(shown.sum()) // _MARKED)
            axes.plot(x[shown], value[shown], label=name, markevery=every, **_look(index))
        axes.set_yscale("log")
        _tidy(axes)
    for axes, quantity in zip(panels[:, 0], quantities, strict=True):
        axes.set_ylabel(_AXES[quantity])
    for axes, axis in zip(panels[-1], against, strict=True):
        axes.set_xlabel(_AXES[axis])
    _legend_below(figure, panels[0, 0])
    return figure


def plot_error(table: Any, *, value: str = "error", samples: str = "d", label: str | None = None) -> Figure:
    """Error against the number of samples, as the paper's Fig. 3; medians, the band quartiles.

    Parameters
    ----------
    table
        A row for each run: solver, `samples` and `value`; a data frame, a mapping of columns, or a file.
    value, samples
        The columns to show.
    label
        Of the vertical axis; None: the name of the column.

    Raises
    ------
    InvalidInput
        For a column that is missing or not numeric.
    MissingPackage
        Without matplotlib.
    """
    figure, axes = _medians(table, value, samples)
    axes.set_xlabel("rescaled sample size d" if samples == "d" else samples)
    axes.set_ylabel(label or ("relative squared error" if value == "error" else value))
    axes.set_ylim(bottom=0.0)
    _legend_below(figure, axes)
    return figure


def plot_time(table: Any, *, value: str = "seconds", size: str = "K", label: str | None = None) -> Figure:
    """Time against the size of the problem, both logarithmic, as the paper's Fig. 4; medians, quartiles.

    Parameters
    ----------
    table
        A row for each run: solver, `size` and `value`; a data frame, a mapping of columns, or a file.
    value, size
        The columns to show.
    label
        Of the vertical axis; None: the name of the column.

    Raises
    ------
    InvalidInput
        For a column that is missing, not numeric, or a number that is not positive.
    MissingPackage
        Without matplotlib.
    """
    figure, axes = _medians(table, value, size, above=0.0)
    ticker = require("matplotlib.ticker", "plots")
    axes.set_xscale("log")
    axes.set_yscale("log")
    shown = sorted({float(x) for line in axes.lines for x in np.asarray(line.get_xdata())})
    axes.set_xticks(shown)
    axes.yaxis.set_major_locator(ticker.LogLocator(subs=(1.0, 2.0, 5.0)))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(ticker.FuncFormatter(lambda x, _: f"{x:,.0f}" if x >= 1 else f"{x:g}"))
        axis.set_minor_locator(ticker.NullLocator())
    axes.set_xlabel("users and items, K each" if size == "K" else size)
    axes.set_ylabel(label or value)
    _legend_below(figure, axes)
    return figure


def _medians(table: Any, value: str, along: str, above: float = -np.inf) -> tuple[Figure, Axes]:
    """A line of medians with a band from quartile to quartile, for each solver."""
    runs = read_table(table, ("solver", along, value), title="runs")
    x, y = numbers(runs, along, above), numbers(runs, value, above)
    figure = empty_figure(6.0, 4.4)
    axes = figure.add_subplot()
    _tidy(axes)
    solver = runs["solver"].astype(object)
    for index, name in enumerate(dict.fromkeys(solver.tolist())):
        look, mine = _look(index), solver == name
        places = np.unique(x[mine])
        low, middle, high = np.array([np.percentile(y[mine & (x == at)], (25, 50, 75)) for at in places]).T
        axes.fill_between(places, low, high, color=look["color"], alpha=0.15, linewidth=0)
        axes.plot(places, middle, label=str(name), **look)
    return figure, axes


def _look(index: int) -> dict[str, Any]:
    """Of a method's curve; marks are smaller from method to method, so that coinciding ones can be seen."""
    colour, marker, style = LOOKS[index % len(LOOKS)]
    return {"color": colour, "marker": marker, "linestyle": style, "markersize": max(8.0 - index, 4.0)}


def _tidy(axes: Axes) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color="0.92")
    axes.set_axisbelow(True)


def _legend_below(figure: Figure, axes: Axes) -> None:
    """In as many columns as the figure's width has room for."""
    labels = axes.get_legend_handles_labels()[1]
    each = _HANDLE + _LETTER * max(map(len, labels), default=0)
    legend_below(figure, axes, max(1, min(len(labels), int(figure.get_figwidth() / each))))
