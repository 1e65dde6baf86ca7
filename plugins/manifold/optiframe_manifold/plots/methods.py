"""Pictures of comparisons of methods: convergence, error against samples, time against size.

Every function takes a table with a row for each observation, returns a matplotlib `Figure` and
shows or saves nothing: ``figure.savefig("convergence.pdf")``. matplotlib is imported on use
(extra `plots`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from optiframe.errors import InvalidInput, require
from optiframe.plotting import LOOKS, empty_figure, legend_below
from optiframe.records.fields import Array
from optiframe.solving.result import Result
from optiframe.tables.columns import Columns
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


def convergence(results: Mapping[str, Result[Any, Any]]) -> Columns:
    """The traces of several runs as one table: solver, iteration, time, objective, gradient.

    `gradient` is what the solver calls its residual; for most it is a gradient norm, but not in
    the same metric, which its `residual` says. Runs may only be put together when their objectives
    belong to the same problem.

    Raises
    ------
    InvalidInput
        Without a run, for a run without a trace, or when the problems solved differ.
    """
    if not results:
        raise InvalidInput("give at least one result, by the name to show")
    if len({result.solved for result in results.values()}) > 1:
        raise InvalidInput("these runs have solved different problems; their objectives cannot be compared")
    rows: dict[str, list[Any]] = {n: [] for n in ("solver", "iteration", "time", "objective", "gradient")}
    for name, result in results.items():
        if len(result.trace) == 0:
            raise InvalidInput(f"the run of {name} has no trace; solve with trace=True")
        for point in result.trace:
            rows["solver"].append(name)
            for column, key in (("iteration", "iteration"), ("time", "time"), ("objective", "objective")):
                rows[column].append(point.get(key, np.nan))
            rows["gradient"].append(point.get("residual", np.nan))
    return {name: np.array(values) for name, values in rows.items()}


def plot_convergence(
    table: Any,
    quantities: tuple[Quantity, ...] = ("gradient", "gap"),
    against: tuple[Against, ...] = ("iteration", "time"),
) -> Figure:
    """How fast methods converge, as the paper's Fig. 2: a row of panels for each quantity.

    Parameters
    ----------
    table
        solver, iteration, time, objective and gradient, as from `convergence`; a data frame, a mapping
        of columns, or a file. Gaps in `gradient` are left out.
    quantities
        "gradient": the gradient norm; "gap": the objective less the lowest of all runs, where it is more
        than rounding.
    against
        "iteration", "time", or both side by side.

    Raises
    ------
    InvalidInput
        For a column that is missing, or a name there is not.
    MissingPackage
        Without matplotlib.
    """
    for name, asked, known in (
        ("quantities", quantities, ("gradient", "gap")),
        ("against", against, ("iteration", "time")),
    ):
        if not asked or not set(asked) <= set(known):
            raise InvalidInput(f"{name} must be some of {', '.join(known)}, got {asked!r}")
    columns = read_table(table, ("solver", "iteration", "time", "objective"), ("gradient",), title="traces")
    if "gradient" in quantities and "gradient" not in columns:
        raise InvalidInput("traces has no column 'gradient'; leave it out of quantities")
    objective = _floats(columns["objective"])
    gap = objective - objective.min()
    values = {"gap": np.where(gap > _ROUNDING * np.abs(objective), gap, np.nan)}
    if "gradient" in columns:
        values["gradient"] = _floats(columns["gradient"])
    across, down = len(against), len(quantities)
    figure, panels = _panels(4.2 * across + 0.4, 2.9 * down + 0.9, down, across)
    for row, quantity in enumerate(quantities):
        for column, axis in enumerate(against):
            axes = panels[row][column]
            _curves(axes, columns["solver"], _floats(columns[axis]), values[quantity])
            if column == 0:
                axes.set_ylabel(_AXES[quantity])
            if row == len(quantities) - 1:
                axes.set_xlabel(_AXES[axis])
    _legend_below(figure, panels[0][0])
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
    figure, axes = _medians(table, value, size, positive=True)
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


def _medians(table: Any, value: str, along: str, positive: bool = False) -> tuple[Figure, Axes]:
    """A line of medians with a band from quartile to quartile, for each solver."""
    columns = read_table(table, ("solver", along, value), title="runs")
    solver, x, y = columns["solver"], _floats(columns[along]), _floats(columns[value])
    for name, numbers in ((along, x), (value, y)):
        if positive and not (numbers > 0).all():
            raise InvalidInput(f"runs: {name} has a number that is not positive and so no logarithm")
    figure, panels = _panels(6.0, 4.4, 1, 1)
    axes = panels[0][0]
    for index, name in enumerate(dict.fromkeys(solver.tolist())):
        colour, marker, style = LOOKS[index % len(LOOKS)]
        mine = np.array([one == name for one in solver.tolist()])
        places = np.unique(x[mine])
        low, middle, high = np.array([np.percentile(y[mine & (x == at)], (25, 50, 75)) for at in places]).T
        axes.fill_between(places, low, high, color=colour, alpha=0.15, linewidth=0)
        look: dict[str, Any] = {"marker": marker, "linestyle": style, "markersize": _size(index)}
        axes.plot(places, middle, color=colour, label=str(name), **look)
    return figure, axes


def _curves(axes: Axes, solver: Any, x: Array, y: Array) -> None:
    for index, name in enumerate(dict.fromkeys(solver.tolist())):
        colour, marker, style = LOOKS[index % len(LOOKS)]
        mine = np.array([one == name for one in solver.tolist()]) & np.isfinite(y) & (y > 0)
        if not mine.any():
            continue
        order = np.argsort(x[mine], kind="stable")
        axes.plot(
            x[mine][order],
            y[mine][order],
            color=colour,
            linestyle=style,
            marker=marker,
            markersize=_size(index) - 1,
            markevery=max(1, int(mine.sum()) // _MARKED),
            label=str(name),
        )
    axes.set_yscale("log")


def _panels(width: float, height: float, rows: int, columns: int) -> tuple[Figure, list[list[Axes]]]:
    figure = empty_figure(width, height)
    panels = figure.subplots(rows, columns, squeeze=False, sharex="col", sharey="row").tolist()
    for axes in (one for row in panels for one in row):
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(color="0.92")
        axes.set_axisbelow(True)
    return figure, panels


def _legend_below(figure: Figure, axes: Axes) -> None:
    """In as many columns as the figure's width has room for."""
    labels = axes.get_legend_handles_labels()[1]
    each = _HANDLE + _LETTER * max(map(len, labels), default=0)
    legend_below(figure, axes, max(1, min(len(labels), int(figure.get_figwidth() / each))))


def _size(index: int) -> float:
    """Of marks, smaller from method to method, so that curves which coincide can both be seen."""
    return max(8.0 - index, 4.0)


def _floats(column: Any) -> Array:
    try:
        return np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput(f"a column of numbers holds {column[0]!r}; give numbers") from None
