"""The generator draws what the paper says; published sets have the sizes their sources state."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from optiframe_manifold.low_rank import LowRank
from optiframe_manifold.problem import CollaborativeRanking
from scipy.stats import chisquare

import optiframe
from optiframe import InvalidInput


def drawn(**parameters: Any) -> CollaborativeRanking:
    return optiframe.problem(
        dataset={"name": "collaborative.low-rank", "users": 30, "items": 20, "rank": 3, **parameters}
    )


def test_scores_are_of_the_rank_and_size_of_the_paper() -> None:
    of = drawn()
    assert isinstance(of.truth, LowRank)
    x = of.truth.dense()
    assert np.linalg.matrix_rank(x) == 3
    assert np.isclose(np.abs(x).max(), 1.0)
    assert (of.rank, of.sigma, of.shape) == (3, 0.18, (30, 20))
    uniform = of.truth.right
    assert (np.abs(uniform) <= 0.5).all()
    assert np.abs(uniform).max() > 0.45


def test_as_many_comparisons_are_drawn_as_d_r_K_log_K() -> None:
    assert optiframe.dataset("collaborative.low-rank").comparisons == round(5 * 10 * 200 * math.log(200))
    size = math.sqrt(30 * 20)
    assert drawn(density=2.5).rows == round(2.5 * 3 * size * math.log(size))


def test_a_seed_fixes_every_draw_and_more_comparisons_keep_the_scores() -> None:
    assert drawn(seed=3) == drawn(seed=3)
    assert drawn(seed=3) != drawn(seed=4)
    assert drawn(seed=3).truth == drawn(seed=3, density=1.0).truth
    few, many = drawn(density=1.0), drawn(density=5.0)
    assert np.array_equal(few.comparisons.user, many.comparisons.user[: few.rows])


def test_users_and_ordered_pairs_are_drawn_evenly() -> None:
    table = drawn(users=4, items=3, rank=1, density=2000.0).comparisons
    assert chisquare(np.bincount(table.user, minlength=4)).pvalue > 1e-4
    pair = table.left * 3 + table.right
    counts = np.bincount(pair, minlength=9).reshape(3, 3)
    assert (np.diag(counts) == 0).all()
    assert chisquare(counts[~np.eye(3, dtype=bool)]).pvalue > 1e-4


def test_winners_follow_the_model() -> None:
    of = drawn(density=400.0, sigma=0.3)
    table, x = of.comparisons, of.truth
    gap = x.at(table.user, table.left) - x.at(table.user, table.right)
    chance = 1 / (1 + np.exp(-gap / 0.3))
    for low in np.arange(0.0, 1.0, 0.1):
        mine = (chance >= low) & (chance < low + 0.1)
        share, spread = (table.outcome[mine] > 0).mean(), 0.5 / np.sqrt(mine.sum())
        assert abs(share - chance[mine].mean()) < 4.5 * spread


def test_a_drawing_with_few_comparisons_still_knows_all_users_and_items() -> None:
    of = drawn(density=0.01)
    assert of.shape == (30, 20)
    assert of.rows < 30


def test_impossible_drawings_are_refused() -> None:
    with pytest.raises(InvalidInput, match="rank: is more than the 20 a 30 x 20 matrix has"):
        drawn(rank=21)
    with pytest.raises(InvalidInput, match="users: must be at least 2"):
        drawn(users=1)


@pytest.mark.slow  # seconds to read a file
@pytest.mark.usefixtures("data_folder")
@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("collaborative.human-age", (14011, 94, 30, 1233)),
        ("collaborative.world-college", (8823, 340, 261, 0)),
    ],
)
def test_a_set_has_the_size_its_source_states(name: str, sizes: tuple[int, int, int, int]) -> None:
    table = optiframe.problem(dataset=name).comparisons
    ties = int((table.outcome == 0).sum())
    assert (len(table), len(table.user_ids), len(table.item_ids), ties) == sizes


@pytest.mark.slow
@pytest.mark.usefixtures("data_folder")
def test_universities_may_be_numbers() -> None:
    named = optiframe.problem(dataset="collaborative.world-college")
    numbered = optiframe.problem(dataset={"name": "collaborative.world-college", "names": False})
    assert numbered.item_ids.tolist() == list(range(1, 262))
    assert "Harvard University: USA" in named.item_ids.tolist()
    assert len(numbered.choices) == len(named.choices)
