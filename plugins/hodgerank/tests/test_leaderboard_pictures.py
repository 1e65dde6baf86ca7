"""Pictures of leaderboards: what they show, read from the figures themselves."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from optiframe_hodgerank import leaderboard, plot_leaderboard, plot_win_probabilities
from optiframe_hodgerank.problem import PairwiseRanking

import optiframe
from optiframe.errors import InvalidInput

LONG = "a-laboratory-with-a-long-name-reasoner-v2-experimental-0815"


def solved(solver: str, items: int, rows: int, **more: Any) -> Any:
    rng = np.random.default_rng(items)
    left = rng.integers(items, size=rows)
    right = (left + rng.integers(1, items, size=rows)) % items
    score = np.linspace(1.5, -1.5, items)
    won = rng.random(rows) < 1 / (1 + np.exp(score[right] - score[left]))
    names = np.array([f"{LONG}-{item}" if item % 3 else f"m{item}" for item in range(items)], dtype=object)
    columns = {"left": names[left], "right": names[right], "label": np.where(won, names[left], names[right])}
    return optiframe.solve(PairwiseRanking(comparisons=columns), solver, **more)


def segments(axes: Any) -> list[Any]:
    return [segment for collection in axes.collections for segment in collection.get_segments()]


@pytest.mark.slow
def test_points_and_intervals_are_those_of_the_table_on_its_scale() -> None:
    result = solved("ranking.crowd-bt", 6, 200)
    board = leaderboard(result, scale="elo", level=0.8)
    figure = plot_leaderboard(result, scale="elo", level=0.8)
    axes = figure.axes[0]
    (points,) = [line for line in axes.lines if line.get_marker() == "o"]
    np.testing.assert_allclose(points.get_xdata(), board["score"])
    ends = np.array([segment[:, 0] for segment in segments(axes)])
    np.testing.assert_allclose(ends, np.column_stack([board["low"], board["high"]]))
    names = [text.get_text() for text in axes.get_yticklabels()]
    assert names[0] == str(board["item"][0])
    assert all(len(name) <= 40 for name in names)
    assert len(set(names)) == 6  # cut in the middle, long names still differ
    assert axes.get_ylim()[0] > axes.get_ylim()[1]  # the best on top
    assert figure.get_suptitle() == "6 items, 200 comparisons, 80% intervals"


def test_lines_join_the_items_of_each_group_and_no_others() -> None:
    result = solved("hodge.bradley-terry", 9, 400)
    board = leaderboard(result)
    right = plot_leaderboard(result).axes[1]
    joined = set()
    by_column: dict[float, list[tuple[float, float]]] = {}
    for collection in right.collections:
        for segment in collection.get_segments():
            if collection.get_linewidth()[0] > 1:
                by_column.setdefault(segment[0, 0], []).append((segment[0, 1], segment[1, 1]))
            else:  # from the first to the last of a group
                joined.add((segment[0, 0], segment[0, 1], segment[1, 1]))
    drawn = set()
    for column, first, last in joined:
        runs = [run for run in by_column[column] if first - 0.5 < run[0] and run[1] < last + 0.5]
        drawn.add(frozenset(at for at in range(9) if any(low < at < high for low, high in runs)))
    letters = sorted(set("".join(board["group"])))
    groups = {frozenset(at for at in range(9) if letter in board["group"][at]) for letter in letters}
    assert drawn == {group for group in groups if len(group) > 1}


@pytest.mark.parametrize("items", [5, *(pytest.param(items, marks=pytest.mark.slow) for items in (20, 60))])
def test_names_of_neighbours_do_not_overlap_and_stay_within_the_page(items: int) -> None:
    figure = plot_leaderboard(solved("ranking.crowd-bt", items, 60 * items))
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in figure.axes[0].get_yticklabels()]
    assert all(upper.y0 > lower.y1 for upper, lower in itertools.pairwise(boxes))
    assert all(box.x0 >= figure.bbox.x0 for box in boxes)
    right = figure.axes[1].xaxis.label.get_window_extent()
    assert right.x1 <= figure.bbox.x1


def test_the_best_alone_may_be_drawn_and_an_answer_without_intervals() -> None:
    result = solved("hodge.lbi", 30, 900)
    figure = plot_leaderboard(result, most=10)
    assert len(figure.axes) == 1
    assert len(figure.axes[0].get_yticks()) == 10
    assert figure.get_suptitle() == "The best 10 of 30 items, 900 comparisons"
    assert segments(figure.axes[0]) == []
    with pytest.raises(InvalidInput, match="most must be at least 1"):
        plot_leaderboard(result, most=0)


@pytest.mark.slow
def test_the_heat_map_has_the_chances_and_dots_where_nobody_compared() -> None:
    result = solved("ranking.crowd-bt", 8, 40)
    figure = plot_win_probabilities(result)
    axes = figure.axes[0]
    shown = axes.images[0].get_array()
    scores = result.solution.scores[result.solution.order]
    expected = 1 / (1 + np.exp(scores[None, :] - scores[:, None]))
    off = ~np.eye(8, dtype=bool)
    np.testing.assert_allclose(np.asarray(shown)[off], expected[off])
    assert np.ma.getmaskarray(shown)[~off].all()
    graph, place = result.problem.graph, np.argsort(result.solution.order)
    pairs = {tuple(sorted((place[a], place[b]))) for a, b in zip(graph.left, graph.right, strict=True)}
    dots = axes.collections[0].get_offsets()
    assert len(dots) == 8 * 7 - 2 * len(pairs)
    written = {text.get_text() for text in axes.texts}
    assert f"{100 * expected[0, 1]:.0f}" in written
    assert not plot_win_probabilities(solved("ranking.crowd-bt", 25, 900)).axes[0].texts
    with pytest.raises(InvalidInput, match="chances to win follow from scores in log-odds"):
        plot_win_probabilities(solved("hodge.l2", 5, 90))
    with pytest.raises(InvalidInput, match="most must be at least 2"):
        plot_win_probabilities(result, most=1)
