"""What the figures of outliers share: which statements two methods take for wrong, and the scatter chart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from harness.answers import again
from harness.claims import Line, against, holds
from harness.runs import Runs
from hodgerank.broken import misfit
from matplotlib.figure import Figure
from numpy.typing import NDArray

METHODS = ("LASSO+L2", "LBI")
_BANDS = (0.05, 0.10, 0.15, 0.20, 0.25)  # as the paper colours them
_COLOURS = ("#a50026", "#d73027", "#f46d43", "#fdae61", "#fee090", "#abd9e9")

Statement = tuple[int, int]  # winner, loser


def said(problem: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Winner and loser of each comparison, item ids; left and right of a tie."""
    table = problem.comparisons
    left, right = problem.item_ids[table.left], problem.item_ids[table.right]
    ahead = table.margin >= 0
    return np.where(ahead, left, right), np.where(ahead, right, left)


def statements(result: Any) -> set[Statement]:
    """What the comparisons taken for outliers say; equal comparisons say it together."""
    winner, loser = said(result.problem)
    rows = result.solution.flagged
    return set(zip(winner[rows].tolist(), loser[rows].tolist(), strict=True))


def disagreements(runs: Runs, **chosen: Any) -> set[Statement]:
    """What one of the two methods takes for an outlier and the other does not."""
    first, second = (statements(again(runs.where(solver=name, **chosen)[0])) for name in METHODS)
    return first ^ second


def outlier_lines(
    runs: Runs, claim: str, found: Callable[[set[Statement]], bool], *, rule: str, why: str = ""
) -> list[Line]:
    """Whether what one of the two methods alone takes for outliers is as the paper says (`found`).

    And that whatever either takes for an outlier is against the order of least squares, and in which corner
    of the plot it lies.
    """
    result = again(runs.where(solver=METHODS[0])[0])
    plain = most_misfitting(result.problem, len(result.solution.flagged) / result.problem.rows)
    line, control = (
        holds(
            "statements taken for outliers by one of the two only",
            claim,
            _listed(differ),
            found=found(differ),
            rule=rule,
            why=why,
        )
        for differ in (disagreements(runs), statements(result) ^ plain)
    )
    lines = [against(line, "the largest misfits to L2 in LBI's place", control)]
    for name in METHODS:
        result = again(runs.where(solver=name)[0])
        mine = statements(result)
        line, control = (
            _against_order(result.problem, name, each)
            for each in (mine, at_random(result.problem, len(mine)))
        )
        lines.append(against(line, "as many statements at random", control))
    result = again(runs.where(solver=METHODS[1])[0])
    mine = statements(result)
    line, control = (_corner(result.problem, each) for each in (mine, at_random(result.problem, len(mine))))
    return [*lines, against(line, "as many statements at random", control)]


def _listed(differ: set[Statement]) -> str:
    named = ", ".join(f"{winner} over {loser}" for winner, loser in sorted(differ)[:6])
    return f"{len(differ)}: {named}" + (", and others" if len(differ) > 6 else "") if differ else "none"


def _against_order(problem: Any, name: str, mine: set[Statement]) -> Line:
    score = dict(
        zip(problem.item_ids.tolist(), problem.graph.scores(problem.graph.margin).tolist(), strict=True)
    )
    reverse = [pair for pair in mine if score[pair[0]] < score[pair[1]]]
    return holds(
        f"outliers of {name} against the order of L2",
        "all",
        f"{len(reverse)} of {len(mine)} statements",
        found=len(reverse) == len(mine),
        rule="the loser has the higher score by least squares",
    )


def _corner(problem: Any, mine: set[Statement]) -> Line:
    """Where the outliers lie when both axes ascend by the score of L2: across the loser, up the winner."""
    rising = problem.item_ids[np.argsort(problem.graph.scores(problem.graph.margin), kind="stable")].tolist()
    middle = (len(rising) - 1) / 2
    corners = Counter(
        f"{'lower' if rising.index(winner) < middle else 'upper'} "
        f"{'left' if rising.index(loser) < middle else 'right'}"
        for winner, loser in mine
    )
    (corner, number), *_ = corners.most_common(1)
    return holds(
        "the corner with most of LBI's outliers, axes as in the caption of Figure 10",
        "lower left",
        f"{corner}, with {number} of {len(mine)}",
        found=corner == "lower left",
        rule="the quarter of the plot with most of them, both axes ascending by the score of L2",
        why="an outlier is a poor item preferred to a good one: with both axes ascending that is below the "
        "diagonal, to the lower right; it is the lower left when the axis across descends, as the text on "
        "Figure 20 has it",
    )


def most_misfitting(problem: Any, share: float) -> set[Statement]:
    """What that share of the comparisons says, those of largest misfit to L2; of equal ones the first."""
    rows = np.argsort(-misfit(problem).round(9), kind="stable")[: round(share * problem.rows)]
    winner, loser = said(problem)
    return set(zip(winner[rows].tolist(), loser[rows].tolist(), strict=True))


def at_random(problem: Any, number: int) -> set[Statement]:
    """So many statements out of all that were made, at random."""
    every = sorted(set(zip(*(ids.tolist() for ids in said(problem)), strict=True)))
    chosen = np.random.default_rng(0).choice(len(every), min(number, len(every)), replace=False)
    return {every[at] for at in chosen}


def scatter(runs: Runs, **chosen: Any) -> Any:
    """Both methods' outliers: who was preferred to whom, items by rising least-squares score."""
    figure = Figure(figsize=(11.5, 5.8), layout="constrained")
    differ = disagreements(runs, **chosen)
    for axes, name in zip(figure.subplots(1, 2), METHODS, strict=True):
        _panel(axes, again(runs.where(solver=name, **chosen)[0]), differ)
        axes.set_title(name, loc="left")
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    return figure


def _panel(axes: Any, result: Any, differ: set[Statement]) -> None:
    problem, solution = result.problem, result.solution
    graph = problem.graph
    rising = np.argsort(graph.scores(graph.margin), kind="stable")
    place = dict(zip(problem.item_ids[rising].tolist(), range(graph.items), strict=True))
    winner, loser = said(problem)
    order = np.argsort(-solution.strength, kind="stable")
    band = np.empty(len(order), dtype=np.int64)
    band[order] = np.searchsorted(_BANDS, np.arange(len(order)) / len(order), side="right")
    flagged = statements(result)
    points: dict[Statement, int] = {}
    for pair, mine in zip(zip(winner.tolist(), loser.tolist(), strict=True), band.tolist(), strict=True):
        points[pair] = min(mine, points.get(pair, len(_BANDS)))
    size = float(np.clip(9000 / graph.items**1.7, 6, 70))
    names = ["top 5%", *(f"{low:.0%} to {low + 0.05:.0%}" for low in _BANDS[:-1]), "the others"]
    for at in range(len(_BANDS), -1, -1):
        for taken, marker in ((False, "o"), (True, "X")):
            here = [pair for pair, mine in points.items() if mine == at and (pair in flagged) == taken]
            across, up = [place[pair[1]] for pair in here], [place[pair[0]] for pair in here]
            edge = "black" if taken else "0.6"
            axes.scatter(
                across, up, s=size, marker=marker, color=_COLOURS[at], edgecolors=edge, linewidths=0.5
            )
    for at, name in enumerate(names):
        axes.scatter([], [], marker="o", color=_COLOURS[at], edgecolors="0.6", label=name)
    axes.scatter([], [], marker="X", color="white", edgecolors="black", label="taken for an outlier")
    across, up = [place[pair[1]] for pair in differ], [place[pair[0]] for pair in differ]
    boxes = {"facecolors": "none", "edgecolors": "#0072B2", "linewidths": 1.8}
    axes.scatter(across, up, s=3 * size, marker="s", label="by one method only", **boxes)
    if graph.items <= 40:  # more names than that do not fit
        labels = [str(item) for item in problem.item_ids[rising].tolist()]
        axes.set_xticks(range(graph.items), labels, fontsize=7)
        axes.set_yticks(range(graph.items), labels, fontsize=7)
    else:
        axes.set_xticks([])
        axes.set_yticks([])
    axes.set_xlabel("item not preferred, by rising score of L2")
    axes.set_ylabel("item preferred")
