"""Weights of samples and classes: as if rows were repeated or left out."""

from __future__ import annotations

import pickle
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from optiframe_tvcs import SparseClassifier, SparseRegressor, ThreeView
from optiframe_tvcs.learning import dense
from optiframe_tvcs.learning.restricted import minimise_on
from optiframe_tvcs.learning.weighted import weighted
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, PredefinedSplit

from optiframe import InvalidInput
from optiframe.problems.objectives.losses import LinearModel, Logistic, SquaredHinge
from optiframe.problems.objectives.objective import Objective
from optiframe.problems.objectives.robust_losses import Huber

Estimator = SparseRegressor | SparseClassifier


def samples(seed: int = 0, n: int = 90, p: int = 20) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Correlated features on several scales, a target of four of them with noise, and weights 0 to 4."""
    rng = np.random.default_rng(seed)
    matrix = rng.standard_normal((n, p))
    matrix[:, 1:] += 0.7 * matrix[:, :-1]
    matrix = matrix * 10.0 ** rng.uniform(-2, 2, p) + 3
    signal = ((matrix - 3) / matrix.std(axis=0))[:, [2, 3, 9, 15]] @ [2.0, -1.5, 1.0, 1.0]
    return matrix, signal + 2 + rng.standard_normal(n), rng.integers(0, 5, n)


def repeated(matrix: Any, target: np.ndarray, weights: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray]:
    rows = np.repeat(np.arange(len(target)), weights)
    return matrix[rows], target[rows], rows


def assert_same_fit(ours: Estimator, theirs: Estimator) -> None:
    assert np.array_equal(ours.sizes_, theirs.sizes_)
    assert ours.scores_ == pytest.approx(theirs.scores_, rel=1e-6, nan_ok=True)
    assert np.array_equal(ours.coef_path_ != 0, theirs.coef_path_ != 0)
    scale = np.abs(theirs.coef_).max()
    assert ours.coef_ == pytest.approx(theirs.coef_, rel=1e-6, abs=1e-8 * scale)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, rel=1e-6)


MODELS = [
    SparseRegressor(),
    SparseRegressor(l2=0.1, standardize=False),
    SparseRegressor(fit_intercept=False),
    SparseRegressor(loss=Huber),
    SparseClassifier(),
    SparseClassifier(loss="squared-hinge"),
    SparseClassifier(fit_intercept=False, standardize=False, l2=0.01),
    SparseRegressor(over=ThreeView.of_matrix((4, 5), per_row=2, per_column=2)),
]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("size", [4, "bic", "ebic", "sic", "cv"])
@pytest.mark.parametrize("model", range(len(MODELS)))
def test_whole_weights_count_as_repeated_rows(model: int, size: Any, sparse: bool) -> None:
    matrix, target, weights = samples(model)
    target = target if isinstance(MODELS[model], SparseRegressor) else target > 2
    given: Any = sp.csr_array(np.where(np.abs(matrix) > 1, matrix, 0.0)) if sparse else matrix
    many, targets, rows = repeated(given, target, weights)
    made = type(MODELS[model])
    ours, theirs = (made(**{**MODELS[model].get_params(), "size": size}) for _ in range(2))
    if size == "cv":
        part = np.arange(len(target)) % 3
        ours.cv = [(np.flatnonzero(part != fold), np.flatnonzero(part == fold)) for fold in range(3)]
        parts = part[rows]
        theirs.cv = [(np.flatnonzero(parts != fold), np.flatnonzero(parts == fold)) for fold in range(3)]
        for each in (ours, theirs):
            each.sizes = range(7)
    assert_same_fit(ours.fit(given, target, sample_weight=weights), theirs.fit(many, targets))


def test_weights_of_one_size_change_nothing() -> None:
    matrix, target, _ = samples()
    for model, truth in ((SparseRegressor("cv", sizes=range(6)), target), (SparseClassifier(4), target > 2)):
        plain = model.fit(matrix, truth)
        coefficients, scores = plain.coef_, plain.scores_
        for same in (np.ones(90), np.full(90, 0.25), [3] * 90):
            found = model.fit(matrix, truth, sample_weight=same)
            assert found.coef_ == pytest.approx(coefficients, rel=1e-9)
            assert found.scores_ == pytest.approx(scores, rel=1e-9, nan_ok=True)


@pytest.mark.parametrize("size", [4, "bic", "cv"])
def test_weights_that_are_shares_of_a_whole_leave_the_number_of_samples(size: Any) -> None:
    matrix, target, weights = samples()
    weights = weights + 1.0
    ours = SparseRegressor(size).fit(matrix, target, sample_weight=weights / weights.sum())
    theirs = SparseRegressor(size).fit(matrix, target, sample_weight=weights / weights.mean())
    assert_same_fit(ours, theirs)


def test_a_sample_without_weight_may_hold_anything() -> None:
    matrix, target, _ = samples()
    weights = np.ones(90)
    weights[7] = 0
    expected = SparseRegressor(4).fit(np.delete(matrix, 7, axis=0), np.delete(target, 7))
    matrix[7], target[7] = 1e200, -1e200
    found = SparseRegressor(4).fit(matrix, target, sample_weight=weights)
    assert np.array_equal(found.coef_, expected.coef_)
    labels = np.where(target > 2, "yes", "no")
    labels[7] = "no idea"
    classifier = SparseClassifier(4).fit(matrix, labels, sample_weight=weights)
    assert classifier.classes_.tolist() == ["no", "yes"]


@pytest.mark.parametrize("splitter", [KFold(3), PredefinedSplit(np.arange(90) % 3), "masks"])
def test_splits_may_speak_of_samples_without_weight(splitter: Any) -> None:
    matrix, target, weights = samples()
    if splitter == "masks":
        part = np.arange(90) % 3
        splitter = [(part != fold, part == fold) for fold in range(3)]
        lists = [(np.flatnonzero(kept), np.flatnonzero(left)) for kept, left in splitter]
    else:
        lists = list(splitter.split(matrix))
    kept = weights > 0
    place = np.cumsum(kept) - 1
    fewer = [tuple(place[part[kept[part]]] for part in split) for split in lists]
    ours = SparseRegressor(cv=splitter, sizes=range(5)).fit(matrix, target, sample_weight=weights)
    theirs = SparseRegressor(cv=fewer, sizes=range(5))
    assert_same_fit(ours, theirs.fit(matrix[kept], target[kept], sample_weight=weights[kept]))
    with pytest.raises(InvalidInput, match="all samples of a part of cv have the weight 0"):
        SparseRegressor(cv=KFold(3)).fit(matrix, target, sample_weight=np.arange(90) < 60)


@pytest.mark.parametrize("sparse", [False, True])
def test_a_weighted_fit_on_its_support_is_that_of_scikit_learn(sparse: bool) -> None:
    matrix, target, _ = samples(n=400)
    matrix = (matrix - 3) / matrix.std(axis=0)
    weights = np.random.default_rng(1).uniform(0, 2, 400)
    given = sp.csr_array(matrix) if sparse else matrix
    model = SparseClassifier(4, standardize=False, l2=0.01).fit(given, target > 2, sample_weight=weights)
    kept = model.get_support(indices=True)
    theirs = LogisticRegression(C=1 / (weights.sum() * 0.01), tol=1e-10, max_iter=1000)
    theirs.fit(matrix[:, kept], target > 2, sample_weight=weights)
    assert model.coef_[0, kept] == pytest.approx(theirs.coef_[0], rel=1e-4)
    assert model.intercept_ == pytest.approx(theirs.intercept_, rel=1e-4)


def test_class_weights_are_weights_of_their_samples() -> None:
    matrix, target, weights = samples(n=150)
    labels = np.where(target > 3.5, "many", "few")
    rare = labels == "many"
    for given in (None, weights):
        counts = np.ones(150) if given is None else weights
        total = counts.sum()
        by_hand = {"many": total / 2 / counts[rare].sum(), "few": total / 2 / counts[~rare].sum()}
        expected = SparseClassifier("bic").fit(
            matrix, labels, sample_weight=counts * np.where(rare, by_hand["many"], by_hand["few"])
        )
        for per_class in ("balanced", by_hand):
            found = SparseClassifier("bic", class_weight=per_class).fit(matrix, labels, sample_weight=given)
            assert_same_fit(found, expected)
    plain = SparseClassifier(4).fit(matrix, labels).predict(matrix)
    balanced = SparseClassifier(4, class_weight="balanced").fit(matrix, labels).predict(matrix)
    assert (balanced == "many").sum() > (plain == "many").sum()
    only, both = ({"many": 2}, {"many": 20.0, "few": 10, "none": 3})  # no more samples by larger numbers
    one, other = (SparseClassifier("bic", class_weight=each).fit(matrix, labels) for each in (only, both))
    assert_same_fit(one, other)


@pytest.mark.parametrize(
    ("weights", "text"),
    [
        (np.r_[np.ones(28), -1.0, 1.0], "finite and at least 0; that of row 29 is -1"),
        (np.r_[np.nan, np.ones(29)], "finite and at least 0; that of row 1 is nan"),
        (np.r_[np.ones(29), np.inf], "that of row 30 is inf"),
        (np.ones(29), r"one number for each of the 30 samples, got shape \(29,\)"),
        (np.ones((30, 1)), r"got shape \(30, 1\)"),
        (2.0, r"got shape \(\)"),
        (np.zeros(30), "sample_weight is zero for all samples"),
        (np.full(30, 1e308), "largest sample_weight is 1e.308, too large to add up"),
        (["heavy"] * 30, "sample_weight must hold numbers"),
        (np.ma.masked_less(np.arange(30), 3), "sample_weight has masked entries; give weight 0"),
    ],
)
def test_wrong_weights_are_named(weights: Any, text: str) -> None:
    matrix, target, _ = samples(n=30)
    for model, truth in ((SparseRegressor(2), target), (SparseClassifier(2), target > 2)):
        with pytest.raises(InvalidInput, match=text):
            model.fit(matrix, truth, sample_weight=weights)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("balance", "class_weight must be None, \"balanced\" or a dict .* got 'balance'"),
        ({"yes": 2.0}, "class_weight names 'yes', which is not a class; classes are .False, True."),
        ({True: 0.0}, "finite and above 0; that of True is 0.0"),
        ({True: -1.0}, "finite and above 0; that of True is -1.0"),
        ({True: np.nan}, "finite and above 0; that of True is nan"),
        ({True: "2"}, "finite and above 0; that of True is '2'"),
    ],
)
def test_wrong_class_weights_are_named(given: Any, text: str) -> None:
    matrix, target, _ = samples(n=30)
    with pytest.raises(InvalidInput, match=text):
        SparseClassifier(2, class_weight=given).fit(matrix, target > 2)


def test_one_class_with_weight_is_refused() -> None:
    matrix, target, _ = samples(n=30)
    with pytest.raises(InvalidInput, match="all samples are of one class"):
        SparseClassifier(2).fit(matrix, target > 2, sample_weight=target > 2)


LOSSES: list[tuple[type[LinearModel], bool]] = [
    (loss, sparse) for loss in (Logistic, SquaredHinge, Huber) for sparse in (False, True)
]


@pytest.mark.parametrize(("loss", "sparse"), LOSSES)
def test_a_weighted_loss_is_that_of_repeated_rows(loss: type[LinearModel], sparse: bool) -> None:
    rng = np.random.default_rng(0)
    matrix, target = rng.integers(-1, 2, (60, 5)).astype(float), np.sign(rng.standard_normal(60))
    matrix[:, 1] += np.where(np.arange(60) % 2, 0.5, 0.0)
    counts = rng.integers(1, 5, 60)
    many, targets, _ = repeated(matrix, target, counts)
    kind: Any = sp.csr_array if sparse else np.asarray
    ours: Any = weighted(loss)
    model = ours(matrix=kind(matrix), target=target, l2=0.3, weights=counts / counts.mean(), free=4)
    expected = ours(matrix=kind(many), target=targets, l2=0.3, free=4)
    x, v = rng.standard_normal(5), rng.standard_normal(5)
    assert model.value(x) == pytest.approx(expected.value(x))
    assert model.gradient(x) == pytest.approx(expected.gradient(x))
    assert model.value_and_gradient(x)[1] == pytest.approx(expected.gradient(x))
    assert model.hessian_product(x, v) == pytest.approx(expected.hessian_product(x, v))
    assert model.hessian(x) == pytest.approx(expected.hessian(x))
    assert model.curvature() == pytest.approx(expected.curvature())
    every = np.arange(5)
    assert model.hessian_rows(x).rows(every) == pytest.approx(expected.hessian_rows(x).rows(every))
    assert model.steepest_hessian().rows(every) == pytest.approx(expected.steepest_hessian().rows(every))
    again = pickle.loads(pickle.dumps(model))
    assert again.value(x) == model.value(x)
    assert not again.target.flags.writeable
    some, few = [3, 8, 8], np.array([0, 4])
    unweighted = ours(matrix=matrix[some], target=target[some], l2=0.3, free=4)
    each = unweighted.losses(unweighted.matrix @ x) * model.weights[some]
    assert model.take(some).value(x) == pytest.approx(each.mean() + unweighted.penalty(x))
    cut = np.where(np.isin(every, few), x, 0.0)
    assert model.on_columns(few).value(x[few]) == pytest.approx(model.value(cut))
    for operation in (LinearModel.conjugates, LinearModel.proximals, Objective.as_cvxpy):
        assert not model.offers(operation)


@pytest.mark.parametrize("loss", [Logistic, SquaredHinge, Huber])
def test_rows_that_agree_are_counted_by_their_weights(
    loss: type[LinearModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(1)
    matrix, target = rng.integers(0, 2, (3000, 6)).astype(float), np.sign(rng.standard_normal(3000))
    model: Any = weighted(loss)(matrix=matrix, target=target, l2=0.1, weights=rng.uniform(0, 2, 3000))
    rows, sums = model.rows_alike(np.arange(3))
    assert len(rows) <= 16
    assert (sums * model.weights[rows]).sum() == pytest.approx(model.weights.sum())
    kept = np.arange(6) < 3
    x = minimise_on(model, kept, np.zeros(6))
    assert model.gradient(x)[kept] == pytest.approx(0, abs=1e-8)
    monkeypatch.setattr(type(model), "rows_alike", lambda self, indices: None)
    assert minimise_on(model, kept, np.zeros(6)) == pytest.approx(x, abs=1e-6)


def test_threads_get_one_class_of_a_weighted_loss(request: pytest.FixtureRequest) -> None:
    request.addfinalizer(partial(sys.setswitchinterval, sys.getswitchinterval()))
    sys.setswitchinterval(1e-6)  # seconds that a thread runs before another does

    class Own(Logistic):
        name = "own-logistic"

    together = Barrier(4)

    def made(_: int) -> type[LinearModel]:
        together.wait()
        return weighted(Own)

    with ThreadPoolExecutor(4) as threads:
        assert len(set(threads.map(made, range(4)))) == 1


@pytest.mark.parametrize("loss", [Logistic, SquaredHinge])
def test_kernels_take_weights(loss: type[LinearModel]) -> None:
    matrix, target, weights = samples(n=60)
    matrix, target = matrix / np.abs(matrix).max(axis=0), np.where(target > 2, 1.0, -1.0)
    model: Any = weighted(loss)(matrix=matrix, target=target, l2=0.01, weights=(weights + 1) / 3.0)
    if dense._kernels_run():
        table = dense.dense_table(model)
        assert table is not None
        assert table.weights == pytest.approx(model.weights / 60)
    x = minimise_on(model, np.arange(20) < 5, np.zeros(20))
    assert model.gradient(x)[:5] == pytest.approx(0, abs=1e-7)
