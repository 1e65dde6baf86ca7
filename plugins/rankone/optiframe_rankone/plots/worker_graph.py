"""A picture of the worker graph: who shares tasks with whom.

matplotlib is imported on use (extra `plots`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from optiframe.errors import require
from optiframe.plotting import BLACK, SKY, VERMILION, empty_axes, legend_below
from optiframe.records.fields import Array
from optiframe.solving.sources import Source
from optiframe_rankone.completion.skill_model import model_of
from optiframe_rankone.plots.graph_layout import place
from optiframe_rankone.plots.skills import SKILL
from optiframe_rankone.trust.intervals import shared_tasks
from optiframe_rankone.vote import answer_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LABELLED = 40  # workers whose names fit beside their marks in a graph
_DRAWN = 200  # workers whose marks can be told apart in a graph of one page


def plot_worker_graph(result: Source, *, most: int = _DRAWN) -> Figure:
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
    model, solution = model_of(result), answer_of(result)
    counts = model.crowd.labels.per_worker
    shown = np.sort(np.argsort(-counts, kind="stable")[:most])
    shared = shared_tasks(model)[shown][:, shown]
    graph = model.worker_graph
    component = np.unique(graph.component[shown], return_inverse=True)[1]
    positions = place(shared, component)
    figure, axes = empty_axes(8.0, 7.0)
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
        bar.set_label(SKILL)
    legend_below(figure, axes, columns=2)
    return figure


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
            tuple(centre), radius, fill=False, linestyle="--", edgecolor=BLACK, linewidth=1.0, label=label
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
        (~against, "o", BLACK, "worker (larger: more labels)"),
        (against, "v", VERMILION, "worker of skill below 0"),
    ):
        if not which.any():
            continue
        marks = axes.scatter(
            positions[which, 0],
            positions[which, 1],
            s=size[which] * (1.3 if marker == "v" else 1.0),  # a triangle has less area
            c=skills[which] if known else SKY,
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
