"""Splicing, and the stochastic method whose blocks grow: what they recover, and where they end."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from optiframe_tvcs import ThreeView
from optiframe_tvcs.learning.best_subset.search import Search
from optiframe_tvcs.learning.best_subset.trials import Trials
from optiframe_tvcs.learning.linear_models import path as sizes_of_a_path
from optiframe_tvcs.learning.linear_models.l1_path import l1_path
from optiframe_tvcs.learning.linear_models.path import SizePath
from optiframe_tvcs.learning.restricted import minimise_on

import optiframe
from optiframe.problems.objectives.losses import LeastSquares, Logistic
from optiframe.problems.sets.vector_sets import Cardinality


def planted(seed: int, correlation: float = 0.0) -> tuple[LeastSquares, np.ndarray]:
    """100 samples of 60 features, each correlated with the one before, 6 of them true."""
    rng = np.random.default_rng(seed)
    matrix = rng.standard_normal((100, 60))
    for j in range(1, 60):
        matrix[:, j] = correlation * matrix[:, j - 1] + np.sqrt(1 - correlation**2) * matrix[:, j]
    truth = np.zeros(60)
    truth[rng.choice(60, 6, replace=False)] = rng.choice([-1, 1], 6) * rng.uniform(0.5, 1.5, 6)
    return LeastSquares(matrix=matrix, target=matrix @ truth + 0.05 * rng.standard_normal(100)), truth


@pytest.mark.parametrize("correlation", [0.0, 0.6])
def test_splicing_finds_the_planted_support(correlation: float) -> None:
    for seed in range(5):
        function, truth = planted(seed, correlation)
        found = optiframe.solve(optiframe.Minimize(function, over=Cardinality(size=6)), "tvcs.splicing")
        assert found.status.complete
        assert np.array_equal(found.solution != 0, truth != 0)


def test_pursuits_lead_on_where_exchanges_end() -> None:
    for seed in range(3):
        function, _ = planted(seed, 0.95)
        problem = optiframe.Minimize(function, over=Cardinality(size=6))
        found = optiframe.solve(problem, "tvcs.splicing")
        short = optiframe.solve(problem, "tvcs.splicing", pursuit=0)
        assert found.objective <= short.objective * (1 + 1e-9)


def test_the_answer_cannot_be_improved_by_any_exchange_of_two_entries() -> None:
    for seed in range(3):
        function, _ = planted(seed, 0.95)
        found = optiframe.solve(optiframe.Minimize(function, over=Cardinality(size=4)), "tvcs.splicing")
        inside = np.flatnonzero(found.solution)
        for going in inside:
            for coming in np.setdiff1d(np.arange(60), inside):
                kept = np.isin(np.arange(60), [*inside[inside != going], coming])
                other = function.value(minimise_on(function, kept, np.zeros(60)))
                assert other >= found.objective * (1 - 1e-9)


def test_a_path_gives_a_result_of_the_fit_that_it_keeps() -> None:
    function, _ = planted(0)
    path = SizePath(function, None, intercept=False, solver="tvcs.splicing", budget=None, seed=0)
    result = path.result(4)
    assert result.status.complete
    assert result.solution == pytest.approx(path.at(4).solution)
    assert result.objective == pytest.approx(path.at(4).objective)
    limited = SizePath(
        function, None, intercept=False, solver="tvcs.splicing", budget={"iterations": 1}, seed=0
    )
    assert limited.at(4) is limited.result(4)


def test_fits_along_an_l1_penalty_are_nearly_its_best_and_leave_the_intercept_free() -> None:
    function, _ = planted(0)
    ones = np.column_stack([function.matrix, np.ones(100)])
    shifted = LeastSquares(matrix=ones, target=np.asarray(function.target) + 3)
    free = np.arange(61) == 60
    points = list(l1_path(shifted, free))
    counts = [np.count_nonzero(x[:60]) for x in points]
    assert counts[0] <= 3
    assert counts[-1] == max(counts) > 12
    for x in points:
        gradient = np.abs(shifted.gradient(x))
        level = gradient[:60].max()
        assert gradient[:60][x[:60] != 0].min(initial=level) > 0.9 * level
        assert gradient[60] < 0.05 * level
        assert x[60] == pytest.approx(3, abs=1)


def test_on_a_small_case_it_finds_the_best_of_all_supports() -> None:
    rng = np.random.default_rng(3)
    matrix = rng.standard_normal((30, 8))
    function = LeastSquares(matrix=matrix, target=matrix[:, :3].sum(axis=1) + rng.standard_normal(30))
    found = optiframe.solve(optiframe.Minimize(function, over=Cardinality(size=3)), "tvcs.splicing")
    values = []
    for chosen in combinations(range(8), 3):
        support = np.zeros(8, dtype=bool)
        support[list(chosen)] = True
        values.append(function.value(minimise_on(function, support, np.zeros(8))))
    assert found.objective == pytest.approx(min(values))


def test_exchanges_stay_within_three_views() -> None:
    problem = optiframe.problem(dataset=optiframe.dataset("sparse.planted-regression", side=8, samples=80))
    found = optiframe.solve(problem, "tvcs.splicing")
    assert problem.over.excess(found.solution) == 0
    assert found.metrics["recovered"] == 1.0
    rough = optiframe.solve(problem, "tvcs.htp")
    polished = optiframe.solve(problem, "tvcs.splicing", start=rough.solution)
    assert polished.objective <= rough.objective


def test_sparse_matrices_and_other_losses_and_own_functions_are_taken() -> None:
    rng = np.random.default_rng(0)
    matrix = sp.random_array((80, 20), density=0.3, rng=rng, format="csr")
    labels = np.where(matrix[:, [0]].toarray().ravel() > matrix[:, [1]].toarray().ravel(), 1.0, -1.0)
    function = Logistic(matrix=matrix, target=labels, l2=1e-2)
    for over in (Cardinality(size=3), ThreeView(total=3, size=20)):
        problem = optiframe.Minimize(function, over=over)
        found = optiframe.solve(problem, "tvcs.splicing")
        assert np.count_nonzero(found.solution) == 3
        assert found.objective <= optiframe.solve(problem, "tvcs.htp").objective * (1 + 1e-9)
    own = optiframe.from_function(
        lambda x: float(((x - np.arange(5)) ** 2).sum()), shape=5, gradient=lambda x: 2 * (x - np.arange(5))
    )
    found = optiframe.solve(optiframe.Minimize(own, over=Cardinality(size=2)), "tvcs.splicing")
    assert found.solution == pytest.approx([0, 0, 0, 3, 4])


def test_growing_blocks_recover_where_blocks_of_one_size_do_not() -> None:
    growing = fixed = 0.0
    for seed in range(4):
        function, truth = planted(seed)
        problem = optiframe.problem(
            "sparse-recovery", objective=function, over=Cardinality(size=6), truth=truth
        )
        found = optiframe.solve(problem, "tvcs.stochastic-iht", block=10)
        assert found.status.complete
        growing += found.metrics["recovered"]
        with pytest.warns(optiframe.NotConverged):
            short = optiframe.solve(
                problem, "tvcs.stochastic-iht", block=10, growth=1, budget={"iterations": 50}
            )
        fixed += short.metrics["recovered"]
    assert growing == 4
    assert growing >= fixed


def test_a_pursuit_ends_where_all_that_it_meets_is_far_from_the_best(monkeypatch: pytest.MonkeyPatch) -> None:
    function, _ = planted(0)
    fits = []

    def with_values(worse: list[float]) -> int:
        """Wide fits of a pursuit that meets these values, one after another."""
        fits.clear()
        trying, best = Trials(function, "auto", lambda: np.inf), minimise_on(function, start != 0, start)

        def wide(kept: np.ndarray, at: np.ndarray) -> np.ndarray:
            found = np.zeros(60)
            found[(7 * len(fits) + np.arange(6)) % 60] = 1.0 + worse[len(fits)]
            fits.append(kept)
            return found

        monkeypatch.setattr(trying, "wide", wide)
        monkeypatch.setattr(trying, "fit", lambda *_: None)
        monkeypatch.setattr(LeastSquares, "value", lambda _, x: float(x.max(initial=1.0)))
        Search(function, Cardinality(size=6), trying, pursuit=20, width=10).pursued(best, 1.0)
        monkeypatch.undo()
        return len(fits)

    start = np.where(np.arange(60) < 6, 1.0, 0.0)
    assert with_values([0.5] * 20) == 4
    assert with_values([0.01, 0.5] * 10) == 20


def test_large_sizes_are_spared_starts_that_have_not_won(monkeypatch: pytest.MonkeyPatch) -> None:
    function, _ = planted(0)
    solver = {"name": "tvcs.splicing", "proof": 0}
    path = SizePath(function, None, intercept=False, solver=solver, budget=None, seed=0, asked=30)
    taken = []

    def none_better(_: Any, size: int, result: Any) -> Any:
        taken.append(size)
        return result

    monkeypatch.setattr(path, "_further", none_better)
    monkeypatch.setattr(sizes_of_a_path, "_MANY", 100)
    for size in (0, 5, 10, 15, 20, 22, 24, 26, 28, 30):
        path.at(size)
    assert taken == [0, 5, 10, 15, 20, 24, 28, 30]
