"""Pictures of an answer: the path, where outliers are, how methods rank, how well outliers are found.

Every function returns a matplotlib `Figure` and shows or saves nothing:
``figure.savefig("path.png")``. matplotlib is imported on use (extra `plots`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from optiframe.errors import InvalidInput, require
from optiframe.results import Result
from optiframe.values import Array
from optiframe_hodgerank.ids import listed
from optiframe_hodgerank.pairwise_ranking import PairwiseRanking
from optiframe_hodgerank.path import Path
from optiframe_hodgerank.ranking import Ranking

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from optiframe_hodgerank.facade import RobustRanker

    Solved: TypeAlias = Result[Any, Any] | RobustRanker

# The palette of Okabe and Ito, told apart with every kind of colour vision; marks and line
# styles differ as well, for grey prints.
_BLUE, _VERMILION, _GREEN, _PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
_ORANGE, _SKY, _BLACK, _GREY = "#E69F00", "#56B4E9", "#000000", "#8C8C8C"
_LINES = (
    (_BLUE, "-"),
    (_VERMILION, "--"),
    (_GREEN, "-."),
    (_PURPLE, ":"),
    (_ORANGE, "-"),
    (_SKY, "--"),
    (_BLACK, "-."),
)
_BANDS = (0.05, 0.10, 0.15, 0.20, 0.25)  # of Figure 10
_SAMPLED = 300  # points of a path that are drawn: more than a page has to show
_NAMED = 60  # items whose names fit along an axis


def plot_path(result: Solved, *, share: float | None = None) -> Figure:
    """The regularization path: each comparison's outlier against t, or lambda (Figure 2).

    Merged comparisons, one line each. Where the truth about outliers is known wrong comparisons
    are coloured and right ones blue and dashed; else those that entered before `share` was reached
    are coloured and later ones grey.

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
    early = path.knot <= until
    if problem.outlier_truth is not None:
        merged = problem.merged
        wrong = np.bincount(merged.inverse, problem.outlier_truth, len(merged))[rows] > merged.count[rows] / 2
        groups = [(~wrong, _BLUE, "--", "known to be right"), (wrong, _VERMILION, "-", "known to be wrong")]
    else:
        taken = "taken for an outlier" if share is None else f"among the first {share:.0%}"
        groups = [(~early, _GREY, "--", "later"), (early, _VERMILION, "-", taken)]
    figure, axes = _figure(7.0, 4.6)
    for which, colour, style, label in groups:
        if which.any():
            # Fainter the more there are, so that single lines can be followed or their mass be seen.
            alpha = float(np.clip(40 / which.sum(), 0.25, 0.9))
            lines = axes.plot(
                drawn, outliers[:, which], color=colour, linestyle=style, linewidth=0.9, alpha=alpha
            )
            lines[0].set_label(f"{label} ({_comparisons(problem, rows[which])})")
    axes.axhline(0.0, color=_BLACK, linewidth=0.8)
    if share is not None:
        axes.axvline(
            float(knots[until]), color=_BLACK, linewidth=0.9, linestyle=":", label=f"{share:.0%} reached"
        )
    if path.parameter == "lambda":
        axes.invert_xaxis()
    axes.set_xlabel("time t (about 1/lambda)" if path.parameter == "t" else "lambda, falling")
    axes.set_ylabel("outlier: part of the margin taken for wrong")
    axes.set_title("Regularization path", loc="left")
    axes.grid(color="0.92")
    axes.set_axisbelow(True)
    _legend_below(figure, axes, columns=2)
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
    problem, solution = _parts(result)
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
    figure, axes = _figure(side + 1.8, side)
    named = graph.items <= _NAMED
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
                    edgecolors=("none" if not named else _BLACK if cross else "0.55"),
                    linewidths=0.7 if cross else 0.3,
                    label=None if shown else name,
                    zorder=3 + len(ends) - at,
                )
                shown = True
    axes.scatter([], [], marker="X", color="white", edgecolors=_BLACK, label="taken for an outlier")
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


def plot_ranks(results: Mapping[str, Solved]) -> Figure:
    """Ranks of the items by several methods: a bump chart (Figure 12).

    A line is an item; it is coloured where its rank is not the same for all methods.

    Parameters
    ----------
    results
        Name of the method -> its result for the same items, or a fitted `RobustRanker`.

    Raises
    ------
    InvalidInput
        For fewer than two results, other items, or items that fall into groups that cannot be ranked
        together.
    MissingPackage
        Without matplotlib.
    """
    if len(results) < 2:
        raise InvalidInput("a bump chart compares at least two results")
    answers = {name: _parts(result)[1] for name, result in results.items()}
    items = next(iter(answers.values())).items
    for name, answer in answers.items():
        if not np.array_equal(answer.items, items):
            raise InvalidInput(f"{name} ranks other items")
        if answer.component.any():
            raise InvalidInput(f"{name}: the items fall into groups that no comparisons join; plot one group")
    # Items of equal score stand in the order of their codes: each needs a place of its own.
    places = np.empty((len(answers), len(items)), dtype=np.int64)
    for at, answer in enumerate(answers.values()):
        places[at, answer.order] = np.arange(1, len(items) + 1)
    moves = (places != places[0]).any(axis=0)
    figure, axes = _figure(2.6 + 1.25 * len(answers), float(np.clip(1.6 + 0.27 * len(items), 3.5, 11.0)))
    across = np.arange(len(answers))
    palette = [colour for colour, _ in _LINES]
    movers = np.flatnonzero(moves)
    look = {
        item: palette[turn % len(palette)] for turn, item in enumerate(movers[np.argsort(places[0, movers])])
    }
    named = len(items) <= _NAMED
    for item in np.concatenate([np.flatnonzero(~moves), movers]).tolist():
        colour = look.get(item, "0.75")
        axes.plot(
            across,
            places[:, item],
            color=colour,
            linewidth=2.0 if item in look else 1.2,
            marker="o",
            markersize=5 if named else 2,
            zorder=3 if item in look else 2,
        )
        if named:
            for at, sideways, anchor in ((0, -0.12, "right"), (len(answers) - 1, 0.12, "left")):
                axes.text(
                    across[at] + sideways,
                    places[at, item],
                    str(items[item]),
                    ha=anchor,
                    va="center",
                    fontsize=8,
                    color=colour if item in look else "0.35",
                )
    axes.set_xticks(across, list(answers))
    margin = 0.6 + 0.05 * max(len(str(name)) for name in items.tolist()) if named else 0.3
    axes.set_xlim(-margin, len(answers) - 1 + margin)
    axes.set_ylim(len(items) + 0.7, 0.3)
    axes.set_yticks([1, *range(5, len(items) + 1, max(5, len(items) // 10))])
    axes.set_ylabel("rank (1: best)")
    axes.spines["bottom"].set_visible(False)
    axes.tick_params(axis="x", length=0)
    changed = f"{len(movers)} of {len(items)} change place" if len(movers) else "no item changes place"
    axes.set_title(f"Ranks of {len(items)} items: {changed}", loc="left")
    return figure


def plot_roc(results: Mapping[str, Solved]) -> Figure:
    """How well methods tell wrong comparisons from right ones: true against false alarms (Figure 5).

    Along a curve the strength from which a comparison counts as wrong falls; the legend gives the
    area under it. A dot marks what the method took for outliers.

    Parameters
    ----------
    results
        Name of the method -> its result for a problem with known outliers, or a fitted `RobustRanker`.

    Raises
    ------
    InvalidInput
        When the outliers are not known, or an answer has no strengths.
    MissingPackage
        Without matplotlib.
    """
    from optiframe_hodgerank.metrics import area_under_curve

    figure, axes = _figure(5.2, 5.0)
    for at, (name, result) in enumerate(results.items()):
        problem, solution = _parts(result)
        wrong = problem.outlier_truth
        if wrong is None or not wrong.any() or wrong.all():
            raise InvalidInput(f"{name}: a curve needs comparisons known to be wrong and some to be right")
        if solution.strength is None:
            raise InvalidInput(f"{name}: this answer says of no comparison how wrong it looks")
        false, true = roc(solution.strength, wrong)
        colour, style = _LINES[at % len(_LINES)]
        area = area_under_curve(solution.strength, wrong)
        axes.plot(
            false, true, color=colour, linestyle=style, linewidth=1.6, label=f"{name} (area {area:.4f})"
        )
        if solution.outliers is not None:
            taken = solution.outliers != 0
            axes.plot(taken[~wrong].mean(), taken[wrong].mean(), color=colour, marker="o", markersize=7)
    axes.plot([0, 1], [0, 1], color="0.75", linewidth=0.8, zorder=1)
    axes.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal")
    axes.set_xlabel("share of right comparisons taken for wrong")
    axes.set_ylabel("share of wrong comparisons found")
    axes.set_title("Finding wrong comparisons", loc="left")
    axes.grid(color="0.92")
    axes.set_axisbelow(True)
    axes.legend(loc="lower right", frameon=False)
    return figure


def roc(strength: Array, wrong: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Shares of false and of true alarms as the threshold falls; equal strengths are passed at once."""
    value, place = np.unique(-strength, return_inverse=True)
    true = np.bincount(place, wrong, len(value)).cumsum()
    false = np.bincount(place, ~wrong, len(value)).cumsum()
    return np.concatenate([[0.0], false / false[-1]]), np.concatenate([[0.0], true / true[-1]])


def _figure(width: float, height: float) -> tuple[Figure, Axes]:
    """A figure of its own, in inches; not pyplot's, which would keep it until it is closed."""
    module = require("matplotlib.figure", "plots")
    figure: Figure = module.Figure(figsize=(width, height), dpi=150, layout="constrained")
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _legend_below(figure: Figure, axes: Axes, columns: int) -> None:
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False)


def _parts(result: Solved) -> tuple[PairwiseRanking, Ranking]:
    found = getattr(result, "result_", result)
    problem, solution = getattr(found, "problem", None), getattr(found, "solution", None)
    if not isinstance(problem, PairwiseRanking) or not isinstance(solution, Ranking):
        raise InvalidInput(
            "give the result of a solver for pairwise-ranking or a fitted RobustRanker, "
            f"not a {type(result).__name__}"
        )
    return problem, solution


def _with_path(result: Solved) -> tuple[PairwiseRanking, Ranking, Path]:
    problem, solution = _parts(result)
    path = getattr(getattr(result, "result_", result), "detail", None)
    if isinstance(path, Path) and not len(path.row):
        raise InvalidInput("no comparison became an outlier on this path")
    if not isinstance(path, Path):
        raise InvalidInput(
            "this result has no path along which comparisons enter; take hodge.lbi, for example"
        )
    return problem, solution, path


def _knot_of(path: Path, share: float | None) -> int:
    """The first knot at which that share is reached; the last for None."""
    if share is None:
        return len(path) - 1
    path.at_fraction(share)  # says so where it is not reached
    return int(np.argmax(path.active >= share - 1e-12))


def _comparisons(problem: PairwiseRanking, rows: NDArray[np.int64]) -> str:
    """How many merged comparisons these are, or which item pair where it is one."""
    if len(rows) == 1:
        graph = problem.graph
        ends = problem.item_ids[[graph.left[rows[0]], graph.right[rows[0]]]]
        return f"the pair {listed(ends)}"
    return f"{len(rows)} distinct rows"
