"""The comparison sets have the sizes their sources state; generators draw what they say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from optiframe_hodgerank.problem import PairwiseRanking

import optiframe
from optiframe import InvalidInput, solve

# name, parameters, (comparisons, items, workers, ties)
SIZES = [
    ("pairwise.pc-vqa", {}, (3840, 16, 0, 0)),
    ("pairwise.pc-vqa", {"ref": None}, (38400, 160, 0, 0)),
    ("pairwise.pc-iqa", {"ref": 10}, (1462, 16, 0, 0)),
    ("pairwise.pc-iqa", {"ref": None}, (23097, 240, 0, 0)),
    ("pairwise.pc-iqa-extended", {"ref": None}, (43265, 240, 0, 0)),
    ("pairwise.pc-iqa-workers", {}, (4429, 16, 172, 371)),
    ("pairwise.human-age", {}, (14011, 30, 94, 1233)),
    ("pairwise.world-college", {}, (8823, 261, 340, 0)),
    ("pairwise.world-college", {"names": False}, (8823, 261, 340, 0)),
]


@pytest.mark.slow
@pytest.mark.usefixtures("data_folder")
@pytest.mark.parametrize(("name", "parameters", "sizes"), SIZES)
def test_a_set_has_the_size_its_source_states(
    name: str, parameters: dict[str, Any], sizes: tuple[int, int, int, int]
) -> None:
    table = problem(name, **parameters).comparisons
    ties = int((table.margin == 0).sum())
    assert (len(table), len(table.item_ids), len(table.worker_ids), ties) == sizes


def problem(name: str, **parameters: Any) -> PairwiseRanking:
    return optiframe.problem(dataset={"name": name, **parameters})


@pytest.mark.slow
@pytest.mark.usefixtures("data_folder")
def test_the_best_universities_are_the_famous_ones() -> None:
    ranking = solve(problem("pairwise.world-college"), "hodge.bradley-terry").solution
    best = " ".join(ranking.columns()["item"][:10])
    assert "Harvard" in best
    assert "Princeton" in best
    numbered = solve(problem("pairwise.world-college", names=False), "hodge.bradley-terry").solution
    assert np.allclose(np.sort(numbered.scores), np.sort(ranking.scores))


@pytest.mark.slow
@pytest.mark.usefixtures("data_folder")
def test_ties_of_faces_may_count_as_wins_of_the_left_one() -> None:
    tied, won = (problem("pairwise.human-age", ties=ties) for ties in ("tie", "left"))
    even = tied.comparisons.margin == 0
    assert (won.comparisons.margin[even] == 1).all()
    assert np.array_equal(won.comparisons.margin[~even], tied.comparisons.margin[~even])
    scores = dict(zip(won.item_ids.tolist(), solve(won, "hodge.l2").solution.scores, strict=True))
    # Column L2 of Table 3.
    assert [round(float(scores[face]), 4) for face in (28, 3, 14, 10, 26)] == [
        0.7780,
        0.6661,
        0.5653,
        -0.6969,
        -0.7660,
    ]


def test_a_reference_out_of_range_is_refused() -> None:
    with pytest.raises(InvalidInput, match="ref: must be at most 10, got 11"):
        optiframe.dataset("pairwise.pc-vqa", ref=11)


DRAWN = ["pairwise.random-order", "pairwise.bias", "pairwise.image", "pairwise.bipartite"]
SMALL: dict[str, dict[str, Any]] = {"pairwise.image": {"height": 12, "width": 9}}


@pytest.mark.parametrize("name", DRAWN)
def test_a_seed_fixes_every_draw(name: str) -> None:
    first, again, other = (problem(name, **SMALL.get(name, {}), seed=seed) for seed in (3, 3, 4))
    assert first == again
    assert first != other


def test_random_orders_have_exactly_the_share_of_reversals_asked_for() -> None:
    data = problem("pairwise.random-order", items=7, comparisons=333, outlier_share=0.2)
    table, truth = data.comparisons, data.truth.score
    right_way = np.sign(truth[table.left] - truth[table.right]) == table.margin
    assert np.array_equal(~right_way, data.outlier_truth)
    assert int(data.outlier_truth.sum()) == round(0.2 * 333)
    assert sorted(truth) == list(range(1, 8))


def test_the_bias_example_has_outliers_of_the_size_asked_for() -> None:
    data = problem("pairwise.bias", sigma=0.0, outlier_size=2.0)
    table, theta = data.comparisons, data.truth.score
    off = table.margin - (theta[table.left] - theta[table.right])
    assert np.allclose(np.abs(off), 2.0 * data.outlier_truth)
    assert (len(table), len(theta), int(data.outlier_truth.sum())) == (100, 10, 10)


def test_the_image_compares_each_pair_of_near_pixels_once() -> None:
    data = optiframe.dataset("pairwise.image", height=5, width=4, reach=2)
    found = list(zip(*(codes.tolist() for codes in data.pairs()), strict=True))
    places = [(y, x) for y in range(5) for x in range(4)]
    slow = {
        (i, j)
        for i, (a, b) in enumerate(places)
        for j, (c, d) in enumerate(places)
        if i < j and abs(a - c) <= 2 and abs(b - d) <= 2
    }
    assert len(found) == len(slow)
    assert set(found) == slow


def test_the_image_has_the_size_of_the_paper_and_intensities_between_0_and_1() -> None:
    data = optiframe.dataset("pairwise.image")
    left, right = data.pairs()
    assert len(left) == len(right) == 346_737
    picture = data.picture()
    assert picture.size == 29_322
    assert (picture.min(), picture.max()) == (0.0, 1.0)


def test_a_picture_smaller_than_the_reach_still_has_all_its_pairs() -> None:
    left, _ = optiframe.dataset("pairwise.image", height=2, width=2, reach=5).pairs()
    assert len(left) == 6


@pytest.mark.slow
def test_outliers_of_the_image_spoil_least_squares_by_a_known_amount() -> None:
    data = problem("pairwise.image", height=40, width=36)
    spoilt = solve(data, "hodge.l2").metrics["score_mse"]
    clean = problem("pairwise.image", height=40, width=36, outlier_share=0.0)
    # Outliers add .1 x .5^2 = .025 to a noise variance of .0025: eleven times the error.
    assert 6 < spoilt / solve(clean, "hodge.l2").metrics["score_mse"] < 16


def test_bipartite_votes_are_within_bounds_and_flipped_as_asked() -> None:
    data = problem("pairwise.bipartite", positive=4, negative=3, least_votes=2, most_votes=5)
    table = data.comparisons
    ids = data.item_ids
    assert (ids[table.left] <= 4).all()
    assert (ids[table.right] > 4).all()
    votes = np.unique(ids[table.left] * 10 + ids[table.right], return_counts=True)[1]
    assert len(votes) == 12
    assert (votes.min(), votes.max()) >= (2, 2)
    assert votes.max() <= 5
    assert np.array_equal(table.margin < 0, data.outlier_truth)
    assert int(data.outlier_truth.sum()) == round(0.1 * len(table))
    with pytest.raises(InvalidInput, match=r"least_votes: is above most_votes \(5 > 4\)"):
        optiframe.dataset("pairwise.bipartite", least_votes=5, most_votes=4)


@pytest.mark.slow
def test_the_groups_of_figures_21_and_23_come_apart_with_a_gap() -> None:
    faces = solve(problem("pairwise.bipartite"), "hodge.l2").metrics
    shoes = {"positive": 20, "negative": 20, "least_votes": 5, "most_votes": 100}
    brown = solve(problem("pairwise.bipartite", **shoes), "hodge.l2").metrics
    assert 0.5 < faces["score_gap"] < brown["score_gap"] < 1
    assert brown["score_spread"] < faces["score_spread"] < 0.05
