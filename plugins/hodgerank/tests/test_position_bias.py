"""Annotators accused of clicking one side, with a bound on false accusations."""

from __future__ import annotations

import numpy as np
import pytest
from optiframe_hodgerank.problem import PairwiseRanking
from optiframe_hodgerank.trust.knockoffs import _knockoffs, position_bias

from optiframe import InvalidInput

from .path_twins import votes


def drawn(
    seed: int, *, workers: int = 40, each: int = 40, biased: int = 10, lean: float = 0.8, real: bool = True
) -> tuple[PairwiseRanking, np.ndarray]:
    """Comparisons of 10 items; the first `biased` annotators lean to a side."""
    rng = np.random.default_rng(seed)
    truth = rng.permutation(10) / 5
    worker = np.repeat(np.arange(workers), each)
    left = rng.integers(10, size=len(worker))
    right = (left + rng.integers(1, 10, size=len(worker))) % 10
    beta = np.where(np.arange(workers) < biased, lean * rng.choice([-1.0, 1.0], workers), 0.0)
    margin = truth[left] - truth[right] + beta[worker]
    if real:
        margin = margin + rng.standard_normal(len(worker))
    else:
        margin = np.where(rng.random(len(worker)) < 1 / (1 + np.exp(-2 * margin)), 1.0, -1.0)
    table = {"worker": worker, "left": left, "right": right, "margin": margin}
    return PairwiseRanking(comparisons=table), beta != 0


def test_knockoffs_have_the_correlations_of_the_originals() -> None:
    rng = np.random.default_rng(0)
    real = rng.standard_normal((60, 8))
    real /= np.linalg.norm(real, axis=0)
    fake = _knockoffs(real, rng.standard_normal((60, 8)))
    gram, cross = real.T @ real, real.T @ fake
    assert fake.T @ fake == pytest.approx(gram, abs=1e-7)
    off = cross - gram
    assert off - np.diag(np.diag(off)) == pytest.approx(0, abs=1e-7)
    assert np.ptp(np.diag(off)) < 1e-7


def test_strong_leaning_is_found() -> None:
    ranking, biased = drawn(0, lean=1.5)
    found = position_bias(ranking, level=0.2)
    assert found.accused[biased].all()
    assert set(np.argsort(-found.statistic)[: biased.sum()]) == set(np.flatnonzero(biased))
    assert np.abs(found.bias[biased]) == pytest.approx(1.5, abs=0.6)
    assert found.columns()["accused"][: biased.sum()].all()


@pytest.mark.parametrize("real", [True, False])
@pytest.mark.parametrize(
    "seeds",
    [pytest.param(8, marks=pytest.mark.slow), pytest.param(40, marks=pytest.mark.thorough)],
)
def test_share_of_false_accusations_is_within_the_level(seeds: int, real: bool) -> None:
    shares, hits = [], []
    for seed in range(seeds):
        ranking, biased = drawn(seed, real=real)
        accused = position_bias(ranking, level=0.2, seed=seed).accused
        shares.append((accused & ~biased).sum() / max(accused.sum(), 1))
        hits.append((accused & biased).sum() / biased.sum())
    error = np.std(shares) / np.sqrt(len(shares))
    assert np.mean(shares) <= 0.2 + 2 * error
    assert np.mean(hits) > 0.5  # and not by accusing nobody


@pytest.mark.slow
def test_nobody_is_accused_where_nobody_leans() -> None:
    accused = [position_bias(drawn(seed, biased=0)[0], seed=seed).accused.any() for seed in range(5)]
    assert np.mean(accused) <= 0.2


@pytest.mark.slow
def test_scores_make_no_difference() -> None:
    ranking, _ = drawn(3)
    table = ranking.comparisons
    moved = table.margin + np.arange(10.0)[table.left] - np.arange(10.0)[table.right]
    columns = {"worker": table.worker, "left": table.left, "right": table.right, "margin": moved}
    other = position_bias(PairwiseRanking(comparisons=columns))
    assert other.bias == pytest.approx(position_bias(ranking).bias, abs=1e-10)


@pytest.mark.parametrize(
    ("ranking", "level", "message"),
    [
        (votes(0), 0.1, "name no worker"),
        (drawn(0, each=2)[0], 0.1, "too few for 40 workers"),
        (votes(0), 1.0, "between 0 and 1"),
    ],
)
def test_what_cannot_be_measured_is_told(ranking: PairwiseRanking, level: float, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        position_bias(ranking, level=level)
