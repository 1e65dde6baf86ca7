"""The estimators of all plugins before scikit-learn: its own checks, pipelines, searches, and answers."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings
from typing import Any, Self
from unittest import SkipTest

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from optiframe_hodgerank import RobustRanker
from optiframe_manifold import CollaborativeRanker
from optiframe_rankone import LabelAggregator
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import estimator_checks_generator
from sklearn.utils.validation import check_is_fitted

from optiframe import InvalidInput
from optiframe.estimator import Estimator
from optiframe.records.fields import Array

_COLUMNS = "columns of a table go by their names; their number and order mean nothing"
_TABLE = "a matrix is refused as no table; messages for wrong tables are in tests/test_bad_input.py"
# The checks that do not apply, each with the reason. All estimators pass all others, and none passes these.
NOT_APPLYING = {
    "check_n_features_in": _COLUMNS,
    "check_n_features_in_after_fitting": _COLUMNS,
    "check_complex_data": _TABLE,
    "check_estimators_nan_inf": _TABLE,
    "check_estimators_empty_data_messages": _TABLE,
    "check_estimator_sparse_tag": _TABLE,
    "check_estimator_sparse_array": _TABLE,
    "check_estimator_sparse_matrix": _TABLE,
    "check_fit2d_predict1d": _TABLE,
    "check_array_api_input": "tables are frames and columns, not arrays of other namespaces",
}


# --- scikit-learn's checks hand out matrices: here is what tables are made of them ---


class OfMatrix(Estimator[Any, Any]):
    """An estimator that makes a table of the matrix it is given, and is else the one it is made of."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = True
        return tags

    def table(self, x: Any) -> dict[str, Array]:
        raise NotImplementedError

    def fit(self, x: Any, y: Any = None) -> Self:
        return super().fit(self.table(x))  # type: ignore[misc, no-any-return]

    def partial_fit(self, x: Any, y: Any = None) -> Self:
        return super().partial_fit(self.table(x))  # type: ignore[misc, no-any-return]

    def score(self, x: Any, y: Any = None) -> float:
        return super().score(self.table(x))  # type: ignore[misc, no-any-return]


class LabelsOfMatrix(OfMatrix, LabelAggregator):
    """Rows as tasks and columns as workers, who say whether an entry is positive."""

    def table(self, x: Any) -> dict[str, Array]:
        tasks, workers = np.shape(x)
        task, worker = np.divmod(np.arange(tasks * workers), workers)
        return {"task": task, "worker": worker, "label": (np.asarray(x) > 0).ravel().astype(int)}

    def predict(self, x: Any) -> Array:
        return np.asarray(super().predict(self.table(x))["label"])

    def predict_proba(self, x: Any) -> Array:
        found = super().predict_proba(self.table(x))
        return np.column_stack([found[str(label)] for label in self.classes_])

    def fit_predict(self, x: Any, y: Any = None) -> Array:
        return self.fit(x).predict(x)

    def score(self, x: Any, y: Any = None) -> float:
        first = (np.asarray(x)[:, 0] > 0).astype(int)  # as if the first worker were right
        truth = {"task": np.arange(len(first)), "label": first}
        return LabelAggregator.score(self, self.table(x), truth)


def widened(x: Any) -> Array:
    """The matrix with a column of zeros, so that a single column has one to be compared with."""
    rows, _ = np.shape(x)
    return np.column_stack([np.asarray(x), np.zeros(rows)])


class WinsOfMatrix(OfMatrix, RobustRanker):
    """Columns as items: each row compares each item with the next, and the larger entry wins."""

    def table(self, x: Any) -> dict[str, Array]:
        x = widened(x)
        row, left = np.divmod(np.arange(x.shape[0] * (x.shape[1] - 1)), x.shape[1] - 1)
        right = left + 1
        return {"left": left, "right": right, "label": np.where(x[row, left] > x[row, right], left, right)}

    def predict(self, x: Any) -> Array:
        x = widened(x)
        return np.asarray(super().predict({"left": x.argmax(axis=1), "right": x.argmin(axis=1)})["margin"])


class ChoicesOfMatrix(OfMatrix, CollaborativeRanker):
    """The same by two users: one made the rows whose first entry is positive, the other all others."""

    def table(self, x: Any) -> dict[str, Array]:
        _, each = np.shape(x)
        return {"user": np.repeat(self.users(x), each), **WinsOfMatrix().table(x)}

    @staticmethod
    def users(x: Any) -> Array:
        return (np.asarray(x)[:, 0] > 0).astype(int)

    def predict(self, x: Any) -> Array:
        wide = widened(x)
        return np.asarray(super().predict(self.users(x), wide.argmax(axis=1), wide.argmin(axis=1)))


def checks(*, applying: bool) -> list[Any]:
    """Estimators and checks of them, by scikit-learn."""
    found = []
    # `partial_fit` of the same matrix says again what the same workers said of the same tasks.
    for made in (LabelsOfMatrix(duplicates="last"), WinsOfMatrix(), ChoicesOfMatrix()):
        with warnings.catch_warnings():
            # Ours work without scikit-learn, and so without its base class.
            warnings.filterwarnings("ignore", ".* does not inherit from `sklearn.base.BaseEstimator`")
            for estimator, check in estimator_checks_generator(made):
                name = check.func.__name__
                if (name not in NOT_APPLYING) == applying:
                    found.append(pytest.param(estimator, check, id=f"{type(made).__name__}-{name}"))
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("estimator", "check"), checks(applying=True))
def test_checks_of_scikit_learn_are_passed(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.slow
@pytest.mark.parametrize(("estimator", "check"), checks(applying=False))
def test_checks_that_do_not_apply_are_not_passed(estimator: Any, check: Any) -> None:
    with pytest.raises((AssertionError, ValueError, IndexError, SkipTest)):
        check(estimator)


def test_nothing_is_listed_that_scikit_learn_does_not_check() -> None:
    assert {case.values[1].func.__name__ for case in checks(applying=False)} == set(NOT_APPLYING)
    assert len(checks(applying=True)) > 90


# --- tables ---


VOTES = {
    "user": ["ann"] * 4 + ["bob"] * 4 + ["cy"] * 4,
    "left": ["tea", "tea", "cola", "milk", "cola", "cola", "tea", "soda", "tea", "cola", "tea", "cola"],
    "right": ["cola", "soda", "milk", "soda", "tea", "soda", "milk", "milk", "soda", "milk", "cola", "soda"],
    "label": ["tea", "tea", "milk", "milk", "cola", "cola", "tea", None, "tea", "milk", "tea", "soda"],
}
LABELS = {
    "task": [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4],
    "worker": ["ann", "bob", "cy"] * 4,
    "label": ["cat", "cat", "dog", "dog", "dog", "dog", "cat", "dog", "cat", "dog", "cat", "dog"],
}
TRUTH = ["cat"] * 3 + ["dog"] * 3 + ["cat"] * 3 + ["dog"] * 3  # of each row's task
PAIRS = {"user": ["ann", "bob"], "left": ["tea", "tea"], "right": ["cola", "milk"]}
# An estimator, what it learns from, and what it predicts.
CASES: dict[str, tuple[Any, dict[str, Any], dict[str, Any]]] = {
    "labels": (LabelAggregator(seed=3), LABELS, LABELS),
    "ranking": (RobustRanker("ranking.crowd-bt", columns={"worker": "user"}), VOTES, PAIRS),
    "personal": (CollaborativeRanker(), VOTES, PAIRS),
}


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    estimator, learnt, asked = CASES[request.param]
    return clone(estimator), learnt, asked


def test_it_is_fitted_when_scikit_learn_says_so(case: Any) -> None:
    estimator, learnt, asked = case
    with pytest.raises(NotFittedError):
        check_is_fitted(estimator)
    with pytest.raises(NotFittedError, match="call fit") as caught:
        estimator.predict(asked)
    assert isinstance(caught.value, InvalidInput)
    with pytest.raises(NotFittedError, match="call fit"):  # as from a worker process of joblib
        raise pickle.loads(pickle.dumps(caught.value))
    check_is_fitted(estimator.fit(learnt))
    with pytest.raises(NotFittedError):
        check_is_fitted(clone(estimator))


def test_tags_say_that_rows_are_no_samples(case: Any) -> None:
    tags = get_tags(case[0])
    assert not tags.input_tags.two_d_array
    assert not tags.target_tags.required
    assert tags.estimator_type is None


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "name"), [(pd.DataFrame, "pandas"), (pl.DataFrame, "polars")])
def test_it_ends_a_pipeline_of_frames(case: Any, kind: Any, name: Any) -> None:
    estimator, learnt, asked = case
    pipeline = make_pipeline(FunctionTransformer(), clone(estimator)).set_output(transform=name)
    with pytest.raises(NotFittedError):
        check_is_fitted(pipeline)
    check_is_fitted(pipeline.fit(kind(learnt)))
    found = pipeline.predict(kind(asked))
    alone = estimator.fit(kind(learnt)).predict(kind(asked))
    assert found.equals(alone)
    assert isinstance(found, kind)
    assert pipeline.score(kind(learnt), TRUTH if "task" in learnt else None) > 0.5
    assert type(estimator).__name__ in pipeline._repr_html_()
    step = pipeline.steps[-1][0]
    assert clone(pipeline.set_params(**{f"{step}__seed": 7})).get_params()[f"{step}__seed"] == 7


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "frame"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("pyarrow", pa.Table)]
)
def test_answers_come_in_the_kind_that_set_output_chooses(case: Any, kind: Any, frame: Any) -> None:
    estimator, learnt, asked = case
    own = estimator.fit(learnt).predict(asked)
    assert isinstance(own, dict)
    chosen = estimator.set_output(transform=kind).predict(asked)
    assert isinstance(chosen, frame)
    assert {name: list(column) for name, column in pd_of(chosen).items()} == {
        name: column.tolist() for name, column in own.items()
    }
    tables = {
        LabelAggregator: lambda model: (model.skills_, model.predict_proba(), model.class_shares_),
        RobustRanker: lambda model: (model.scores_, model.workers_),
        CollaborativeRanker: lambda model: (
            model.rank("ann"),
            model.scores("ann"),
            model.population(),
            model.suggest(1),
        ),
    }[type(estimator)]
    assert all(isinstance(table, frame) for table in tables(estimator))
    assert isinstance(clone(estimator).fit(learnt).predict(asked), frame)
    assert isinstance(estimator.set_output().predict(asked), frame)
    assert isinstance(estimator.set_output(transform="default").predict(asked), dict)


def pd_of(frame: Any) -> Any:
    return (
        frame.to_pydict()
        if isinstance(frame, pa.Table)
        else frame.to_dict(
            **({"orient": "list"} if isinstance(frame, pd.DataFrame) else {"as_series": False})
        )
    )


def test_a_kind_of_frame_there_is_not_is_refused_in_words() -> None:
    with pytest.raises(
        InvalidInput, match=r"transform must be one of default, pandas, .* did you mean 'polars'"
    ):
        RobustRanker().set_output(transform="polar")  # type: ignore[arg-type]


def test_searches_and_cross_validation_take_those_with_a_score() -> None:
    rng = np.random.default_rng(0)
    left = rng.integers(5, size=120)
    right = (left + rng.integers(1, 5, size=120)) % 5
    votes = pd.DataFrame({"user": rng.integers(3, size=120), "left": left, "right": right})
    votes["label"] = np.where(rng.random(120) < 0.9, np.maximum(left, right), np.minimum(left, right))
    assert cross_val_score(RobustRanker("l2"), votes.drop(columns="user"), cv=3).min() > 0.7
    assert cross_val_score(CollaborativeRanker(1), votes, cv=3).min() > 0.7
    search = GridSearchCV(RobustRanker(), {"solver": ["l2", "bradley-terry"]}, cv=3)
    assert search.fit(votes.drop(columns="user")).best_score_ > 0.7


@pytest.mark.slow
def test_nothing_of_scikit_learn_is_imported_or_needed() -> None:
    text = f"""
import sys
sys.modules["sklearn"] = None  # as if it were not installed
from optiframe_hodgerank import RobustRanker
from optiframe.errors import InvalidInput
model = RobustRanker("l2")
try:
    model.predict({PAIRS!r})
except InvalidInput as error:
    assert type(error) is InvalidInput
model.fit({ {k: v for k, v in VOTES.items() if k != "user"}!r})
assert model.set_output(transform="pandas").predict({PAIRS!r}).shape == (2, 4)
"""
    subprocess.run([sys.executable, "-c", text], check=True, timeout=60)
