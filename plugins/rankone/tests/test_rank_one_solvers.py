"""Coordinate descent, exponentiated gradient, the steps of descent, and signs read afterwards."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from optiframe_rankone.completion.problem import RankOneCompletion
from optiframe_rankone.problem import LabelAggregation
from optiframe_rankone.solvers import signs
from optiframe_rankone.solvers.coordinate import CoordinateDescent
from optiframe_rankone.solvers.exponentiated import ExponentiatedGradient
from optiframe_rankone.solvers.pgd import ProjectedGradient
from scipy.optimize import minimize

import optiframe
from optiframe import InvalidInput, Unsuited

from .slow import coin, said, single_coin
from .test_rank_one import random_pair, rank_one, ring

EXACT = np.array([0.9, 0.4, 0.6, -0.5, 0.7, -0.2])
ALL = [(i, j) for i in range(6) for j in range(i)]
UNBOUNDED = RankOneCompletion(weights=np.ones((3, 3)), values=np.ones((3, 3)))


def noisy(seed: int, size: int = 7) -> RankOneCompletion:
    """Positive skills, noise on every product, random weights."""
    rng = np.random.default_rng(seed)
    skills = rng.uniform(0.3, 0.8, size)
    noise = np.triu(rng.normal(scale=0.05, size=(size, size)), 1)
    weights = np.triu(rng.integers(1, 6, (size, size)), 1).astype(float)
    return RankOneCompletion(
        weights=weights + weights.T,
        values=np.outer(skills, skills) + noise + noise.T,
        lower=-1.0,
        upper=1.0,
    )


def balance(problem: RankOneCompletion, kappa: float = 0.01) -> np.ndarray:
    """The fixed point of Eq. 4, by a general solver on the convex function of Theorem 12's proof."""
    weights, values = problem.weights, np.clip(np.abs(problem.values), kappa**2, 1)
    wanted = (weights * values).sum(axis=1)

    def g(z: np.ndarray) -> tuple[float, np.ndarray]:
        x = np.exp(z)
        return x @ weights @ x / 2 - z @ wanted, x * (weights @ x) - wanted

    box = [(np.log(kappa), 0.0)] * len(wanted)
    found = minimize(g, np.full(len(wanted), -0.5), jac=True, bounds=box, tol=1e-14)
    return np.exp(found.x)


# Every step


@pytest.mark.slow
@pytest.mark.parametrize(
    "solver",
    [ProjectedGradient(), ProjectedGradient(step="lipschitz"), CoordinateDescent()],
    ids=["scaled", "lipschitz", "coordinate"],
)
@given(seed=st.integers(0, 300))
@settings(max_examples=20)
def test_the_objective_never_rises(solver: optiframe.Solver[Any, Any, Any], seed: int) -> None:
    # Random entries, far from rank one, and bounds that bind.
    weights, values = random_pair(seed)
    rng = np.random.default_rng(seed)
    problem = RankOneCompletion(
        weights=weights, values=values, lower=-rng.random(6), upper=rng.random(6), start=rng.uniform(-1, 1, 6)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optiframe.NotConverged)
        trace = optiframe.solve(problem, solver, budget={"iterations": 60}).trace["objective"]
    assert all(later <= earlier + 1e-9 for earlier, later in itertools.pairwise(trace))


def test_a_scaled_step_that_would_overshoot_is_shortened() -> None:
    # From a tiny start the best value of each is far away while the others stay small.
    problem = RankOneCompletion(weights=np.ones((3, 3)), values=np.full((3, 3), 0.25), start=[0.01] * 3)
    result = optiframe.solve(problem, "rankone.pgd")
    assert max(result.trace["objective"]) <= problem.objective(problem.start)
    assert result.solution == pytest.approx([0.5] * 3, abs=1e-5)


def test_all_steps_and_sweeps_end_at_one_point() -> None:
    problem = noisy(1)
    runs: list[tuple[str, dict[str, Any]]] = [
        ("rankone.pgd", {}),
        ("rankone.pgd", {"step": "lipschitz"}),
        ("rankone.pgd", {"step": 0.02}),
        ("rankone.coordinate", {}),
    ]
    ends = [
        optiframe.solve(problem, name, budget={"tolerance": 1e-9}, **more).solution for name, more in runs
    ]
    for end in ends[1:]:
        assert end == pytest.approx(ends[0], abs=1e-7)


@pytest.mark.slow
def test_scaling_needs_far_fewer_steps_where_activity_is_skewed() -> None:
    data = {"name": "synthetic.single-coin", "workers": 30, "tasks": 600, "labels_per_task": 4}
    problem = optiframe.problem(dataset={**data, "activity_skew": 1.0})
    budget = {"iterations": 20_000, "tolerance": 1e-5}
    scaled = optiframe.solve(problem, "rankone.pgd", budget=budget)
    plain = optiframe.solve(problem, "rankone.pgd", step="lipschitz", budget=budget)
    assert plain.objective == pytest.approx(scaled.objective, rel=1e-6)
    assert plain.iterations > 40 * scaled.iterations


# Exponentiated gradient


@pytest.mark.slow
@pytest.mark.parametrize("parameters", [{}, {"step": 0.02}, {"route": "sinkhorn"}], ids=str)
@given(seed=st.integers(0, 100))
@settings(max_examples=4)
def test_every_route_ends_at_the_balance_of_rows(parameters: dict[str, Any], seed: int) -> None:
    problem = noisy(seed)
    result = optiframe.solve(problem, "rankone.exponentiated", budget={"tolerance": 1e-9}, **parameters)
    assert result.status == "converged"
    assert result.solution == pytest.approx(balance(problem), abs=1e-4)


def test_the_step_of_theorem_12_ends_there_too() -> None:
    problem = noisy(3)
    weights = np.where(np.eye(7) == 1, 0, problem.weights)
    assert ExponentiatedGradient(K=2.0)._fixed_step(sp.csr_array(weights)) == pytest.approx(
        1 / (2 * np.sqrt(7) * np.linalg.norm(weights, 2) * 4)
    )
    result = optiframe.solve(problem, "rankone.exponentiated", step="theorem", budget={"tolerance": 1e-8})
    assert result.solution == pytest.approx(balance(problem), abs=1e-4)


def test_the_balance_of_rows_is_not_least_squares() -> None:
    problem = noisy(4)
    balanced = optiframe.solve(problem, "rankone.exponentiated", budget={"tolerance": 1e-9})
    fitted = optiframe.solve(problem, "rankone.coordinate", budget={"tolerance": 1e-9})
    assert fitted.objective < balanced.objective
    assert np.abs(fitted.solution - balanced.solution).max() > 1e-3
    x, weights, values = balanced.solution, problem.weights, problem.values
    assert x * (weights @ x) == pytest.approx((weights * values).sum(axis=1), abs=1e-5)
    x = fitted.solution
    assert x * (weights @ x**2) == pytest.approx((weights * values) @ x, abs=1e-5)


@pytest.mark.parametrize("route", ["gradient", "sinkhorn"])
def test_sizes_stay_between_kappa_and_K(route: str) -> None:
    problem = rank_one(np.array([0.9, 0.8, 0.02, 0.7, 0.6]), [(i, j) for i in range(5) for j in range(i)])
    result = optiframe.solve(problem, "rankone.exponentiated", kappa=0.1, K=0.75, route=route)
    assert result.status == "converged"
    assert result.solution.min() == pytest.approx(0.1)
    assert result.solution.max() == pytest.approx(0.75)


# Signs


@pytest.mark.parametrize("name", ["rankone.exponentiated", "rankone.pgd"])
def test_signs_of_exact_products_are_recovered(name: str) -> None:
    parameters = {"signs": "recovered"} if name == "rankone.pgd" else {}
    result = optiframe.solve(rank_one(EXACT, ALL), name, budget={"tolerance": 1e-9}, **parameters)
    assert result.solution == pytest.approx(EXACT, abs=1e-5)


@given(st.integers(0, 200))
def test_signs_follow_the_edges_of_every_component(seed: int) -> None:
    rng = np.random.default_rng(seed)
    skills = rng.uniform(0.1, 0.9, 9) * rng.choice([-1.0, 1.0], 9)
    edges = [(i, j) for i in range(9) for j in range(i) if rng.random() < 0.25]
    problem = rank_one(skills, edges)
    found = signs.recovered(problem, np.abs(skills))
    for i, j in edges:
        assert found[i] * found[j] == pytest.approx(skills[i] * skills[j])
    component = problem.least_squares.pairs.component
    pairs = problem.least_squares.known.sum(axis=1)
    assert (np.bincount(component, weights=pairs * found) >= -1e-12).all()


@pytest.mark.parametrize("lower", [0.1, 0.0])
def test_an_entry_of_the_wrong_sign_is_no_large_product_where_bounds_fix_the_signs(lower: float) -> None:
    # Three who always disagree: with signs free one is turned over, with signs known all are small.
    everyone = np.ones((3, 3)) - np.eye(3)
    pairs = {"weights": sp.csr_array(everyone), "values": sp.csr_array(-everyone)}
    known = RankOneCompletion(**pairs, lower=lower, upper=1.0)
    least = optiframe.solve(known, "rankone.coordinate").objective
    for name, parameters in (
        ("rankone.exponentiated", {}),
        ("rankone.exponentiated", {"route": "sinkhorn"}),
        ("rankone.pgd", {"signs": "recovered"}),
    ):
        result = optiframe.solve(known, name, **parameters)
        assert result.objective == pytest.approx(least, rel=1e-3)  # kappa is not 0
        assert result.solution == pytest.approx(np.full(3, lower), abs=0.011)
        free = optiframe.solve(RankOneCompletion(**pairs, lower=-1.0, upper=1.0), name, **parameters)
        assert np.abs(free.solution) == pytest.approx(np.ones(3))


def test_a_sign_that_bounds_fix_decides_the_others() -> None:
    skills = np.array([-0.8, 0.5, 0.6, 0.7])
    problem = rank_one(skills, [(i, j) for i in range(4) for j in range(i)])
    assert signs.recovered(problem, np.abs(skills)) == pytest.approx(skills)
    turned = problem.model_copy(update={"lower": np.array([0.1, -1.0, -1.0, -1.0])})
    assert signs.recovered(turned, np.abs(skills)) == pytest.approx(-skills)


def test_an_entry_of_zero_tells_no_sign() -> None:
    problem = rank_one(np.array([0.5, 0.0, -0.5]), [(0, 1), (1, 2), (0, 2)])
    assert signs.recovered(problem, np.array([0.5, 0.1, 0.5])).tolist() == [0.5, 0.1, -0.5]


# The cut-off


def test_a_cut_off_leaves_out_small_correlations_and_who_has_no_other() -> None:
    skills = np.array([0.9, 0.8, 0.85, 0.9, 0.0])
    problem = coin(1, skills, tasks=400, per_task=5, cutoff=0.3)
    completion = problem.formulation.problem  # type: ignore[union-attr]
    plain = coin(1, skills, tasks=400, per_task=5)
    values = plain.formulation.problem.least_squares.targets.toarray()  # type: ignore[union-attr]
    kept = (np.abs(values) >= 0.3) & ~np.eye(5, dtype=bool)
    assert np.array_equal(completion.least_squares.known.toarray() > 0, kept)
    assert kept.sum() == 12
    result = optiframe.solve(problem, "rankone.pgd")
    assert result.solution.skills[4] == 0.0
    assert result.solution.skills[:4] == pytest.approx(skills[:4], abs=0.1)
    assert said(result, "cut-off").text == (
        "1 worker without a correlation beyond the cut-off: taken for guessing, so without weight: 4"
    )
    assert problem.fingerprint() != plain.fingerprint()


def test_the_noise_part_of_the_cut_off_falls_with_the_tasks_shared() -> None:
    inputs = single_coin(1, np.full(6, 0.6), tasks=40, per_task=3)
    plain = LabelAggregation(**inputs).formulation.problem  # type: ignore[union-attr]
    cut = LabelAggregation(**inputs, cutoff=0.1, cutoff_noise=0.5)
    shared, values = plain.least_squares.known.toarray(), plain.least_squares.targets.toarray()
    with np.errstate(divide="ignore"):
        kept = (np.abs(values) >= 0.1 + 0.5 * np.sqrt(np.log(6) / shared)) & (shared > 0)
    weights = cut.formulation.problem.weights.toarray()  # type: ignore[union-attr]
    assert np.array_equal(weights, np.where(kept, shared, 0))
    assert 0 < kept.sum() < (shared > 0).sum()


def test_a_cut_off_above_every_correlation_leaves_every_task_tied() -> None:
    problem = coin(1, np.full(4, 0.3), tasks=30, per_task=4, cutoff=1.5)
    result = optiframe.solve(problem, "rankone.pgd")
    assert not result.solution.skills.any()
    assert result.solution.tied.all()


# What is refused


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: optiframe.dataset("rank-one.grid", workers=24), "square number"),
        (lambda: optiframe.dataset("rank-one.ring", skill_low=0.7), "above skill_high"),
        (lambda: optiframe.dataset("rank-one.erdos-renyi", workers=15, chance=0.01).inputs(), "raise chance"),
        (lambda: ExponentiatedGradient(kappa=1.0, K=0.5), "kappa: must be below K"),
        *(
            (lambda step=step: ProjectedGradient(step=step), "step")
            for step in ("lipschits", 0.0, -1.0, True)
        ),
        (lambda: optiframe.solve(UNBOUNDED, "rankone.pgd", step="lipschitz"), "needs bounds"),
    ],
)
def test_what_cannot_be_is_refused_in_words(wrong: Callable[[], object], message: str) -> None:
    with pytest.raises((InvalidInput, Unsuited), match=message):
        wrong()


# Figures 4 and 5


@pytest.mark.parametrize("graph", ["ring", "grid", "erdos-renyi"])
def test_products_on_a_graph_are_what_they_say(graph: str) -> None:
    data = optiframe.dataset(f"rank-one.{graph}", seed=3)
    inputs = data.inputs()
    truth, weights = inputs["truth"], inputs["weights"]
    assert len(truth) == 25
    assert 0.4 <= truth.min() < truth.max() <= 0.6
    assert inputs["start"].tolist() == [0.6] * 25
    assert np.array_equal(weights, weights.T)
    assert set(weights.ravel().tolist()) == {0.0, 1.0}
    edges = {"ring": 25, "grid": 2 * 5 * 4 + 1}.get(graph, weights.sum() / 2)
    assert weights.sum() / 2 == edges
    assert inputs["values"] == pytest.approx(np.outer(truth, truth) * weights)
    problem = optiframe.problem(dataset=data)
    assert optiframe.solve(problem, "rankone.coordinate").metrics["distance"] < 1e-3
    noisy = optiframe.dataset(f"rank-one.{graph}", seed=3, noise=0.01).inputs()
    gap = (noisy["values"] - inputs["values"])[weights > 0]
    assert 0.004 < np.abs(gap).max() <= 0.005
    assert np.array_equal(noisy["values"], noisy["values"].T)
    assert np.array_equal(noisy["weights"], weights)


def test_distance_to_the_truth_is_up_to_the_sign_of_all() -> None:
    problem = RankOneCompletion(weights=np.ones((2, 2)), values=np.ones((2, 2)), truth=[0.5, 0.2])
    assert problem.metrics(np.array([-0.5, -0.3]))["distance"] == pytest.approx(0.1)
    assert rank_one(np.full(3, 0.5), ring(3)).metrics(np.zeros(3)) == {}
