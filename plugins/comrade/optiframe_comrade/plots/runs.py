"""Pictures of distributed runs: progress by cost, who was left out, attacks against filters.

Every function returns a matplotlib `Figure` and shows or saves nothing:
``figure.savefig("progress.png")``. matplotlib is imported on use (extra `plots`).
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np

from optiframe.errors import InvalidInput, require
from optiframe.plotting import BLUE, LOOKS, VERMILION, empty_figure, legend_below
from optiframe.records.fields import Array
from optiframe.solving.result import Result
from optiframe_comrade.protocol.ledger import Ledger

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_USED, _TRIMMED, _FAULTY = "#E8EDF2", BLUE, VERMILION
_LEAST = 1e-12  # smaller gaps are drawn here: they are rounding, and have no logarithm at 0


def plot_progress(results: Mapping[str, Result[Any, Any]], *, lowest: float | None = None) -> Figure:
    """Gap and training accuracy of some runs against rounds, bytes sent up, and seconds.

    Accuracy is drawn where the traces have one (`linear-classification`). It hides failures that the gap
    shows: look at both.

    Parameters
    ----------
    results
        Runs on one problem by the names to show; of solvers that keep a ledger for rounds and
        bytes, of any other for seconds alone.
    lowest
        The least objective; None: that of the problem, or else the lowest of these runs, whose
        gap then ends at 0.

    Raises
    ------
    InvalidInput
        When there is no run, they belong to different problems, or a trace is empty.
    MissingPackage
        Without matplotlib.
    """
    runs = _checked(results)
    if lowest is None:
        lowest = getattr(next(iter(runs.values())).problem, "lowest", None)
    least = float(min(min(run.trace["objective"]) for run in runs.values()) if lowest is None else lowest)
    rows = 2 if any("accuracy" in run.trace.names for run in runs.values()) else 1
    figure = empty_figure(10.5, 2.9 * rows + 0.6)
    grid: Any = figure.subplots(rows, 3, sharey="row", squeeze=False)
    for (name, run), (colour, mark, style) in zip(runs.items(), cycle(LOOKS), strict=False):
        look = {"color": colour, "linestyle": style, "marker": mark, "markersize": 3.5, "linewidth": 1.4}
        gap = np.maximum(np.array(run.trace["objective"]) - least, _LEAST)
        for column, costs in _costs(run).items():
            grid[0][column].semilogy(costs, gap, label=name, **look)
            if "accuracy" in run.trace.names:
                grid[1][column].plot(costs, run.trace["accuracy"], **look)
    for axes, title in zip(grid[:, 0], ("objective gap", "training accuracy"), strict=False):
        axes.set_ylabel(title)
    for axes, title in zip(grid[-1], ("rounds", "megabytes sent by the workers", "seconds"), strict=True):
        axes.set_xlabel(title)
    for axes in grid.ravel():
        axes.set_xlim(left=0)
        axes.grid(color="0.92")
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
    legend_below(figure, grid[0][2], min(len(runs), 4))
    return figure


def plot_left_out(result: Result[Any, Any]) -> Figure:
    """Who was left out when: a row for each worker, a column for each round, and the share beside it.

    Workers that no filter left out and that never failed are pale all along. The dashed line is
    the mean share. A filter leaves out as many workers when nobody lies.

    Parameters
    ----------
    result
        Of a solver that keeps a ledger.

    Raises
    ------
    InvalidInput
        When the result has no ledger, or nothing was exchanged.
    MissingPackage
        Without matplotlib.
    """
    ledger = result.detail
    if not isinstance(ledger, Ledger) or not ledger.exchanges:
        raise InvalidInput("this result has no ledger of rounds; take newton.comrade, for example")
    colours = require("matplotlib.colors", "plots")
    workers, rounds = len(ledger.names), ledger.rounds
    state = np.zeros((workers, rounds))
    for column, each in enumerate(ledger.exchanges):
        state[list(each.trimmed), column] = 1
        state[[fault.worker for fault in each.faults], column] = 2
    figure = empty_figure(float(np.clip(4.5 + 0.22 * rounds, 6.0, 12.0)), 1.6 + 0.21 * workers)
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=[3, 1])
    map_ = colours.ListedColormap([_USED, _TRIMMED, _FAULTY])
    left.pcolormesh(
        np.arange(rounds + 1) + 0.5,
        np.arange(workers + 1) - 0.5,
        state,
        cmap=map_,
        vmin=0,
        vmax=2,
        edgecolors="white",
        linewidth=0.6,
    )
    left.set_yticks(range(workers), ledger.names, fontsize=8)
    left.invert_yaxis()
    left.set_xlabel("round")
    left.xaxis.get_major_locator().set_params(integer=True)
    left.set_title("Left out, by round", loc="left")
    share = ledger.suspicion()
    right.barh(range(workers), share, color="#5A6B7B", height=0.7)
    right.axvline(float(share.mean()), color="black", linestyle="--", linewidth=1, label="mean")
    right.set_xlim(0, 1)
    right.set_xlabel("share of rounds")
    right.set_title("Left out, in all", loc="left")
    patch = require("matplotlib.patches", "plots").Patch
    handles = [patch(color=_USED, label="used"), patch(color=_TRIMMED, label="left out by the filter")]
    handles.append(patch(color=_FAULTY, label="fault"))
    handles.extend(right.get_legend_handles_labels()[0])
    figure.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False)
    for axes in (left, right):
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
    return figure


def plot_attacks(gaps: Mapping[tuple[str, str, float], float], *, failed: float = 1.0) -> Figure:
    """A heat map of objective gaps: attacks against filters, one panel for each share of hostile workers.

    Parameters
    ----------
    gaps
        The gap of each (attack, filter, fraction); those that are missing stay white.
    failed
        A gap from which on, or when it is not finite, a run counts as failed.

    Raises
    ------
    InvalidInput
        When there is no gap.
    MissingPackage
        Without matplotlib.
    """
    if not gaps:
        raise InvalidInput("there is no gap to draw; give one for each (attack, filter, fraction)")
    colours = require("matplotlib.colors", "plots")
    attacks, filters = list(dict.fromkeys(k[0] for k in gaps)), list(dict.fromkeys(k[1] for k in gaps))
    fractions = sorted({key[2] for key in gaps})
    fine = [max(gap, _LEAST) for gap in gaps.values() if np.isfinite(gap) and gap < failed]
    low, high = (min(fine), max(fine)) if fine else (_LEAST, failed)
    norm = colours.LogNorm(low, max(high, low * 10))
    map_ = require("matplotlib", "plots").colormaps["Blues"].with_extremes(bad="white")
    width = len(fractions) * (0.62 * len(filters) + 0.4) + 3.0
    figure = empty_figure(width, 0.4 * len(attacks) + 2.4)
    grid: Any = figure.subplots(1, len(fractions), sharey=True, squeeze=False)[0]
    image: Any = None
    for axes, fraction in zip(grid, fractions, strict=True):
        values = np.array([[gaps.get((a, f, fraction), np.nan) for f in filters] for a in attacks])
        bad = ~(values < failed) & np.array([[(a, f, fraction) in gaps for f in filters] for a in attacks])
        shown = np.ma.masked_invalid(np.where(bad, np.nan, np.maximum(values, _LEAST)))
        image = axes.imshow(shown, cmap=map_, norm=norm, aspect="auto")
        _numbers(axes, values, bad, norm)
        axes.set_xticks(
            range(len(filters)), filters, rotation=40, ha="right", rotation_mode="anchor", fontsize=8
        )
        axes.set_yticks(range(len(attacks)), attacks, fontsize=8)
        axes.set_title(f"{fraction:.0%} hostile", loc="left", fontsize=10)
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
    bar = figure.colorbar(image, ax=list(grid), shrink=0.9, pad=0.01)
    bar.set_label("objective gap")
    bar.outline.set_visible(False)
    return figure


def _numbers(axes: Axes, values: Array, bad: Array, norm: Any) -> None:
    """The gaps, to one digit, in the cells; "failed" where a run failed."""
    for (row, column), gap in np.ndenumerate(values):
        if bad[row, column]:
            patch = require("matplotlib.patches", "plots").Rectangle
            axes.add_patch(patch((column - 0.5, row - 0.5), 1, 1, facecolor=_FAULTY, edgecolor="white"))
            axes.text(column, row, "failed", ha="center", va="center", fontsize=7, color="white")
        elif np.isfinite(gap):
            dark = norm(max(gap, _LEAST)) > 0.6
            said = f"{gap:.0e}".replace("e-0", "e-").removesuffix("e+00") if gap > 0 else "0"
            axes.text(
                column, row, said, ha="center", va="center", fontsize=7, color="white" if dark else "black"
            )


def _checked(results: Mapping[str, Result[Any, Any]]) -> dict[str, Result[Any, Any]]:
    runs = dict(results)
    if not runs:
        raise InvalidInput("there is no run to draw; give results by the names to show")
    if len({run.solved for run in runs.values()}) > 1:
        raise InvalidInput("these runs belong to different problems; their gaps cannot be compared")
    for name, run in runs.items():
        if not len(run.trace):
            raise InvalidInput(f"{name}: nothing was traced; solve with trace=True")
    return runs


def _costs(run: Result[Any, Any]) -> dict[int, Array]:
    """By column of the figure: rounds and megabytes up, where the trace has them, and seconds."""
    trace = run.trace
    seconds = {2: np.array(trace["time"])}
    if "rounds" not in trace.names:
        return seconds
    return {0: np.array(trace["rounds"]), 1: np.array(trace["bytes_up"]) / 1e6} | seconds
