"""Which pair is asked next: the one a brute-force search over all of them finds."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from optiframe_manifold import CollaborativeRanker, intervals
from optiframe_manifold.tools.next_pairs import suggest
from optiframe_manifold.trust.curvature import Blocks
from scipy.special import expit

import optiframe
from optiframe import InvalidInput

from .cases import drawn


@cache
def solved() -> Any:
    return optiframe.solve(drawn(12, 9, 8.0), "manifold.trust-region")


def brute(result: Any, asked: list[tuple[int, int, int]], weight: float = 1.0) -> tuple[float, int, int, int]:
    """The best pair after those asked, from precision matrices built anew."""
    problem, solution = result.problem, result.solution
    blocks = Blocks.of(problem.likelihood, problem.to_factors(solution))
    x, sigma = blocks.factors, problem.sigma
    users, items = np.linalg.inv(blocks.users), np.linalg.inv(blocks.items)

    def told(u: int, j: int, k: int) -> float:
        chance = expit(x.left[u] @ (x.right[j] - x.right[k]) / sigma)
        return float(weight * chance * (1 - chance) / sigma**2)

    for u, j, k in asked:
        gap = x.right[j] - x.right[k]
        users[u] += told(u, j, k) * np.outer(gap, gap)
        for item in (j, k):
            items[item] += told(u, j, k) * np.outer(x.left[u], x.left[u])
    best = (-1.0, 0, 0, 0)
    for u in range(len(users)):
        for j in range(len(items)):
            for k in range(j + 1, len(items)):
                gap, mine = x.right[j] - x.right[k], x.left[u]
                variance = gap @ np.linalg.inv(users[u]) @ gap
                variance += mine @ (np.linalg.inv(items[j]) + np.linalg.inv(items[k])) @ mine
                gain = 0.5 * np.log1p(told(u, j, k) * variance)
                if gain > best[0] * (1 + 1e-9):
                    best = (gain, u, j, k)
    return best


@pytest.mark.slow
@pytest.mark.parametrize("weight", [1.0, 5.0])
def test_every_suggestion_is_the_best_after_those_before(weight: float) -> None:
    result = solved()
    found = suggest(result.problem, result.solution, 5, weight=weight)
    asked: list[tuple[int, int, int]] = []
    for row in range(5):
        gain, *best = brute(result, asked, weight)
        chosen = (found["user"][row], found["left"][row], found["right"][row])
        assert found["gain"][row] == pytest.approx(gain)
        assert chosen == tuple(best)
        asked.append(chosen)


def test_one_user_can_be_asked() -> None:
    result = solved()
    found = suggest(result.problem, result.solution, 4, user=3)
    assert found["user"].tolist() == [3] * 4
    assert (np.diff(found["gain"]) <= 1e-12).all()
    scores = result.solution.scores(3)
    gap = scores[found["left"]] - scores[found["right"]]
    np.testing.assert_allclose(found["chance"], expit(gap / result.problem.sigma))


def test_those_of_whom_nothing_is_known_are_asked_first() -> None:
    model = optiframe.dataset("collaborative.low-rank", users=30, items=15, rank=2, density=15.0)
    rows = pd.DataFrame(model.inputs()["comparisons"])
    problem = optiframe.problem(
        "collaborative-ranking", comparisons=rows, users=list(range(31)), items=list(range(16)), rank=2
    )
    answer = optiframe.solve(problem, "manifold.trust-region").solution
    found = suggest(problem, answer, 1)
    assert isinstance(found, pd.DataFrame)
    assert found["user"][0] == 30
    # For a user of known taste the item nobody compared is worth most.
    assert 15 in suggest(problem, answer, 1, user=0)[["left", "right"]].to_numpy()


def test_what_cannot_be_suggested_is_refused() -> None:
    result = solved()
    problem, answer = result.problem, result.solution
    for count in (0, -1, 1.5, True):
        with pytest.raises(InvalidInput, match="n must be a whole number of at least 1"):
            suggest(problem, answer, count)  # type: ignore[arg-type]  # wrong ones too
    with pytest.raises(InvalidInput, match="weight must be a positive number, got 0"):
        suggest(problem, answer, weight=0)
    with pytest.raises(InvalidInput, match="there is no user 99"):
        suggest(problem, answer, user=99)
    with pytest.raises(InvalidInput, match="an answer to collaborative-ranking is a Rankings"):
        suggest(problem, answer.factors)


def test_tools_take_a_result_or_a_fitted_estimator_in_the_place_of_problem_and_answer() -> None:
    result = solved()
    model = CollaborativeRanker(2)
    model.result_ = result
    told = suggest(result.problem, result.solution, 3)
    spread = intervals(result.problem, result.solution, user=2, method="blocks")
    for source in (result, model):
        pd.testing.assert_frame_equal(pd.DataFrame(suggest(source, n=3)), pd.DataFrame(told))
        pd.testing.assert_frame_equal(
            pd.DataFrame(intervals(source, user=2, method="blocks")), pd.DataFrame(spread)
        )
    with pytest.raises(InvalidInput, match="give an answer as well, or the result of a solver that found"):
        suggest(result.problem)
    with pytest.raises(InvalidInput, match=r"give a collaborative-ranking problem, .*, not a Rankings"):
        suggest(result.solution)  # type: ignore[arg-type]  # an answer without its problem


def test_too_many_pairs_ask_for_a_user() -> None:
    table = {"user": [0, 1], "left": [0, 1], "right": [1, 2], "label": [0, 1]}
    problem = optiframe.problem(
        "collaborative-ranking", comparisons=table, users=list(range(900)), items=list(range(500)), rank=1
    )
    start = optiframe.solve(problem, "manifold.trust-region", budget={"iterations": 10})
    with pytest.raises(InvalidInput, match=r"900 users and 500 items make more than .*; name the user"):
        suggest(problem, start.solution)
