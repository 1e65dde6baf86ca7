"""Iterative hard thresholding, its steps and its stochastic variant."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optiframe_tvcs.learning.iht import IterativeHardThresholding
from optiframe_tvcs.learning.stochastic import Blocks, StochasticIHT
from optiframe_tvcs.sets.sparse_sets import enlarged, projector
from optiframe_tvcs.sets.three_view import ThreeView

import optiframe
from optiframe import InvalidInput, Minimize, NotConverged, Solver, Unsuited, from_function, solve
from optiframe.problems.objectives.losses import LeastSquares, LinearModel, Logistic, SquaredHinge
from optiframe.problems.objectives.objective import SquaredDistance
from optiframe.problems.sets.vector_sets import Box, Cardinality
from optiframe.records.fields import Array
from optiframe.solving.budget import Budget
from optiframe.solving.result import Status
from optiframe.testing import SolverContract

from .learning_twins import iht, permutation_regression, points, sparse_regression


class TestContract(SolverContract):
    solver = IterativeHardThresholding()

    def instances(self) -> Iterable[Minimize]:
        return [sparse_regression()[0], permutation_regression()[0]]


@pytest.mark.slow
class TestContractOfTheCurvatureStep(TestContract):
    solver = IterativeHardThresholding(step="lipschitz")


@pytest.mark.slow
class TestContractOfAFixedStep(TestContract):
    solver = IterativeHardThresholding(step=0.3)


@pytest.mark.slow
class TestContractOverConvexSets(SolverContract):
    solver = IterativeHardThresholding()


class TestStochasticContract(TestContract):
    solver = StochasticIHT(block=20, full_every=5)
    budget = Budget(iterations=100)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_a_fixed_step_follows_algorithm_1(seed: int) -> None:
    small, _ = sparse_regression(seed, rows=20, size=9, kept=3)
    matrix, _ = permutation_regression(seed, side=3, rows=20)
    for problem in (small, matrix):
        wanted = iht(problem, 0.2, 4)
        for ours, twin in zip(points(IterativeHardThresholding(step=0.2), problem, 4), wanted, strict=True):
            assert np.allclose(ours, twin, atol=1e-12)


def test_the_residual_is_the_length_of_the_last_move_over_its_step() -> None:
    problem, _ = sparse_regression(rows=20, size=9, kept=3)
    solver = IterativeHardThresholding(step=0.2)
    with pytest.warns(NotConverged):
        result = solve(problem, solver, budget={"iterations": 3})
    way = [np.zeros(9), *points(solver, problem, 3)]
    lengths = [float(np.linalg.norm(b - a)) / 0.2 for a, b in pairwise(way)]
    assert list(result.trace["residual"]) == pytest.approx(lengths)


def test_where_every_step_leads_uphill_the_search_stalls() -> None:
    pit = from_function(lambda x: float(np.any(x != 0)), 2, gradient=np.ones_like)
    with pytest.warns(NotConverged, match="no step along the gradient lowers the objective"):
        result = solve(Minimize(pit, over=Box(lower=-9.0)), "tvcs.iht", start=np.zeros(2))
    assert result.status is Status.STALLED
    assert result.solution.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("step", ["backtracking", "lipschitz", 0.5])
def test_a_planted_answer_is_found(step: str | float) -> None:
    for problem, truth in (sparse_regression(), permutation_regression()):
        result = solve(problem, IterativeHardThresholding(step=step))
        assert result.status == "converged"
        assert np.array_equal(result.solution != 0, truth != 0)
        assert np.abs(result.solution - truth).max() < 0.02


@pytest.mark.parametrize("step", ["backtracking", "lipschitz"])
@pytest.mark.parametrize("loss", [LeastSquares, Logistic, SquaredHinge])
def test_the_objective_never_rises(step: str, loss: type[LinearModel]) -> None:
    problem, truth = sparse_regression(rows=30)
    labels = np.sign(problem.function.matrix @ truth)
    problem = Minimize(loss(matrix=problem.function.matrix, target=labels, l2=0.01), over=problem.over)
    with pytest.warns(optiframe.NotConverged):
        result = solve(
            problem, IterativeHardThresholding(step=step), budget={"iterations": 15, "tolerance": 0}
        )
    assert (np.diff(result.trace["objective"]) <= 1e-12).all()


@given(seed=st.integers(0, 10**6), kept=st.integers(1, 6))
def test_the_end_is_a_fixed_point_and_stationary_on_its_support(seed: int, kept: int) -> None:
    problem, _ = sparse_regression(seed, rows=25, size=12, kept=kept, noise=1.0)
    result = solve(problem, "tvcs.iht", budget={"iterations": 2000, "tolerance": 1e-9})
    gradient = problem.function.gradient(result.solution)
    assert np.count_nonzero(result.solution) <= kept
    assert np.abs(gradient[result.solution != 0]).max(initial=0) < 1e-7
    step = result.trace["step"][-1]
    again = problem.over.project(result.solution - step * gradient)
    assert np.allclose(again, result.solution, atol=1e-7)


def test_a_function_of_the_users_own_is_taken() -> None:
    problem, truth = sparse_regression()
    function = problem.function
    own = from_function(function.value, function.shape, gradient=function.gradient)
    result = solve(Minimize(own, over=problem.over), "tvcs.iht")
    assert np.allclose(result.solution, solve(problem, "tvcs.iht").solution, atol=1e-6)
    assert np.array_equal(result.solution != 0, truth != 0)


def test_matrix_points_are_taken() -> None:
    target = np.array([[3.0, 2.0], [2.5, 1.0]])
    over = ThreeView.of_matrix((2, 2), 2, 1, 1)
    result = solve(Minimize(SquaredDistance(to=target), over=over), "tvcs.iht")
    assert np.allclose(result.solution, [[0.0, 2.0], [2.5, 0.0]])


def test_a_start_outside_the_set_is_brought_inside() -> None:
    problem, _ = sparse_regression()
    result = solve(problem, "tvcs.iht", start=np.ones(40))
    assert result.violation == 0.0
    assert result.status == "converged"


@pytest.mark.parametrize("solver", [IterativeHardThresholding(step=1e3), StochasticIHT(step=1e3)])
def test_too_long_a_fixed_step_is_said_to_diverge(solver: Solver) -> None:
    problem, _ = sparse_regression()
    with pytest.warns(optiframe.NotConverged, match="take a shorter step"):
        result = solve(problem, solver)
    assert result.status == "diverged"


@pytest.mark.parametrize("solver", ["tvcs.iht", "tvcs.htp"])
def test_a_curvature_beyond_float64_ends_the_search_for_a_step(solver: str) -> None:
    matrix = np.random.default_rng(0).standard_normal((20, 5))
    problem = Minimize(LeastSquares(matrix=1e150 * matrix, target=matrix[:, 0]), over=Cardinality(size=1))
    with pytest.warns(NotConverged, match="no step along the gradient lowers the objective"):
        assert solve(problem, solver).status == "stalled"


def test_a_curvature_step_without_a_curvature_is_refused_in_words() -> None:
    own = from_function(lambda x: x @ x, 3, gradient=lambda x: 2 * x)
    with pytest.raises(Unsuited, match='take "backtracking" or give a number'):
        solve(Minimize(own, over=Cardinality(size=1)), IterativeHardThresholding(step="lipschitz"))
    with pytest.raises(InvalidInput, match="step"):
        IterativeHardThresholding(step=-1.0)


def test_a_gradient_of_zero_at_the_start_is_the_end() -> None:
    flat = LeastSquares(matrix=np.zeros((3, 4)), target=np.ones(3))
    for step in ("backtracking", "lipschitz"):
        result = solve(Minimize(flat, over=Cardinality(size=2)), IterativeHardThresholding(step=step))
        assert result.status == "converged"
        assert not result.solution.any()


def test_a_bound_of_zero_gives_zero() -> None:
    problem, _ = sparse_regression()
    result = solve(Minimize(problem.function, over=Cardinality(size=0)), "tvcs.iht")
    assert result.status == "converged"
    assert not result.solution.any()


def test_a_set_may_bring_its_own_projector() -> None:
    class Counting(Cardinality):
        name = "counting"

        def projector(self) -> Projector:
            return Projector(self)

    class Projector:
        calls = 0

        def __init__(self, over: Cardinality) -> None:
            self.over = over

        def project(self, v: Array) -> Array:
            Projector.calls += 1
            return self.over.project(v)

    problem, _ = sparse_regression()
    result = solve(Minimize(problem.function, over=Counting(size=5)), IterativeHardThresholding(step=0.5))
    assert Projector.calls == result.iterations


def test_only_sets_of_supports_can_be_enlarged() -> None:
    assert enlarged(Cardinality(size=3), 2) == Cardinality(size=6)
    wider = enlarged(ThreeView.of_matrix((2, 3), 4, 1, [1, 0, 2]), 2)
    assert isinstance(wider, ThreeView)
    assert wider.total == 8
    assert [list(view.caps) for view in wider.views] == [[2, 2], [2, 0, 4]]
    assert enlarged(ThreeView(size=4, total=2), 2) == ThreeView(size=4, total=4)
    assert enlarged(Box(), 2) is None
    assert projector(Box()).project(np.ones(2)).tolist() == [1.0, 1.0]


def test_stochastic_steps_find_a_planted_answer_and_its_residual() -> None:
    problem, truth = sparse_regression(rows=300)
    result = solve(
        problem,
        StochasticIHT(block=30, full_every=10),
        budget={"iterations": 3000, "tolerance": 1e-2},
    )
    assert np.array_equal(result.solution != 0, truth != 0)
    assert np.abs(result.solution - truth).max() < 0.02


def test_one_block_of_all_terms_is_the_full_method() -> None:
    problem, _ = sparse_regression()
    stochastic = points(StochasticIHT(block=1000, step=0.3), problem, 3)
    full = points(IterativeHardThresholding(step=0.3), problem, 3)
    assert np.allclose(stochastic, full)


def test_the_mean_of_the_blocks_gradients_is_the_gradient() -> None:
    problem, _ = sparse_regression(rows=23)
    function, x = problem.function, np.linspace(-1, 1, 40)
    blocks = Blocks(function, 5, np.random.default_rng(0))
    mean = sum(
        chance * function.take(part).gradient(x)
        for chance, part in zip(blocks.chance, blocks.parts, strict=True)
    )
    assert np.allclose(mean, function.gradient(x))
    assert sorted(np.concatenate(blocks.parts)) == list(range(23))


def test_the_stochastic_method_without_a_residual_ends_with_its_budget() -> None:
    problem, _ = sparse_regression()
    with pytest.warns(optiframe.NotConverged):
        result = solve(problem, StochasticIHT(block=10, growth=1), budget={"iterations": 20})
    assert result.status == "iteration_limit"
    assert np.isnan(result.trace["residual"]).all()


def test_an_objective_without_a_minimum_diverges() -> None:
    slope = np.array([1.0, -2.0, 0.5])
    falling = from_function(lambda x: x @ slope, 3, gradient=lambda x: slope)
    with pytest.warns(UserWarning, match="no minimum"):
        result = solve(Minimize(falling, over=Cardinality(size=2)), "tvcs.iht")
    assert result.status is Status.DIVERGED
