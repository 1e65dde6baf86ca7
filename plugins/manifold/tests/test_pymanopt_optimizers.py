"""pymanopt's optimizers by name: the contract, closed forms, limits, and what they cannot take."""

from __future__ import annotations

import math
import signal
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import autograd.numpy as anp
import numpy as np
import pytest
from optiframe_manifold.baselines.pymanopt_optimizers import ConjugateGradient, SteepestDescent, TrustRegions

import optiframe as of
from optiframe import Budget, InvalidInput, Minimize, Problem, Solver, Status, Unsuited, from_function
from optiframe.errors import absent
from optiframe.files.solve_file import SolveFile
from optiframe.problems.objectives.objective import SquaredDistance
from optiframe.records.fields import Array
from optiframe.testing import SolverContract

NAMES = ("pymanopt.steepest-descent", "pymanopt.conjugate-gradient", "pymanopt.trust-regions")
SLOW = "pymanopt.steepest-descent"
COVARIANCE = np.diag([5.0, 4.0, 2.5, 1.0, 0.5]) + 0.1
CLOUD = np.sin(np.arange(15.0)).reshape(5, 3)


def variance(x: Any) -> Any:
    return -anp.sum(x * anp.dot(COVARIANCE, x))


def subspace(over: str = "stiefel") -> Minimize:
    """The two directions of largest variance; the least value is minus the sum of two eigenvalues."""
    return Minimize(from_function(variance, (5, 2)), over=over)


def best_subspace() -> float:
    return -float(np.linalg.eigvalsh(COVARIANCE)[-2:].sum())


class OverManifolds(SolverContract):
    """The contract on a sphere, on orthonormal columns and without constraints."""

    def instances(self) -> Iterable[Problem[Any]]:
        far = SquaredDistance(to=np.array([1.0, -2.0, 2.0]))
        return [Minimize(far, over="sphere"), subspace(), Minimize(far)]

    def optimum(self, problem: Problem[Any]) -> float | None:
        assert isinstance(problem, Minimize)
        return best_subspace() if problem.over.name == "stiefel" else super().optimum(problem)


class TestSteepestDescent(OverManifolds):
    solver: Solver[Any, Any, Any] = SteepestDescent()


@pytest.mark.slow
class TestConjugateGradient(OverManifolds):
    solver = ConjugateGradient()


@pytest.mark.slow
class TestTrustRegions(OverManifolds):
    solver = TrustRegions()


def solved(problem: Problem[Any], solver: Any, **options: Any) -> of.Result[Any, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", of.NotConverged)
        return of.solve(problem, solver, progress=False, **options)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*NAMES, "gradient.projected", "manifold.trust-region"])
@pytest.mark.parametrize("over", ["stiefel", "grassmann"])
def test_the_subspace_of_largest_variance_is_that_of_the_leading_eigenvectors(name: str, over: str) -> None:
    found = solved(subspace(over), name)
    assert found.status is Status.CONVERGED
    assert found.objective == pytest.approx(best_subspace(), rel=1e-9)
    assert found.violation < 1e-12
    leading = np.linalg.eigh(COVARIANCE)[1][:, -2:]
    overlap = np.linalg.svd(leading.T @ found.solution, compute_uv=False)
    np.testing.assert_allclose(overlap, 1.0, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*NAMES, "gradient.projected"])
def test_the_rotation_between_two_clouds_is_kabschs(name: str) -> None:
    angle = 0.7
    turn = np.array(
        [[math.cos(angle), -math.sin(angle), 0], [math.sin(angle), math.cos(angle), 0], [0, 0, 1]]
    )
    moved = CLOUD @ turn + 0.01 * np.cos(np.arange(15.0)).reshape(5, 3)
    misfit = from_function(lambda x: anp.sum((anp.dot(CLOUD, x) - moved) ** 2), (3, 3))
    found = solved(Minimize(misfit, over="rotations"), name)
    left, _, right = np.linalg.svd(CLOUD.T @ moved)
    kabsch = left @ np.diag([1.0, 1.0, np.linalg.det(left @ right)]) @ right
    assert found.objective == pytest.approx(misfit.value(kabsch), rel=1e-9)
    np.testing.assert_allclose(found.solution, kabsch, atol=1e-5)


@pytest.mark.parametrize("name", [*NAMES, "manifold.trust-region"])
def test_the_likeliest_covariance_is_the_samples(name: str) -> None:
    sample = CLOUD.T @ CLOUD / 5 + 0.2 * np.eye(3)

    def likelihood(x: Any) -> Any:
        return anp.trace(anp.dot(sample, anp.linalg.inv(x))) + anp.linalg.slogdet(x)[1]

    found = solved(Minimize(from_function(likelihood, (3, 3)), over="positive-definite"), name)
    assert found.status is Status.CONVERGED
    np.testing.assert_allclose(found.solution, sample, atol=1e-5)


@pytest.mark.parametrize("name", [*NAMES[1:], "manifold.trust-region"])
def test_the_nearest_matrix_of_low_rank_keeps_the_largest_eigenvalues(name: str) -> None:
    whole = CLOUD @ CLOUD.T + np.diag([3.0, 2.0, 0.5, 0.1, 0.1])
    misfit = from_function(lambda y: anp.sum((anp.dot(y, y.T) - whole) ** 2), (5, 2))
    found = solved(Minimize(misfit, over="psd-fixed-rank"), name)
    assert found.objective == pytest.approx(float(np.sum(np.linalg.eigvalsh(whole)[:3] ** 2)), rel=1e-8)


@pytest.mark.parametrize("name", [*NAMES[1:], "manifold.trust-region"])
def test_the_relaxation_of_a_cut_is_cvxpys_where_the_rank_drops_too(name: str) -> None:
    """Enough columns for the semidefinite program, whose answer has a lower rank; without a warning."""
    cp = pytest.importorskip("cvxpy")
    weights = np.abs(np.sin(np.arange(64.0))).reshape(8, 8)
    weights = weights + weights.T
    found = solved(
        Minimize(from_function(lambda y: anp.sum(weights * anp.dot(y, y.T)), (8, 5)), over="elliptope"), name
    )
    x = cp.Variable((8, 8), PSD=True)
    least = cp.Problem(cp.Minimize(cp.sum(cp.multiply(weights, x))), [cp.diag(x) == 1]).solve()
    assert found.objective == pytest.approx(least, rel=1e-5)


@pytest.mark.parametrize("name", [*NAMES, "gradient.projected", "manifold.trust-region"])
def test_a_rotation_and_a_shift_are_found_together(name: str) -> None:
    """Blocks: orthonormal columns, and a shift without constraints; the closed form takes means away."""
    turn = np.linalg.qr(np.sin(np.arange(9.0)).reshape(3, 3))[0]
    moved = CLOUD @ turn + [1.0, -2.0, 0.5] + 0.01 * np.cos(np.arange(15.0)).reshape(5, 3)

    def misfit(x: Any) -> Any:
        return anp.sum((anp.dot(CLOUD, anp.reshape(x[:9], (3, 3))) + x[9:] - moved) ** 2)

    over = {"name": "product", "sizes": [[3, 3], 3], "sets": ["stiefel", "whole-space"]}
    problem = Minimize(from_function(misfit, 12), over=over, start=np.append(np.eye(3), np.zeros(3)))
    found = solved(problem, name, start=np.append(turn, np.zeros(3)))
    one, other = CLOUD - CLOUD.mean(axis=0), moved - moved.mean(axis=0)
    left, _, right = np.linalg.svd(one.T @ other)
    best = left @ right
    least = misfit(np.append(best, moved.mean(axis=0) - CLOUD.mean(axis=0) @ best))
    assert found.objective == pytest.approx(least, rel=1e-6)
    assert of.solve(problem, progress=False).settings["solver"]["name"] == "pymanopt.trust-regions"


def test_an_answer_without_a_solver_named_is_by_second_order_and_says_so() -> None:
    found = of.solve(subspace(), progress=False)
    assert found.settings["solver"]["name"] == "pymanopt.trust-regions"
    assert "'stiefel' is a manifold" in found.findings[0].text
    by_values = from_function(lambda x: float(variance(x)), (5, 2), derivatives="differences")
    assert (
        of.solve(Minimize(by_values, over="stiefel"), progress=False).settings["solver"]["name"] == NAMES[1]
    )


def test_a_file_names_the_set_and_the_solver(tmp_path: Path) -> None:
    (tmp_path / "ball.toml").write_text(
        """
        [problem]
        name = "minimize"
        over = "sphere"
        [problem.objective]
        name = "squared-distance"
        to = [3.0, 4.0]
        [solver]
        name = "pymanopt.conjugate-gradient"
        rule = "PolakRibiere"
        """,
        encoding="utf-8",
    )
    file = SolveFile.read(tmp_path / "ball.toml")
    found = of.solve(file.problem, file.solver, progress=False)
    np.testing.assert_allclose(found.solution, [0.6, 0.8], atol=1e-6)


def test_an_objective_that_rotations_change_is_pointed_out_over_subspaces() -> None:
    misfit = SquaredDistance(to=np.ones((4, 2)))
    found = solved(Minimize(misfit, over="grassmann"), "pymanopt.conjugate-gradient")
    (finding,) = (each for each in found.findings if each.identifier == "manifold.not-invariant")
    assert "take the set 'stiefel'" in finding.text
    assert not [f for f in solved(subspace("grassmann"), NAMES[2]).findings if "rotat" in f.text]


@pytest.mark.parametrize("name", [*NAMES, "gradient.projected", "manifold.trust-region"])
@pytest.mark.parametrize("over", ["stiefel", "grassmann"])
def test_a_run_that_ends_at_a_saddle_point_says_so(name: str, over: str) -> None:
    """Other eigenvectors are stationary as well, and one direction in six leads down from these."""
    second = np.linalg.eigh(COVARIANCE)[1][:, [1, 4]]
    found = solved(subspace(over), name, start=second)
    saddle = found.objective > best_subspace() + 1e-3
    assert [each.identifier == "objective.not-a-minimum" for each in found.findings] == [True] * saddle
    if name != "gradient.projected":  # whose rounding may lead away from it
        assert saddle
    best = solved(subspace(over), name)
    assert not best.findings


def test_a_matrix_at_a_maximum_says_so() -> None:
    hill = from_function(lambda x: -anp.sum((x - np.eye(3)) ** 2), (3, 3))
    found = solved(Minimize(hill, over="positive-definite", start=np.eye(3)), NAMES[1])
    assert [each.identifier for each in found.findings] == ["objective.not-a-minimum"]


@pytest.mark.parametrize("name", NAMES)
def test_a_start_outside_is_projected_and_one_with_nothing_near_is_refused(name: str) -> None:
    found = solved(subspace(), name, start=np.ones((5, 2)), budget={"iterations": 3})
    assert found.violation < 1e-12
    problem = Minimize(SquaredDistance(to=np.eye(2)), over="positive-definite", start=-np.eye(2))
    with pytest.raises(InvalidInput, match=r"start is 1\.41 outside the set 'positive-definite'"):
        of.solve(problem, name)


@pytest.mark.parametrize("name", NAMES)
def test_a_singular_start_ends_in_words(name: str) -> None:
    problem = Minimize(SquaredDistance(to=np.eye(2)), over="positive-definite", start=np.zeros((2, 2)))
    found = solved(problem, name)
    assert found.status is Status.STALLED
    assert "singular matrix" in found.message


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("mistake", [ZeroDivisionError("mine"), np.linalg.LinAlgError("mine")])
def test_what_a_function_raises_comes_to_its_author(name: str, mistake: Exception) -> None:
    calls = []

    def raising(x: Array) -> float:
        calls.append(x)
        if len(calls) > 3:
            raise mistake
        return float(np.sum(x**4))

    function = from_function(
        raising, 3, gradient=lambda x: 4 * x**3, hessian_product=lambda x, v: 12 * x**2 * v
    )
    with pytest.raises(type(mistake), match="mine"):
        of.solve(Minimize(function, over="sphere"), name, progress=False)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_function_without_values_at_the_start_has_diverged_and_one_with_a_domain_is_kept_in_it(
    name: str,
) -> None:
    nowhere = from_function(lambda x: x[0] * math.nan, 3)
    assert solved(Minimize(nowhere, over="sphere"), name).status is Status.DIVERGED
    # Its least value is at the edge of the domain; nan beyond.
    edged = from_function(lambda x: -anp.sqrt(0.9 - x[0]) * 0 + anp.sqrt(0.9 - x[0]), 3)
    found = solved(Minimize(edged, over="sphere"), name, start=[0.0, 0.6, 0.8], budget={"iterations": 200})
    assert math.isfinite(found.objective)
    assert found.objective < 0.3


@pytest.mark.parametrize("name", NAMES)
def test_limits_hold(name: str) -> None:
    quartic = Minimize(from_function(lambda x: anp.sum(x**4), 6), over="sphere")
    by_calls = solved(quartic, name, budget=Budget(evaluations=7))
    assert by_calls.status is Status.EVALUATION_LIMIT
    assert 0 < max(by_calls.history["evaluations"]) <= 7
    assert solved(quartic, name, budget={"time": 1e-6, "tolerance": 0.0}).status is Status.TIME_LIMIT
    few = solved(quartic, name, budget={"iterations": 2, "tolerance": 0.0})
    assert (few.status, few.iterations) == (Status.ITERATION_LIMIT, 2)


@pytest.mark.parametrize("name", NAMES)
def test_the_residual_is_the_norm_of_the_riemannian_gradient_at_the_answer(name: str) -> None:
    found = solved(subspace(), name, budget={"iterations": 3})
    x = found.solution
    slope = subspace().function.gradient(x)
    along = slope - x @ (x.T @ slope + slope.T @ x) / 2
    assert found.trace["residual"][-1] == pytest.approx(float(np.linalg.norm(along)), rel=1e-9)


@pytest.mark.parametrize(
    ("problem", "solver", "message"),
    [
        (Minimize(SquaredDistance(to=np.ones(3)), over="simplex"), NAMES[0], "'simplex' is no manifold"),
        (
            Minimize(
                SquaredDistance(to=np.ones(4)),
                over={"name": "product", "sizes": [2, 2], "sets": ["sphere", "simplex"]},
            ),
            NAMES[0],
            "'simplex' is no manifold",
        ),
        (Minimize(SquaredDistance(to=np.ones(1)), over="sphere"), NAMES[0], "isolated at this size"),
        (Minimize(SquaredDistance(to=np.ones((2, 2))), over="grassmann"), NAMES[1], "isolated"),
        (
            Minimize(SquaredDistance(to=np.eye(3)), over="rotations"),
            "manifold.trust-region",
            "take pymanopt.trust-regions",
        ),
        (
            Minimize(from_function(lambda x: float(x @ x), 3, gradient=lambda x: 2 * x), over="sphere"),
            NAMES[2],
            "no hessian product",
        ),
    ],
)
def test_what_they_cannot_take_is_refused_in_words(problem: Problem[Any], solver: str, message: str) -> None:
    with pytest.raises(Unsuited, match=message):
        of.solve(problem, solver)


def test_without_pymanopt_the_command_is_named_and_projections_are_recommended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from optiframe import errors

    found = errors.find_spec
    monkeypatch.setattr(errors, "find_spec", lambda name: None if name == "pymanopt" else found(name))
    told = absent(("pymanopt",), "optiframework-manifold")
    assert told is not None
    assert "pip install 'pymanopt>=2.2'" in told
    with pytest.raises(Unsuited, match="pip install"):
        of.solve(subspace(), NAMES[0])
    assert of.solve(subspace(), progress=False).settings["solver"]["name"] == "gradient.projected"


def test_an_interrupt_ends_a_run_with_the_best_point_so_far() -> None:
    calls = []

    def interrupting(x: Array) -> float:
        calls.append(x)
        if len(calls) == 5:
            signal.raise_signal(signal.SIGINT)
        return float(np.sum(x**4))

    function = from_function(interrupting, 6, gradient=lambda x: 4 * x**3)
    found = solved(Minimize(function, over="sphere"), NAMES[1], budget={"tolerance": 0.0})
    assert found.status is Status.CANCELLED
    assert found.violation < 1e-12
