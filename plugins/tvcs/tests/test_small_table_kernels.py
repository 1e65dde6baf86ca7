"""The kernels for fits of small tables: the searches and answers of the general way, refusals, limits."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from time import sleep
from typing import Any
from unittest.mock import patch

import numpy as np
import optiframe_tvcs
import pytest
from optiframe_tvcs.kernels import reference_splicing as reference
from optiframe_tvcs.kernels import splicing as kernels
from optiframe_tvcs.learning import dense
from optiframe_tvcs.learning.best_subset import small
from optiframe_tvcs.learning.best_subset.search import Search
from optiframe_tvcs.learning.best_subset.trials import trials
from optiframe_tvcs.learning.dense import LOSSES
from optiframe_tvcs.learning.linear_models.path import SizePath
from optiframe_tvcs.learning.newton import newton_method
from optiframe_tvcs.learning.restricted import minimise_on
from optiframe_tvcs.learning.weighted import weighted
from optiframe_tvcs.learning.with_intercept import WithIntercept

import optiframe
from optiframe.problems.objectives.losses import LinearModel
from optiframe.problems.sets.vector_sets import Cardinality
from optiframe.testing import check_changes_meanwhile, check_interruptible, check_refusals

BUILT = kernels.SmallSplicing is not reference.SmallSplicing
needs_kernels = pytest.mark.skipif(not BUILT, reason="there are no kernels to compare with the general way")


def example(
    model: type[LinearModel], seed: int, *, columns: int = 40, correlation: float = 0.8
) -> LinearModel:
    """80 samples of correlated features, 6 of them true; the last column is an intercept's."""
    rng = np.random.default_rng(seed)
    matrix = rng.standard_normal((80, columns))
    for j in range(1, columns):
        matrix[:, j] = correlation * matrix[:, j - 1] + np.sqrt(1 - correlation**2) * matrix[:, j]
    matrix[:, -1] = 1.0
    truth = np.zeros(columns)
    truth[rng.choice(columns - 1, 6, replace=False)] = rng.choice([-1, 1], 6) * rng.uniform(0.5, 1.5, 6)
    target = matrix @ truth + 0.3 * rng.standard_normal(80)
    if model is not LOSSES[0]:
        target = np.where(target > 0, 1.0, -1.0)
    matrix = np.asfortranarray(matrix) if seed % 2 else matrix
    if seed % 3 == 0:
        return model(matrix=matrix, target=target, l2=1e-3)
    spared: Any = weighted(model)
    made: LinearModel = spared(matrix=matrix, target=target, l2=1e-3, free=columns - 1)
    return made


def arguments(function: LinearModel, *, free: bool, size: int = 5) -> dict[str, Any]:
    loss = [issubclass(type(function), each) for each in LOSSES].index(True)
    whole = function.hessian_rows(np.zeros(function.shape)).whole() if loss == 0 else (None, None)
    assert whole is not None
    weights = getattr(function, "weights", None)
    return {
        "matrix": function.matrix.T if np.isfortran(function.matrix) else function.matrix,
        "turned": np.isfortran(function.matrix),
        "target": function.target,
        "weights": np.ones(len(function)) / len(function) if weights is None else weights / len(function),
        "loss": loss,
        "ridge": np.array(np.broadcast_to(function.ridge, function.shape)),
        "table": whole[0],
        "place": whole[1],
        "size": size,
        "free": free,
        "pursuit": 20,
        "width": 10,
    }


def as_if_unbuilt() -> Any:
    return patch.object(dense, "_kernels_run", lambda: False)


def general(function: LinearModel, *, free: bool, seconds: float = np.inf) -> Search:
    """The general search for what `arguments` asks of the kernel."""
    over = Cardinality(size=5)
    trying = trials(function, "auto", lambda: seconds)
    return Search(function, WithIntercept(over=over) if free else over, trying, pursuit=20, width=10)


@needs_kernels
@pytest.mark.parametrize("model", LOSSES)
@pytest.mark.parametrize("free", [False, True])
def test_each_search_ends_where_the_general_one_does(model: type[LinearModel], free: bool) -> None:
    moves = 0
    for seed in range(12):
        function = example(model, seed, correlation=0.3 * (seed % 4))
        ours, theirs = kernels.SmallSplicing(**arguments(function, free=free)), general(function, free=free)
        kept = np.isin(np.arange(40), [1, 2, 3, 4, 5] + [39] * free)
        x = minimise_on(function, kept, np.zeros(40))
        value = function.value(x)
        while True:
            found = x.copy()
            ahead = ours.improved(found, value, np.inf)
            with as_if_unbuilt():
                better = theirs.improved(x, value)
            if better is None:
                assert ahead == value
                break
            assert ahead == pytest.approx(better[1], rel=1e-9)
            assert np.array_equal(found != 0, better[0] != 0)
            assert found == pytest.approx(better[0], rel=1e-6, abs=1e-8)
            assert ahead == pytest.approx(function.value(found), rel=1e-12)
            x, value, moves = found, ahead, moves + 1
    assert moves > 12


@pytest.mark.parametrize("model", LOSSES)
def test_a_path_is_that_of_the_general_search(model: type[LinearModel]) -> None:
    def path() -> list[np.ndarray]:
        fits = SizePath(example(model, 3), None, intercept=True, solver="tvcs.splicing", budget=None, seed=0)
        return [fits.at(size).solution for size in range(7)]

    ours = path()
    with as_if_unbuilt():
        general = path()
    for mine, theirs in zip(ours, general, strict=True):
        assert mine == pytest.approx(theirs, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("model", LOSSES)
def test_where_columns_are_alike_the_general_search_takes_over(model: type[LinearModel]) -> None:
    function = example(model, 0)
    twice = np.hstack([function.matrix, function.matrix])
    function = model(matrix=twice, target=function.target)
    problem = optiframe.Minimize(function, over=Cardinality(size=4))
    ours = optiframe.solve(problem, "tvcs.splicing")
    with as_if_unbuilt():
        theirs = optiframe.solve(problem, "tvcs.splicing")
    assert ours.objective == pytest.approx(theirs.objective, rel=1e-6)


@pytest.mark.parametrize("model", LOSSES)
def test_references_leave_everything_to_the_general_search(model: type[LinearModel]) -> None:
    function = example(model, 0)
    x = np.zeros(40)
    assert np.isnan(reference.SmallSplicing(**arguments(function, free=False)).improved(x, 1.0, np.inf))
    assert not reference.newton(**newton_arguments(function))
    asked_again = dense._kernels_run.__wrapped__
    with patch.multiple(dense, newton=reference.newton, _kernels_run=asked_again):
        assert dense.dense_table(function) is None


def test_a_search_out_of_time_ends() -> None:
    function = example(LOSSES[0], 0)
    x = np.zeros(40)
    value = function.value(x)
    if BUILT:
        search = kernels.SmallSplicing(**arguments(function, free=False))
        after = search.improved(x, value, 0.0)  # a pursuit would have led further than one exchange does
        assert after == pytest.approx(function.value(x))
        assert search.improved(x, after, 60.0) < after
    better = general(function, free=False, seconds=0.0).improved(np.zeros(40), value)
    assert better is not None
    assert better[1] > general(function, free=False).improved(*better)[1]


def test_losses_and_sets_that_the_kernel_does_not_know_take_the_general_search() -> None:
    class Halved(LOSSES[0]):  # type: ignore[misc, valid-type]  # a class of the losses there
        def losses(self, z: np.ndarray) -> np.ndarray:
            return np.asarray(super().losses(z) / 2)

    known = example(LOSSES[0], 0)
    problem = optiframe.Minimize(known, over=Cardinality(size=3))
    search = Search(known, problem.over, trials(known, "auto", lambda: np.inf), pursuit=20, width=10)
    assert (small.small_search(problem, search) is not None) == BUILT
    for other in (
        optiframe.Minimize(Halved(matrix=known.matrix, target=known.target), over=Cardinality(size=3)),
        optiframe.Minimize(known, over=optiframe_tvcs.ThreeView(total=3, size=40)),
    ):
        assert small.small_search(other, search) is None


def newton_arguments(function: LinearModel, **changes: Any) -> dict[str, Any]:
    given = arguments(function, free=False)
    table = {key: given[key] for key in ("matrix", "turned", "target", "weights", "loss", "ridge")}
    at = np.array([1, 4, 20, 39])
    return {
        **table,
        "at": at,
        "x": np.zeros(4),
        "accuracy": 1e-9,
        "least": np.inf,
        "hessian": None,
        **changes,
    }


@needs_kernels
@pytest.mark.parametrize("model", LOSSES)
def test_a_fit_on_a_support_is_that_of_the_general_way(model: type[LinearModel]) -> None:
    for seed in range(6):
        function = example(model, seed)
        near = 0.1 * np.random.default_rng(seed).standard_normal(4)
        curved = function.hessian(np.zeros(40))[np.ix_([1, 4, 20, 39], [1, 4, 20, 39])]
        for changes in ({"x": near}, {"hessian": curved}, {"accuracy": 0.1, "x": near, "hessian": curved}):
            given = newton_arguments(function, **changes)
            options = {key: given[key] for key in ("accuracy", "least", "hessian")}
            part, start = function.on_columns(given["at"]), given["x"]
            expected = newton_method(part, start, lambda: np.inf, by_matrix=True, **options)
            given["x"] = start.copy()
            assert kernels.newton(**given)
            assert given["x"] == pytest.approx(expected, rel=1e-6, abs=1e-9)
            if changes.get("accuracy") is None:
                x = np.zeros(40)
                x[given["at"]] = given["x"]
                assert function.gradient(x)[given["at"]] == pytest.approx(0, abs=1e-8)


def test_a_fit_on_columns_that_are_alike_is_left_to_another_method() -> None:
    function = example(LOSSES[1], 0)
    twice = np.column_stack([function.matrix[:, 0], function.matrix[:, 0]])
    model = LOSSES[1](matrix=twice, target=function.target)
    if BUILT:
        given = newton_arguments(model, at=np.array([0, 1]), x=np.zeros(2))
        assert not kernels.newton(**given)
        assert not given["x"].any()
    x = minimise_on(model, np.ones(2, dtype=bool), np.zeros(2))
    assert model.gradient(x) == pytest.approx(0, abs=1e-8)


def lasso_arguments(seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    function = example(LOSSES[0], seed)
    table, place = function.hessian_rows(np.zeros(40)).whole() or (None, None)
    return {
        "table": table,
        "place": place,
        "right": -function.gradient(np.zeros(40)),
        "penalty": np.where(np.arange(40) == 39, 0.0, 10.0 ** rng.uniform(-3, -1)),
        "x": np.zeros(40),
        "close": 1e-9,
        "passes": 1000,
    }


def test_a_quadratic_with_an_l1_penalty_is_at_its_minimum_and_as_the_reference_says() -> None:
    for seed in range(8):
        given = lasso_arguments(seed)
        other = {**given, "x": given["x"].copy()}
        kernels.lasso(**given)
        reference.lasso(**other)
        x, penalty = given["x"], given["penalty"]
        assert x == pytest.approx(other["x"], abs=1e-7)
        slope = x @ given["table"][given["place"]] - given["right"]
        inside = x != 0
        assert slope[inside] == pytest.approx(-np.sign(x[inside]) * penalty[inside], abs=1e-6)
        assert (np.abs(slope) <= penalty + 1e-6).all()


@pytest.mark.parametrize("loss", range(3))
def test_wrong_arguments_are_refused(loss: int) -> None:
    given = arguments(example(LOSSES[loss], 0), free=True)
    numbers = {"size", "pursuit", "width"}
    unused = {"table", "place"} if loss else set()
    check_refusals(
        reference.SmallSplicing,
        {key: value for key, value in given.items() if key not in unused} | dict.fromkeys(unused),
        any_number=numbers | {"loss"},
        optional=unused,
    )
    check_refusals(reference.lasso, lasso_arguments(0), any_number={"passes"})
    function = example(LOSSES[loss], 0)
    fit = newton_arguments(function, hessian=np.eye(4))
    check_refusals(reference.newton, fit, any_number={"loss"}, optional={"hessian"})
    if BUILT:
        search: Any = kernels.SmallSplicing(**given)
        for wrong in (np.zeros(39), np.zeros((40, 1)), np.zeros(40, dtype=np.float32), None):
            with pytest.raises((TypeError, ValueError)):
                search.improved(wrong, 1.0, 1.0)


@pytest.mark.slow
def test_a_scipy_that_lacks_the_routines_leaves_fits_to_python() -> None:
    command = """
import numpy as np
from optiframe_tvcs.estimator import SparseClassifier
from optiframe_tvcs.learning import dense
from scipy.linalg import cython_lapack

cython_lapack.__pyx_capi__.clear()
matrix = np.random.default_rng(0).standard_normal((60, 8))
model = SparseClassifier(2).fit(matrix, matrix[:, 3] - matrix[:, 5] > 0)
assert model.get_support().nonzero()[0].tolist() == [3, 5]
assert dense.dense_table(model.result_.problem.function) is None
"""
    subprocess.run([sys.executable, "-c", command], check=True)


@pytest.mark.slow
def test_arrays_that_another_thread_changes_crash_nothing() -> None:
    check_changes_meanwhile(reference.lasso, lasso_arguments(0))


@pytest.mark.slow
@pytest.mark.skipif(not BUILT, reason="Python serves other threads by itself")
def test_other_threads_run_during_a_long_search() -> None:
    rng = np.random.default_rng(0)
    function = LOSSES[0](matrix=rng.standard_normal((2000, 1000)), target=rng.standard_normal(2000))
    search: Any = kernels.SmallSplicing(**{**arguments(function, free=False, size=300), "pursuit": 1000})
    x = np.zeros(1000)
    x[:300] = 1e-3
    turns = 0
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(search.improved, x, function.value(x), 5.0)
        while not running.done():
            turns += 1
            sleep(0.001)
    assert running.result() < np.inf
    assert turns > 10


@pytest.mark.slow
@pytest.mark.skipif(not BUILT, reason="Python stops by itself")
def test_ctrl_c_stops_a_long_search() -> None:
    check_interruptible("""
import numpy as np
from optiframe_tvcs.kernels.splicing import SmallSplicing
from optiframe.problems.objectives.losses import LeastSquares

rng = np.random.default_rng(0)
matrix, target = rng.standard_normal((4000, 2000)), rng.standard_normal(4000)
function, x = LeastSquares(matrix=matrix, target=target), np.zeros(2000)
table, place = function.hessian_rows(x).whole()
weights, ridge = np.full(4000, 1 / 4000), np.zeros(2000)
search = SmallSplicing(matrix, False, target, weights, 0, ridge, table, place, 600, False, 100, 10)
x[:600] = function.minimizer_on(np.arange(600))
print("ready", flush=True)
search.improved(x, function.value(x), np.inf)
""")
