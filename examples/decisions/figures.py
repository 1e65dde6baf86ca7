"""The figures of `labels_to_decisions.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optiframe.plotting import GREY, LOOKS, empty_axes

SHOWN = 5  # held-out votes that a worker's mark stands for, at least


def draw_errors(errors: dict[str, NDArray[np.float64]], bought: NDArray[np.float64], path: Path) -> None:
    """Errors of each way of asking, shape (seeds, rounds), against labels a task."""
    figure, axes = figure_with_grid(7.0, 4.2)
    for (way, found), (colour, marker, line) in zip(errors.items(), LOOKS, strict=False):
        mean = found.mean(axis=0)
        axes.plot(bought, mean, color=colour, marker=marker, linestyle=line, label=way)
        if len(found) > 1:
            spread = found.std(axis=0, ddof=1)
            axes.fill_between(bought, mean - spread, mean + spread, color=colour, alpha=0.15, linewidth=0)
    axes.set(xlabel="labels a task", ylabel="share of tasks labelled wrongly", ylim=(0, None))
    axes.legend(title="who is asked about what", frameon=False)
    axes.set_title(
        f"Labels uncovered when asked for; mean and standard deviation of {len(found)} seeds",
        fontsize=10,
    )
    figure.savefig(path)


def draw_ranking(common: dict[str, Any], path: Path) -> None:
    """Scores of the items by least squares and without the outliers."""
    figure, axes = figure_with_grid(7.0, 4.2)
    plain, robust = (result.solution for result in common.values())
    order = np.argsort(plain.scores, kind="stable")
    place = np.arange(len(order))
    for ranking, title, (colour, marker, _) in zip(
        (plain, robust), ("all votes", "outliers removed"), LOOKS, strict=False
    ):
        axes.plot(place, ranking.scores[order], marker, color=colour, label=title, markersize=5)
    axes.vlines(place, plain.scores[order], robust.scores[order], color=GREY, linewidth=0.8, zorder=0)
    axes.set_xticks(place, [str(item) for item in plain.items[order].tolist()], fontsize=7)
    axes.set(xlabel="item, by the score from all votes", ylabel="score")
    axes.legend(frameon=False)
    axes.set_title("One ranking for all, with and without the votes taken for outliers", fontsize=10)
    figure.savefig(path)


def draw_agreement(
    agreement: dict[Any, tuple[float, float, int]], groups: tuple[list[Any], list[Any]], path: Path
) -> None:
    """What the two rankings predict of each worker's held-out votes; `groups`: most flagged, others."""
    figure, axes = figure_with_grid(5.0, 5.4)
    for group, title, (colour, marker, _) in zip(
        groups[::-1], ("the other workers", "most flagged tenth"), LOOKS, strict=False
    ):
        table = np.array([agreement[worker] for worker in group if agreement[worker][2] >= SHOWN])
        size = 6.0 + 0.9 * table[:, 2]
        axes.scatter(
            table[:, 0] / table[:, 2],
            table[:, 1] / table[:, 2],
            s=size,
            marker=marker,
            color=colour,
            alpha=0.65,
            linewidths=0,
            label=title,
        )
    axes.axline((0.5, 0.5), slope=1, color=GREY, linewidth=0.8, zorder=0)
    axes.set(xlabel="predicted by the ranking for all", ylabel="predicted by the worker's own ranking")
    axes.set(xlim=(0, 1.03), ylim=(0, 1.03), aspect="equal")
    figure.legend(frameon=False, loc="outside lower center", ncols=2)
    axes.set_title(f"Held-out votes of each worker with at least {SHOWN}; area by number", fontsize=10)
    figure.savefig(path)


def figure_with_grid(width: float, height: float) -> tuple[Any, Any]:
    figure, axes = empty_axes(width, height)
    axes.grid(alpha=0.25)
    return figure, axes
