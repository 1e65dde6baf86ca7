"""Pictures: what they show, read from the figures themselves."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optiframe_hodgerank.estimator import RobustRanker
from optiframe_hodgerank.metrics import area_under_curve
from optiframe_hodgerank.plots.methods import plot_ranks, plot_roc, roc
from optiframe_hodgerank.plots.paths import plot_outliers, plot_path

import optiframe
from optiframe.errors import InvalidInput

from .path_twins import votes


def legend(figure: Any) -> list[str]:
    """The words of the figure's legends."""
    found = [*figure.legends, *(a.get_legend() for a in figure.axes if a.get_legend())]
    return [text.get_text() for one in found for text in one.get_texts()]


def test_the_path_has_a_line_for_each_outlier_and_colours_the_early_ones() -> None:
    result = optiframe.solve(votes(0), "hodge.lbi", share=0.3)
    figure = plot_path(result, share=0.1)
    axes, path = figure.axes[0], result.detail
    merged = result.problem.merged
    outliers = optiframe.solve(result.problem, "hodge.lbi", share=0.1).solution.outliers
    early = int((np.bincount(merged.inverse, np.abs(outliers)) > 0).sum())
    words = legend(figure)
    assert words[0].startswith("later (")
    assert f"{early} distinct rows" in words[1] or "the pair" in words[1]
    assert words[2] == "at most 10%"
    ends = [line.get_ydata()[-1] for line in axes.lines if len(line.get_ydata()) > 2]
    last = path.outliers_at(float(path.knots[-1]))[path.row]
    np.testing.assert_allclose(sorted(ends), sorted(last))


def test_the_legend_of_the_path_is_within_the_page() -> None:
    figure = plot_path(optiframe.solve(votes(0, 40), "hodge.lbi", share=0.3), share=0.1)
    figure.draw_without_rendering()
    box = figure.legends[0].get_window_extent()
    assert figure.bbox.x0 <= box.x0
    assert box.x1 <= figure.bbox.x1


def test_known_outliers_colour_the_path_and_lambda_falls() -> None:
    problem = optiframe.problem(dataset="pairwise.bias")
    figure = plot_path(optiframe.solve(problem, "hodge.hlasso", share=0.2))
    assert "known to be wrong (10 distinct rows)" in legend(figure)
    low, high = figure.axes[0].get_xlim()
    assert low > high


def test_a_fitted_ranker_can_be_drawn() -> None:
    rows = {"left": [1, 1, 2, 1, 3], "right": [2, 3, 3, 2, 1], "label": [1, 1, 2, 2, 3]}
    model = RobustRanker({"name": "iss", "share": 0.5}).fit(rows)
    assert len(plot_path(model).axes[0].lines) > 1


def test_a_mark_stands_for_each_pair_and_who_was_preferred() -> None:
    result = optiframe.solve(votes(2), "hodge.lbi", share=0.2)
    axes = plot_outliers(result).axes[0]
    graph = result.problem.graph
    points = np.concatenate([c.get_offsets() for c in axes.collections if len(c.get_offsets())])
    assert len(points) == int((graph.margin != 0).sum())
    names = [label.get_text() for label in axes.get_yticklabels()]
    order = np.argsort(graph.scores(graph.margin), kind="stable")
    assert names == [str(item) for item in result.problem.item_ids[order]]
    seen = {(names[int(up)], names[int(across)]) for across, up in points}
    ids, ahead = result.problem.item_ids, graph.margin > 0
    won, lost = np.where(ahead, graph.left, graph.right), np.where(ahead, graph.right, graph.left)
    assert seen == {(str(ids[a]), str(ids[b])) for a, b in zip(won, lost, strict=True)}


def test_ranks_are_drawn_as_the_answers_have_them() -> None:
    problem = votes(4, wrong=0.3)
    results = {name: optiframe.solve(problem, f"hodge.{name}") for name in ("l2", "lbi", "iht")}
    axes = plot_ranks(results).axes[0]
    drawn = sorted(line.get_ydata().tolist() for line in axes.lines)
    orders = [result.solution.order.tolist() for result in results.values()]
    items = range(len(problem.item_ids))
    assert drawn == sorted([order.index(item) + 1 for order in orders] for item in items)
    assert [label.get_text() for label in axes.get_xticklabels()] == ["l2", "lbi", "iht"]
    same = plot_ranks({"a": results["l2"], "b": results["l2"]}).axes[0]
    assert "no item changes place" in same.get_title(loc="left")


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=2, max_size=40))
def test_the_area_under_the_curve_is_the_chance_it_stands_for(rows: list[tuple[int, bool]]) -> None:
    strength, wrong = np.array([row[0] for row in rows], dtype=float), np.array([row[1] for row in rows])
    if wrong.all() or not wrong.any():
        return
    false, true = roc(strength, wrong)
    assert np.trapezoid(true, false) == pytest.approx(area_under_curve(strength, wrong))


def test_curves_name_their_area() -> None:
    problem = optiframe.problem(dataset={"name": "pairwise.random-order", "comparisons": 300})
    result = optiframe.solve(problem, "hodge.lbi")
    figure = plot_roc({"LBI": result})
    assert legend(figure) == [f"LBI (area {result.metrics['outlier_auc']:.4f})"]


def test_what_cannot_be_drawn_is_said() -> None:
    problem = votes(0)
    least, path = optiframe.solve(problem, "hodge.l2"), optiframe.solve(problem, "hodge.lbi")
    silent = replace(path, solution=replace(path.solution, strength=None))
    for message, draw in (
        ("no path", lambda: plot_path(least)),
        ("no comparison became an outlier", lambda: plot_path(optiframe.solve(problem, "hodge.lbi", t=1e-6))),
        ("at most", lambda: plot_path(path, share=0.9)),
        ("must rise", lambda: plot_outliers(path, shares=(0.2, 0.1))),
        ("at least two", lambda: plot_ranks({"a": least})),
        ("the same items", lambda: plot_ranks({"a": least, "b": optiframe.solve(votes(0, 7), "hodge.l2")})),
        ("known to be wrong", lambda: plot_roc({"a": least})),
        ("says of no comparison", lambda: plot_outliers(silent)),
        ("not a dict", lambda: plot_outliers({})),
    ):
        with pytest.raises(InvalidInput, match=message):
            draw()


def test_pictures_leave_pyplot_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)
    result = optiframe.solve(optiframe.problem(dataset="pairwise.bias"), "hodge.lbi", share=0.1)
    for draw in (plot_path, plot_outliers):
        draw(result)
    for draw in (plot_ranks, plot_roc):
        draw({"one": result, "other": result})
    assert "matplotlib.pyplot" not in sys.modules
