"""The trust-region loop and its solver: planted answers, slow twins, starts, limits, bad input."""

from __future__ import annotations

import math
import signal
import warnings
from collections.abc import Iterable
from typing import Any

import autograd.numpy as anp
import numpy as np
import pymanopt
import pytest
from optiframe_manifold.geometry.fixed_rank import Factors, FixedRank
from optiframe_manifold.geometry.objective_adapters import OfFactors
from optiframe_manifold.geometry.positive_rank_one import PositiveRankOne, Vectors
from optiframe_manifold.low_rank import LowRank, Rank
from optiframe_manifold.objective.completion import KnownEntries
from optiframe_manifold.objective.dense_objective import OfMatrix
from optiframe_manifold.solvers.starts import LARGEST, completed, random_start, spectral_start
from optiframe_manifold.solvers.trust_region import TrustRegion
from optiframe_manifold.solvers.trust_region_loop import truncated_cg, trust_region
from optiframe_rankone.completion.objective import RankOneLeastSquares
from optiframe_rankone.completion.problem import RankOneCompletion

from optiframe import (
    InvalidInput,
    Minimize,
    NotConverged,
    Objective,
    Problem,
    Status,
    Unsuited,
    solve,
    solver,
)
from optiframe.problems.objectives.from_function import from_function
from optiframe.problems.objectives.objective import SquaredDistance
from optiframe.problems.sets.vector_sets import Box
from optiframe.records.fields import Array
from optiframe.testing import SolverContract

from .cases import Terrain, compared, noisy, planted, random_factors

pytestmark = pytest.mark.slow  # seconds together; `make quick` has others of their kind


def run(problem: Problem[Any], start: Any = None, seed: int = 0, **parameters: Any) -> Any:
    budget = parameters.pop("budget", {"tolerance": 1e-8})
    return solve(problem, TrustRegion(**parameters), seed=seed, start=start, budget=budget, progress=False)


def small_likelihood(count: int = 120) -> Minimize:
    """Comparisons by a few users of a few items, with the paper's penalty."""
    return Minimize(compared(12, count), over=Rank(12, 12, 2))


class TestTrustRegion(SolverContract):
    solver = TrustRegion()

    def instances(self) -> Iterable[Problem[Any]]:
        return [planted(0)[0], noisy(), small_likelihood(), Minimize(SquaredDistance(to=np.arange(3.0)))]

    def optimum(self, problem: Problem[Any]) -> float | None:
        exact = isinstance(problem, Minimize) and problem.function.name in (
            "squared-distance",
            "known-entries",
        )
        return 0.0 if exact and getattr(problem.function, "ridge", 0.0) == 0.0 else None


class TestTrustRegionFromARandomStartWithoutPreconditioner(TestTrustRegion):
    solver = TrustRegion(init="random", precondition=False)


@pytest.mark.parametrize("init", ["spectral", "random"])
@pytest.mark.parametrize("precondition", [True, False])
def test_a_planted_matrix_is_recovered(init: str, precondition: bool) -> None:
    problem, truth = planted(1, rows=30, columns=25, rank=3)
    result = run(problem, init=init, precondition=precondition)
    assert result.status is Status.CONVERGED
    assert problem.over.distance(result.solution, truth) < 1e-7
    assert result.trace["residual"][-1] <= 1e-8


def test_the_likelihood_is_minimized_to_a_gradient_norm_of_a_millionth_from_many_starts() -> None:
    # With ten comparisons a user there are several local minima; with enough, one.
    problem = small_likelihood(1200)
    results = [run(problem, init="random", seed=seed, budget={"tolerance": 1e-6}) for seed in range(6)]
    results.append(run(problem, budget={"tolerance": 1e-6}))
    assert {r.status for r in results} == {Status.CONVERGED}
    lowest = min(r.objective for r in results)
    assert all(r.objective == pytest.approx(lowest, rel=1e-9) for r in results)


def test_convergence_is_superlinear_at_the_end() -> None:
    result = run(noisy(), budget={"tolerance": 1e-11})
    before, last = result.trace["residual"][-2:]
    assert last < 1e-3 * before


def test_the_answer_does_not_depend_on_the_factorization_of_the_start() -> None:
    problem, _ = planted(2)
    rng = np.random.default_rng(0)
    start, change = random_factors(14, 11, 2, rng), rng.standard_normal((2, 2)) + 2 * np.eye(2)
    other = LowRank(start.left @ np.linalg.inv(change), start.right @ change.T)
    one, two = run(problem, start=start), run(problem, start=other)
    assert one.iterations == two.iterations
    np.testing.assert_allclose(one.trace["objective"], two.trace["objective"], rtol=1e-6, atol=1e-12)


def test_the_objective_never_rises_and_a_refused_step_leaves_the_point() -> None:
    result = run(planted(5)[0], init="random", radius=4.0, max_radius=8.0)
    values, accepted = np.array(result.trace["objective"]), np.array(result.trace["accepted"])
    assert (np.diff(values) <= 0).all()
    assert not accepted.all()
    refused = np.flatnonzero(accepted[1:] == 0.0) + 1
    np.testing.assert_array_equal(values[refused], values[refused - 1])


def flat_model(seed: int, size: int = 6, lowest: float = 0.5) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.standard_normal((size, size)))[0]
    return turn @ np.diag(np.linspace(lowest, 4.0, size)) @ turn.T, rng.standard_normal(size)


def test_truncated_cg_is_newtons_step_where_it_fits_into_the_region() -> None:
    hessian, gradient = flat_model(0)
    found = truncated_cg(
        Vectors(6), np.zeros(6), gradient, lambda v: hessian @ v, radius=1e3, target=1e-12, limit=6
    )
    assert found.ending == "converged"
    np.testing.assert_allclose(found.step, -np.linalg.solve(hessian, gradient), atol=1e-10)
    np.testing.assert_allclose(found.image, hessian @ found.step, atol=1e-10)


def slow_truncated_cg(hessian: Array, gradient: Array, radius: float, precondition: Array) -> Array:
    """Each step minimizes the model over one more Krylov direction; cut where it leaves the region."""
    norm = np.linalg.inv(precondition)
    space = np.empty((len(gradient), 0))
    step, fresh = np.zeros_like(gradient), precondition @ gradient
    for _ in range(len(gradient)):
        space = np.linalg.qr(np.column_stack([space, fresh]))[0]
        inside = space.T @ hessian @ space
        new = -space @ np.linalg.solve(inside, space.T @ gradient)
        ahead = new - step
        if (np.linalg.eigvalsh(inside)[0] <= 0) or new @ norm @ new >= radius**2:
            if np.linalg.eigvalsh(inside)[0] <= 0:
                # Downhill along the conjugate direction, which the last minimizer is stationary on.
                ahead = conjugate(space, hessian, gradient)
            a, b, c = ahead @ norm @ ahead, step @ norm @ ahead, step @ norm @ step - radius**2
            return step + (-b + math.sqrt(b * b - a * c)) / a * ahead
        step, fresh = new, precondition @ hessian @ space[:, -1]
    return step


def conjugate(space: Array, hessian: Array, gradient: Array) -> Array:
    """The direction of a subspace conjugate to all before its last, downhill."""
    before, last = space[:, :-1], space[:, -1]
    if before.shape[1]:
        last = last - before @ np.linalg.solve(before.T @ hessian @ before, before.T @ hessian @ last)
    return -np.sign(last @ gradient) * last


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("lowest", [0.5, -1.0])
@pytest.mark.parametrize("radius", [0.1, 1.0, 3.0])
def test_truncated_cg_agrees_with_minimizing_over_krylov_spaces(
    seed: int, lowest: float, radius: float
) -> None:
    hessian, gradient = flat_model(seed, lowest=lowest)
    precondition = np.diag(np.linspace(0.5, 2.0, 6))
    expected = slow_truncated_cg(hessian, gradient, radius, precondition)
    found = truncated_cg(
        Vectors(6),
        np.zeros(6),
        gradient,
        lambda v: hessian @ v,
        radius=radius,
        target=0.0,
        precondition=lambda _, v: precondition @ v,
        limit=6,
    )
    np.testing.assert_allclose(found.step, expected, atol=1e-7)
    length = math.sqrt(found.step @ np.linalg.solve(precondition, found.step))
    assert length <= radius * (1 + 1e-9)
    assert (found.ending in ("boundary", "curvature")) == (length > radius * (1 - 1e-9))
    assert lowest < 0 or found.ending != "curvature"


def test_steps_stay_within_the_radius_in_the_metric() -> None:
    problem, _ = planted(1)
    terrain, point = Terrain(problem), Factors(random_factors(14, 11, 2, np.random.default_rng(0)))
    for radius in (0.01, 0.5):
        found = truncated_cg(
            terrain.geometry,
            point,
            terrain.gradient(point),
            lambda v: terrain.hessian(point, v),
            radius=radius,
            target=0.0,
            limit=50,
        )
        assert terrain.geometry.norm(point, found.step) <= radius * (1 + 1e-8)


def test_the_time_limit_is_looked_at_before_every_hessian_product() -> None:
    asked: list[int] = []

    class Counted(KnownEntries):
        name = "counted"

        def hessian_product(self, x: LowRank, v: LowRank) -> LowRank:
            asked.append(1)
            return super().hessian_product(x, v)

    problem, truth = planted(1)
    f = problem.function
    counted = Counted(rows=14, columns=11, row=f.row, column=f.column, entry=f.entry)
    geometry = FixedRank(14, 11, 2)
    left = iter([1.0, 1.0, 0.0])
    search = trust_region(
        geometry,
        OfFactors(counted, geometry),
        Factors(LowRank(1.1 * truth.left, truth.right)),  # where nothing curves downwards
        radius=1e3,
        max_radius=1e3,
        kappa=1e-6,
        time_left=lambda: next(left),
    )
    step = next(search)
    assert (step.ending, step.products, len(asked)) == ("time", 2, 2)


def test_inner_loops_take_rough_hessian_products_but_for_the_last_digits() -> None:
    asked: list[tuple[float, str]] = []
    problem, _ = planted(1)

    class Rough(OfFactors):
        def rough_hessian_product(self, point: Factors, v: Array) -> Array:
            asked.append((norms[-1], "rough"))
            return super().hessian_product(point, v) * (1 + 1e-6)

        def hessian_product(self, point: Factors, v: Array) -> Array:
            asked.append((norms[-1], "exact"))
            return super().hessian_product(point, v)

    geometry = FixedRank(14, 11, 2)
    first = Factors(random_start((14, 11), 2, np.random.default_rng(0)))
    adapted = Rough(problem.function, geometry)
    ambient = adapted.gradient(first)
    norms = [geometry.norm(first, geometry.euclidean_to_riemannian_gradient(first, ambient))]
    for step in trust_region(geometry, adapted, first, radius=1.0, max_radius=4.0, theta=1.0):
        norms.append(step.gradient_norm)
        if norms[-1] <= 1e-10 * norms[0]:
            break
    assert {kind for norm, kind in asked if norm < 0.9e-3 * norms[0]} == {"exact"}
    assert "rough" in {kind for _, kind in asked}


def test_the_solvers_own_limit_of_outer_steps_is_kept() -> None:
    with pytest.warns(NotConverged, match="3 outer steps"):
        result = run(planted(1)[0], init="random", steps=3)
    assert result.status is Status.ITERATION_LIMIT
    assert result.iterations == 3


def test_without_a_tolerance_it_stops_where_rounding_does() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        result = run(small_likelihood(), budget={"tolerance": 0.0})
    assert result.status in (Status.STALLED, Status.CONVERGED)
    assert result.trace["residual"][-1] < 1e-9
    assert result.iterations < 40


def test_the_spectral_start_is_along_the_leading_directions_of_the_gradient_at_zero() -> None:
    problem, _ = planted(3, rows=30, columns=20, rank=2)
    f = problem.function
    gradient = np.zeros((30, 20))
    gradient[f.row, f.column] = -f.entry
    u, values, wt = np.linalg.svd(gradient)
    ray = -(u[:, :2] * values[:2]) @ wt[:2]
    start = spectral_start(f, 2)
    assert start is not None
    dense = start.dense()
    cosine = np.vdot(dense, ray) / np.linalg.norm(dense) / np.linalg.norm(ray)
    assert cosine > 0.99  # three passes of a power iteration; a start need not be exact

    def along(length: float) -> float:
        return f.value(LowRank(length * start.left, start.right))

    assert along(1.0) < f.value(LowRank(0 * start.left, start.right))
    assert along(1.0) <= min(along(0.98), along(1.02)) + 1e-9


def test_no_spectral_start_where_the_gradient_at_zero_vanishes() -> None:
    nothing = KnownEntries(rows=4, columns=3, row=[0], column=[0], entry=[0.0])
    assert spectral_start(nothing, 2) is None


def test_a_random_start_has_the_papers_largest_entry() -> None:
    start = random_start((40, 30), 3, np.random.default_rng(0))
    assert np.abs(start.dense()).max() == pytest.approx(LARGEST)


def test_a_start_of_lower_rank_is_filled_and_said_so() -> None:
    problem, truth = planted(1, rank=3)
    short = LowRank(truth.left[:, :1], truth.right[:, :1])
    result = run(problem, start=short)
    assert result.status is Status.CONVERGED
    assert any("rank 1" in finding.text for finding in result.findings)
    filled, present = completed(short, 3, np.random.default_rng(0))
    assert present == 1
    assert np.linalg.norm(filled.dense() - short.dense()) < 1e-2 * short.norm()


def test_a_start_at_zero_is_refused_as_a_place_to_search_from() -> None:
    problem, truth = planted(1)
    result = run(problem, start=problem.over.origin((14, 11)))
    assert problem.over.distance(result.solution, truth) < 1e-7
    assert any("start is zero" in finding.text for finding in result.findings)


def test_a_start_with_nan_and_a_start_of_another_shape_are_refused() -> None:
    problem, truth = planted(1)
    with pytest.raises(InvalidInput, match="finite"):
        run(problem, start=LowRank(truth.left * np.nan, truth.right))
    with pytest.raises(InvalidInput, match="shape"):
        run(problem, start=LowRank(truth.left[:5], truth.right))


def test_a_start_where_the_objective_overflows_is_brought_nearer() -> None:
    problem, truth = planted(1, ridge=1.0)
    least = run(problem).objective
    for size in (1e140, 1e160):  # the gradient's norm, then the value too
        result = run(problem, start=LowRank(truth.left * size, truth.right))
        assert result.status is Status.CONVERGED
        assert result.objective == pytest.approx(least)
        assert "collaborative.far-start" in [finding.identifier for finding in result.findings]


def test_an_objective_that_is_not_finite_at_the_start_is_called_diverged() -> None:
    problem, truth = planted(1)
    f = problem.function
    known = KnownEntries(rows=14, columns=11, row=f.row, column=f.column, entry=f.entry * 1e160)
    with pytest.warns(NotConverged, match="not finite at the start"):
        result = run(Minimize(known, over=problem.over), start=truth)
    assert result.status is Status.DIVERGED


def test_data_whose_second_derivatives_overflow_end_the_run_in_words() -> None:
    problem, _ = planted(1)
    f = problem.function
    known = KnownEntries(rows=14, columns=11, row=f.row, column=f.column, entry=f.entry * 1e60)
    with pytest.warns(NotConverged, match="second derivatives overflow.*scale the data"):
        result = run(Minimize(known, over=problem.over))
    assert result.status is Status.STALLED
    assert math.isfinite(result.objective)


def test_a_stop_asked_for_ends_the_inner_loop() -> None:
    asked: list[int] = []

    class Interrupting(KnownEntries):
        name = "interrupting"

        def hessian_product(self, x: LowRank, v: LowRank) -> LowRank:
            asked.append(1)
            signal.raise_signal(signal.SIGINT)  # the first Ctrl-C; a second would raise
            return super().hessian_product(x, v)

    f = planted(1)[0].function
    known = Interrupting(rows=14, columns=11, row=f.row, column=f.column, entry=f.entry)
    start = random_start((14, 11), 2, np.random.default_rng(0))
    # A shell that runs its jobs in the background makes them ignore Ctrl-C.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        result = run(Minimize(known, over=Rank(14, 11, 2)), start=start, radius=1e3)
    finally:
        signal.signal(signal.SIGINT, before)
    assert result.status is Status.CANCELLED
    assert len(asked) == 1


def test_a_search_for_a_matrix_of_rank_one_does_not_rest_at_zero() -> None:
    target = np.outer([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
    f = from_function(lambda x: anp.sum((anp.outer(x, x) - target) ** 2), (3,))
    problem = Minimize(f, over=PositiveRankOne())
    assert run(problem).objective < 1e-12
    result = run(problem, start=np.zeros(3))
    assert result.objective < 1e-12
    assert any("start is zero" in finding.text for finding in result.findings)


def test_a_manifold_of_other_points_than_the_objectives_is_refused() -> None:
    f = from_function(lambda x: anp.sum(x**2), (8,))
    for manifold in (pymanopt.manifolds.Sphere(9), pymanopt.manifolds.ComplexCircle(8)):
        with pytest.raises(InvalidInput, match=r"the objective .* takes float64 ones of shape \(8,\)"):
            run(Minimize(f), manifold=manifold)


def test_a_rank_that_is_too_high_is_named() -> None:
    # A ridge leaves no reason for a third direction.
    rng = np.random.default_rng(0)
    row, column = np.nonzero(np.ones((8, 7)))
    entry = random_factors(8, 7, 1, rng).at(row, column)
    known = KnownEntries(rows=8, columns=7, row=row, column=column, entry=entry, ridge=1e-3)
    result = run(Minimize(known, over=Rank(8, 7, 2)), budget={"tolerance": 1e-9})
    assert any("has rank 1 in effect" in finding.text for finding in result.findings)


def test_nearest_matrix_of_a_rank_is_that_of_eckart_and_young() -> None:
    far = np.random.default_rng(0).standard_normal((7, 6))
    over = Rank(7, 6, 2)
    result = run(Minimize(OfMatrix(objective=SquaredDistance(to=far)), over=over))
    np.testing.assert_allclose(result.solution.dense(), over.project(far).dense(), atol=1e-7)


def test_a_manifold_of_pymanopt_is_searched() -> None:
    rng = np.random.default_rng(0)
    square = rng.standard_normal((8, 8))
    square = square + square.T

    def quotient(x: Any) -> Any:
        return anp.dot(x, anp.dot(square, x))

    result = run(Minimize(from_function(quotient, 8)), manifold=pymanopt.manifolds.Sphere(8))
    assert result.objective == pytest.approx(np.linalg.eigvalsh(square)[0], rel=1e-10)
    again = run(Minimize(from_function(quotient, 8)), manifold=pymanopt.manifolds.Sphere(8))
    np.testing.assert_array_equal(result.solution, again.solution)


def test_pymanopts_global_random_numbers_are_left_as_they_were() -> None:
    np.random.seed(7)
    expected = np.random.random()
    np.random.seed(7)
    run(Minimize(SquaredDistance(to=np.ones(4))), manifold=pymanopt.manifolds.Euclidean(4))
    assert np.random.random() == expected


@pytest.mark.parametrize(
    ("manifold", "why"),
    [
        (3, "has no inner_product"),
        (pymanopt.manifolds.FixedRankEmbedded(5, 4, 2), "several arrays"),
        (pymanopt.manifolds.SpecialOrthogonalGroup(3), "are not arrays like its points"),
        (pymanopt.manifolds.Positive(3, 2), None),
    ],
)
def test_a_manifold_that_lacks_what_is_needed_is_refused(manifold: Any, why: str | None) -> None:
    if why is None:
        assert TrustRegion(manifold=manifold).manifold is manifold
        return
    with pytest.raises(InvalidInput, match=why):
        TrustRegion(manifold=manifold)


def ring(size: int = 7, lower: float = -np.inf) -> RankOneCompletion:
    skills, weights = np.linspace(0.9, 0.3, size), np.zeros((size, size))
    for i in range(size):
        weights[i, (i + 1) % size] = weights[(i + 1) % size, i] = 3.0
    return RankOneCompletion(weights=weights, values=np.outer(skills, skills), lower=lower, upper=-lower)


def test_rank_one_completion_is_solved_to_the_skills_up_to_sign() -> None:
    result = run(ring())
    assert result.status is Status.CONVERGED
    np.testing.assert_allclose(np.abs(result.solution), np.linspace(0.9, 0.3, 7), atol=1e-6)


def test_rank_one_completion_as_a_set_of_matrices_gives_the_same() -> None:
    problem = ring()
    over = PositiveRankOne()
    fit = RankOneLeastSquares(weights=problem.weights, values=problem.values)
    result = run(Minimize(fit, over=over, start=problem.initial()))
    np.testing.assert_allclose(result.solution, run(problem).solution, atol=1e-8)
    assert over.violation(result.solution) == 0.0


class ValueOnly(Objective):
    """Nothing but a value."""

    name = "value-only"

    @property
    def shape(self) -> tuple[int, ...]:
        return (3,)

    def value(self, x: Array) -> float:
        return float(np.sum(x))


@pytest.mark.parametrize(
    ("problem", "why"),
    [
        (ring(lower=-1.0), "no manifold"),
        (Minimize(SquaredDistance(to=np.ones(3)), over=Box(lower=np.array(0.0))), "no manifold"),
        (Minimize(ValueOnly()), "no gradient and no hessian product"),
    ],
)
def test_what_it_cannot_take_is_said_in_words(problem: Problem[Any], why: str) -> None:
    with pytest.raises(Unsuited, match=why):
        run(problem)


@pytest.mark.parametrize(
    ("name", "key", "value", "now"),
    [
        ("manifold.trust-region", "begin", "random", "init"),
        ("manifold.trust-region", "largest", 2.0, "max_radius"),
        ("manifold.lbfgs", "begin", "random", "init"),
        ("manifold.pymanopt", "begin", "random", "init"),
        ("btl.spg", "begin", "zero", "init"),
    ],
)
def test_a_parameter_of_an_old_name_is_told_the_new_one(name: str, key: str, value: Any, now: str) -> None:
    with pytest.raises(InvalidInput, match=f"{key}: unknown key.*; `{key}` is now called `{now}`"):
        solver(name, **{key: value})
