"""Bradley-Terry: the likelihood's maximum, when there is one, and who prevents it when there is none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optiframe_hodgerank.bradley_terry import BradleyTerry
from optiframe_hodgerank.pairwise_ranking import PairwiseRanking

import optiframe
from optiframe import Unsuited, solve, why_unsuited


def drawn(seed: int, items: int = 4, rows: int = 14) -> PairwiseRanking:
    rng = np.random.default_rng(seed)
    left = rng.integers(items, size=rows)
    right = (left + rng.integers(1, items, size=rows)) % items
    label = np.where(rng.random(rows) < 0.6, left, right).astype(object)
    label[rng.random(rows) < 0.15] = None
    return PairwiseRanking(
        comparisons={"left": left, "right": right, "label": label, "weight": rng.choice([1.0, 2.0], rows)}
    )


def has_maximum(problem: PairwiseRanking) -> bool:
    """Ford's condition by brute force: every split of a component is crossed by wins both ways."""
    table, items = problem.comparisons, len(problem.item_ids)
    beats = np.zeros((items, items), dtype=bool)
    for i, j, y in zip(table.left, table.right, table.margin, strict=True):
        beats[i, j] |= y >= 0
        beats[j, i] |= y <= 0
    for mask in range(1, 2**items - 1):
        inside = np.array([mask >> k & 1 for k in range(items)], dtype=bool)
        there, back = beats[inside][:, ~inside].any(), beats[~inside][:, inside].any()
        if there != back:
            return False
    return True


@settings(max_examples=60)
@given(st.integers(0, 10**6))
def test_it_is_refused_exactly_where_there_is_no_maximum(seed: int) -> None:
    problem = drawn(seed, rows=9)
    assert (why_unsuited(problem, BradleyTerry()) is None) == has_maximum(problem)
    assert why_unsuited(problem, BradleyTerry(prior=0.1)) is None


@settings(max_examples=30)
@given(st.integers(0, 10**6))
def test_expected_wins_are_observed_wins(seed: int) -> None:
    problem = drawn(seed)
    if not has_maximum(problem):
        return
    result = solve(problem, BradleyTerry(), budget={"tolerance": 1e-10})
    assert result.status == "converged"
    theta, table = result.solution.scores, problem.comparisons
    chance = 1 / (1 + np.exp(theta[table.right] - theta[table.left]))
    won = (table.margin + 1) / 2
    for item in range(len(theta)):
        mine = (table.left == item) * 1.0 - (table.right == item)
        assert abs(mine @ (table.weight * (chance - won))) < 1e-8
    assert result.violation < 1e-9
    assert np.isnan(result.objective)


def test_two_items_have_the_log_odds_of_their_wins() -> None:
    problem = PairwiseRanking(
        comparisons={"left": [1] * 5, "right": [2] * 5, "label": [1, 1, 1, 2, 0]}, outlier_price=1.0
    )
    result = solve(problem, BradleyTerry())
    ranking = result.solution
    assert ranking.scores == pytest.approx([np.log(3.5 / 1.5) / 2, -np.log(3.5 / 1.5) / 2])
    assert ranking.strength[3] > ranking.strength[4] > ranking.strength[0]
    assert ranking.strength[0] == pytest.approx(-np.log(0.7))
    # Information of the difference: 5 p (1 - p); each score is half of it.
    half = 1.6448536269514722 * np.sqrt(1 / (5 * 0.7 * 0.3)) / 2
    assert ranking.high - ranking.scores == pytest.approx([half, half], rel=1e-6)
    assert np.isnan(result.objective)


def test_who_wins_everything_is_named_and_a_prior_helps() -> None:
    comparisons: dict[str, Any] = {"left": ["ann", "bob", "cy"], "right": ["bob", "cy", "bob"]}
    problem = PairwiseRanking(comparisons={**comparisons, "label": ["ann", "bob", "cy"]})
    with pytest.raises(Unsuited, match=r"ann never lose to the rest .* give `prior`"):
        solve(problem, BradleyTerry())
    ranking = solve(problem, BradleyTerry(prior=0.1)).solution
    assert ranking.order[0] == 0
    assert np.isfinite(ranking.scores).all()


def test_margins_are_refused() -> None:
    problem = PairwiseRanking(comparisons={"left": [1, 2], "right": [2, 1], "margin": [0.5, 1.0]})
    assert "needs who won" in str(why_unsuited(problem, BradleyTerry()))


@pytest.mark.usefixtures("data_folder")
def test_it_ranks_real_videos_as_least_squares_does_but_for_neighbours() -> None:
    problem = optiframe.problem(dataset="pairwise.pc-vqa")
    likely = solve(problem, "hodge.bradley-terry").solution
    squares = solve(problem, "hodge.l2").solution
    assert np.abs(likely.rank - squares.rank).max() <= 1
