"""Intervals of few votes by nobody in particular: they hold what is not known of the prior."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from optiframe_hodgerank.problem import PairwiseRanking
from optiframe_hodgerank.solvers.crowd_bt import CrowdBradleyTerry
from scipy.special import log_expit

from optiframe import solve

SPREADS = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2)


def ranked(table: dict[str, Any]) -> Any:
    return solve(PairwiseRanking(comparisons=table), "ranking.crowd-bt", trace=False).solution


@pytest.mark.parametrize(("won", "lost"), [(2, 1), (12, 5), (30, 28), (90, 10)])
def test_errors_are_about_those_of_the_posterior_by_quadrature(won: int, lost: int) -> None:
    # Of two items only the difference d matters: normal with variance 2 s^2 for each spread s of the scores.
    table = {"left": ["a"] * (won + lost), "right": ["b"] * (won + lost), "label": ["a"] * won + ["b"] * lost}
    answer = ranked(table)
    d = np.linspace(-40.0, 40.0, 80001)
    likelihood = np.exp(won * log_expit(d) + lost * log_expit(-d))
    usual = [np.exp(-(np.log(s) ** 2) / 2) for s in SPREADS]
    prior = sum(u * np.exp(-d * d / (4 * s * s)) / s for u, s in zip(usual, SPREADS, strict=True))
    weight = likelihood * prior
    found = answer.scores[0] - answer.scores[1]
    exact = np.sqrt(weight @ (d - found) ** 2 / weight.sum())
    error = CrowdBradleyTerry().standard_errors(PairwiseRanking(comparisons=table), answer)
    assert 2 * error[0] == pytest.approx(exact, rel=0.12)  # Laplace's approximation


def test_a_matrix_of_few_wins_does_not_claim_to_know_that_items_are_equal() -> None:
    pairs = [("x", "y", 5), ("x", "z", 3), ("y", "x", 2), ("y", "z", 4), ("z", "x", 1), ("z", "y", 2)]
    won, lost, weight = zip(*pairs, strict=True)
    answer = ranked({"left": won, "right": lost, "label": won, "weight": weight})
    assert (answer.high - answer.low).min() > 0.7  # .26 with the variance that was chosen taken for granted


@pytest.mark.parametrize(("items", "votes"), [(3, 3), (12, 40)])
@pytest.mark.parametrize("spread", [0.3, 1.0])
def test_few_votes_do_not_predict_worse_than_a_coin(items: int, votes: int, spread: float) -> None:
    rng, loss = np.random.default_rng(3), []
    for _ in range(20):
        truth = rng.normal(0.0, spread, items)
        left = np.append(np.arange(items - 1), rng.integers(items, size=votes - items + 1))
        step = np.append(np.ones(items - 1, int), rng.integers(1, items, size=votes - items + 1))
        right = (left + step) % items
        first = rng.random(votes) < 1 / (1 + np.exp(truth[right] - truth[left]))
        answer = ranked({"left": left, "right": right, "label": np.where(first, left, right)})
        scores = np.empty(items)
        scores[answer.items] = answer.scores
        one, other = np.triu_indices(items, 1)
        chance = 1 / (1 + np.exp(truth[other] - truth[one]))
        ahead = scores[one] - scores[other]
        loss.append(np.mean(chance * np.logaddexp(0, -ahead) + (1 - chance) * np.logaddexp(0, ahead)))
    assert np.mean(loss) < np.log(2) + 0.1  # .35 more by priors that three folds choose


@pytest.mark.parametrize(
    ("items", "votes", "spread"),
    [
        (3, 17, 0.3),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in [(3, 17, 1.0), (6, 40, 1.0), (10, 60, 2.0)]
        ),
    ],
)
def test_intervals_of_few_votes_hold_the_truth(items: int, votes: int, spread: float) -> None:
    rng, inside = np.random.default_rng(7), []
    for _ in range(40):
        truth = rng.normal(0.0, spread, items)
        left = rng.integers(items, size=votes)
        right = (left + rng.integers(1, items, size=votes)) % items
        label = np.where(rng.random(votes) < 1 / (1 + np.exp(truth[right] - truth[left])), left, right)
        answer = ranked({"left": left, "right": right, "label": label})
        if not answer.component.any():
            of_item = truth[answer.items] - truth[answer.items].mean()
            inside += ((answer.low <= of_item) & (of_item <= answer.high)).tolist()
    assert np.mean(inside) > 0.8  # .62 to .8 without what is not known of the prior
