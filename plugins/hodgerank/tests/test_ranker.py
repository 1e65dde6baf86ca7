"""`RobustRanker`: comparisons of a frame in the manner of scikit-learn."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from optiframe_hodgerank.estimator import RobustRanker
from optiframe_hodgerank.path.path import Path
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import optiframe
from optiframe.errors import InvalidInput

TINY = {
    "worker": ["ann", "ann", "ann", "bob", "bob", "cy", "cy"],
    "left": ["tea", "coffee", "tea", "tea", "milk", "coffee", "milk"],
    "right": ["coffee", "milk", "milk", "coffee", "coffee", "tea", "tea"],
    "label": ["tea", "coffee", "tea", "tea", "coffee", "coffee", None],
}


def crowd(rows: int = 400, seed: int = 0) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Comparisons of ten items with text ids by five workers, one in ten reversed, and the truth."""
    data = {"name": "pairwise.random-order", "items": 10, "comparisons": rows, "outlier_share": 0.1}
    inputs = optiframe.dataset(**data, seed=seed).inputs()
    frame = pd.DataFrame(inputs["comparisons"]).map(lambda code: f"item {code}")
    frame["worker"] = np.arange(rows) % 5
    truth = pd.DataFrame(inputs["truth"])
    truth["item"] = "item " + truth["item"].astype(str)
    return frame, truth


@pytest.mark.parametrize("method", ["l2", "lbi", "hlasso", "hlasso-l2", "iss", "iht", "bradley-terry", None])
def test_fit_gives_the_answer_of_solve(method: str | None) -> None:
    frame, truth = crowd()
    model = RobustRanker(method).fit(frame, truth)
    problem = optiframe.problem("pairwise-ranking", comparisons=frame, truth=truth)
    result = optiframe.solve(problem, method and f"hodge.{method}")
    np.testing.assert_array_equal(model.result_.solution.scores, result.solution.scores)
    assert model.result_.metrics == result.metrics
    assert model.findings_ == result.findings
    assert model.n_iter_ == result.iterations
    assert model.ranking_.tolist() == model.scores_["item"].tolist()
    assert model.workers_["worker"].tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_answers_come_in_the_kind_of_frame_given(kind: Any) -> None:
    model = RobustRanker({"name": "lbi", "share": 0.2}).fit(kind(TINY))
    pairs = kind({"left": ["tea", "milk"], "right": ["milk", "coffee"]})
    for answer in (model.scores_, model.outliers_, model.workers_, model.predict(pairs)):
        assert isinstance(answer, kind if isinstance(kind, type) else pa.Table)


def test_the_higher_score_is_predicted_to_win() -> None:
    model = RobustRanker("l2").fit(pd.DataFrame(TINY))
    found = model.predict(pd.DataFrame({"left": ["milk", "tea"], "right": ["tea", "coffee"], "more": [1, 2]}))
    score = dict(zip(model.scores_["item"], model.scores_["score"], strict=True))
    assert found["winner"].tolist() == ["tea", "tea"]
    assert found["margin"].tolist() == pytest.approx(
        [score["milk"] - score["tea"], score["tea"] - score["coffee"]]
    )


def test_equal_scores_and_separate_groups_predict_nobody() -> None:
    rows = {"left": [1, 2, 3, 8], "right": [2, 3, 1, 9], "label": [1, 2, 3, 8]}
    model = RobustRanker("l2").fit(rows)
    found = model.predict({"left": [1, 1, 8], "right": [2, 8, 9]})
    assert found["winner"].tolist() == [None, None, 8]
    np.testing.assert_array_equal(found["margin"][:2], [0.0, np.nan])
    assert model.score({"left": [1, 1, 8, 8], "right": [2, 8, 9, 9], "label": [1, 1, 8, None]}) == 2 / 3


def test_the_score_is_the_share_of_winners_predicted() -> None:
    frame, _ = crowd()
    model = RobustRanker().fit(frame[:300])
    rest = frame[300:]
    right = np.mean(model.predict(rest)["winner"].to_numpy() == rest["label"].to_numpy())
    assert model.score(rest) == pytest.approx(right)
    assert right > 0.8
    double = rest.assign(weight=np.where(rest["label"] == rest["left"], 2.0, 1.0))
    assert model.score(double) != model.score(rest)
    assert np.isnan(model.score(rest.assign(label=None)))


def test_items_never_compared_are_named() -> None:
    model = RobustRanker("l2").fit(TINY)
    with pytest.raises(InvalidInput, match="never compared, so without a score: cocoa"):
        model.predict({"left": ["tea"], "right": ["cocoa"]})


def test_batches_give_the_answer_of_all_comparisons_at_once() -> None:
    frame, truth = crowd()
    model = RobustRanker("lbi").partial_fit(frame[:150], truth).partial_fit(frame[150:])
    full = RobustRanker("lbi").fit(frame, truth)
    pd.testing.assert_frame_equal(model.scores_, full.scores_)
    pd.testing.assert_frame_equal(model.workers_, full.workers_)
    assert model.outliers_["row"].tolist() == full.outliers_["row"].tolist()
    assert model.result_.metrics == full.result_.metrics


def test_batches_may_lack_workers_and_weights_and_hold_ties() -> None:
    second = {
        "left": ["tea", "cocoa"],
        "right": ["cocoa", "milk"],
        "label": [None, "cocoa"],
        "weight": [2, 3],
    }
    model = RobustRanker("l2").fit(TINY).partial_fit(pl.DataFrame(second))
    table = model.result_.problem.comparisons
    assert table.weight.tolist() == [1.0] * 7 + [2.0, 3.0]
    assert table.margin.tolist()[-3:] == [0.0, 0.0, -1.0] or table.margin.tolist()[-3:] == [0.0, 0.0, 1.0]
    assert table.worker.tolist()[-2:] == [-1, -1]
    assert isinstance(model.scores_, pl.DataFrame)
    with pytest.raises(InvalidInput, match="cannot be joined"):
        model.partial_fit({"left": ["tea"], "right": ["milk"], "margin": [0.5]})


def test_columns_can_be_mapped_everywhere() -> None:
    frame, truth = crowd(100)
    names = {"left": "first", "right": "second", "item": "name"}
    model = RobustRanker("l2", columns=names)
    renamed = frame.rename(columns=names)
    model.fit(renamed[:50], truth.rename(columns=names)).partial_fit(renamed[50:])
    pd.testing.assert_frame_equal(model.scores_, RobustRanker("l2").fit(frame).scores_)
    assert model.predict(renamed)["left"].tolist() == frame["left"].tolist()
    assert "kendall_tau" in model.result_.metrics


def test_paths_are_at_hand_where_the_method_follows_one() -> None:
    model = RobustRanker("lbi").fit(TINY)
    assert isinstance(model.path_, Path)
    with pytest.raises(AttributeError, match="follows no path"):
        _ = RobustRanker("l2").fit(TINY).path_


def test_what_there_is_not_is_an_attribute_error_that_says_why() -> None:
    model = RobustRanker("l2")
    for name in ("scores_", "ranking_", "outliers_", "workers_", "path_"):
        assert not hasattr(model, name)
    with pytest.raises(InvalidInput, match="call fit"):
        model.predict(TINY)
    model.fit({name: TINY[name] for name in ("left", "right", "label")})
    with pytest.raises(AttributeError, match="takes no comparison for an outlier"):
        _ = model.outliers_
    with pytest.raises(AttributeError, match="was given no column worker"):
        _ = model.workers_


def test_a_fit_that_fails_keeps_what_was_learnt() -> None:
    model = RobustRanker("l2").fit(TINY)
    before = model.result_
    with pytest.raises(InvalidInput, match="cannot be compared with itself"):
        model.fit({"left": [1], "right": [1], "label": [1]})
    assert model.result_ is before


def test_a_general_solver_takes_the_price_of_an_outlier() -> None:
    frame, _ = crowd(200)
    model = RobustRanker("scipy.lbfgs", outlier_price=1.0).fit(frame)
    exact = RobustRanker({"name": "hlasso", "lambda_": 1.0}).fit(frame)
    np.testing.assert_allclose(model.result_.solution.scores, exact.result_.solution.scores, atol=1e-4)


def test_it_ends_a_pipeline_and_survives_pickling() -> None:
    frame, _ = crowd(100)
    pipeline = make_pipeline(FunctionTransformer(lambda table: table.dropna()), RobustRanker("l2"))
    model = pipeline.fit(frame)[-1]
    assert model.score(frame) > 0.8
    pd.testing.assert_frame_equal(pickle.loads(pickle.dumps(model)).scores_, model.scores_)
