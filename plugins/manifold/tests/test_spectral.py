from __future__ import annotations

import numpy as np
import pytest
from optiframe_manifold.low_rank import LowRank
from optiframe_manifold.objective.btl import BtlObjective

from optiframe.errors import InvalidInput

from .cases import drawn


def times(x: LowRank, t: float) -> LowRank:
    return LowRank(t * x.left, x.right)


@pytest.mark.parametrize("penalty", ["log-sum-exp", "frobenius", "none"])
def test_the_start_is_near_the_best_point_of_its_ray(penalty: str) -> None:
    f = drawn(40, 30, 12.0, penalty=penalty).likelihood
    start = f.spectral_start(2)
    assert start.rank == 2
    best = min(f.value(times(start, t)) for t in np.linspace(0.5, 2, 31))
    origin = f.value(times(start, 0.0))
    assert origin - f.value(start) > 0.99 * (origin - best) > 0


def test_the_start_points_to_the_true_scores() -> None:
    problem = drawn(40, 30, 80.0)
    start, truth = problem.likelihood.spectral_start(2).dense(), problem.truth.dense()
    centred = truth - truth.mean(axis=1, keepdims=True)
    cosine = np.sum(start * centred) / np.linalg.norm(start) / np.linalg.norm(centred)
    assert cosine > 0.9


def test_the_factors_are_balanced_and_the_same_each_time() -> None:
    f = drawn(330, 310, 2.5).likelihood  # wide enough for ARPACK
    start, again = f.spectral_start(3), f.spectral_start(3)
    np.testing.assert_allclose(start.left.T @ start.left, start.right.T @ start.right, atol=1e-10)
    np.testing.assert_array_equal(start.left, again.left)
    np.testing.assert_array_equal(start.right, again.right)


def test_a_rank_beyond_what_the_comparisons_span_still_has_full_factors() -> None:
    f = BtlObjective(users=4, items=3, winner=[0], loser=[1], pointer=[0, 1, 1, 1, 1], strength=1.0)
    start = f.spectral_start(2)
    assert np.linalg.matrix_rank(start.left) == np.linalg.matrix_rank(start.right) == 2


def test_comparisons_that_all_agree_without_a_penalty_give_a_finite_start() -> None:
    f = BtlObjective(users=2, items=3, winner=[0, 1], loser=[1, 2], pointer=[0, 1, 2], penalty="none")
    start = f.spectral_start(1)
    assert np.isfinite(start.left).all()
    assert f.value(start) < 1e-9


def test_a_rank_that_cannot_be_is_named() -> None:
    f = drawn(2, 3, 2.0).likelihood
    with pytest.raises(InvalidInput, match="rank 3 is none a 2 x 3 matrix can have; give 1 to 2"):
        f.spectral_start(3)


def ties(penalty: str) -> BtlObjective:
    """Every pair both ways, with weights whose sums round."""
    one, other = np.triu_indices(6, 1)
    return BtlObjective(
        users=2,
        items=6,
        winner=np.concatenate([one, other]),
        loser=np.concatenate([other, one]),
        pointer=[0, 30, 30],
        weight=np.tile(np.random.default_rng(0).uniform(0.1, 1, 15), 2),
        penalty=penalty,
    )


def both_ways(size: int) -> BtlObjective:
    """By every user one pair, both ways."""
    winner = np.tile([0, 1], size)
    pointer = 2 * np.arange(size + 1)
    return BtlObjective(users=size, items=size, winner=winner, loser=1 - winner, pointer=pointer)


@pytest.mark.parametrize(
    "objective",
    [
        both_ways(3),
        both_ways(320),  # beyond the size up to which singular vectors are found densely
        ties("log-sum-exp"),
        ties("none"),
        BtlObjective(users=2, items=3, winner=[], loser=[], pointer=[0, 0, 0]),
    ],
    ids=["a pair", "many users", "weighted", "weighted without penalty", "no comparisons"],
)
def test_comparisons_that_cancel_begin_at_zero_which_is_the_answer(objective: BtlObjective) -> None:
    assert not objective.spectral_start(2).dense().any()
