"""Pictures of an answer: skills, and accuracy against labels per task (the worker graph: `worker_graph.py`).

Every function returns a matplotlib `Figure` and shows or saves nothing:
``figure.savefig("skills.png")``. matplotlib is imported on use (extra `plots`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from optiframe.errors import InvalidInput
from optiframe.plotting import BLACK, BLUE, GREY, LOOKS, VERMILION, empty_axes, legend_below
from optiframe.records.fields import Array
from optiframe.solving.sources import Source
from optiframe.tables.columns import Columns
from optiframe_rankone.answer import Aggregation
from optiframe_rankone.completion.skill_model import SkillModel, model_of
from optiframe_rankone.trust.intervals import skill_intervals
from optiframe_rankone.vote import with_skills

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SKILL = "skill (1: always right, 0: guesses, below 0: worse than guessing)"
_NAMED = 50  # workers whose names fit beside a column of marks


def plot_skills(
    result: Source,
    *,
    intervals: tuple[Array, Array] | bool = True,
    level: float = 0.9,
) -> Figure:
    """The workers' skills from the lowest to the highest, with intervals.

    Skills below 0 are triangles in another colour, filled where the interval is below 0
    as well. True skills, where the problem knows them, are hollow diamonds.
    Up to 50 workers are named.

    Parameters
    ----------
    result
        Of a solver that estimates skills, or a fitted `LabelAggregator`.
    intervals
        Lower and upper ends, each of shape (workers,); True: those of
        `optiframe_rankone.trust.intervals.skill_intervals`; False: none.
    level
        Coverage of the intervals.

    Raises
    ------
    InvalidInput
        When there are no skills, or the ends do not fit the workers.
    MissingPackage
        Without matplotlib.
    """
    model, (solution, skills) = model_of(result), with_skills(result)
    order = np.argsort(skills, kind="stable")
    count = len(order)
    rank = np.arange(count)
    figure, axes = empty_axes(7.0, 1.6 + 0.19 * count if count <= _NAMED else 7.5)
    high = np.full(count, -np.inf)  # without intervals a skill below 0 is taken at its word
    if intervals is not False:
        low, high = _ends(model, solution, intervals, level)
        label = f"{level:.0%} interval"
        axes.hlines(
            rank, low[order], high[order], color=GREY, linewidth=1.6 if count <= _NAMED else 0.8, label=label
        )
    size = 26.0 if count <= _NAMED else 12.0
    values = skills[order]
    # No label changes the vote of a worker whose skill is exactly 0, as of one with too few labels.
    chance = high[order] >= 0
    for which, marker, edge, fill, label in (
        (values > 0, "o", BLUE, BLUE, "skill"),
        (values == 0, "s", BLACK, BLACK, "no weight (skill 0)"),
        ((values < 0) & chance, "v", VERMILION, "white", "skill below 0, perhaps by chance"),
        ((values < 0) & ~chance, "v", VERMILION, VERMILION, "skill and interval below 0"),
    ):
        if which.any():
            look: dict[str, Any] = {"marker": marker, "facecolors": fill, "edgecolors": edge}
            axes.scatter(values[which], rank[which], s=size, label=label, zorder=3, **look)
    if model.crowd.true_skills is not None:
        axes.scatter(
            model.crowd.true_skills[order],
            rank,
            s=size * 1.6,
            marker="D",
            facecolors="none",
            edgecolors=BLACK,
            linewidths=0.8,
            label="true skill",
            zorder=4,
        )
    axes.axvline(0.0, color=BLACK, linewidth=0.8)
    axes.set_xlabel(SKILL)
    axes.set_ylim(-1.0, count)
    if count <= _NAMED:
        axes.set_yticks(rank, [str(name) for name in solution.worker_ids[order].tolist()])
        axes.set_ylabel("worker")
    else:
        axes.set_ylabel(f"workers, from the lowest to the highest skill ({count})")
        axes.set_yticks([])
    axes.grid(axis="x", color="0.9")
    axes.set_axisbelow(True)
    axes.set_title(f"Skills of {count} workers", loc="left")
    legend_below(figure, axes, columns=3)
    return figure


def plot_accuracy(table: Columns) -> Figure:
    """Accuracy against labels per task, a line for each solver, from `accuracy_by_labels`.

    The band is one standard deviation over the draws to either side.

    Raises
    ------
    MissingPackage
        Without matplotlib.
    """
    figure, axes = empty_axes(7.0, 4.8)
    solver = np.asarray(table["solver"])
    x, accuracy, deviation = (
        np.asarray(table[name], dtype=np.float64) for name in ("labels_per_task", "accuracy", "deviation")
    )
    for index, name in enumerate(dict.fromkeys(solver.tolist())):
        colour, marker, line = LOOKS[index % len(LOOKS)]
        rows = np.flatnonzero(solver == name)
        rows = rows[np.argsort(x[rows], kind="stable")]
        low, high = accuracy[rows] - deviation[rows], accuracy[rows] + deviation[rows]
        axes.fill_between(x[rows], low, np.minimum(high, 1.0), color=colour, alpha=0.15, linewidth=0)
        axes.plot(x[rows], accuracy[rows], color=colour, marker=marker, linestyle=line, label=name)
    axes.set_xlabel("labels of each task (all, where a task has fewer)")
    axes.set_ylabel("accuracy (share of tasks with the right label)")
    axes.locator_params(axis="x", integer=True)
    axes.grid(color="0.9")
    axes.set_axisbelow(True)
    draws = max(table["draws"])
    band = f"band: one standard deviation over {draws} draws" if draws > 1 else None
    axes.set_title("Accuracy against labels per task", loc="left")
    axes.legend(frameon=False, loc="lower right", title=band, alignment="left")
    return figure


def _ends(
    model: SkillModel, solution: Aggregation, given: tuple[Array, Array] | bool, level: float
) -> tuple[Array, Array]:
    low, high = skill_intervals(model, solution, level=level) if isinstance(given, bool) else given
    low, high = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
    wanted = solution.worker_ids.shape
    if low.shape != wanted or high.shape != wanted:
        raise InvalidInput(f"intervals need a lower and an upper end for each of {wanted[0]} workers")
    return low, high
