"""Pictures of an answer: skills, who works with whom, and what more labels would bring.

Every function returns a matplotlib `Figure` and shows or saves nothing:
``figure.savefig("skills.png")``. matplotlib is imported on use (extra `plots`).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from optiframe.errors import InvalidInput, require
from optiframe.loop import NotConverged, solve
from optiframe.problems import Columns
from optiframe.results import Result
from optiframe.solvers import Solver
from optiframe.values import Array
from optiframe_rankone.aggregation import Aggregation
from optiframe_rankone.graph_layout import place
from optiframe_rankone.known_correlations import KnownCorrelations
from optiframe_rankone.label_aggregation import LabelAggregation
from optiframe_rankone.uncertainty import shared_tasks, skill_intervals

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from optiframe_rankone.facade import LabelAggregator

# The palette of Okabe and Ito, told apart with every kind of colour vision; marks and line
# styles differ as well, for grey prints.
_BLUE, _VERMILION, _GREEN, _PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
_ORANGE, _SKY, _BLACK, _GREY = "#E69F00", "#56B4E9", "#000000", "#8C8C8C"
_LINES = (
    (_BLUE, "o", "-"),
    (_VERMILION, "s", "--"),
    (_GREEN, "^", "-."),
    (_PURPLE, "D", ":"),
    (_ORANGE, "v", "-"),
    (_SKY, "P", "--"),
    (_BLACK, "X", "-."),
)
_NAMED = 50  # workers whose names fit beside a column of marks
_LABELLED = 40  # workers whose names fit beside their marks in a graph
_DRAWN = 200  # workers whose marks can be told apart in a graph of one page
_SKILL = "skill (1: always right, 0: guesses, below 0: worse than guessing)"


def plot_skills(
    result: Result[Any, Any] | LabelAggregator,
    *,
    intervals: tuple[Array, Array] | bool = True,
    level: float = 0.9,
) -> Figure:
    """The workers' skills from the lowest to the highest, with intervals.

    Skills below 0 are triangles in another colour, filled where the interval is below 0
    as well (adversaries). True skills, where the problem knows them, are hollow diamonds.
    Up to 50 workers are named.

    Parameters
    ----------
    result
        Of a solver that estimates skills, or a fitted `LabelAggregator`.
    intervals
        Lower and upper ends, each of shape (workers,); True: those of
        `optiframe_rankone.uncertainty.skill_intervals`; False: none.
    level
        Coverage of the intervals.

    Raises
    ------
    InvalidInput
        When there are no skills, or the ends do not fit the workers.
    MissingPackage
        Without matplotlib.
    """
    problem, solution, skills = _with_skills(result)
    order = np.argsort(skills, kind="stable")
    count = len(order)
    rank = np.arange(count)
    figure, axes = _figure(7.0, 1.6 + 0.19 * count if count <= _NAMED else 7.5)
    high = np.full(count, -np.inf)  # without intervals a skill below 0 is taken at its word
    if intervals is True and isinstance(problem, KnownCorrelations):
        intervals = False  # they would be those of counted correlations
    if intervals is not False:
        low, high = _ends(problem, solution, intervals, level)
        label = f"{level:.0%} interval"
        axes.hlines(
            rank, low[order], high[order], color=_GREY, linewidth=1.6 if count <= _NAMED else 0.8, label=label
        )
    size = 26.0 if count <= _NAMED else 12.0
    values = skills[order]
    # No label changes the vote of a worker whose skill is exactly 0, as of one with too few labels.
    chance = high[order] >= 0
    for which, marker, edge, fill, label in (
        (values > 0, "o", _BLUE, _BLUE, "skill"),
        (values == 0, "s", _BLACK, _BLACK, "no weight (skill 0)"),
        ((values < 0) & chance, "v", _VERMILION, "white", "skill below 0, perhaps by chance"),
        ((values < 0) & ~chance, "v", _VERMILION, _VERMILION, "adversary (skill below 0)"),
    ):
        if which.any():
            look: dict[str, Any] = {"marker": marker, "facecolors": fill, "edgecolors": edge}
            axes.scatter(values[which], rank[which], s=size, label=label, zorder=3, **look)
    if problem.true_skills is not None:
        axes.scatter(
            problem.true_skills[order],
            rank,
            s=size * 1.6,
            marker="D",
            facecolors="none",
            edgecolors=_BLACK,
            linewidths=0.8,
            label="true skill",
            zorder=4,
        )
    axes.axvline(0.0, color=_BLACK, linewidth=0.8)
    axes.set_xlabel(_SKILL)
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
    _legend_below(figure, axes, columns=3)
    return figure


def plot_worker_graph(result: Result[Any, Any] | LabelAggregator, *, most: int = _DRAWN) -> Figure:
    """The worker graph: who shares tasks with whom, group by group, coloured by skill.

    A mark is a worker, its size grows with the number of labels; a line is a pair that
    shares tasks, the darker the more. Workers of skill below 0 are triangles. Groups that share no task
    are drawn apart; a dashed ring marks a bipartite group, whose skills cannot be known.
    Up to 40 workers are named, beyond that the first 20 of skill below 0.

    Parameters
    ----------
    result
        Of any solver, or a fitted `LabelAggregator`; without skills all are drawn alike.
    most
        Draw the workers with the most labels only, so many of them.

    Raises
    ------
    MissingPackage
        Without matplotlib.
    """
    problem, solution = _parts(result)
    counts = problem.labels_per_worker
    shown = np.sort(np.argsort(-counts, kind="stable")[:most])
    shared = shared_tasks(problem)[shown][:, shown]
    graph = problem.worker_graph
    component = np.unique(graph.component[shown], return_inverse=True)[1]
    positions = place(shared, component)
    figure, axes = _figure(8.0, 7.0)
    _draw_edges(axes, positions, shared)
    _ring_bipartite(axes, positions, component, graph.bipartite[shown])
    skills = np.full(len(counts), np.nan) if solution.skills is None else solution.skills
    marks = _draw_workers(axes, positions, skills[shown], counts[shown])
    _name_workers(axes, positions, skills[shown], solution.worker_ids[shown], shared)
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.06)
    axes.axis("off")
    groups = len(np.unique(component))
    some = "" if len(shown) == len(counts) else f" with the most labels, of {len(counts)}"
    pairs = shared.nnz // 2
    axes.set_title(
        f"{len(shown)} workers{some}, {pairs:,} pair{'s' if pairs != 1 else ''} sharing tasks, "
        f"{groups} group{'s' if groups != 1 else ''}",
        loc="left",
    )
    if solution.skills is not None:
        bar = figure.colorbar(marks, ax=axes, fraction=0.04, pad=0.02, shrink=0.7)
        bar.set_label(_SKILL)
    _legend_below(figure, axes, columns=2)
    return figure


def accuracy_by_labels(
    problem: LabelAggregation,
    solvers: Sequence[str | Solver[Any, Any, Any]] = ("labels.majority", "rankone.pgd"),
    *,
    labels_per_task: Sequence[int] | None = None,
    repeats: int = 5,
    seed: int = 0,
) -> Columns:
    """Accuracy of solvers when only some labels of each task are used.

    For every number k, k labels of each task (all, where it has fewer) are drawn without
    repeats and every solver answers from the same draw; this is done `repeats` times.

    Parameters
    ----------
    problem
        With a truth.
    solvers
        Names or solvers.
    labels_per_task
        The numbers k; by default up to ten between 1 and the most labels of a task.
    repeats
        Draws for each k; only one where k is the number of all labels, which leaves no choice.
    seed
        Fixes the draws and whatever solvers draw.

    Returns
    -------
    Columns
        solver, labels_per_task, accuracy (share of right labels, a tie counting in part),
        deviation (standard deviation over the draws) and draws; a row for each solver and k.

    Raises
    ------
    InvalidInput
        Without a truth, or for a k below 1.
    """
    if not (problem.truth_codes >= 0).any():
        raise InvalidInput("accuracy needs a truth; give the problem one")
    largest = int(np.bincount(problem.labels.task).max())
    if labels_per_task is None:
        labels_per_task = np.unique(np.linspace(1, largest, min(largest, 10)).round().astype(int)).tolist()
    if min(labels_per_task) < 1:
        raise InvalidInput(f"labels_per_task must be at least 1, got {min(labels_per_task)}")
    rng = np.random.default_rng(seed)
    rows: list[tuple[str, int, float, float, int]] = []
    unfinished = 0
    for k in labels_per_task:
        draws = [_with_at_most(problem, k, rng) for _ in range(repeats if k < largest else 1)]
        for solver in solvers:
            accuracies = []
            for drawn in draws:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", NotConverged)  # counted, and said once below
                    result = solve(drawn, solver, seed=seed, trace=False)
                unfinished += not result.status.complete
                accuracies.append(1.0 - result.metrics["error"])
            name = solver if isinstance(solver, str) else solver.name
            rows.append((name, k, float(np.mean(accuracies)), float(np.std(accuracies)), len(draws)))
    if unfinished:
        warnings.warn(f"{unfinished} runs ended at a limit", NotConverged, stacklevel=2)
    names = ("solver", "labels_per_task", "accuracy", "deviation", "draws")
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


def plot_accuracy(table: Columns) -> Figure:
    """Accuracy against labels per task, a line for each solver, from `accuracy_by_labels`.

    The band is one standard deviation over the draws to either side.

    Raises
    ------
    MissingPackage
        Without matplotlib.
    """
    figure, axes = _figure(7.0, 4.8)
    solver = np.asarray(table["solver"])
    x, accuracy, deviation = (
        np.asarray(table[name], dtype=np.float64) for name in ("labels_per_task", "accuracy", "deviation")
    )
    for index, name in enumerate(dict.fromkeys(solver.tolist())):
        colour, marker, line = _LINES[index % len(_LINES)]
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


def _parts(result: Result[Any, Any] | LabelAggregator) -> tuple[LabelAggregation, Aggregation]:
    found = getattr(result, "result_", result)
    problem, solution = getattr(found, "problem", None), getattr(found, "solution", None)
    if not isinstance(problem, LabelAggregation) or not isinstance(solution, Aggregation):
        raise InvalidInput(
            f"give the result of a solver for label-aggregation or a fitted LabelAggregator, "
            f"not a {type(result).__name__}"
        )
    return problem, solution


def _with_skills(result: Result[Any, Any] | LabelAggregator) -> tuple[LabelAggregation, Aggregation, Array]:
    problem, solution = _parts(result)
    if solution.skills is None:
        raise InvalidInput("this answer has no skills; use a solver that estimates them, such as rankone.pgd")
    return problem, solution, solution.skills


def _ends(
    problem: LabelAggregation, solution: Aggregation, given: tuple[Array, Array] | bool, level: float
) -> tuple[Array, Array]:
    low, high = skill_intervals(problem, solution, level=level) if isinstance(given, bool) else given
    low, high = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
    wanted = solution.worker_ids.shape
    if low.shape != wanted or high.shape != wanted:
        raise InvalidInput(f"intervals need a lower and an upper end for each of {wanted[0]} workers")
    return low, high


def _draw_edges(axes: Axes, positions: Array, shared: Any) -> None:
    collections = require("matplotlib.collections", "plots")
    pairs = shared.tocoo()
    rows, columns = pairs.coords
    once = rows < columns
    rows, columns, weight = rows[once], columns[once], pairs.data[once]
    if len(rows) == 0:
        return
    order = np.argsort(weight, kind="stable")  # the strongest on top
    rows, columns, weight = rows[order], columns[order], weight[order]
    # Thinner the more there are, so that many stay a shade and few are lines.
    faint = min(0.5, 40.0 / len(rows) + 0.02)
    alpha = faint + (0.85 - faint) * (weight / weight.max()) ** 1.5
    lines = np.stack([positions[rows], positions[columns]], axis=1)
    colours = np.column_stack([np.full((len(rows), 3), 0.35), alpha])
    axes.add_collection(collections.LineCollection(lines, colors=colours, linewidths=0.7, zorder=1))


def _ring_bipartite(
    axes: Axes, positions: Array, component: NDArray[np.int64], bipartite: NDArray[np.bool_]
) -> None:
    patches = require("matplotlib.patches", "plots")
    label = "bipartite group: skills cannot be known"
    for group in np.unique(component[bipartite]):
        members = positions[component == group]
        centre = (members.max(axis=0) + members.min(axis=0)) / 2
        radius = float(np.linalg.norm(members - centre, axis=1).max()) + 0.6
        ring = patches.Circle(
            tuple(centre), radius, fill=False, linestyle="--", edgecolor=_BLACK, linewidth=1.0, label=label
        )
        axes.add_patch(ring)
        label = ""


def _draw_workers(axes: Axes, positions: Array, skills: Array, counts: NDArray[np.int64]) -> Any:
    """The marks; returns one with the colour scale."""
    size = 20.0 + 220.0 * counts / counts.max() * min(1.0, 60.0 / len(counts))
    against = skills < 0
    known = bool((~np.isnan(skills)).any())
    scale: dict[str, Any] = {"cmap": "RdBu", "vmin": -1.0, "vmax": 1.0} if known else {}
    marks = None
    for which, marker, edge, label in (
        (~against, "o", _BLACK, "worker (larger: more labels)"),
        (against, "v", _VERMILION, "worker of skill below 0"),
    ):
        if not which.any():
            continue
        marks = axes.scatter(
            positions[which, 0],
            positions[which, 1],
            s=size[which] * (1.3 if marker == "v" else 1.0),  # a triangle has less area
            c=skills[which] if known else _SKY,
            marker=marker,
            edgecolors=edge,
            linewidths=0.6 if marker == "o" else 1.2,
            zorder=3,
            **scale,
        )
        # For the legend only: the colours of the marks are the scale's.
        axes.scatter([], [], s=40.0, marker=marker, facecolors="white", edgecolors=edge, label=label)
    return marks


def _name_workers(axes: Axes, positions: Array, skills: Array, ids: NDArray[Any], shared: Any) -> None:
    effects = require("matplotlib.patheffects", "plots")
    against = np.flatnonzero(skills < 0)
    named = np.arange(len(ids)) if len(ids) <= _LABELLED else against[: _LABELLED // 2]
    names = ids.tolist()
    for worker in named.tolist():
        partners = shared.indices[shared.indptr[worker] : shared.indptr[worker + 1]]
        # Names stand on the side away from the partners, so that they hide no line.
        towards = positions[partners].mean(axis=0) - positions[worker] if len(partners) else np.zeros(2)
        right, up = towards <= 0
        axes.annotate(
            str(names[worker]),
            tuple(positions[worker]),
            xytext=(5 if right else -5, 4 if up else -4),
            textcoords="offset points",
            horizontalalignment="left" if right else "right",
            verticalalignment="bottom" if up else "top",
            fontsize=8,
            zorder=4,
            path_effects=[effects.withStroke(linewidth=2.0, foreground="white")],
        )


def _with_at_most(problem: LabelAggregation, k: int, rng: np.random.Generator) -> LabelAggregation:
    """The same problem with at most k labels of each task, drawn without repeats."""
    labels = problem.labels
    order = np.lexsort([rng.random(len(labels)), labels.task])
    first = np.searchsorted(labels.task, np.arange(len(labels.task_ids)))
    keep = np.sort(order[np.arange(len(labels)) - first[labels.task] < k])
    drawn = {
        "task": labels.task_ids[labels.task[keep]],
        "worker": labels.worker_ids[labels.worker[keep]],
        "label": labels.label_ids[labels.label[keep]],
    }
    # Every task keeps a label, so truth and gold stay; the table of skills may have lost workers.
    return problem.model_copy(update={"labels": drawn, "columns": {}, "skills": None})
