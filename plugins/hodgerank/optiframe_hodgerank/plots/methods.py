"""Pictures of several answers: how methods rank, and how well they find wrong comparisons.

Every function returns a matplotlib `Figure` and shows or saves nothing. matplotlib is imported on
use (extra `plots`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from optiframe.errors import InvalidInput
from optiframe.plotting import LOOKS, empty_axes
from optiframe.records.fields import Array
from optiframe_hodgerank.metrics import area_under_curve
from optiframe_hodgerank.plots.paths import NAMED
from optiframe_hodgerank.problem import answer_of, problem_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from optiframe_hodgerank.plots.paths import Solved


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
    answers = {name: answer_of(result) for name, result in results.items()}
    items = next(iter(answers.values())).items
    for name, answer in answers.items():
        if not np.array_equal(answer.items, items):
            raise InvalidInput(
                f"{name} does not rank the same items as the first result; plot results of one problem"
            )
        if answer.component.any():
            raise InvalidInput(f"{name}: the items fall into groups that no comparisons join; plot one group")
    # Items of equal score stand in the order of their codes: each needs a place of its own.
    places = np.empty((len(answers), len(items)), dtype=np.int64)
    for at, answer in enumerate(answers.values()):
        places[at, answer.order] = np.arange(1, len(items) + 1)
    moves = (places != places[0]).any(axis=0)
    figure, axes = empty_axes(2.6 + 1.25 * len(answers), float(np.clip(1.6 + 0.27 * len(items), 3.5, 11.0)))
    across = np.arange(len(answers))
    palette = [colour for colour, _, _ in LOOKS]
    movers = np.flatnonzero(moves)
    look = {
        item: palette[turn % len(palette)] for turn, item in enumerate(movers[np.argsort(places[0, movers])])
    }
    named = len(items) <= NAMED
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
    figure, axes = empty_axes(5.2, 5.0)
    for at, (name, result) in enumerate(results.items()):
        problem, solution = problem_of(result), answer_of(result)
        wrong = problem.outlier_truth
        if wrong is None or not wrong.any() or wrong.all():
            raise InvalidInput(f"{name}: a curve needs comparisons known to be wrong and some to be right")
        if solution.strength is None:
            raise InvalidInput(f"{name}: this answer says of no comparison how wrong it looks")
        false, true = roc(solution.strength, wrong)
        colour, _, style = LOOKS[at % len(LOOKS)]
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
