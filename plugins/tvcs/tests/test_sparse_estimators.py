"""SparseRegressor and SparseClassifier: scikit-learn's checks, the choice of a size, and honest messages."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event
from typing import Any, ClassVar

import cvxpy
import numpy as np
import pytest
import scipy.sparse as sp
from optiframe_tvcs import SparseClassifier, SparseRegressor, ThreeView
from optiframe_tvcs.learning.best_subset.splicing import Splicing
from optiframe_tvcs.learning.linear_models import one_thread as threads_of_blas
from optiframe_tvcs.learning.linear_models.one_thread import one_thread
from optiframe_tvcs.learning.linear_models.size_choice import search
from optiframe_tvcs.learning.weighted import weighted
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, ShuffleSplit
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

from optiframe import InvalidInput, Minimize
from optiframe.problems.objectives.losses import LeastSquares, LinearModel, Logistic, SquaredHinge
from optiframe.solving.solver import Iterates, Run


class Huber(LinearModel):
    """A loss of one's own: squares up to 1, then straight lines."""

    name = "test-huber"
    most_bend = 1.0

    def _off(self, z: np.ndarray) -> np.ndarray:
        return z - self.target

    def losses(self, z: np.ndarray) -> np.ndarray:
        size = np.abs(self._off(z))
        return np.where(size <= 1, size**2 / 2, size - 0.5)

    def slopes(self, z: np.ndarray) -> np.ndarray:
        return np.clip(self._off(z), -1, 1)

    def bends(self, z: np.ndarray) -> np.ndarray:
        return (np.abs(self._off(z)) <= 1).astype(float)

    def loss_as_cvxpy(self, z: Any) -> Any:
        return None


def checks() -> list[Any]:
    made = [SparseRegressor(size=3), SparseClassifier(size=3), SparseRegressor(), SparseClassifier()]
    return [
        pytest.param(estimator, check, id=f"{estimator}-{check.func.__name__}")
        for each in made
        for estimator, check in estimator_checks_generator(each)
        if (each.size == 3 or "weight" in check.func.__name__)
        and check.func.__name__ != "check_array_api_input"  # arrays of other namespaces are not taken
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("estimator", "check"), checks())
def test_checks_of_scikit_learn_are_passed(estimator: Any, check: Any) -> None:
    check(estimator)


def samples(seed: int = 0, n: int = 120, p: int = 40) -> tuple[np.ndarray, np.ndarray]:
    """Features on very different scales; the target rests on the first three and 5."""
    rng = np.random.default_rng(seed)
    matrix = rng.standard_normal((n, p)) * 10.0 ** rng.uniform(-3, 3, p) + 7
    signal = ((matrix - matrix.mean(axis=0)) / matrix.std(axis=0))[:, :3] @ [2.0, -1.5, 1.0]
    return matrix, signal + 5 + 0.1 * rng.standard_normal(n)


@pytest.mark.slow
@pytest.mark.parametrize("size", ["cv", "bic", "ebic", "sic", 3])
def test_the_size_is_chosen_and_the_support_found(size: Any) -> None:
    matrix, target = samples()
    model = SparseRegressor(size).fit(matrix, target)
    assert {0, 1, 2} <= set(np.flatnonzero(model.coef_))
    assert model.size_ <= (3 if size in ("ebic", 3) else 12)
    assert model.score(matrix, target) > 0.99
    assert model.coef_path_.shape == (len(model.sizes_), 40)
    kept = [np.array_equal(weights, model.coef_) for weights in model.coef_path_].index(True)
    assert model.intercept_path_[kept] == model.intercept_
    assert model.sizes_[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_supports_among_correlated_features_are_found(seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = rng.standard_normal((80, 100))
    for j in range(1, 100):  # each feature correlates with the one before by .9
        matrix[:, j] = 0.9 * matrix[:, j - 1] + 0.19**0.5 * matrix[:, j]
    truth = np.zeros(100)
    truth[rng.choice(100, 10, replace=False)] = rng.choice([-1, 1], 10) * rng.uniform(0.5, 1.5, 10)
    model = SparseRegressor(10, sizes=[5, 10]).fit(matrix, matrix @ truth + 0.05 * rng.standard_normal(80))
    assert np.array_equal(model.coef_ != 0, truth != 0)


@pytest.mark.slow
def test_noise_alone_gets_no_coefficients_by_criterion() -> None:
    rng = np.random.default_rng(1)
    model = SparseRegressor("sic").fit(rng.standard_normal((100, 30)), rng.standard_normal(100) + 4)
    assert model.size_ == 0
    assert model.intercept_ == pytest.approx(4, abs=0.5)


def test_the_intercept_and_scales_do_not_change_the_model() -> None:
    matrix, target = samples()
    model = SparseRegressor(3).fit(matrix, target)
    moved = SparseRegressor(3).fit(matrix * 100 + 3, target + 10)
    assert moved.predict(matrix * 100 + 3) == pytest.approx(model.predict(matrix) + 10)
    exact = np.column_stack([matrix[:, :3], np.ones(len(matrix))])
    best = exact @ np.linalg.lstsq(exact, target, rcond=None)[0]
    assert model.predict(matrix) == pytest.approx(best)


@pytest.mark.slow
def test_sparse_and_dense_samples_give_one_model() -> None:
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((150, 20)) * (rng.random((150, 20)) < 0.3)
    labels = np.where(matrix[:, 0] - matrix[:, 1] + 0.3 > 0, "yes", "no")
    dense = SparseClassifier(2, l2=1e-6).fit(matrix, labels)
    thin = SparseClassifier(2, l2=1e-6).fit(sp.csr_array(matrix), labels)
    assert np.flatnonzero(dense.coef_).tolist() == np.flatnonzero(thin.coef_).tolist() == [0, 1]
    assert thin.score(sp.csr_array(matrix), labels) > 0.97
    assert dense.predict_proba(matrix).sum(axis=1) == pytest.approx(1)
    assert (dense.predict(matrix) == thin.predict(matrix)).mean() > 0.98


@pytest.mark.parametrize("far", [1e5, 1e7])
@pytest.mark.parametrize("columns", [8, 6000])  # so many are not made dense
def test_columns_far_from_zero_count_in_sparse_samples_as_in_dense_ones(far: float, columns: int) -> None:
    rng = np.random.default_rng(0)
    matrix = np.zeros((300, columns))
    matrix[:, :8] = rng.standard_normal((300, 8))
    target = matrix[:, 0] - 2 * matrix[:, 3]
    labels = rng.random(300) < 1 / (1 + np.exp(-target))
    matrix[:, 0] += far
    thin = sp.csr_array(matrix)
    for estimator, goal in ((SparseRegressor(2), target), (SparseClassifier(2), labels)):
        dense = clone(estimator).fit(matrix[:, :8], goal).coef_.ravel()
        found = clone(estimator).fit(thin, goal).coef_.ravel()
        assert found[:8] == pytest.approx(dense, rel=1e-3)
        assert np.flatnonzero(found).tolist() == [0, 3]


@pytest.mark.slow
def test_pipelines_searches_and_more_classes_work() -> None:
    matrix, target = samples(n=90)
    search = GridSearchCV(SparseRegressor(), {"size": [1, 3]}, cv=3).fit(matrix, target)
    assert search.best_params_ == {"size": 3}
    classes = np.digitize(target, [4, 6])
    model = make_pipeline(StandardScaler(), OneVsRestClassifier(SparseClassifier(3))).fit(matrix, classes)
    assert model.score(matrix, classes) > 0.6


@pytest.mark.slow
@pytest.mark.parametrize(
    "solver", ["tvcs.iht", "tvcs.htp", "tvcs.gradmp", "tvcs.stochastic-iht", "tvcs.stochastic-gradmp"]
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # random blocks have no residual
def test_other_solvers_and_own_losses_fit(solver: str) -> None:
    matrix, target = samples()
    target[:3] += 1000.0  # gross errors that Huber's loss withstands
    model = SparseRegressor(3, loss=Huber, solver=solver, budget={"iterations": 500}).fit(matrix, target)
    assert set(np.flatnonzero(model.coef_)) == {0, 1, 2}
    labels = target > np.median(target)
    hinge = SparseClassifier(3, loss=SquaredHinge, solver=solver, budget={"iterations": 500})
    assert hinge.fit(matrix, labels).score(matrix, labels) > 0.9
    assert not hasattr(hinge, "predict_proba")
    with pytest.raises(AttributeError, match='probabilities need loss = "logistic"'):
        hinge.predict_proba(matrix)


class LogCosh(LinearModel):
    """A loss of one's own with no more than it must have."""

    def losses(self, z: np.ndarray) -> np.ndarray:
        return np.logaddexp(z - self.target, self.target - z) - np.log(2)

    def slopes(self, z: np.ndarray) -> np.ndarray:
        return np.tanh(z - self.target)

    def bends(self, z: np.ndarray) -> np.ndarray:
        return 1 - np.tanh(z - self.target) ** 2


def test_whole_numbers_may_be_written_with_a_point() -> None:
    matrix, target = samples(n=60, p=5)
    expected = SparseRegressor(2).fit(matrix, target).coef_
    for two in (2.0, np.float64(2.0), np.float32(2.0), np.int8(2)):
        assert np.array_equal(SparseRegressor(two).fit(matrix, target).coef_, expected)
    assert SparseRegressor("bic", sizes=np.array([1.0, 2.0])).fit(matrix, target).sizes_.tolist() == [1, 2]


def test_a_loss_of_ones_own_needs_no_more_than_its_derivatives() -> None:
    matrix, target = samples()
    target[:3] += 1000.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = SparseRegressor(3, loss=LogCosh).fit(matrix, target)
    assert set(np.flatnonzero(model.coef_)) == {0, 1, 2}
    assert not model.findings_
    assert LogCosh(matrix=matrix, target=target).as_cvxpy(cvxpy.Variable(40)) is None


@pytest.mark.parametrize("weighted", [False, True])
def test_a_loss_that_lacks_methods_is_told_which(weighted: bool) -> None:
    lacking = type("Lacking", (LogCosh,), {"__module__": __name__, "bends": LinearModel.bends})
    matrix, target = samples(n=30)
    weights = np.arange(1, 31) if weighted else None
    with pytest.raises(InvalidInput, match="loss: the class Lacking lacks bends; write losses"):
        SparseRegressor(1, loss=lacking).fit(matrix, target, sample_weight=weights)


def test_a_fit_that_is_proved_the_best_is_the_last_of_its_size_with_a_budget_too() -> None:
    class Counted(Splicing):
        name: ClassVar[str] = "test.counted"
        runs: ClassVar[int] = 0

        def iterates(self, problem: Minimize, run: Run) -> Iterates:
            type(self).runs += 1
            return (yield from super().iterates(problem, run))

    rng = np.random.default_rng(0)
    matrix, target = rng.standard_normal((40, 8)), rng.standard_normal(40)
    model = SparseRegressor("bic", sizes=[1, 2, 3], solver=Counted(), budget={"time": 60})
    assert model.fit(matrix, target).result_.status == "converged"
    assert Counted.runs == 3


def test_a_solver_is_a_name_a_table_or_an_object() -> None:
    matrix, target = samples()
    table = {"name": "tvcs.splicing", "pursuit": 0, "width": 3}
    by_table = SparseRegressor(3, solver=table).fit(matrix, target)
    by_object = SparseRegressor(3, solver=Splicing(pursuit=0, width=3)).fit(matrix, target)
    assert np.array_equal(by_table.coef_, by_object.coef_)
    with pytest.raises(InvalidInput, match=r"widht.*width"):
        SparseRegressor(3, solver={"name": "tvcs.splicing", "widht": 3}).fit(matrix, target)


@pytest.mark.slow
def test_views_that_forbid_the_true_support_are_reported() -> None:
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((120, 16))
    target = matrix[:, :4] @ [1.0, -1.0, 2.0, 1.5] + 0.1 * rng.standard_normal(120)
    wrong = ThreeView.of_matrix((4, 4), per_row=1, per_column=1)  # the truth is one whole row
    right = ThreeView.of_matrix((4, 4), per_row=4, per_column=1)
    found = SparseRegressor(over=wrong, sizes=range(6)).fit(matrix, target)
    assert "sparse.views-do-not-help" in {finding.identifier for finding in found.findings_}
    found = SparseRegressor(over=right, sizes=range(6)).fit(matrix, target)
    assert "sparse.views-do-not-help" not in {finding.identifier for finding in found.findings_}
    assert set(np.flatnonzero(found.coef_)) == {0, 1, 2, 3}


def test_a_single_split_has_no_standard_error_and_says_nothing_about_views() -> None:
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((60, 16))
    target = matrix[:, [0, 5, 10, 15]] @ [1.0, -1.0, 1.0, -1.0] + 2 * rng.standard_normal(60)
    over = ThreeView.of_matrix((4, 4), per_row=1, per_column=1)  # the true entries are its diagonal
    once = ShuffleSplit(1, test_size=0.3, random_state=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = SparseRegressor(over=over, cv=once, sizes=range(5)).fit(matrix, target)
    assert "sparse.views-do-not-help" not in {finding.identifier for finding in found.findings_}


def test_a_path_that_ends_too_early_is_reported() -> None:
    matrix, target = samples()
    found = SparseRegressor("bic", sizes=[1, 2]).fit(matrix, target)
    assert found.findings_[-1].identifier == "sparse.largest-size-chosen"


def test_columns_of_any_size_give_the_same_model() -> None:
    matrix, target = samples()
    expected = SparseRegressor(3).fit(matrix, target).predict(matrix)
    for size in (1e200, 1e-200):
        assert SparseRegressor(3).fit(matrix * size, target).predict(matrix * size) == pytest.approx(expected)
    thin = sp.csr_array(matrix * 1e-200)
    assert SparseRegressor(3).fit(thin, target).predict(thin) == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ((1.0, 1e200), "largest entry of y is .*, too large for squares; divide it"),
        ((1.0, 1e-200), "largest entry of y is .*, too small for squares; multiply"),
        ((1e200, 1.0), "largest entry of X, as it is scaled, is .*too large"),
    ],
)
def test_data_whose_squares_are_no_numbers_are_refused(change: tuple[float, float], text: str) -> None:
    matrix, target = samples(n=30)
    with pytest.raises(InvalidInput, match=text):
        SparseRegressor(3, standardize=False).fit(matrix * change[0], target * change[1])


@pytest.mark.parametrize("size", [3, "cv"])
def test_a_column_too_small_for_a_coefficient_is_refused_and_named(size: int | str) -> None:
    matrix, target = samples()
    used = int(SparseRegressor(1).fit(matrix, target).get_support(indices=True)[0])
    matrix[:, used] *= 1e-310
    with pytest.raises(InvalidInput, match=f"column {used} of X are too small for a coefficient; multiply"):
        SparseRegressor(size).fit(matrix, target)


def test_a_constant_target_gets_its_value_and_no_coefficients() -> None:
    matrix, _ = samples(n=40)
    model = SparseRegressor("cv", sizes=[0, 1, 2]).fit(matrix, np.full(40, 7.0))
    assert (model.size_, model.intercept_) == (0, 7.0)


def test_a_penalty_does_not_shrink_the_mean_of_least_squares() -> None:
    matrix, target = samples()
    model = SparseRegressor(3, l2=1e6).fit(matrix, target)
    assert model.predict(matrix) == pytest.approx(np.full(len(target), target.mean()), abs=1e-3)


@pytest.mark.parametrize("sparse", [False, True])
def test_a_penalty_leaves_the_intercept_of_rare_classes_alone(sparse: bool) -> None:
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((3000, 12)) * (rng.random((3000, 12)) < 0.5)
    labels = rng.random(3000) < 1 / (1 + np.exp(6 - 2 * matrix[:, 0] - matrix[:, 1]))
    assert 0 < labels.mean() < 0.02
    model = SparseClassifier(2, l2=0.01, standardize=False).fit(
        sp.csr_array(matrix) if sparse else matrix, labels
    )
    assert model.predict_proba(matrix)[:, 1].mean() == pytest.approx(labels.mean(), rel=1e-4)
    kept = model.get_support(indices=True)
    theirs = LogisticRegression(C=1 / (3000 * 0.01), tol=1e-10, max_iter=1000).fit(matrix[:, kept], labels)
    assert model.coef_[0, kept] == pytest.approx(theirs.coef_[0], rel=1e-3)
    assert model.intercept_ == pytest.approx(theirs.intercept_, rel=1e-3)


@pytest.mark.parametrize("loss", [LeastSquares, Logistic, SquaredHinge])
def test_a_loss_that_spares_an_entry_is_the_loss_less_its_penalty(loss: type[LinearModel]) -> None:
    rng = np.random.default_rng(1)
    data = {"matrix": rng.standard_normal((30, 4)), "target": np.sign(rng.standard_normal(30))}
    plain, spared = loss(**data, l2=0.5), weighted(loss)(**data, l2=0.5, free=3)
    x, v, last = rng.standard_normal(4), rng.standard_normal(4), np.array([0.0, 0.0, 0.0, 0.5])
    assert spared.value(x) == pytest.approx(plain.value(x) - 0.25 * x[3] ** 2)
    assert spared.gradient(x) == pytest.approx(plain.gradient(x) - last * x)
    assert spared.value_and_gradient(x)[1] == pytest.approx(spared.gradient(x))
    assert spared.hessian_product(x, v) == pytest.approx(plain.hessian_product(x, v) - last * v)
    assert spared.hessian(x) == pytest.approx(plain.hessian(x) - np.diag(last))
    assert spared.hessian_rows(x).rows(np.array([3, 1])) == pytest.approx(spared.hessian(x)[[3, 1]])
    for columns, inside in (([3, 1], x[[3, 1]]), ([0, 2], x[[0, 2]])):
        full = np.zeros(4)
        full[columns] = inside
        assert spared.on_columns(np.array(columns)).value(inside) == pytest.approx(spared.value(full))
    assert spared.take([1, 2]).value(x) == pytest.approx(plain.take([1, 2]).value(x) - 0.25 * x[3] ** 2)


def test_fits_that_cannot_be_trusted_say_so() -> None:
    matrix, target = samples(n=10)
    found = SparseRegressor(12).fit(matrix, target)
    assert "sparse.fits-anything" in {finding.identifier for finding in found.findings_}
    matrix, target = samples()
    with pytest.warns(ConvergenceWarning, match=r"fit of 3 coefficients was cut short: stopped after 1"):
        found = SparseRegressor(3, budget={"iterations": 1}).fit(matrix, target)
    assert found.findings_[-1].identifier == "sparse.cut-short"
    apart = SparseClassifier(2, l2=0.0).fit(matrix, matrix[:, 0] > matrix[:, 0].mean())
    assert apart.findings_[-1].identifier == "sparse.separated"
    assert not SparseClassifier(2).fit(matrix, matrix[:, 0] > matrix[:, 0].mean()).findings_


def test_a_feature_that_occurs_in_one_class_only_is_reported_without_a_penalty() -> None:
    rng = np.random.default_rng(0)
    mark = rng.random(100) < 0.15
    matrix = np.column_stack([rng.standard_normal((100, 3)), mark])
    classes = mark | (rng.random(100) < 0.5)
    for table in (matrix, sp.csr_array(matrix)):
        found = SparseClassifier(2, l2=0.0).fit(table, classes)
        assert [each.identifier for each in found.findings_] == ["sparse.separated"]
        assert (
            f"{mark.sum()} of 100 samples are told apart without an error by x3," in found.findings_[0].text
        )
        assert not SparseClassifier(2).fit(table, classes).findings_
    mixed = classes.copy()
    mixed[np.flatnonzero(mark)[0]] = False
    assert not SparseClassifier(2, l2=0.0).fit(matrix, mixed).findings_
    steep = matrix[:, 0] + 0.3 * rng.standard_normal(100) > 0
    sure = SparseClassifier(1, l2=0.0).fit(np.vstack([matrix, [[30.0, 0, 0, 0]]]), np.append(steep, True))
    assert np.abs(sure.decision_function([[30.0, 0, 0, 0]])) > 15
    assert not sure.findings_


@pytest.mark.parametrize(
    ("wrong", "text"), [("yes", "entry 2 is 'yes'"), (None, "entry 2 is None"), (np.inf, "infinity")]
)
def test_targets_that_are_no_numbers_are_named(wrong: Any, text: str) -> None:
    matrix, target = samples(n=30)
    for kind in (list, np.array):
        values = target.tolist()
        values[2] = wrong
        with pytest.raises(ValueError, match=text) as caught:
            SparseRegressor(1).fit(matrix, kind(values))
        assert "y" in str(caught.value)


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"size": "sci"}, "size must be a whole number or one of cv, bic, ebic, sic, got 'sci'"),
        ({"size": -1}, "whole and at least 0, got -1"),
        ({"size": 2.5}, "whole and at least 0, got 2.5"),
        ({"sizes": [1, "two"]}, "whole and at least 0, got 'two'"),
        ({"sizes": 3}, "sizes must be a list of whole numbers or None, got 3"),
        ({"sizes": []}, "sizes is empty; give at least one size"),
        ({"loss": "least-square"}, "did you mean 'least-squares'"),
        (
            {"loss": "huber"},
            "got 'huber'; classes are in optiframe.problems.objectives, in losses and robust_",
        ),
        ({"loss": abs}, "loss must be one of least-squares or a class of linear models, got <built-in"),
        ({"loss": {}}, "loss must be one of least-squares or a class of linear models, got {}"),
        ({"loss": LeastSquares(matrix=np.eye(2), target=np.ones(2))}, "loss must be one of .* a class of"),
        ({"loss": dict}, "loss must be one of least-squares or a class of linear models, got <class 'dict'>"),
        ({"fit_intercept": "no"}, "fit_intercept must be True or False, got 'no'"),
        ({"fit_intercept": None}, "fit_intercept must be True or False, got None"),
        ({"fit_intercept": 2}, "fit_intercept must be True or False, got 2"),
        ({"standardize": "no"}, "standardize must be True or False, got 'no'"),
        ({"seed": -1}, "seed must be a whole number of at least 0, got -1"),
        ({"seed": "a"}, "seed must be a whole number of at least 0, got 'a'"),
        ({"seed": None, "size": 2}, "seed must be a whole number of at least 0, got None"),
        ({"over": [1]}, "over must be a ThreeView or None, got list"),
        ({"over": ThreeView(total=2, size=3)}, "shape"),
        ({"l2": -1.0}, "l2"),
        ({"solver": "tvcs.nothing"}, "tvcs.nothing"),
    ],
)
def test_wrong_parameters_are_named(parameters: dict[str, Any], text: str) -> None:
    matrix, target = samples(n=30)
    with pytest.raises(Exception, match=text) as caught:
        clone(SparseRegressor(**parameters)).fit(matrix, target)
    assert caught.type.__module__.startswith("optiframe")


@pytest.mark.parametrize("size", [2, "cv"])
def test_a_seed_of_more_than_32_bits_is_taken(size: Any) -> None:
    matrix, target = samples(n=60, p=5)
    assert SparseRegressor(size, seed=2**40).fit(matrix, target).size_ == (2 if size == 2 else 3)


@pytest.mark.parametrize("shorten", [False, True])
def test_a_size_without_a_score_is_not_the_best(shorten: bool) -> None:
    scores = {0: np.nan, 1: 2.0, 2: 1.0, 3: np.nan}
    found = search(sorted(scores), lambda size: np.array([0.0, scores[size]]), shorten=shorten)
    assert [float(found[size].mean()) for size in sorted(found)] == [np.inf, 1.0, 0.5, np.inf]


def test_pickles_predict_the_same_and_do_not_hold_the_samples() -> None:
    matrix, target = samples(n=200)
    for model in (SparseRegressor(3).fit(matrix, target), SparseClassifier(3).fit(matrix, target > 5)):
        pickled = pickle.dumps(model)
        assert len(pickled) < matrix.nbytes / 2
        again = pickle.loads(pickled)
        assert np.array_equal(again.predict(matrix), model.predict(matrix))
        assert again.findings_ == model.findings_
        assert not hasattr(again, "result_")
        assert model.result_.solution is not None


def test_the_result_of_a_fit_can_be_pickled_by_itself() -> None:
    matrix, target = samples(n=50)
    result = SparseClassifier(2).fit(matrix, target > 5).result_  # its l2 spares the intercept
    function, again = result.problem.function, pickle.loads(pickle.dumps(result)).problem.function
    assert type(again) is type(function)
    assert again.value(result.solution) == function.value(result.solution)
    assert again.ridge.tolist() == function.ridge.tolist()


def test_fits_of_small_tables_use_one_thread_and_give_the_others_back() -> None:
    threadpoolctl = pytest.importorskip("threadpoolctl")

    def threads() -> set[int]:
        return {one["num_threads"] for one in threadpoolctl.threadpool_info() if one["user_api"] == "blas"}

    seen: list[set[int]] = []

    class Watched(LeastSquares):
        name = "test-watched"

        def losses(self, z: np.ndarray) -> np.ndarray:
            seen.append(threads())
            return super().losses(z)

    with threadpoolctl.threadpool_limits(2, "blas"):
        before = threads()
        matrix, target = samples(n=30)
        SparseRegressor(1, loss=Watched).fit(matrix, target)
        assert threads() == before
    assert seen
    assert all(found == {1} for found in seen)


def test_fits_at_the_same_time_in_two_threads_give_the_threads_of_blas_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Library:
        """Limits as threadpoolctl sets and restores them."""

        threads = 2

        @contextmanager
        def limit(self, limits: int, user_api: str) -> Iterator[None]:
            before, self.threads = self.threads, limits
            try:
                yield
            finally:
                self.threads = before

    library, small = Library(), np.zeros((3, 3))
    inside, second_inside = Event(), Event()
    monkeypatch.setattr(threads_of_blas, "_libraries", lambda: library)

    def first() -> None:
        with one_thread(small):
            inside.set()
            assert second_inside.wait(10)

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(first)
        assert inside.wait(10)
        with one_thread(small):
            assert library.threads == 1
            second_inside.set()
            running.result(10)
    assert library.threads == 2
    with pytest.raises(KeyError), one_thread(small):
        raise KeyError
    with one_thread(small):
        assert library.threads == 1


def test_more_than_two_classes_are_refused_with_the_way_out() -> None:
    with pytest.raises(InvalidInput, match="OneVsRestClassifier"):
        SparseClassifier(1).fit(np.eye(3), [0, 1, 2])


def test_a_fit_that_is_refused_leaves_the_last_model_as_it_is() -> None:
    matrix, target = samples(n=60, p=5)
    model = SparseClassifier(2).fit(matrix, target > 5)
    expected = model.predict(matrix)
    for wrong, change in ((np.zeros(60), {}), (np.arange(60) % 2, {"sizes": []}), (target > 4, {"cv": []})):
        refused = model.set_params(**{"size": "cv" if change else 2, **change})
        with pytest.raises(InvalidInput):
            refused.fit(matrix, wrong)
        assert np.array_equal(refused.predict(matrix), expected)


def test_chosen_features_have_names_which_are_a_list_and_fits_of_frames_do_not_warn() -> None:
    pandas = pytest.importorskip("pandas")
    matrix, target = samples(p=6)
    table = pandas.DataFrame(matrix, columns=list("abcdef"))
    for model, truth in ((SparseRegressor(3), target), (SparseClassifier(3), target > 5)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model.fit(table, truth)
        assert list(model.get_feature_names_out()) == ["a", "b", "c"]
        assert model.get_support().tolist() == [True] * 3 + [False] * 3
        assert model.get_support(indices=True).tolist() == [0, 1, 2]
        assert list(model.get_feature_names_out(list("abcdef"))) == ["a", "b", "c"]
        with pytest.raises(InvalidInput, match="input_features is not equal to feature_names_in_"):
            model.get_feature_names_out(list("uvwxyz"))
        with pytest.raises(InvalidInput, match="number of features, 6; got 1"):
            model.get_feature_names_out(["a"])
        for wrong in ("abcdef", 6):
            with pytest.raises(InvalidInput, match="input_features must be a list of names, one for each"):
                model.get_feature_names_out(wrong)
    unnamed = SparseRegressor(3).fit(matrix, target)
    assert list(unnamed.get_feature_names_out()) == ["x0", "x1", "x2"]
    assert list(unnamed.get_feature_names_out(list("uvwxyz"))) == ["u", "v", "w"]
    assert np.exp(model.predict_log_proba(table)) == pytest.approx(model.predict_proba(table))
    assert not hasattr(SparseClassifier(loss="squared-hinge"), "predict_log_proba")
    assert hasattr(SparseClassifier(loss=Logistic), "predict_log_proba")


def test_a_table_sorted_by_its_target_gets_a_size_as_a_shuffled_one() -> None:
    matrix, target = samples()
    order = np.argsort(target)
    model = SparseRegressor(sizes=range(6)).fit(matrix[order], target[order])
    assert {0, 1, 2} <= set(np.flatnonzero(model.coef_))
    again = SparseRegressor(sizes=range(6)).fit(matrix[order], target[order])
    assert np.array_equal(model.scores_, again.scores_)


@pytest.mark.slow
def test_by_default_sizes_end_long_after_the_best() -> None:
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((900, 60))
    target = matrix[:, :3] @ [1.0, -1.0, 2.0] + rng.standard_normal(900)
    model = SparseRegressor().fit(matrix, target)
    assert {0, 1, 2} <= set(np.flatnonzero(model.coef_))
    assert model.size_ < 10
    assert len(model.sizes_) == len(model.scores_) == len(model.coef_path_)
    assert model.sizes_[-1] < 60
    assert model.findings_[-1].identifier == "sparse.sizes-ended"


ALL = np.arange(30)


@pytest.mark.parametrize(
    ("cv", "text"),
    [
        ([], "cv has no splits"),
        ([(ALL, ALL[:0])], "cv: split 1 has no rows to judge by"),
        ([(ALL[:20], ALL[20:]), ([], [1])], "cv: split 2 has no rows to learn from"),
        ([(ALL, np.zeros(30, dtype=bool))], "cv: split 1 has no rows to judge by"),
        (
            [(ALL, ALL + 30)],
            "cv: the rows to judge by of split 1 must be a list of row numbers from 0 to 29, or a mask",
        ),
        ([(ALL > 10, ALL[:5] > 2)], "cv: the rows to judge by of split 1 must be a list of row numbers"),
        ([(ALL, [0.5])], "cv: the rows to judge by of split 1 must be a list of row numbers"),
        (
            [(0, 1), (1, 0)],
            "cv: the rows to learn from of split 1 must be a list of row numbers from 0 to 29",
        ),
        ([[5, [1, 2]]], "cv: the rows to learn from of split 1 must be a list of row numbers"),
        ([(ALL, [[1], [2, 3]])], "cv: the rows to judge by of split 1 must be a list of row numbers"),
        ([(ALL, [[1], [2]])], "cv: the rows to judge by of split 1 must be a list of row numbers"),
        ([ALL], "cv must give pairs.* split 1 is no pair"),
        ("five", "cv must be a number of folds, a splitter of scikit-learn or pairs of rows, got 'five'"),
        (5.0, "cv must be a number of folds, a splitter of scikit-learn or pairs of rows, got 5.0"),
    ],
)
def test_splits_that_cannot_be_used_are_named(cv: Any, text: str) -> None:
    matrix, target = samples(n=30, p=4)
    for model, goal in ((SparseRegressor(cv=cv), target), (SparseClassifier(cv=cv), target > 5)):
        with pytest.raises(InvalidInput, match=text):
            model.fit(matrix, goal)


def test_one_fold_is_refused_and_none_means_five() -> None:
    matrix, target = samples(n=30)
    with pytest.raises(InvalidInput, match="cv must be at least 2 folds, or a splitter"):
        SparseRegressor(cv=1).fit(matrix, target)
    for five in (None, np.int64(5)):
        found = SparseRegressor(cv=five, sizes=[0, 1]).fit(matrix, target)
        assert np.array_equal(found.scores_, SparseRegressor(sizes=[0, 1]).fit(matrix, target).scores_)
