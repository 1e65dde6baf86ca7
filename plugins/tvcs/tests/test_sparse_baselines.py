"""The methods of Sec. 5.1 that are compared with, and the planted problems they are compared on."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Iterable

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optiframe_tvcs.learning.baselines import ExclusiveLasso, FewerViews
from optiframe_tvcs.learning.exclusive_norm import shrink_groups
from optiframe_tvcs.learning.sparse_recovery import SparseRecovery
from optiframe_tvcs.sets.groups import Groups
from optiframe_tvcs.sets.three_view import ThreeView

import optiframe
from optiframe import InvalidInput, Minimize, Solver, from_function, solve
from optiframe.problems.objectives.losses import LeastSquares
from optiframe.problems.sets.vector_sets import Cardinality
from optiframe.solving.budget import Budget
from optiframe.testing import SolverContract

from .learning_twins import exclusive_norm, exclusive_prox, permutation_regression


def planted(name: str = "sparse.planted-regression", **parameters: object) -> SparseRecovery:
    return optiframe.problem(dataset={"name": name, **parameters})


class TestFewerViewsContract(SolverContract):
    solver: Solver = FewerViews(views="total")
    budget = Budget(iterations=300)

    def instances(self) -> Iterable[Minimize]:
        return [permutation_regression()[0], permutation_regression(1, side=4)[0]]


@pytest.mark.slow
class TestRowsContract(TestFewerViewsContract):
    solver = FewerViews(views="rows", method="htp")


@pytest.mark.slow
class TestColumnsContract(TestFewerViewsContract):
    solver = FewerViews(views="columns", method="gradmp")


class TestExclusiveLassoContract(TestFewerViewsContract):
    solver = ExclusiveLasso(penalty=0.01)


@pytest.mark.slow  # five runs come first
class TestHeldOutPenaltyContract(TestFewerViewsContract):
    solver = ExclusiveLasso(penalty="held-out")
    budget = Budget(iterations=100)


@given(seed=st.integers(0, 10**6), weight=st.sampled_from([0.0, 0.01, 0.3, 5.0]))
def test_the_proximal_point_agrees_with_trying_every_number_of_entries(seed: int, weight: float) -> None:
    rng = np.random.default_rng(seed)
    v = rng.standard_normal(12) if seed % 2 else rng.integers(-2, 3, 12).astype(float)
    labels = rng.integers(-1, 4, 12)
    found = shrink_groups(v, Groups.of_labels(labels, np.zeros(4, dtype=int)), weight)
    for group in range(4):
        inside = labels == group
        assert np.allclose(found[inside], exclusive_prox(v[inside], weight), atol=1e-12)
    assert np.array_equal(found[labels < 0], v[labels < 0])


def test_the_exclusive_lasso_minimises_its_penalised_objective() -> None:
    problem, _ = permutation_regression(rows=40, side=4)
    penalty, x = 0.05, cp.Variable(16)
    matrix = cp.reshape(x, (4, 4), order="C")
    norms = cp.sum_squares(cp.norm(matrix, 1, axis=0)) + cp.sum_squares(cp.norm(matrix, 1, axis=1))
    program = cp.Problem(cp.Minimize(problem.function.as_cvxpy(x) + penalty * norms))
    program.solve(solver="CLARABEL")
    loose = ThreeView.of_matrix((4, 4), 16, 4, 4)  # holds every point, so that nothing is projected
    result = solve(
        Minimize(problem.function, over=loose), ExclusiveLasso(penalty=penalty), budget={"tolerance": 1e-9}
    )
    assert np.allclose(result.solution, x.value, atol=1e-5)
    rows, columns = loose.views
    ours = result.objective + penalty * (
        exclusive_norm(result.solution, rows) + exclusive_norm(result.solution, columns)
    )
    assert np.isclose(ours, program.value, rtol=1e-6)


@pytest.mark.slow
def test_a_penalty_chosen_by_held_out_samples_is_one_of_those_tried() -> None:
    problem = planted(side=6, samples=60, seed=1)
    budget = {"iterations": 200}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optiframe.NotConverged)
        chosen = solve(problem, ExclusiveLasso(penalty="held-out"), budget=budget)
        penalty = float(chosen.trace["penalty"][0])
        given = solve(problem, ExclusiveLasso(penalty=penalty), budget=budget)
    assert penalty in (1e-6, 1e-5, 1e-4, 1e-3, 1e-2)
    assert np.array_equal(chosen.solution, given.solution)


@pytest.mark.parametrize("views", ["total", "rows", "columns"])
def test_fewer_views_are_projected_onto_all_at_the_end(views: str) -> None:
    problem, _ = permutation_regression(rows=12)
    rows, columns = (1 if view == views else None for view in ("rows", "columns"))
    larger = ThreeView.of_matrix((5, 5), 5, rows, columns)
    one = {"iterations": 1, "tolerance": 0.0}
    with pytest.warns(optiframe.NotConverged):
        free = solve(Minimize(problem.function, over=larger), "tvcs.htp", budget=one)
    with pytest.warns(optiframe.NotConverged):
        result = solve(problem, FewerViews(views=views, method="htp"), budget=one)
    assert result.violation == 0.0
    assert np.array_equal(result.solution, problem.over.project(free.solution))


def test_a_step_that_is_given_stands_for_a_bound_on_the_curvature() -> None:
    own = from_function(lambda x: x @ x, 4, gradient=lambda x: 2 * x)
    found = solve(Minimize(own, over=ThreeView.of_matrix((2, 2), 2, 1)), ExclusiveLasso(step=0.5))
    assert not found.solution.any()


def test_the_planted_total_is_a_share_of_the_smaller_sum_of_bounds() -> None:
    over = planted(side=13, samples=1, share=0.7, seed=46).over
    assert isinstance(over, ThreeView)
    assert min(groups.caps.sum() for groups in over.views) == 90
    assert over.total == 63  # although .7 * 90 is a little less in float64


@pytest.mark.parametrize("name", ["sparse.planted-regression", "sparse.planted-classification"])
def test_a_planted_problem_is_as_described(name: str) -> None:
    problem = planted(name, side=8, samples=30, seed=4)
    over = problem.over
    rows, columns = (view.caps for view in over.views)
    for caps in (rows, columns):
        assert caps.min() >= 1
        assert caps.max() <= 8
    assert over.total == int(0.8 * min(rows.sum(), columns.sum()))
    assert over.excess(problem.truth) == 0
    assert problem.violation(problem.truth) == 0.0
    assert problem.function.matrix.shape == (30, 64)
    assert problem == planted(name, side=8, samples=30, seed=4)
    assert problem == pickle.loads(pickle.dumps(problem))
    more = planted(name, side=8, samples=40, seed=4)
    assert np.array_equal(more.truth, problem.truth)
    assert np.array_equal(more.function.matrix[:30], problem.function.matrix)


def test_noise_and_labels_are_the_papers() -> None:
    regression = planted(side=10, samples=2000)
    off = regression.function.target - regression.function.matrix @ regression.truth
    assert 0.009 < off.std() < 0.011
    labels = planted("sparse.planted-classification", side=6, loss="logistic", l2=0.1)
    assert labels.function.name == "logistic"
    assert labels.function.l2 == 0.1
    assert np.array_equal(labels.function.target, np.sign(labels.function.matrix @ labels.truth))


def test_the_truth_has_perfect_metrics_and_others_have_not() -> None:
    problem = planted(side=6, samples=40)
    assert problem.metrics(problem.truth) == pytest.approx(
        {"recall": 1.0, "recovered": 1.0, "error": 0.0, "misclassified": 0.0}, abs=1e-7
    )
    half = problem.metrics(problem.truth / 2)
    assert half["misclassified"] == pytest.approx(0.0, abs=1e-7)
    assert half["error"] == pytest.approx(0.5)
    nothing = problem.metrics(np.zeros(36))
    assert nothing == {"recall": 0.0, "recovered": 0.0, "error": 1.0, "misclassified": 0.5}
    first = np.flatnonzero(problem.truth)[0]
    without = np.where(np.arange(36) == first, 0.0, problem.truth)
    count = np.count_nonzero(problem.truth)
    assert problem.metrics(without)["recall"] == pytest.approx((count - 1) / count)
    assert problem.metrics(without)["recovered"] == 0.0


def test_misclassified_is_the_share_of_signs_that_differ() -> None:
    problem = planted(side=4, samples=10)
    rng = np.random.default_rng(0)
    other = problem.truth + 0.5 * rng.standard_normal(16)
    fresh = rng.standard_normal((40_000, 16))
    differ = np.mean(np.sign(fresh @ other) != np.sign(fresh @ problem.truth))
    assert problem.metrics(other)["misclassified"] == pytest.approx(differ, abs=0.01)


def test_a_truth_of_another_length_or_of_zeros_is_refused() -> None:
    function = LeastSquares(matrix=np.eye(3), target=np.ones(3))
    with pytest.raises(InvalidInput, match="truth has shape"):
        SparseRecovery(function, over=Cardinality(size=1), truth=[1.0, 0.0])
    with pytest.raises(InvalidInput, match="zero everywhere"):
        SparseRecovery(function, over=Cardinality(size=1), truth=[0.0, 0.0, 0.0])


@pytest.mark.slow
def test_all_views_know_more_than_fewer_where_a_permutation_is_planted() -> None:
    # 16 samples of 36 entries: each single bound leaves too many supports.
    found = {"all": 0.0, "total": 0.0}
    for seed in range(4):
        problem, truth = permutation_regression(seed, side=6, rows=16)
        posed = SparseRecovery(problem.function, over=problem.over, truth=truth)
        found["all"] += solve(posed, "tvcs.iht").metrics["recovered"]
        found["total"] += solve(posed, FewerViews(views="total")).metrics["recovered"]
    assert found["all"] > found["total"]


def test_the_bounds_of_one_view_suffice_without_a_total() -> None:
    over = ThreeView.of_matrix((2, 2), per_row=1, per_column=1)
    problem = Minimize(LeastSquares(matrix=np.eye(4), target=np.array([3.0, 1.0, 2.0, 1.0])), over=over)
    found = solve(problem, FewerViews(views="rows")).solution
    assert np.flatnonzero(found).tolist() == [0]  # rows alone would keep the first column
