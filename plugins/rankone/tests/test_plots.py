"""Pictures: what they show, read from the figures themselves."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from io import BytesIO
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.collections import LineCollection
from optiframe_rankone import (
    LabelAggregator,
    accuracy_by_labels,
    plot_accuracy,
    plot_skills,
    plot_worker_graph,
)
from optiframe_rankone.plots.graph_layout import place
from scipy.sparse.csgraph import connected_components

import optiframe
from optiframe.errors import InvalidInput

GROUPS = {
    "task": [1, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5],
    "worker": ["ann", "bob", "cy", "ann", "bob", "cy", "x", "y", "x", "y", "alone"],
    "label": [0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1],
}


@cache
def solved(workers: int = 12, solver: str = "rankone.pgd", skew: float = 0.0) -> Any:
    data = {"name": "synthetic.single-coin", "workers": workers, "tasks": 120, "labels_per_task": 4}
    return optiframe.solve(optiframe.problem(dataset={**data, "activity_skew": skew}), solver)


def legend(figure: Any) -> list[str]:
    """The words of the figure's legends."""
    found = [*figure.legends, *(a.get_legend() for a in figure.axes if a.get_legend())]
    return [text.get_text() for one in found for text in one.get_texts()]


def png(figure: Any) -> bytes:
    file = BytesIO()
    figure.savefig(file, format="png", metadata={"Software": None})
    return file.getvalue()


@pytest.mark.slow
def test_skills_are_drawn_in_order_with_names_and_intervals() -> None:
    result = solved()
    figure = plot_skills(result)
    axes = figure.axes[0]
    order = np.argsort(result.solution.skills)
    assert [t.get_text() for t in axes.get_yticklabels()] == [str(w) for w in order]
    points = np.concatenate([c.get_offsets() for c in axes.collections if not isinstance(c, LineCollection)])
    for rank, worker in enumerate(order):
        assert result.solution.skills[worker] in points[points[:, 1] == rank, 0]
    assert {"90% interval", "skill", "true skill"} <= set(legend(figure))
    assert "skill" in axes.get_xlabel()
    assert axes.get_ylabel() == "worker"


def test_intervals_can_be_given_or_left_out() -> None:
    result = solved()
    skills = result.solution.skills
    figure = plot_skills(result, intervals=(skills - 0.1, skills + 0.1))
    lines = next(c for c in figure.axes[0].collections if isinstance(c, LineCollection))
    lengths = [segment[1, 0] - segment[0, 0] for segment in lines.get_segments()]
    np.testing.assert_allclose(lengths, 0.2)
    assert "90% interval" not in legend(plot_skills(result, intervals=False))
    with pytest.raises(InvalidInput, match="for each of 12 workers"):
        plot_skills(result, intervals=(skills[:3], skills[:3]))


def test_who_may_be_below_zero_by_chance_is_told_from_those_whose_interval_is_below() -> None:
    result = solved()
    skills = result.solution.skills
    below = skills < 0
    assert below.any()
    sure = plot_skills(result, intervals=(skills - 1e-9, skills + 1e-9))
    assert "skill and interval below 0" in legend(sure)
    assert "skill below 0, perhaps by chance" not in legend(sure)
    unsure = plot_skills(result, intervals=(skills - 1.0, skills + 1.0))
    assert "skill and interval below 0" not in legend(unsure)


def test_many_workers_are_drawn_without_names_on_one_page() -> None:
    figure = plot_skills(solved(150))
    assert len(figure.axes[0].get_yticks()) == 0
    assert figure.get_size_inches()[1] < 10


def test_the_graph_has_a_line_for_each_pair_and_rings_bipartite_groups() -> None:
    model = LabelAggregator("rankone.pgd").fit(GROUPS)
    figure = plot_worker_graph(model)
    axes = figure.axes[0]
    lines = next(c for c in axes.collections if isinstance(c, LineCollection))
    assert len(lines.get_segments()) == 3 + 1
    assert len(axes.patches) == 1
    assert {"ann", "bob", "cy", "x", "y", "alone"} == {t.get_text() for t in axes.texts}
    assert "4 pairs sharing tasks, 3 groups" in axes.get_title(loc="left")
    assert "worker of skill below 0" in legend(figure)
    assert "skill" in figure.axes[1].get_ylabel()  # the colour scale


def test_the_graph_needs_no_skills() -> None:
    figure = plot_worker_graph(LabelAggregator("labels.majority").fit(GROUPS))
    assert len(figure.axes) == 1
    with pytest.raises(InvalidInput, match="has no skills"):
        plot_skills(LabelAggregator("labels.majority").fit(GROUPS))


@pytest.mark.slow
def test_the_same_answer_gives_the_same_picture() -> None:
    result = solved()
    assert png(plot_worker_graph(result)) == png(plot_worker_graph(result))


def test_large_graphs_show_the_workers_with_the_most_labels() -> None:
    result = solved(60, skew=1.0)
    figure = plot_worker_graph(result, most=10)
    assert "10 workers with the most labels, of" in figure.axes[0].get_title(loc="left")
    ids = {t.get_text() for t in figure.axes[0].texts}
    counts = result.problem.labels_per_worker
    assert ids == {str(w) for w in result.solution.worker_ids[np.argsort(-counts, kind="stable")[:10]]}


def test_other_things_than_answers_are_refused() -> None:
    with pytest.raises(InvalidInput, match="not a dict"):
        plot_worker_graph({})
    with pytest.raises(InvalidInput, match="LabelAggregator has learnt nothing yet; call fit"):
        plot_skills(LabelAggregator())


@settings(max_examples=6)
@given(size=st.integers(1, 30), share=st.floats(0.0, 1.0), seed=st.integers(0, 1000))
def test_no_two_workers_are_drawn_in_one_place(size: int, share: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((size, size)) < share, 1).astype(float)
    edges = sp.csr_array(upper + upper.T)
    at = place(edges, connected_components(edges, directed=False)[1].astype(np.int64))
    assert np.isfinite(at).all()
    apart = np.linalg.norm(at[:, None] - at[None, :], axis=2) + 10 * np.eye(size)
    assert apart.min() > 0.3


def test_accuracy_rises_with_the_labels_and_ends_at_all_of_them() -> None:
    problem = solved().problem
    table = accuracy_by_labels(problem, labels_per_task=[1, 2, 4], repeats=3)
    assert table["solver"] == ["labels.majority", "rankone.pgd"] * 3
    assert table["draws"] == [3, 3, 3, 3, 1, 1]
    by = {
        (s, k): a
        for s, k, a in zip(table["solver"], table["labels_per_task"], table["accuracy"], strict=True)
    }
    assert by["labels.majority", 4] > by["labels.majority", 1]
    whole = optiframe.solve(problem, "rankone.pgd")
    assert by["rankone.pgd", 4] == pytest.approx(1.0 - whole.metrics["error"])
    assert accuracy_by_labels(problem, labels_per_task=[1, 2, 4], repeats=3) == table


def test_the_curve_has_a_line_for_each_solver() -> None:
    table = accuracy_by_labels(solved().problem, ("labels.majority", "labels.one-coin-em"), repeats=2)
    assert table["labels_per_task"] == [1, 1, 2, 2, 3, 3, 4, 4]
    figure = plot_accuracy(table)
    axes = figure.axes[0]
    assert legend(figure) == ["labels.majority", "labels.one-coin-em"]
    assert len(axes.lines) == 2
    assert "labels of each task" in axes.get_xlabel()
    assert "share" in axes.get_ylabel()


def test_accuracy_needs_a_truth_and_labels() -> None:
    with pytest.raises(InvalidInput, match="accuracy needs a truth"):
        accuracy_by_labels(optiframe.problem("label-aggregation", labels=GROUPS))
    with pytest.raises(InvalidInput, match="at least 1, got 0"):
        accuracy_by_labels(solved().problem, labels_per_task=[0])


@pytest.mark.slow
def test_pictures_open_no_window_and_leave_pyplot_alone() -> None:
    code = (
        "import sys, optiframe\n"
        "from optiframe_rankone import LabelAggregator, plot_skills\n"
        f"figure = plot_skills(LabelAggregator().fit({GROUPS!r}))\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
