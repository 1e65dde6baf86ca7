"""Pictures to publish: scores with intervals and groups of equals, and who beats whom how often.

Every function returns a matplotlib `Figure` and shows or saves nothing. matplotlib is imported on
use (extra `plots`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from optiframe.errors import InvalidInput
from optiframe.plotting import BLUE, GREY, VERMILION, empty_figure
from optiframe.tables.ids import Ids
from optiframe_hodgerank.answer import ELO_MEAN, Ranking, Scale, on_scale
from optiframe_hodgerank.answer_tables import item_votes
from optiframe_hodgerank.listwise.problem import ListwiseRanking
from optiframe_hodgerank.problem import PairwiseRanking, answer_of, problem_of
from optiframe_hodgerank.ranked import ranked
from optiframe_hodgerank.trust import apart
from optiframe_hodgerank.trust.bootstrap_answer import at_level
from optiframe_hodgerank.trust.chances import chance_matrices

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from optiframe_hodgerank.plots.paths import Solved

Codes = NDArray[np.int64]

_ROW = 0.2  # inches for an item: names of 8 points stand apart
_COLUMN = 0.1  # inches for a column of groups
_NAME = 40  # letters of a name that are shown
_WRITTEN = 20  # items up to which chances are written into their cells
_WORDS = {
    "log-odds": "score (log-odds)",
    "elo": "rating (Elo: 400 points, odds of 10 to 1; mean 1000)",
    "win-probability": "chance to beat an item of mean score, ties aside",
}


def plot_leaderboard(
    result: Solved, *, level: float = 0.9, scale: Scale | None = None, most: int = 100
) -> Figure:
    """Scores with intervals, the best item on top, and beside them which items cannot be told apart.

    Each vertical line on the right joins the items of a group; two items can be told apart if and only if no
    line joins them. Where a line passes an item of another group, it is thin there.

    Parameters
    ----------
    result
        Of any solver for `pairwise-ranking` or `listwise-ranking`, or a fitted `RobustRanker` or
        `ListwiseRanker`; intervals and groups are drawn where the answer has intervals.
    level, scale
        As for `leaderboard`.
    most
        How many of the best items are drawn.

    Raises
    ------
    InvalidInput
        As `leaderboard` does, and for fewer than one item.
    MissingPackage
        Without matplotlib.
    """
    if most < 1:
        raise InvalidInput(f"most must be at least 1, got {most}")
    known, answer = ranked(result)
    answer = at_level(answer, getattr(getattr(result, "result_", result), "detail", None), level)
    best = answer.order[:most]
    spans = _groups(known, answer, level, best)
    columns = _packed(spans)
    wide = 3.6 + 0.07 * max(len(name) for name in _names(answer.items[best]))
    beside = max(1.1, _COLUMN * max(columns) + 0.25) if columns else 0.0
    figure = empty_figure(wide + beside, 1.3 + _ROW * len(best))
    if columns:
        axes, right = figure.subplots(1, 2, sharey=True, width_ratios=[wide - 0.5, beside])
        _draw_groups(right, spans, columns)
    else:
        axes = figure.subplots()
    place = np.arange(len(best))
    score = on_scale(answer.scores, answer.scale, scale)[best]
    if answer.low is not None and answer.high is not None:
        low, high = (on_scale(end, answer.scale, scale)[best] for end in (answer.low, answer.high))
        axes.hlines(place, low, high, color=BLUE, linewidth=2.0, alpha=0.45)
    axes.plot(score, place, linestyle="none", marker="o", markersize=5, color=BLUE)
    if not answer.component.any():
        mean = {"elo": ELO_MEAN, "win-probability": 0.5}.get(scale or "", 0.0)
        axes.axvline(mean, color="0.75", linewidth=0.8, zorder=0)
    for at in np.flatnonzero(np.diff(answer.component[best])):
        axes.axhline(at + 0.5, color="0.4", linewidth=0.8, linestyle=":")  # nothing compares the two sides
    axes.set_yticks(place, _names(answer.items[best]), fontsize=8)
    axes.set_ylim(len(best) - 0.4, -0.6)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", labelsize=8)
    axes.grid(axis="y", color="0.93")
    axes.set_axisbelow(True)
    axes.set_xlabel(_WORDS.get(scale or answer.scale, "score"), fontsize=8)
    sure = "" if answer.low is None else f", {100 * level:g}% intervals"
    some = "" if len(best) == len(answer.items) else f"The best {len(best)} of "
    title = f"{some}{len(answer.items)} items, {_counted(known)}{sure}"
    figure.suptitle(title, x=0.02, ha="left", fontsize=10)
    return figure


def plot_win_probabilities(result: Solved, *, most: int = 60) -> Figure:
    """How likely the item of a row beats that of a column, ties aside: a heat map, the best item first.

    The chances follow from the scores; a dot marks pairs that nobody compared. Of up to 20 items they are
    written into the cells, in percent.

    Parameters
    ----------
    result
        An answer in log-odds (`ranking.crowd-bt`, `hodge.bradley-terry`), or a fitted `RobustRanker`.
    most
        How many of the best items are drawn.

    Raises
    ------
    InvalidInput
        For other scores, and for fewer than two items.
    MissingPackage
        Without matplotlib.
    """
    if most < 2:
        raise InvalidInput(f"most must be at least 2, got {most}")
    known, answer = problem_of(result), answer_of(result)
    detail = getattr(getattr(result, "result_", result), "detail", None)
    chances = chance_matrices(known.comparisons, answer, detail)
    best = answer.order[:most]
    inside = np.ix_(best, best)
    decided = chances.win[inside] + chances.loss[inside]
    win = np.divide(chances.win[inside], decided, out=np.full_like(decided, np.nan), where=decided > 0)
    names, size = _names(answer.items[best]), len(best)
    side = max(2.2, _ROW * size)
    margin = 0.065 * max(map(len, names)) + 0.3
    figure = empty_figure(side + margin + 1.0, side + margin + 0.3)
    axes = figure.subplots()
    image = axes.imshow(win, cmap="RdBu", vmin=0.0, vmax=1.0, aspect="equal", interpolation="nearest")
    compared = np.zeros((len(answer.items), len(answer.items)), dtype=bool)
    compared[known.merged.left, known.merged.right] = True
    never = np.argwhere(~(compared | compared.T)[inside] & ~np.eye(size, dtype=bool))
    aside = 0.35 if size <= _WRITTEN else 0.0  # of the number in the cell
    axes.scatter(never[:, 1] + aside, never[:, 0] + aside, s=1.5, color="0.4")
    if size <= _WRITTEN:
        for row, column in np.argwhere(np.isfinite(win)):
            chance = win[row, column]
            colour = "white" if abs(chance - 0.5) > 0.35 else "black"
            axes.text(column, row, f"{100 * chance:.0f}", ha="center", va="center", fontsize=6, color=colour)
    axes.set_xticks(range(size), names, rotation=90, fontsize=7)
    axes.set_yticks(range(size), names, fontsize=7)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    bar = figure.colorbar(image, ax=axes, shrink=min(1.0, 3.0 / side), ticks=[0, 0.25, 0.5, 0.75, 1])
    bar.ax.tick_params(labelsize=7)
    bar.set_label("row beats column, ties aside", fontsize=8)
    dotted = " (dots: never compared)" if len(never) else ""
    figure.suptitle(f"Who beats whom{dotted}", x=0.02, ha="left", fontsize=10)
    return figure


def _names(items: Ids) -> list[str]:
    """Items as text; of long ones beginning and end, since versions of one thing differ at the end."""
    texts, half = [str(item) for item in items.tolist()], _NAME // 2
    return [text if len(text) <= _NAME else f"{text[: half - 1]}…{text[-half:]}" for text in texts]


def _counted(known: PairwiseRanking | ListwiseRanking) -> str:
    if isinstance(known, PairwiseRanking):
        return f"{item_votes(known.comparisons)[0].sum() / 2:,.10g} comparisons"
    weight = known.orderings.weight
    return f"{len(known.orderings) if weight is None else weight.sum():,.10g} rankings and choices"


def _groups(
    known: PairwiseRanking | ListwiseRanking, answer: Ranking, level: float, best: Codes
) -> list[Codes]:
    """Places of the members of each group of two and more among the items drawn, that of the best first."""
    errors = known.difference_errors(answer)
    if errors is None:
        return []
    above = apart.surely_above(answer, errors, level)
    found = apart.largest_groups(apart.told_apart(above, answer)[np.ix_(best, best)]) or []
    members = (np.array([at for at in range(len(best)) if group >> at & 1]) for group in found)
    return [group for group in members if len(group) > 1]


def _packed(spans: list[Codes]) -> list[int]:
    """A column for each group, so that groups of one column have a row between them."""
    columns: list[int] = []
    free: list[int] = []  # the last row taken, by column
    for span in spans:
        at = next((c for c, until in enumerate(free) if until < span[0]), len(free))
        if at == len(free):
            free.append(0)
        free[at] = int(span[-1])
        columns.append(at)
    return columns


def _draw_groups(axes: Axes, spans: list[Codes], columns: list[int]) -> None:
    """A line for each group, thin where it passes who is none of it."""
    for span, column in zip(spans, columns, strict=True):
        axes.vlines(column, span[0], span[-1], color=GREY, linewidth=0.6)
        for run in np.split(span, np.flatnonzero(np.diff(span) > 1) + 1):
            axes.vlines(column, run[0] - 0.3, run[-1] + 0.3, color=VERMILION, linewidth=2.2)
    axes.set_xlim(-1.0, max(*columns, 7) + 1.0)
    axes.set_xticks([])
    axes.tick_params(axis="y", length=0, labelleft=False)
    axes.spines[:].set_visible(False)
    axes.set_xlabel("one line: not\ndistinguishable", fontsize=7)
