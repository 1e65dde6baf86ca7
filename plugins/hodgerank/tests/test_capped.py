"""Outliers capped in total, per annotator and per pair."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optiframe_hodgerank.problem import PairwiseRanking
from optiframe_hodgerank.solvers.capped import CappedThresholding, View, most_gain
from optiframe_hodgerank.solvers.thresholding import IterativeHardThresholding
from optiframe_hodgerank.trust import three_view as by_name
from optiframe_hodgerank.trust.three_view import three_view

from optiframe import InvalidInput, Unsuited, solve

from .path_twins import votes


def flooded(seed: int = 0) -> PairwiseRanking:
    """20 honest annotators with 20 wrong votes among 600; one clicks left on one pair 120 times, wrongly."""
    rng = np.random.default_rng(seed)
    truth = np.arange(8.0)
    worker = np.repeat(np.arange(20), 30)
    left = rng.integers(8, size=600)
    right = (left + rng.integers(1, 8, size=600)) % 8
    wrong = np.zeros(600, dtype=bool)
    wrong[rng.choice(600, 20, replace=False)] = True
    margin = np.sign(truth[left] - truth[right]) * np.where(wrong, -1, 1)
    comparisons = {
        "worker": np.concatenate([worker, np.full(120, 20)]),
        "left": np.concatenate([left, np.full(120, 1)]),
        "right": np.concatenate([right, np.full(120, 6)]),
        "margin": np.concatenate([margin, np.ones(120)]),
    }
    return PairwiseRanking(
        comparisons=comparisons,
        truth={"item": np.arange(8), "score": truth},
        outlier_truth=np.concatenate([wrong, np.ones(120, dtype=bool)]),
    )


def by_trying(
    gain: np.ndarray, total: int, *views: tuple[np.ndarray, int | None]
) -> tuple[float, set[tuple[int, ...]]]:
    """The largest sum of gains within the caps, and every set that reaches it."""

    def fits(chosen: tuple[int, ...]) -> bool:
        for labels, most in views:
            inside = labels[list(chosen)]
            inside = inside[inside >= 0]
            if most is not None and len(inside) and np.bincount(inside).max() > most:
                return False
        return True

    sets = [c for k in range(min(total, len(gain)) + 1) for c in combinations(range(len(gain)), k) if fits(c)]
    value = [sum(gain[i] for i in c) for c in sets]
    return max(value), {c for c, v in zip(sets, value, strict=True) if v >= max(value) - 1e-9}


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6), caps=st.tuples(*[st.sampled_from([None, 0, 1, 2])] * 2), ties=st.booleans()
)
def test_chosen_set_is_the_best_of_all(seed: int, caps: tuple[int | None, int | None], ties: bool) -> None:
    rng = np.random.default_rng(seed)
    gain = rng.integers(0, 4, 9).astype(float) if ties else rng.random(9)
    views = [(rng.integers(-1, 3, 9), cap) for cap in caps]
    total = int(rng.integers(0, 7))
    bounds = [View(labels, most) for labels, most in views if most is not None]
    both = three_view(total, *bounds) if len(bounds) == 2 else None
    chosen = most_gain(gain, total, bounds, both)
    best, sets = by_trying(gain, total, *views)
    assert gain[chosen].sum() == pytest.approx(best)
    assert tuple(chosen.tolist()) in sets


def test_without_caps_it_is_iterative_hard_thresholding() -> None:
    ranking = votes(3, noise=0.1)
    with_caps, plain = (
        solve(ranking, solver, budget={"tolerance": 1e-10}, trace=False).solution
        for solver in (CappedThresholding(share=0.1), IterativeHardThresholding(share=0.1))
    )
    assert with_caps.scores == pytest.approx(plain.scores, abs=1e-12)
    assert with_caps.outliers == pytest.approx(plain.outliers, abs=1e-12)


def test_every_cap_holds_and_the_scores_fit_what_is_left() -> None:
    ranking = flooded()
    solver = CappedThresholding(total=40, per_worker=3, per_pair=4)
    answer = solve(ranking, solver, budget={"tolerance": 1e-12}, trace=False).solution
    table, flagged = ranking.comparisons, answer.flagged
    pair = np.minimum(table.left, table.right) * 8 + np.maximum(table.left, table.right)
    assert len(flagged) == 40
    assert np.bincount(table.worker[flagged]).max() == 3
    assert np.bincount(pair[flagged]).max() == 4
    x = np.zeros((ranking.rows, 8))
    x[np.arange(ranking.rows), table.left], x[np.arange(ranking.rows), table.right] = 1, -1
    assert answer.scores == pytest.approx(np.linalg.pinv(x) @ (table.margin - answer.outliers), abs=1e-9)


@pytest.mark.slow
def test_the_objective_never_rises() -> None:
    ranking = flooded(1)
    found = []
    for steps in range(1, 8):
        budget = {"iterations": steps, "tolerance": 0.0}
        with pytest.warns(UserWarning, match="."):
            result = solve(ranking, CappedThresholding(per_worker=4, per_pair=4), budget=budget, trace=False)
        rest = ranking.residuals(result.solution) - result.solution.outliers
        found.append(rest @ rest)
    assert (np.diff(found) <= 1e-9).all()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_a_flooded_pair_does_not_turn_its_honest_voters_into_outliers(seed: int) -> None:
    ranking = flooded(seed)
    budget = {"tolerance": 1e-9}
    plain = solve(ranking, CappedThresholding(total=140), budget=budget, trace=False)
    one_cap = solve(ranking, CappedThresholding(total=140, per_pair=6), budget=budget, trace=False)
    table, wrong = ranking.comparisons, ranking.outlier_truth
    assert wrong is not None
    there = (np.minimum(table.left, table.right) == 1) & (np.maximum(table.left, table.right) == 6)
    honest = np.flatnonzero(there & ~wrong)
    # The flood outvotes them: uncapped all of them are left out, capped at most six.
    assert np.isin(honest, plain.solution.flagged).all()
    assert np.isin(honest, one_cap.solution.flagged).sum() <= 6 < len(honest)
    assert one_cap.metrics["score_correlation"] > plain.metrics["score_correlation"]
    assert one_cap.metrics["outlier_auc"] > plain.metrics["outlier_auc"]


def test_weights_multiply_what_is_gained() -> None:
    comparisons = {
        "left": [0, 0, 0, 0],
        "right": [1, 1, 1, 1],
        "margin": [1.0, 1.0, -1.0, -2.0],
        "weight": [5.0, 5.0, 4.0, 1.0],
    }
    answer = solve(PairwiseRanking(comparisons=comparisons), CappedThresholding(total=1)).solution
    assert answer.flagged.tolist() == [2]


def test_a_cap_for_annotators_needs_annotators() -> None:
    with pytest.raises(Unsuited, match="name no worker"):
        solve(votes(0), CappedThresholding(per_worker=3))
    with pytest.raises(InvalidInput, match="per_pair"):
        CappedThresholding(per_pair=-1)


def test_two_caps_without_the_plugin_of_the_set_are_refused_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(by_name, "_SET", "three-view of a plugin that is not there")
    table = {"worker": [0, 1, 2], "left": [0, 0, 0], "right": [1, 1, 1], "margin": [1.0, 1.0, -1.0]}
    votes_of_three = PairwiseRanking(comparisons=table)
    assert "optiframework-tvcs" in str(CappedThresholding(per_worker=1, per_pair=1).unsuited(votes_of_three))
    assert CappedThresholding(per_pair=1).unsuited(votes_of_three) is None
