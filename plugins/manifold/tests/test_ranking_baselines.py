"""The rivals of the paper, on collaborative-ranking problems: BFGDB, SPG and the relaxation by CVXPY."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optiframe_manifold.answer import Rankings
from optiframe_manifold.baselines.bfgd import BiFactoredGradientDescent, barrier
from optiframe_manifold.baselines.convex import ConvexRelaxation
from optiframe_manifold.baselines.nuclear import gap
from optiframe_manifold.baselines.spg import SpectralProjectedGradient, spectral_projected_gradient
from optiframe_manifold.low_rank import LowRank
from optiframe_manifold.objective.btl import BtlObjective
from optiframe_manifold.objective.dense_likelihood import DenseBtl
from optiframe_manifold.problem import CollaborativeRanking

import optiframe
from optiframe import InvalidInput, NotConverged, Problem, Solver, Status, Unsuited, solve
from optiframe.problems.sets.matrix_sets import NuclearBall
from optiframe.records.fields import Array
from optiframe.solving.budget import Budget
from optiframe.testing import SolverContract, check_derivatives

from .cases import drawn

pytestmark = pytest.mark.slow  # seconds together; `make quick` has others of their kind


def small(density: float = 4.0, **more: Any) -> CollaborativeRanking:
    problem: CollaborativeRanking = drawn(8, 6, density, **more)
    return problem


def weighted() -> CollaborativeRanking:
    """With ties, weights, and a user without a comparison."""
    rng = np.random.default_rng(3)
    user, left = rng.integers(5, size=60), rng.integers(5, size=60)
    right = (left + rng.integers(1, 5, size=60)) % 5
    comparisons = {
        "user": user,
        "left": left,
        "right": right,
        "label": [None if rng.random() < 0.2 else a for a in left.tolist()],
        "weight": rng.random(60) + 0.5,
    }
    problem: CollaborativeRanking = optiframe.problem(
        "collaborative-ranking", comparisons=comparisons, users=range(6), rank=2
    )
    return problem


def factors(shape: tuple[int, int], rank: int, seed: int, size: float = 0.2) -> LowRank:
    rng = np.random.default_rng(seed)
    return LowRank(size * rng.standard_normal((shape[0], rank)), rng.standard_normal((shape[1], rank)))


class TestBfgd(SolverContract):
    solver: Solver[Any, Any, Any] = BiFactoredGradientDescent(growth=20.0, change=1e-4)
    budget = Budget(iterations=300)

    def instances(self) -> Iterable[Problem[Any]]:
        return [small(), weighted()]


class TestBfgdThatEndsRoundsAtTheBound(TestBfgd):
    solver = BiFactoredGradientDescent(growth=20.0, change=1e-4, outside="end")


class TestSpg(SolverContract):
    solver: Solver[Any, Any, Any] = SpectralProjectedGradient(alpha=0.5)
    budget = Budget(iterations=200)

    def instances(self) -> Iterable[Problem[Any]]:
        return [small(), weighted()]


class TestSpgFromZeroOnThePenalizedProblem(TestSpg):
    solver = SpectralProjectedGradient(radius=3.0, init="zero", penalized=True, cut=False, memory=1)

    def instances(self) -> Iterable[Problem[Any]]:
        return [small(rank=6)]  # of full rank, so that no answer is outside

    def optimum(self, problem: Problem[Any]) -> float | None:
        assert isinstance(problem, CollaborativeRanking)
        return exact(problem, radius=3.0, penalized=True)


class TestConvex(SolverContract):
    solver: Solver[Any, Any, Any] = ConvexRelaxation(alpha=0.5, engine="CLARABEL")
    seconds = 3.0

    def instances(self) -> Iterable[Problem[Any]]:
        return [drawn(5, 4, 2.0)]


def exact(problem: CollaborativeRanking, **how: Any) -> float:
    """The least value of the relaxation, by an interior-point method."""
    solver = ConvexRelaxation(engine="CLARABEL", cut=False, **how)
    found = solve(problem, solver, progress=False).solution
    return problem.likelihood.value(found.factors) if solver.penalized else loss(problem, found)


def loss(problem: CollaborativeRanking, found: Rankings) -> float:
    """What the rivals minimize: the likelihood without its penalty."""
    without: CollaborativeRanking = problem.model_copy(update={"penalty": "none"})
    return without.likelihood.value(found.factors)


def step_by_step(problem: CollaborativeRanking, start: LowRank, alpha: float) -> list[Array]:
    """One round of BFGDB without a step to shorten, in dense matrices: the first three points."""
    f, (u, v) = DenseBtl(of=problem.likelihood.unpenalized()), (start.left, start.right)
    tau = u.shape[0] * v.shape[0] / f.value(u @ v.T)
    step = 2 / 187 * min(1 / np.linalg.norm(u) ** 2, 1 / np.linalg.norm(v) ** 2)
    points = []
    for _ in range(3):
        x = u @ v.T
        slope = f.gradient(x) + 2 * x / alpha**2 / (1 - (x / alpha) ** 2) / tau
        u, v = u - step * slope @ v, v - step * slope.T @ u
        points.append(u @ v.T)
    return points


@pytest.mark.parametrize("problem", [small(), weighted()], ids=["drawn", "weighted"])
@pytest.mark.parametrize("penalty", ["none", "frobenius", "log-sum-exp"])
def test_the_objective_of_a_matrix_is_that_of_its_factors(
    problem: CollaborativeRanking, penalty: str
) -> None:
    f = problem.likelihood
    f = BtlObjective(**{**{k: getattr(f, k) for k in type(f).model_fields}, "penalty": penalty})
    x = factors(problem.shape, 2, 1)
    dense = DenseBtl(of=f)
    assert dense.value(x.dense()) == pytest.approx(f.value(x), rel=1e-12)
    slope = dense.gradient(x.dense())
    np.testing.assert_allclose(slope @ x.right, f.gradient(x).left, rtol=1e-9, atol=1e-9)
    check_derivatives(dense)


def test_the_baselines_minimize_the_loss_alone() -> None:
    problem = weighted()
    answer = problem.from_factors(factors(problem.shape, 2, 0))
    assert problem.likelihood.unpenalized().value(answer.factors) == loss(problem, answer)


@given(seed=st.integers(0, 1000), alpha=st.floats(0.5, 3.0))
def test_the_barrier_is_its_formula_and_its_gradient_fits(seed: int, alpha: float) -> None:
    x = factors((6, 5), 2, seed)
    x = LowRank(x.left * (0.9 * alpha / x.largest()), x.right)
    found = barrier(x, alpha)
    assert found is not None
    height, push, most = found
    assert height == pytest.approx(-np.log(1 - (x.dense() / alpha) ** 2).sum(), rel=1e-12)
    assert most == pytest.approx(np.abs(x.dense()).max())
    slope = 2 * x.dense() / (alpha**2 - x.dense() ** 2)
    np.testing.assert_allclose(push.left, slope @ x.right, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(push.right, slope.T @ x.left, rtol=1e-9, atol=1e-9)


def test_the_barrier_is_not_defined_at_the_bound_or_beyond() -> None:
    x = LowRank(np.array([[1.0], [0.5]]), np.array([[1.0], [-0.2]]))
    assert barrier(x, 1.0) is None
    assert barrier(x, 1.0 + 1e-9) is not None


def test_bfgd_takes_the_steps_of_the_slow_twin() -> None:
    problem = small()
    start = factors(problem.shape, 2, 5, size=0.05)
    with pytest.warns(NotConverged):
        found = solve(
            problem,
            BiFactoredGradientDescent(outside="end"),
            start=problem.from_factors(start),
            progress=False,
            budget={"iterations": 3},
        )
    # Both factors move at once in the method; in the twin as well, from the same point.
    expected = step_by_step(problem, start, 1.0)[-1]
    np.testing.assert_allclose(found.solution.factors.dense(), expected, rtol=1e-9, atol=1e-12)


def test_bfgd_makes_the_rounds_of_eq_28_and_stays_inside() -> None:
    problem = small(density=10.0)
    solver = BiFactoredGradientDescent(growth=3.0, change=1e-3)
    found = solve(problem, solver, progress=False)
    assert found.status is Status.FINISHED
    tau, entries = found.trace["tau"][0], 48
    rounds = math.ceil((math.log(entries) - math.log(1e-3) - math.log(tau)) / math.log(3.0))
    assert found.trace["round"][-1] == rounds
    assert found.trace["residual"][-1] == pytest.approx(entries / found.trace["tau"][-1])
    assert max(found.trace["largest"]) < 1.0
    within = zip(
        itertools.pairwise(found.trace["round"]), itertools.pairwise(found.trace["minimized"]), strict=True
    )
    assert all(after <= before for (one, other), (before, after) in within if one == other)


def test_a_start_beyond_the_bound_is_scaled_and_said() -> None:
    problem = small()
    start = problem.from_factors(factors(problem.shape, 2, 0, size=5.0))
    with pytest.warns(NotConverged):
        found = solve(
            problem, BiFactoredGradientDescent(), start=start, progress=False, budget={"iterations": 1}
        )
    assert any("it was scaled to 0.95" in finding.text for finding in found.findings)
    assert found.trace["largest"][0] < 1.0


def test_a_start_that_is_not_finite_is_refused() -> None:
    problem = small()
    bad = factors(problem.shape, 2, 0)
    bad.left[0, 0] = np.nan
    with pytest.raises(InvalidInput, match="finite"):
        solve(problem, BiFactoredGradientDescent(), start=problem.from_factors(bad), progress=False)


@pytest.mark.parametrize("radius", [0.5, 4.0])
def test_spg_reaches_the_value_of_the_convex_program(radius: float) -> None:
    problem = drawn(5, 4, 2.0)
    solver = SpectralProjectedGradient(radius=radius, cut=False)
    found = solve(problem, solver, progress=False, budget={"tolerance": 1e-6})
    assert found.status is Status.CONVERGED
    assert loss(problem, found.solution) == pytest.approx(exact(problem, radius=radius), rel=1e-5)
    x = found.solution.factors.dense()
    assert np.linalg.norm(x, "nuc") <= radius * (1 + 1e-9)


def test_scs_comes_near_the_exact_value() -> None:
    problem = drawn(5, 4, 2.0)
    found = solve(problem, "btl.convex", alpha=0.5, cut=False, progress=False)
    assert loss(problem, found.solution) == pytest.approx(exact(problem, alpha=0.5), rel=1e-3)


@given(seed=st.integers(0, 1000), radius=st.floats(0.1, 10.0))
def test_the_certificate_bounds_the_gap(seed: int, radius: float) -> None:
    dense, ball = DenseBtl(of=drawn(5, 4, 4.0).likelihood.unpenalized()), NuclearBall(radius=radius)
    rng = np.random.default_rng(seed)
    x, other = (ball.project(rng.standard_normal((5, 4))) for _ in range(2))
    value, slope = dense.value_and_gradient(x)
    assert value - dense.value(other) <= gap(x, slope, radius) + 1e-9


def test_spg_takes_newtons_step_on_a_parabola_of_one_curvature() -> None:
    target = np.array([[3.0, 0.0], [0.0, 1.0]])

    def parabola(x: Array) -> tuple[float, Array]:
        return float(np.sum((x - target) ** 2)), 2 * (x - target)

    search = spectral_projected_gradient(parabola, lambda x: x, np.zeros((2, 2)))
    points = list(itertools.islice(search, 3))
    np.testing.assert_allclose(points[1].x, target)
    assert points[0].step == pytest.approx(0.5)


def test_spg_without_a_radius_asks_for_one() -> None:
    problem = weighted()
    with pytest.raises(Unsuited, match="give alpha"):
        solve(problem, "btl.spg", progress=False)
    assert SpectralProjectedGradient(alpha=2.0).radius_for(problem) == pytest.approx(2 * math.sqrt(2 * 6 * 5))


def test_the_oracle_takes_the_largest_true_score() -> None:
    assert SpectralProjectedGradient().radius_for(small()) == pytest.approx(math.sqrt(2 * 8 * 6))


def test_an_answer_cut_is_of_the_problems_rank_and_the_other_is_not() -> None:
    problem = small()
    for cut in (True, False):
        with pytest.warns(NotConverged):
            found = solve(
                problem, "btl.spg", cut=cut, progress=False, budget={"iterations": 20, "tolerance": 0.0}
            )
        assert (found.solution.factors.rank <= 2) == cut
        assert (found.violation == 0.0) == cut


def test_the_rivals_share_metrics_and_find_the_rankings() -> None:
    problem = drawn(20, 15, 10.0)
    ours = solve(problem, "manifold.trust-region", progress=False).metrics
    for name, parameters in (("btl.bfgd", {"growth": 8.0, "change": 1e-4}), ("btl.spg", {"radius": 8.0})):
        found = solve(problem, name, progress=False, budget={"tolerance": 1e-4}, **parameters)
        assert found.metrics.keys() == ours.keys()
        assert found.metrics["kendall_tau"] > ours["kendall_tau"] - 0.1
