"""The second-order model that says which supports are worth a fit, and fits over rows that differ."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from optiframe_tvcs.learning.best_subset.second_order import SecondOrder
from optiframe_tvcs.learning.best_subset.trials import ModelledTrials, Trials
from optiframe_tvcs.learning.grouped_rows import GroupedRows
from optiframe_tvcs.learning.linear_models.size_choice import end_of_sizes, search
from optiframe_tvcs.learning.restricted import minimise_on, restrict

from optiframe.problems.objectives.losses import LeastSquares, LinearModel, Logistic, SquaredHinge
from optiframe.testing import check_derivatives


def example(model: type[LinearModel], *, sparse: bool = False, rows: int = 200) -> LinearModel:
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((rows, 12)) * (rng.random((rows, 12)) < 0.5)
    signs = np.where(matrix[:, :3].sum(axis=1) + rng.standard_normal(rows) > 0, 1.0, -1.0)
    return model(matrix=sp.csr_array(matrix) if sparse else matrix, target=signs, l2=0.01)


@pytest.mark.parametrize("model", [LeastSquares, Logistic, SquaredHinge])
@pytest.mark.parametrize("sparse", [False, True])
def test_the_model_has_value_gradient_and_curvature_of_the_objective(
    model: type[LinearModel], sparse: bool
) -> None:
    function = example(model, sparse=sparse)
    x = np.zeros(12)
    x[[0, 4]] = [0.3, -0.2]
    local = SecondOrder.around(function, x)
    assert local is not None
    inside = np.array([0, 4])
    slope = local.gradient_at(inside, x[inside])
    assert slope == pytest.approx(function.gradient(x))
    for indices in (inside, np.array([1, 4, 7]), np.arange(12)):
        step = np.zeros(12)
        step[indices] = np.asarray(local.minimizer_on(indices)) - x[indices]
        step[np.setdiff1d(inside, indices)] = -x[np.setdiff1d(inside, indices)]
        wanted = function.value(x) + slope @ step + step @ function.hessian(x) @ step / 2
        predicted, doubt = local.predicted(indices, (x + step)[indices])
        assert predicted == pytest.approx(wanted)
        assert doubt >= 0
        at_minimum = local.gradient_at(indices, (x + step)[indices])
        assert at_minimum is not None
        assert at_minimum[indices] == pytest.approx(0, abs=1e-9)


def test_of_least_squares_the_model_is_exact() -> None:
    function = example(LeastSquares)
    local = SecondOrder.around(function, np.ones(12))
    assert local is not None
    indices = np.array([2, 5, 6])
    found = local.minimizer_on(indices)
    best = minimise_on(function, np.isin(np.arange(12), indices), np.zeros(12))
    assert found == pytest.approx(best[indices])
    assert local.predicted(indices, np.asarray(found))[0] == pytest.approx(function.value(best))


@pytest.mark.parametrize("model", [LeastSquares, Logistic, SquaredHinge])
@pytest.mark.parametrize("free", [False, True])
def test_pairs_are_those_that_lower_the_model_most(model: type[LinearModel], free: bool) -> None:
    function = example(model)
    inside = np.array([2, 5, 11])
    x = minimise_on(function, np.isin(np.arange(12), inside), np.zeros(12))
    local = SecondOrder.around(function, x)
    assert local is not None
    bends = function.hessian(x).diagonal()
    pairs = local.swaps(inside, x[inside], function.gradient(x), bends, free)
    assert pairs is not None
    least: dict[int, tuple[float, int]] = {}
    for coming in np.setdiff1d(np.arange(12), inside):
        for going in inside[: 2 if free else 3]:
            kept = np.sort(np.append(inside[inside != going], coming))
            value, _ = local.predicted(kept, np.asarray(local.minimizer_on(kept)))
            least[coming] = min(least.get(coming, (np.inf, 0)), (value, going))
    better = sorted((value, coming, going) for coming, (value, going) in least.items())
    now, _ = local.predicted(inside, np.asarray(local.minimizer_on(inside)))
    wanted = [(coming, going) for value, coming, going in better if value < now]
    assert list(zip(*(each.tolist() for each in pairs), strict=True)) == wanted
    assert len(wanted) > 2


def test_alike_columns_have_a_rough_minimum_only() -> None:
    matrix = np.random.default_rng(0).standard_normal((50, 3))[:, [0, 0, 1, 2]]
    function = LeastSquares(matrix=matrix, target=matrix @ np.ones(4))
    local = SecondOrder.around(function, np.zeros(4))
    assert local is not None
    assert local.minimizer_on(np.arange(4)) is None
    rough = local.minimizer_on(np.arange(4), rough=True)
    assert matrix @ np.asarray(rough) == pytest.approx(function.target, rel=1e-3)


@pytest.mark.parametrize("model", [Logistic, SquaredHinge])
def test_modelled_trials_refuse_nothing_that_is_better_and_find_the_same_fits(
    model: type[LinearModel],
) -> None:
    function = example(model)
    plain, modelled = (kind(function, "auto", lambda: np.inf) for kind in (Trials, ModelledTrials))
    x = minimise_on(function, np.arange(12) < 3, np.zeros(12))
    value = function.value(x)
    modelled.around(x)
    for j in range(12):
        for i in range(3):
            kept = (np.arange(12) < 3) ^ (np.arange(12) == i) | (np.arange(12) == j)
            wanted = plain.fit(kept, np.where(kept, x, 0.0), np.inf)
            found = modelled.fit(kept, np.where(kept, x, 0.0), value)
            assert wanted is not None
            if wanted[1] < value * (1 - 1e-9):
                assert found is not None
                assert found[0] == pytest.approx(wanted[0], abs=1e-6)


def test_a_model_that_leads_astray_is_not_followed() -> None:
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((40, 6))
    function = Logistic(matrix=matrix, target=np.sign(matrix[:, 0]))  # far out, no row bends the loss
    x = np.where(np.arange(6) == 0, 1000.0, 0.0)
    modelled = ModelledTrials(function, "auto", lambda: np.inf)
    modelled.around(x)
    kept = np.arange(6) == 1
    found, wanted = modelled.fit(kept, np.zeros(6), 10.0), minimise_on(function, kept, np.zeros(6))
    assert found is not None  # the model says that nothing falls below 10
    assert found[0] == pytest.approx(wanted, rel=1e-5)
    wide = modelled.wide(np.arange(6) < 2, x)
    assert np.isfinite(wide).all()


@pytest.mark.parametrize("model", [Logistic, SquaredHinge])
@pytest.mark.parametrize("sparse", [False, True])
def test_fits_over_rows_that_differ_are_those_over_all(model: type[LinearModel], sparse: bool) -> None:
    rng = np.random.default_rng(1)
    matrix = (rng.random((2000, 6)) < 0.3).astype(float)
    target = np.where(rng.random(2000) < 0.3 + 0.4 * matrix[:, 0], 1.0, -1.0)
    function = model(matrix=sp.csr_array(matrix) if sparse else matrix, target=target, l2=0.01)
    indices = np.array([0, 2, 3])
    alike = function.rows_alike(indices)
    assert alike is not None
    rows, counts = alike
    assert len(rows) <= 16
    grouped = GroupedRows(model=function.take(rows).on_columns(indices), weights=counts / 2000)
    plain, x = restrict(function, indices), np.array([0.2, -0.3, 0.6])
    assert grouped.value(x) == pytest.approx(plain.value(x))
    assert grouped.gradient(x) == pytest.approx(plain.gradient(x))
    assert grouped.hessian(x) == pytest.approx(plain.hessian(x))
    check_derivatives(grouped, x)
    kept = np.isin(np.arange(6), indices)
    found, iterated = (minimise_on(function, kept, np.zeros(6), inner) for inner in ("auto", "cg"))
    assert found == pytest.approx(iterated, abs=1e-6)


def losses(best: int) -> Any:
    """A curve of two folds that falls to a size and rises slowly after it; and the sizes it was asked for."""
    asked: list[int] = []

    def score(size: int) -> np.ndarray:
        asked.append(size)
        return np.array([1.0, 1.2]) * (1 + abs(size - best) / 100)

    return score, asked


@pytest.mark.parametrize("best", [0, 3, 25, 61, 300])
def test_sizes_end_where_the_loss_has_long_ceased_to_fall_and_the_best_is_found(best: int) -> None:
    score, asked = losses(best)
    found = search(range(1001), score, shorten=True)
    assert min(found, key=lambda size: found[size].mean()) == best
    assert len(asked) == len(found) == len(set(asked)) < 90
    assert 1.5 * best + 20 <= max(found) <= 1.1 * (1.5 * best + 20) + 1


def test_sizes_that_were_asked_for_are_all_tried() -> None:
    score, asked = losses(2)
    assert list(search(range(0, 200, 10), score, shorten=False)) == asked == list(range(0, 200, 10))


def test_a_path_that_ended_early_says_where() -> None:
    (ended,) = end_of_sizes([0, 1, 2, 23], 2, 90, 400)
    assert ended.identifier == "sparse.sizes-ended"
    assert ended.text.startswith("Sizes above 23 (to 90) were not tried: none above 2 was better.")
    assert [each.identifier for each in end_of_sizes([0, 1, 2], 2, 2, 9)] == ["sparse.largest-size-chosen"]
    assert end_of_sizes([0, 1, 2], 1, 2, 9) == end_of_sizes([0, 1, 2], 2, 2, 2) == []
