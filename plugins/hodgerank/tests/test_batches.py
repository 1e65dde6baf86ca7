"""Further comparisons added to earlier ones: the answer of all of them, and nothing read twice."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optiframe_hodgerank import RobustRanker
from optiframe_hodgerank.data import Comparisons
from optiframe_hodgerank.problem import PairwiseRanking
from optiframe_hodgerank.read import batches

from optiframe import InvalidInput, solve

EXACT = {"tolerance": 1e-10}


def voted(seed: int, rows: int, items: range, workers: int = 6, *, text: bool = False) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    left = rng.integers(len(items), size=rows)
    right = (left + rng.integers(1, len(items), size=rows)) % len(items)
    score = np.random.default_rng(0).normal(size=100)
    left, right = left + items.start, right + items.start
    ahead = rng.random(rows) < 1 / (1 + np.exp(score[right] - score[left]))
    label = np.where(ahead, left, right).astype(object)
    label[rng.random(rows) < 0.1] = None
    frame = pd.DataFrame(
        {"left": left, "right": right, "label": label, "worker": rng.integers(workers, size=rows)}
    )
    if text:
        frame = frame.assign(**{name: "i" + frame[name].astype(str) for name in ("left", "right")})
        frame["label"] = [None if one is None else f"i{one}" for one in label]
    return frame.assign(longer=rng.normal(size=rows))


def same(one: Comparisons, other: Comparisons) -> None:
    for name in ("left", "right", "margin", "weight", "worker", "item_ids", "worker_ids"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    for name in ("left", "right", "margin", "weight", "count", "inverse", "flipped"):
        np.testing.assert_array_equal(getattr(one.merged, name), getattr(other.merged, name), err_msg=name)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 40), st.integers(0, 12), st.booleans(), st.booleans())
@pytest.mark.slow
def test_tables_joined_are_the_table_of_all_rows(
    seed: int, rows: int, first: int, text: bool, merged: bool
) -> None:
    one, more = (
        voted(seed, 40, range(3, 9), text=text),
        voted(seed + 1, rows, range(first, first + 5), 9, text=text),
    )
    problem = PairwiseRanking(comparisons=one, covariates=["longer"], position=True)  # type: ignore[arg-type]
    if merged:
        assert problem.merged is not None
    joined = problem.extended(more)
    whole = PairwiseRanking(
        comparisons=pd.concat([one, more]),
        covariates=["longer"],
        position=True,  # type: ignore[arg-type]
    )
    same(joined.comparisons, whole.comparisons)
    np.testing.assert_array_equal(joined.comparisons.covariates.values, whole.comparisons.covariates.values)
    assert joined.fingerprint() == whole.fingerprint()


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["bradley-terry", "ranking.crowd-bt", "l2"])
def test_a_ranking_learnt_in_batches_is_that_of_all_votes(solver: str) -> None:
    one, more, last = voted(1, 300, range(2, 8)), voted(2, 100, range(10), 9), voted(3, 1, range(2))
    model = RobustRanker(solver, budget=EXACT).fit(one).partial_fit(more).partial_fit(last)
    whole = RobustRanker(solver, budget=EXACT).fit(pd.concat([one, more, last]))
    for name in ("score", "low", "high"):
        assert model.scores_[name].tolist() == pytest.approx(whole.scores_[name].tolist(), abs=1e-6)
    assert model.ranking_.tolist() == whole.ranking_.tolist()
    pd.testing.assert_frame_equal(model.workers_, whole.workers_)
    if solver == "ranking.crowd-bt":
        assert model.result_.detail.reliability == pytest.approx(whole.result_.detail.reliability, abs=1e-6)


@pytest.mark.slow
def test_effects_are_learnt_in_batches_too() -> None:
    one, more = voted(4, 200, range(6)), voted(5, 1, range(6))
    given: dict[str, Any] = {"covariates": ["longer"], "position": True, "budget": EXACT}
    model = RobustRanker(**given).fit(one).partial_fit(more)  # a batch of one row: its covariate is constant
    whole = RobustRanker(**given).fit(pd.concat([one, more]))
    assert model.effects_["effect"].tolist() == pytest.approx(whole.effects_["effect"].tolist(), abs=1e-8)
    assert model.effects_["covariate"].tolist() == ["longer", "position"]
    assert model.score(more.drop(columns="longer")) in {0.0, 0.5, 1.0}
    with pytest.raises(InvalidInput, match="different covariates: longer, position, then longer"):
        model.set_params(position=False).partial_fit(more)
    with pytest.raises(AttributeError, match="was given no covariates"):
        _ = RobustRanker().fit(one).effects_


def test_earlier_rows_are_neither_read_nor_merged_again(monkeypatch: pytest.MonkeyPatch) -> None:
    merged: list[int] = []
    merge = batches.merge

    def watched(items: int, left: Any, *rest: Any) -> Any:
        merged.append(len(left))
        return merge(items, left, *rest)

    model = RobustRanker("bradley-terry").fit(voted(6, 5000, range(6)))
    before = len(model.result_.problem.merged)
    monkeypatch.setattr(batches, "merge", watched)
    model.partial_fit(voted(7, 10, range(6)))
    assert merged[0] <= before + 10
    assert len(model.result_.problem.comparisons) == 5010


def test_bradley_terry_goes_on_from_the_scores_learnt_before() -> None:
    one, more = voted(8, 3000, range(6)), voted(9, 3, range(6))
    model = RobustRanker("bradley-terry", budget=EXACT).fit(one)
    first = model.n_iter_
    assert model.partial_fit(more).n_iter_ < first
    problem = model.result_.problem
    again = solve(problem, "hodge.bradley-terry", budget=EXACT, start=model.result_.solution)
    assert again.iterations < first
    assert again.solution.scores == pytest.approx(model.result_.solution.scores, abs=1e-9)


def test_weights_too_far_apart_in_batches_are_refused() -> None:
    one = voted(10, 20, range(4))
    model = RobustRanker("l2").fit(one.assign(weight=1e9))
    with pytest.raises(InvalidInput, match=r"weights from 0\.001 to 1e"):
        model.partial_fit(one.assign(weight=1e-3))
