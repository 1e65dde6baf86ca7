"""The yardsticks, pymanopt and L-BFGS, on the objectives that the trust region takes."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import autograd
import autograd.numpy as anp
import numpy as np
import pytest
from optiframe_manifold.baselines.lbfgs import FactorLBFGS
from optiframe_manifold.baselines.pymanopt_solver import Pymanopt
from optiframe_manifold.geometry.fixed_rank import Factors, FixedRank, stacked
from optiframe_manifold.low_rank import LowRank, Rank
from optiframe_manifold.objective.completion import KnownEntries
from optiframe_manifold.objective.dense_objective import OfMatrix
from optiframe_manifold.solvers.trust_region import TrustRegion

from optiframe import (
    InvalidInput,
    Minimize,
    NotConverged,
    Objective,
    Problem,
    Solver,
    Status,
    Unsuited,
    solve,
)
from optiframe.problems.objectives.from_function import from_function
from optiframe.problems.objectives.objective import SquaredDistance
from optiframe.records.fields import Array
from optiframe.testing import SolverContract, check_derivatives

from .cases import compared, noisy, planted, random_factors

pytestmark = pytest.mark.slow  # seconds together; `make quick` has others of their kind


def comparisons() -> Minimize:
    return Minimize(compared(), over=Rank(8, 8, 2))


class TestPymanoptTrustRegion(SolverContract):
    solver: Solver[Any, Any, Any] = Pymanopt()

    def instances(self) -> Iterable[Problem[Any]]:
        return [planted(0)[0], noisy()]

    def optimum(self, problem: Problem[Any]) -> float | None:
        return 0.0 if isinstance(problem, Minimize) and problem.function.ridge == 0.0 else None


class TestPymanoptConjugateGradient(TestPymanoptTrustRegion):
    solver = Pymanopt(optimizer="conjugate-gradient", init="random")


@pytest.mark.slow
class TestPymanoptSteepestDescent(TestPymanoptTrustRegion):
    solver = Pymanopt(optimizer="steepest-descent")


def test_steepest_descent_takes_no_preconditioner() -> None:
    solver = Pymanopt(optimizer="steepest-descent", precondition=True)
    with pytest.raises(Unsuited, match="takes no preconditioner"):
        solve(comparisons(), solver, progress=False)


class TestFactorLBFGS(TestPymanoptTrustRegion):
    solver = FactorLBFGS()


@pytest.mark.parametrize(
    "solver",
    [
        Pymanopt(),
        Pymanopt(precondition=True),
        Pymanopt(derivatives="autograd"),
        Pymanopt(optimizer="conjugate-gradient"),
        Pymanopt(optimizer="steepest-descent"),
        Pymanopt(optimizer="conjugate-gradient", precondition=True, derivatives="autograd"),
        FactorLBFGS(),
        FactorLBFGS(init="random", memory=5),
    ],
    ids=repr,
)
def test_every_method_reaches_the_trust_regions_objective(solver: Solver[Any, Any, Any]) -> None:
    problem = noisy()
    expected = solve(problem, TrustRegion(), progress=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)  # first-order methods stall a little earlier
        found = solve(problem, solver, progress=False)
    assert found.objective == pytest.approx(expected.objective, rel=1e-8)
    assert problem.over.distance(found.solution, expected.solution) < 1e-3


def test_pymanopt_takes_the_same_steps_with_our_derivatives_and_with_autograd() -> None:
    with pytest.warns(NotConverged):
        ours, theirs = (
            solve(comparisons(), Pymanopt(derivatives=which), progress=False, budget={"iterations": 4})
            for which in ("ours", "autograd")
        )
    np.testing.assert_allclose(ours.trace["objective"], theirs.trace["objective"], rtol=1e-9)
    assert ours.trace["products"] == theirs.trace["products"]


def test_pymanopt_ends_at_its_time_limit_with_a_point() -> None:
    with pytest.warns(NotConverged):
        found = solve(comparisons(), Pymanopt(), progress=False, budget={"time": 1e-6, "tolerance": 0.0})
    assert found.status is Status.TIME_LIMIT
    assert found.solution is not None


def test_lbfgs_residual_is_the_riemannian_gradient_norm() -> None:
    problem, _ = planted(1, ridge=0.1)
    with pytest.warns(NotConverged):
        found = solve(problem, FactorLBFGS(), progress=False, budget={"iterations": 3})
    space, point = FixedRank(14, 11, 2), Factors(found.solution)
    gradient = space.euclidean_to_riemannian_gradient(point, stacked(problem.function.gradient(point.matrix)))
    assert found.trace["residual"][-1] == pytest.approx(space.norm(point, gradient))


@pytest.mark.parametrize(
    "objective",
    [
        noisy().function,
        compared(),
        compared(penalty="frobenius", weight=np.linspace(0, 1, 200)),
        compared(penalty="none"),
        OfMatrix(objective=from_function(lambda x: anp.sum(anp.cos(x)), (8, 8))),
    ],
    ids=["known entries", "log-sum-exp", "frobenius", "none", "of matrix"],
)
def test_the_naive_form_has_the_objectives_value_and_gradient(objective: Objective) -> None:
    x = random_factors(*objective.shape, 2, np.random.default_rng(0))
    naive = objective.naive
    assert naive is not None
    assert naive(x.dense()) == pytest.approx(objective.value(x), rel=1e-12)
    slope = autograd.grad(naive)(x.dense())
    np.testing.assert_allclose(objective.gradient(x).left, slope @ x.right, rtol=1e-9, atol=1e-9)


class Flattened(Objective):
    """An objective over factors as one over a vector of both, for the core's check of derivatives."""

    name = "flattened"
    of: Objective
    rank: int

    @property
    def shape(self) -> tuple[int, ...]:
        return (sum(self.of.shape) * self.rank,)

    def _factors(self, flat: Array) -> LowRank:
        return LowRank(*np.split(flat.reshape(-1, self.rank).copy(), [self.of.shape[0]]))

    def value(self, x: Array) -> float:
        return self.of.value(self._factors(x))

    def gradient(self, x: Array) -> Array:
        return stacked(self.of.gradient(self._factors(x))).ravel()

    def hessian_product(self, x: Array, v: Array) -> Array:
        return stacked(self.of.hessian_product(self._factors(x), self._factors(v))).ravel()


@pytest.mark.parametrize("ridge", [0.0, 0.4])
def test_derivatives_of_completion_fit_its_values(ridge: float) -> None:
    check_derivatives(Flattened(of=planted(1, ridge=ridge)[0].function, rank=2))


def test_derivatives_of_a_function_of_a_matrix_fit_its_values() -> None:
    target = np.random.default_rng(0).standard_normal((5, 4))
    check_derivatives(Flattened(of=OfMatrix(objective=SquaredDistance(to=target)), rank=2))
    curved = from_function(lambda x: anp.sum(x**4) + anp.sum(x) ** 2, (5, 4))
    check_derivatives(Flattened(of=OfMatrix(objective=curved), rank=3))


def test_completion_counts_an_entry_given_twice_twice() -> None:
    once = KnownEntries(rows=2, columns=2, row=[0, 1], column=[1, 0], entry=[1.0, 2.0])
    twice = KnownEntries(rows=2, columns=2, row=[1, 0, 0], column=[0, 1, 1], entry=[2.0, 1.0, 1.0])
    x = random_factors(2, 2, 1, np.random.default_rng(0))
    misfit = x.at([0], [1])[0] - 1.0
    assert twice.value(x) == pytest.approx(once.value(x) + misfit**2 / 2)
    slope = twice.gradient(x).left - once.gradient(x).left
    np.testing.assert_allclose(slope[0], misfit * x.right[1])


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"row": [0, 9]}, "row 9 of known entry 1 is outside the matrix; it has rows 0 to 3"),
        ({"column": [0]}, "2, 1 and 2"),
        ({"entry": [1.0, np.nan]}, "finite"),
        ({"row": [0.5, 1.0]}, "whole numbers"),
        ({"row": [-1, 0]}, "row -1"),
    ],
)
def test_known_entries_that_make_no_sense_are_refused(given: dict[str, Any], why: str) -> None:
    good: dict[str, Any] = {"rows": 4, "columns": 3, "row": [0, 1], "column": [0, 1], "entry": [1.0, 2.0]}
    with pytest.raises(InvalidInput, match=why):
        KnownEntries(**{**good, **given})


def test_a_function_of_a_vector_is_no_function_of_a_matrix() -> None:
    with pytest.raises(InvalidInput, match="rows and columns"):
        OfMatrix(objective=SquaredDistance(to=np.ones(3)))


@pytest.mark.parametrize("solver", [Pymanopt(), FactorLBFGS()])
def test_a_set_of_arrays_is_refused(solver: Solver[Any, Any, Any]) -> None:
    with pytest.raises(Unsuited):
        solve(Minimize(SquaredDistance(to=np.ones(3))), solver, progress=False)


def test_autograd_without_a_naive_form_is_refused() -> None:
    problem = Minimize(OfMatrix(objective=SquaredDistance(to=np.ones((3, 3)))), over=Rank(3, 3, 1))
    with pytest.raises(Unsuited, match="not written for autograd"):
        solve(problem, Pymanopt(derivatives="autograd"), progress=False)


def test_an_objective_over_factors_is_made_of_one_by_name() -> None:
    table = {"name": "of-matrix", "objective": {"name": "squared-distance", "to": [[1.0, 2.0], [3.0, 4.0]]}}
    problem = Minimize(table, over={"name": "rank", "rows": 2, "columns": 2, "rank": 1})
    assert solve(problem, "manifold.trust-region", progress=False).objective == pytest.approx(
        np.linalg.svd([[1.0, 2.0], [3.0, 4.0]], compute_uv=False)[1] ** 2 / 2
    )


@pytest.mark.parametrize("optimizer", ["trust-region", "conjugate-gradient"])
def test_pymanopt_is_not_started_where_the_gradient_vanishes(optimizer: str) -> None:
    nothing = KnownEntries(rows=5, columns=4, row=[], column=[], entry=[])
    result = solve(Minimize(nothing, over=Rank(5, 4, 2)), "manifold.pymanopt", optimizer=optimizer)
    assert result.status is Status.CONVERGED
    assert result.objective == 0.0


@pytest.mark.parametrize("solver", [Pymanopt(), FactorLBFGS()])
@pytest.mark.parametrize("size", [1e100, 1e200])
def test_data_beyond_the_range_of_numbers_end_in_words(solver: Any, size: float) -> None:
    f = planted(1)[0].function
    known = KnownEntries(rows=14, columns=11, row=f.row, column=f.column, entry=f.entry * size)
    with pytest.warns(NotConverged, match="finite|infinite|no lower point"):
        result = solve(Minimize(known, over=Rank(14, 11, 2)), solver, progress=False)
    assert result.status in (Status.DIVERGED, Status.STALLED)
