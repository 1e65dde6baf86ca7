"""Pictures of an answer: the path, and where outliers are (several answers: `comparison_plots.py`).

Every function returns a matplotlib `Figure` and shows or saves nothing:
``figure.savefig("path.png")``. matplotlib is imported on use (extra `plots`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from optiframe.errors import InvalidInput, require
from optiframe.plotting import BLACK, BLUE, GREY, VERMILION, empty_axes, legend_below
from optiframe.records.fields import Array
from optiframe.solving.result import Result
from optiframe.solving.sources import Fitted
from optiframe.tables.ids import listed
from optiframe_hodgerank.answer import Ranking
from optiframe_hodgerank.path.path import NEAR, Path
from optiframe_hodgerank.problem import PairwiseRanking, answer_of, problem_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    Solved: TypeAlias = Result[Any, Any] | Fitted

NAMED = 60  # items whose names fit along an axis
_BANDS = (0.05, 0.10, 0.15, 0.20, 0.25)  # of Figure 10
_SAMPLED = 300  # points of a path that are drawn: more than a page has to show


def plot_path(result: Solved, *, share: float | None = None) -> Figure:
    """The regularization path: each comparison's outlier against t, or lambda (Figure 2).

    Merged comparisons, one line each. Where the truth about outliers is known wrong comparisons
    are coloured and right ones blue and dashed; else those that are outliers where a solver given this
    `share` stops are coloured and later ones grey.

    Parameters
    ----------
    result
        Of a method that follows a path (`hodge.lbi`, `hodge.iss`, `hodge.hlasso`, ...), or a fitted
        `RobustRanker`. Follow it further than the share of interest to see what enters next.
    share
        Share of the comparisons that are taken for outliers, marked by a line; None: all that are.

    Raises
    ------
    InvalidInput
        When the result has no path, or the path does not reach the share.
    MissingPackage
        Without matplotlib.
    """
    problem, _, path = _with_path(result)
    knots = path.knots
    finite = np.flatnonzero(np.isfinite(knots))
    drawn = knots[finite[np.unique(np.linspace(0, len(finite) - 1, _SAMPLED).astype(int))]]
    rows = path.row
    outliers = np.array([path.outliers_at(float(knot))[rows] for knot in drawn]).reshape(len(drawn), -1)
    until = _knot_of(path, share)
    early = np.ones(len(rows), dtype=bool) if share is None else _outliers_at(path, until)[rows]
    if problem.outlier_truth is not None:
        merged = problem.merged
        wrong = np.bincount(merged.inverse, problem.outlier_truth, len(merged))[rows] > merged.count[rows] / 2
        groups = [(~wrong, BLUE, "--", "known to be right"), (wrong, VERMILION, "-", "known to be wrong")]
    else:
        taken = "taken for an outlier" if share is None else f"among the first {share:.0%}"
        groups = [(~early, GREY, "--", "later"), (early, VERMILION, "-", taken)]
    figure, axes = empty_axes(7.0, 4.6)
    for which, colour, style, label in groups:
        if which.any():
            # Fainter the more there are, so that single lines can be followed or their mass be seen.
            alpha = float(np.clip(40 / which.sum(), 0.25, 0.9))
            lines = axes.plot(
                drawn, outliers[:, which], color=colour, linestyle=style, linewidth=0.9, alpha=alpha
            )
            lines[0].set_label(f"{label} ({_comparisons(problem, rows[which])})")
    axes.axhline(0.0, color=BLACK, linewidth=0.8)
    if share is not None:
        axes.axvline(
            float(knots[until]), color=BLACK, linewidth=0.9, linestyle=":", label=f"at most {share:.0%}"
        )
    if path.parameter == "lambda":
        axes.invert_xaxis()
    axes.set_xlabel("time t (about 1/lambda)" if path.parameter == "t" else "lambda, falling")
    axes.set_ylabel("outlier: part of the margin taken for wrong")
    axes.set_title("Regularization path", loc="left")
    axes.grid(color="0.92")
    axes.set_axisbelow(True)
    legend_below(figure, axes, columns=2)
    return figure


def plot_outliers(result: Solved, *, shares: Sequence[float] = _BANDS) -> Figure:
    """Which comparisons look wrong: who was preferred against whom (Figure 10).

    A mark is a pair and who was preferred in it. Items go from the lowest to the highest
    least-squares score along both axes, so that what agrees with the scores is above the diagonal.
    Crosses were taken for outliers; the colour is the strength, red for the strongest. Ties are not
    drawn.

    Parameters
    ----------
    result
        Of a method that gives comparisons a strength, or a fitted `RobustRanker`.
    shares
        Upper ends of the bands of strength, rising: the strongest 5%, 10%, ...

    Raises
    ------
    InvalidInput
        When the answer has no strengths, or shares do not rise within (0, 1).
    MissingPackage
        Without matplotlib.
    """
    problem, solution = problem_of(result), answer_of(result)
    if solution.strength is None:
        raise InvalidInput(
            "this answer says of no comparison how wrong it looks; take hodge.lbi, for example"
        )
    ends = np.asarray(shares, dtype=np.float64)
    if not (len(ends) and (ends > 0).all() and (ends < 1).all() and (np.diff(ends) > 0).all()):
        raise InvalidInput(f"shares must rise within (0, 1), got {list(shares)}")
    graph = problem.graph
    band, flagged = _bands(problem, solution, ends)
    items = np.argsort(graph.scores(graph.margin), kind="stable")
    place = np.empty(graph.items, dtype=np.int64)
    place[items] = np.arange(graph.items)
    ahead, decided = graph.margin > 0, graph.margin != 0
    up = place[np.where(ahead, graph.left, graph.right)]
    across = place[np.where(ahead, graph.right, graph.left)]
    side = float(np.clip(3.0 + 0.16 * graph.items, 4.5, 8.5))
    figure, axes = empty_axes(side + 1.8, side)
    named = graph.items <= NAMED
    colours = (
        require("matplotlib.cm", "plots")
        .ScalarMappable(cmap="RdYlBu")
        .to_rgba(np.linspace(0, 1, len(ends) + 1), norm=False)
    )
    size = float(np.clip(6500 / graph.items**1.6, 5.0, 80.0))
    starts = [0.0, *ends.tolist()]
    for at in range(len(ends), -1, -1):  # the strongest on top
        rest = f"the other {1 - ends[-1]:.0%}"
        name = rest if at == len(ends) else f"{starts[at]:.0%} to {ends[at]:.0%}"
        shown = False
        for cross in (False, True):
            which = decided & (band == at) & (flagged == cross)
            if which.any():
                axes.scatter(
                    across[which],
                    up[which],
                    s=size,
                    color=colours[at],
                    marker="X" if cross else "o",
                    edgecolors=("none" if not named else BLACK if cross else "0.55"),
                    linewidths=0.7 if cross else 0.3,
                    label=None if shown else name,
                    zorder=3 + len(ends) - at,
                )
                shown = True
    axes.scatter([], [], marker="X", color="white", edgecolors=BLACK, label="taken for an outlier")
    ends_of_axis = (-0.7, graph.items - 0.3)
    axes.plot(ends_of_axis, ends_of_axis, color="0.75", linewidth=0.8, zorder=1)
    axes.set(xlim=ends_of_axis, ylim=ends_of_axis)
    _name_items(axes, [str(name) for name in problem.item_ids[items].tolist()] if named else [])
    axes.set_xlabel("item not preferred, by rising least-squares score")
    axes.set_ylabel("item preferred")
    axes.set_title("Comparisons by how wrong they look", loc="left")
    handles, labels = axes.get_legend_handles_labels()
    middle = len(handles) - 1
    figure.legend(
        handles[:middle][::-1] + handles[middle:],
        labels[:middle][::-1] + labels[middle:],
        loc="outside right upper",
        frameon=False,
        title="strength, of all rows",
        alignment="left",
    )
    return figure


def _name_items(axes: Axes, names: list[str]) -> None:
    """Names along both axes; no ticks for none, as places mean nothing by themselves."""
    places = range(len(names))
    long = any(len(name) > 3 for name in names)
    axes.set_xticks(places, names, rotation=90 if long else 0, fontsize=8)
    axes.set_yticks(places, names, fontsize=8)


def _bands(
    problem: PairwiseRanking, solution: Ranking, ends: Array
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Band of strength of each merged row, and whether it was taken for an outlier."""
    merged = problem.merged
    strength, flagged = np.zeros(len(merged)), np.zeros(len(merged), dtype=bool)
    if solution.strength is not None:
        strength[merged.inverse] = solution.strength  # equal rows have one strength
    flagged[merged.inverse[solution.flagged]] = True
    order = np.argsort(-strength, kind="stable")
    before = np.empty(len(merged))
    before[order] = (np.cumsum(merged.count[order]) - merged.count[order]) / merged.rows
    return np.searchsorted(ends, before, side="right"), flagged


def _with_path(result: Solved) -> tuple[PairwiseRanking, Ranking, Path]:
    problem, solution = problem_of(result), answer_of(result)
    path = getattr(getattr(result, "result_", result), "detail", None)
    if isinstance(path, Path) and not len(path.row):
        raise InvalidInput("there is nothing to draw: no comparison became an outlier on this path")
    if not isinstance(path, Path):
        raise InvalidInput(
            "this result has no path along which comparisons enter; take hodge.lbi, for example"
        )
    return problem, solution, path


def _outliers_at(path: Path, knot: int) -> NDArray[np.bool_]:
    """Which merged rows are outliers on arriving at a knot."""
    nothing = NEAR * path.graph.largest_margin
    return np.asarray(np.abs(path.outliers_at(float(path.knots[knot]))) > nothing)


def _knot_of(path: Path, share: float | None) -> int:
    """The knot at which that share of the comparisons are outliers; the last for None."""
    if share is None:
        return len(path) - 1
    return path.knot_at(share)


def _comparisons(problem: PairwiseRanking, rows: NDArray[np.int64]) -> str:
    """How many merged comparisons these are, or which item pair where it is one."""
    if len(rows) == 1:
        graph = problem.graph
        ends = problem.item_ids[[graph.left[rows[0]], graph.right[rows[0]]]]
        return f"the pair {listed(ends)}"
    return f"{len(rows)} distinct rows"
