"""Gradient matching pursuit, hard thresholding pursuit and the restricted minimisation they share."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from optiframe_tvcs.learning.gradmp import GradientMatchingPursuit, Lowest
from optiframe_tvcs.learning.htp import HardThresholdingPursuit
from optiframe_tvcs.learning.restricted import Inner, minimise_on, restrict
from optiframe_tvcs.learning.stochastic import StochasticGradMP
from optiframe_tvcs.sets.sparse_sets import enlarged

import optiframe
from optiframe import Minimize, Solver, from_function, solve
from optiframe.problems.objectives.losses import LeastSquares, Logistic, SquaredHinge
from optiframe.problems.objectives.objective import SquaredDistance
from optiframe.problems.sets.vector_sets import Cardinality
from optiframe.solving.budget import Budget
from optiframe.testing import SolverContract

from .learning_twins import gradmp, htp, permutation_regression, points, sparse_regression

BOTH = [GradientMatchingPursuit(), HardThresholdingPursuit()]


class TestContract(SolverContract):
    solver: Solver = GradientMatchingPursuit()

    def instances(self) -> Iterable[Minimize]:
        return [sparse_regression()[0], permutation_regression()[0]]


@pytest.mark.slow
class TestContractByConjugateGradients(TestContract):
    solver = GradientMatchingPursuit(inner="cg")


class TestContractOfPursuit(TestContract):
    solver = HardThresholdingPursuit()


@pytest.mark.slow
class TestContractOfPursuitByAFixedStep(TestContract):
    solver = HardThresholdingPursuit(step=0.3, inner="cg")


@pytest.mark.slow
class TestStochasticContract(TestContract):
    solver = StochasticGradMP(block=20, full_every=5)
    budget = Budget(iterations=15)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_pursuits_follow_their_algorithms(seed: int) -> None:
    small, _ = sparse_regression(seed, rows=20, size=9, kept=2)
    matrix, _ = permutation_regression(seed, side=3, rows=20)
    for problem in (small, matrix):
        wider = enlarged(problem.over, 2)
        assert wider is not None
        for inner in ("least-squares", "cg"):
            ours = points(GradientMatchingPursuit(inner=inner), problem, 2)
            assert np.allclose(ours, gradmp(problem, wider, 3)[: len(ours)], atol=1e-6)
            ours = points(HardThresholdingPursuit(inner=inner, step=0.3), problem, 3)
            assert np.allclose(ours, htp(problem, 0.3, 3)[: len(ours)], atol=1e-6)


@pytest.mark.parametrize("solver", BOTH)
def test_a_planted_answer_is_found(solver: Solver) -> None:
    for problem, truth in (sparse_regression(), permutation_regression()):
        result = solve(problem, solver)
        assert result.status.complete
        assert np.array_equal(result.solution != 0, truth != 0)
        assert np.abs(result.solution - truth).max() < 0.02


@given(seed=st.integers(0, 10**6), kept=st.integers(1, 6))
def test_the_end_of_a_pursuit_is_the_best_point_on_its_support(seed: int, kept: int) -> None:
    problem, _ = sparse_regression(seed, rows=25, size=12, kept=kept, noise=1.0)
    result = solve(problem, "tvcs.htp")
    assert result.status.complete
    assert (np.diff(result.trace["objective"]) <= 1e-12).all()
    chosen = result.solution != 0
    fitted = np.linalg.lstsq(problem.function.matrix[:, chosen], problem.function.target, rcond=None)[0]
    assert np.allclose(result.solution[chosen], fitted, atol=1e-8)


def test_supports_that_repeat_end_the_run() -> None:
    # Fewer samples than thrice the support: the fit on the wide support is exact and says little.
    problem, _ = sparse_regression(1, rows=20, size=60, kept=12, noise=0.5)
    with pytest.warns(optiframe.NotConverged, match="runs in a circle"):
        result = solve(problem, "tvcs.gradmp")
    assert result.status == "stalled"
    assert result.iterations < 1000
    assert result.objective == min(result.trace["objective"])


@pytest.mark.parametrize("rows", [40, 10])  # with 10 the wide fits are exact
@pytest.mark.filterwarnings("ignore::optiframe.NotConverged")
def test_a_pursuit_ends_at_the_best_point_on_its_support_and_does_not_call_it_converged(rows: int) -> None:
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((rows, 30))
    for j in range(1, 30):  # features alike: what is pruned then counts
        matrix[:, j] = 0.9 * matrix[:, j - 1] + 0.436 * matrix[:, j]
    target = matrix[:, [3, 9, 15, 22]] @ [1.0, -1.0, 1.0, 1.0] + 0.5 * rng.standard_normal(rows)
    function = LeastSquares(matrix=matrix, target=target)
    result = solve(Minimize(function, over=Cardinality(size=4)), "tvcs.gradmp")
    assert result.status in ("finished", "stalled")
    chosen = result.solution != 0
    fitted = np.linalg.lstsq(matrix[:, chosen], target, rcond=None)[0]
    assert np.allclose(result.solution[chosen], fitted)
    assert result.objective == min(result.trace["objective"])


def test_a_pursuit_of_exact_targets_converges() -> None:
    problem, truth = sparse_regression(noise=0.0)
    result = solve(problem, "tvcs.gradmp")
    assert result.status == "converged"
    assert np.allclose(result.solution, truth)


def test_a_pursuit_as_printed_ends_at_a_point_as_pruned_and_refit_lowers_it_on_its_support() -> None:
    problem, _ = sparse_regression(3, rows=40, noise=0.5)
    printed, refitted = (solve(problem, GradientMatchingPursuit(refit=refit)) for refit in (False, True))
    assert np.array_equal(printed.solution != 0, refitted.solution != 0)
    assert refitted.objective < printed.objective
    best = minimise_on(problem.function, printed.solution != 0, printed.solution)
    assert np.allclose(refitted.solution, best)


def test_a_pursuit_with_too_long_a_step_says_that_it_runs_in_a_circle() -> None:
    problem, _ = sparse_regression(3, rows=15, size=40, kept=8, noise=0.5)
    with pytest.warns(optiframe.NotConverged, match="take a shorter step"):
        result = solve(problem, HardThresholdingPursuit(step=20.0))
    assert result.status == "stalled"


@pytest.mark.parametrize("loss", [Logistic, SquaredHinge])
@pytest.mark.parametrize("solver", BOTH)
def test_other_losses_find_most_of_a_planted_support(solver: Solver, loss: type[Logistic]) -> None:
    problem, truth = sparse_regression(rows=400, noise=0.0)
    labels = np.sign(problem.function.matrix @ truth)
    model = loss(matrix=problem.function.matrix, target=labels, l2=0.01)
    result = solve(Minimize(model, over=problem.over), solver)
    assert np.array_equal(result.solution != 0, truth != 0)


def test_a_support_without_entries_gives_zero() -> None:
    problem, _ = sparse_regression()
    for name in ("tvcs.gradmp", "tvcs.htp"):
        result = solve(Minimize(problem.function, over=Cardinality(size=0)), name)
        assert not result.solution.any()
        assert result.status.complete


def test_stochastic_gradmp_finds_a_planted_answer() -> None:
    problem, truth = sparse_regression()
    result = solve(
        problem,
        StochasticGradMP(block=20, full_every=1),
        budget={"iterations": 100, "tolerance": 0.05},
    )
    assert np.array_equal(result.solution != 0, truth != 0)


def test_stochastic_gradmp_ends_by_itself_at_the_best_point_on_its_support() -> None:
    problem, truth = sparse_regression()
    result = solve(problem, StochasticGradMP(block=20))
    assert (result.status, result.message) == ("finished", "no better point in 5 passes over the samples")
    chosen = result.solution != 0
    assert np.array_equal(chosen, truth != 0)
    fitted = np.linalg.lstsq(problem.function.matrix[:, chosen], problem.function.target, rcond=None)[0]
    assert np.allclose(result.solution[chosen], fitted)


def test_a_first_value_of_nan_does_not_stay_the_lowest() -> None:
    lowest = Lowest(from_function(lambda x: float(x[0]), 1))
    looks = [lowest.look_at(np.array([value])) for value in (np.nan, np.nan, 3.0, np.nan, 2.0)]
    assert looks == [True, False, True, False, True]


def test_stochastic_gradmp_with_one_block_is_gradmp() -> None:
    problem, _ = sparse_regression(noise=1.0)
    whole = solve(problem, "tvcs.gradmp")
    block = solve(problem, StochasticGradMP(block=len(problem.function)))
    assert np.array_equal(block.solution, whole.solution)
    assert (block.status, block.message, block.iterations) == (whole.status, whole.message, whole.iterations)


@given(
    seed=st.integers(0, 10**6), l2=st.sampled_from([0.0, 0.1]), sparse=st.booleans(), taken=st.integers(1, 8)
)
def test_least_squares_and_conjugate_gradients_agree(seed: int, l2: float, sparse: bool, taken: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = rng.standard_normal((20, 10)) * (rng.random((20, 10)) < 0.7)
    function = LeastSquares(
        matrix=sp.csr_array(matrix) if sparse else matrix, target=rng.standard_normal(20), l2=l2
    )
    support = np.zeros(10, dtype=bool)
    support[rng.permutation(10)[:taken]] = True
    direct = minimise_on(function, support, np.zeros(10), "least-squares")
    iterated = minimise_on(function, support, rng.standard_normal(10), "cg")
    assert not direct[~support].any()
    assert not iterated[~support].any()
    assert np.abs(function.gradient(direct)[support]).max() < 1e-10
    assert np.abs(function.gradient(iterated)[support]).max() < 1e-7


def test_with_fewer_rows_than_entries_least_squares_take_the_shortest_point() -> None:
    rng = np.random.default_rng(0)
    function = LeastSquares(matrix=rng.standard_normal((4, 9)), target=rng.standard_normal(4))
    support = np.arange(9) < 7
    found = minimise_on(function, support, np.zeros(9), "least-squares")
    assert np.allclose(found[:7], np.linalg.pinv(function.matrix[:, :7]) @ function.target)
    assert np.allclose(minimise_on(function, support, np.zeros(9), "cg"), found, atol=1e-7)


@pytest.mark.parametrize("loss", [Logistic, SquaredHinge, LeastSquares])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("inner", ["auto", "cg"])
def test_newton_reaches_the_restricted_minimum(loss: type[Logistic], sparse: bool, inner: Inner) -> None:
    rng = np.random.default_rng(2)
    matrix = rng.standard_normal((80, 12)) * (rng.random((80, 12)) < 0.6)
    function = loss(
        matrix=sp.csr_array(matrix) if sparse else matrix, target=np.sign(rng.standard_normal(80))
    )
    support = np.arange(12) % 2 == 0
    found = minimise_on(function, support, np.zeros(12), inner)
    assert np.abs(function.gradient(found)[support]).max() < 1e-8


def test_columns_that_are_alike_do_not_send_newton_far() -> None:
    rng = np.random.default_rng(3)
    column = rng.standard_normal((60, 1))
    matrix = np.hstack([column, column * (1 + 1e-14), rng.standard_normal((60, 1))])
    function = Logistic(matrix=matrix, target=np.sign(rng.standard_normal(60)))
    found = minimise_on(function, np.ones(3, dtype=bool), np.zeros(3))
    assert np.abs(function.gradient(found)).max() < 1e-8
    assert np.abs(found).max() < 10.0


def test_newton_ends_early_only_where_the_minimum_is_not_low_enough() -> None:
    rng = np.random.default_rng(4)
    function = Logistic(matrix=rng.standard_normal((90, 8)), target=np.sign(rng.standard_normal(90)))
    support, start = np.arange(8) < 5, np.full(8, 2.0)
    lowest = function.value(minimise_on(function, support, start))
    assert function.value(minimise_on(function, support, start, least=1.001 * lowest)) == lowest
    given_up = function.value(minimise_on(function, support, start, least=0.9 * lowest))
    assert lowest < given_up < function.value(np.where(support, start, 0.0))


def test_the_minimum_of_a_users_function_agrees_with_and_without_a_hessian() -> None:
    problem, _ = sparse_regression()
    f = problem.function
    support = np.arange(40) < 6
    wanted = minimise_on(f, support, np.zeros(40))
    with_hessian = from_function(f.value, 40, f.gradient, f.hessian_product)
    without = from_function(f.value, 40, f.gradient)
    assert np.allclose(minimise_on(with_hessian, support, np.zeros(40)), wanted, atol=1e-8)
    assert np.allclose(minimise_on(without, support, np.zeros(40)), wanted, atol=1e-5)


def test_a_function_that_is_not_convex_goes_down() -> None:
    function = from_function(
        lambda x: float(np.sum(x**4 / 4 - x**2 / 2)),
        3,
        gradient=lambda x: x**3 - x,
        hessian_product=lambda x, v: (3 * x**2 - 1) * v,
    )
    found = minimise_on(function, np.array([True, False, True]), np.array([0.1, 0.0, -0.2]))
    assert np.allclose(found, [1.0, 0.0, -1.0], atol=1e-6)


def test_separable_labels_without_l2_end_with_a_finite_point() -> None:
    function = Logistic(matrix=np.array([[1.0], [2.0], [-1.0]]), target=[1, 1, -1])
    assert np.isfinite(minimise_on(function, np.array([True]), np.zeros(1))).all()


def test_no_time_left_returns_what_was_reached() -> None:
    problem, _ = sparse_regression()
    start = np.ones(40)
    stopped = minimise_on(problem.function, np.arange(40) < 5, start, "cg", lambda: 0.0)
    assert np.array_equal(stopped, np.where(np.arange(40) < 5, 1.0, 0.0))


def test_a_restricted_linear_model_keeps_the_columns_only() -> None:
    matrix = sp.random_array((30, 8), density=0.4, rng=0, format="csr")
    function = Logistic(matrix=matrix, target=np.sign(np.arange(30) - 14.5), l2=0.3)
    reduced = restrict(function, np.array([1, 5]))
    assert isinstance(reduced, Logistic)
    assert reduced.shape == (2,)
    assert reduced.l2 == 0.3
    full = np.zeros(8)
    full[[1, 5]] = [0.5, -1.0]
    assert np.isclose(reduced.value(np.array([0.5, -1.0])), function.value(full))


def test_a_restricted_matrix_point_keeps_its_shape() -> None:
    function = SquaredDistance(to=np.arange(6.0).reshape(2, 3))
    support = np.array([[True, False, True], [False, True, False]])
    assert np.allclose(minimise_on(function, support, np.zeros((2, 3))), np.where(support, function.to, 0.0))
