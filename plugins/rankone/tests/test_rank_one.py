"""Rank-one completion: the objective, the box, recovery by descent."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from optiframe_rankone.completion.objective import RankOneLeastSquares
from optiframe_rankone.completion.problem import RankOneCompletion

import optiframe
from optiframe import InvalidInput
from optiframe.testing import check_derivatives

from .slow import cost


def random_pair(seed: int, size: int = 6) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    weights = np.triu(rng.integers(0, 4, (size, size)), 1).astype(float)
    values = np.triu(rng.uniform(-1, 1, (size, size)), 1)
    return weights + weights.T, values + values.T


def rank_one(skills: np.ndarray, edges: list[tuple[int, int]], weight: float = 3.0) -> RankOneCompletion:
    """Exact products of skills along the edges."""
    size = len(skills)
    weights = np.zeros((size, size))
    for i, j in edges:
        weights[i, j] = weights[j, i] = weight
    return RankOneCompletion(weights=weights, values=np.outer(skills, skills), lower=-1.0, upper=1.0)


def ring(size: int) -> list[tuple[int, int]]:
    return [(i, (i + 1) % size) for i in range(size)]


@given(st.integers(0, 1000))
def test_value_is_half_the_weighted_sum_over_unordered_pairs(seed: int) -> None:
    weights, values = random_pair(seed)
    x = np.random.default_rng(seed + 1).normal(size=6)
    for stored in (weights, sp.csr_array(weights)):
        objective = RankOneLeastSquares(weights=stored, values=values)
        assert objective.value(x) == pytest.approx(cost(weights, values, x))


@given(st.integers(0, 1000))
def test_gradient_is_the_step_of_the_paper_and_agrees_with_finite_differences(seed: int) -> None:
    weights, values = random_pair(seed)
    x = np.random.default_rng(seed + 1).normal(size=6)
    step = [sum(weights[i, j] * (values[i, j] - x[i] * x[j]) * x[j] for j in range(6)) for i in range(6)]
    objective = RankOneLeastSquares(weights=weights, values=values)
    assert -objective.gradient(x) == pytest.approx(np.array(step))
    check_derivatives(objective, x)


def test_diagonal_and_unknown_values_do_not_count() -> None:
    weights, values = random_pair(5)
    noisy = values + np.where(weights == 0, 7.0, 0.0)
    x = np.linspace(-1, 1, 6)
    plain = RankOneLeastSquares(weights=weights, values=values)
    other = RankOneLeastSquares(weights=weights + np.eye(6), values=noisy)
    assert plain.value(x) == pytest.approx(other.value(x))
    assert plain.gradient(x) == pytest.approx(other.gradient(x))


@pytest.mark.parametrize("parameters", [{}, {"step": 0.1}], ids=["scaled", "fixed"])
def test_descent_recovers_positive_skills_on_an_odd_ring(parameters: dict[str, Any]) -> None:
    skills = np.array([0.9, 0.4, 0.6, 0.5, 0.7])
    problem = rank_one(skills, ring(5))
    result = optiframe.solve(problem, "rankone.pgd", budget={"tolerance": 1e-9}, **parameters)
    assert result.status == "converged"
    assert result.solution == pytest.approx(skills, abs=1e-6)
    assert result.objective == pytest.approx(0.0, abs=1e-12)


def test_descent_finds_negative_skills_up_to_one_sign() -> None:
    skills = np.array([0.9, 0.4, 0.6, -0.5, 0.7, -0.2])
    edges = [(i, j) for i in range(6) for j in range(i)]
    result = optiframe.solve(rank_one(skills, edges), "rankone.pgd", budget={"tolerance": 1e-9})
    assert result.solution * np.sign(result.solution[0]) == pytest.approx(skills, abs=1e-6)


def test_two_who_always_disagree_get_opposite_signs() -> None:
    # From equal entries a simultaneous step would only swap their common sign for ever.
    problem = RankOneCompletion(
        weights=[[0, 4], [4, 0]], values=[[0, -0.25], [-0.25, 0]], lower=-1.0, upper=1.0
    )
    result = optiframe.solve(problem, "rankone.pgd")
    assert result.status == "converged"
    assert result.solution[0] * result.solution[1] == pytest.approx(-0.25, abs=1e-6)


def test_a_liar_whom_all_others_contradict_gets_the_negative_sign() -> None:
    skills = np.array([-0.6, 0.5, 0.5, 0.5, 0.5])
    star = rank_one(skills, [(0, j) for j in range(1, 5)]).model_copy(update={"sign_weights": 1.0})
    result = optiframe.solve(star, "rankone.pgd")
    assert result.status == "converged"
    assert result.solution[0] < 0
    assert result.solution[0] * result.solution[1:] == pytest.approx([-0.3] * 4, abs=1e-5)


@given(st.integers(0, 100), st.floats(1e-3, 1e3))
@settings(max_examples=20)
def test_the_scale_of_the_weights_does_not_matter(seed: int, scale: float) -> None:
    weights, values = random_pair(seed)
    plain = RankOneCompletion(weights=weights, values=values, lower=-1.0, upper=1.0)
    scaled = RankOneCompletion(weights=weights * scale, values=values, lower=-1.0, upper=1.0)
    budget = {"iterations": 20, "tolerance": 1e-4}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optiframe.NotConverged)  # twenty steps are compared, not the end
        first = optiframe.solve(plain, "rankone.pgd", budget=budget)
        second = optiframe.solve(scaled, "rankone.pgd", budget=budget)
    assert second.solution == pytest.approx(first.solution, abs=1e-9)
    assert second.objective == pytest.approx(scale * first.objective)


@given(st.integers(0, 500))
def test_descent_stays_in_the_box_and_ends_where_no_entry_can_be_bettered(seed: int) -> None:
    weights, values = random_pair(seed)
    rng = np.random.default_rng(seed + 2)
    lower, upper = -rng.uniform(0, 1, 6), rng.uniform(0, 1, 6)
    problem = RankOneCompletion(weights=weights, values=values, lower=lower, upper=upper)
    result = optiframe.solve(problem, "rankone.pgd", budget={"tolerance": 1e-8, "iterations": 100_000})
    x = result.solution
    assert result.violation == 0.0
    for i in range(6):
        grid = np.linspace(lower[i], upper[i], 101)
        costs = [cost(weights, values, np.where(np.arange(6) == i, value, x)) for value in grid]
        assert result.objective <= min(costs) + 1e-7


def test_a_start_is_used_and_its_length_checked() -> None:
    problem = rank_one(np.array([0.5, 0.5, 0.5]), ring(3))
    result = optiframe.solve(problem, "rankone.pgd", start=[-0.4, -0.4, -0.4])
    assert result.solution == pytest.approx(-0.5 * np.ones(3), abs=1e-5)
    with pytest.raises(InvalidInput, match="2 entries, the problem 3"):
        optiframe.solve(problem, "rankone.pgd", start=[0.1, 0.1])


def test_matrices_can_be_read_from_files(tmp_path: Path) -> None:
    (tmp_path / "n.csv").write_text("0,1,1\n1,0,1\n1,1,0\n")
    (tmp_path / "c.csv").write_text("0,.25,.25\n.25,0,.25\n.25,.25,0\n")
    problem = optiframe.problem(
        "rank-one-completion", weights=str(tmp_path / "n.csv"), values=str(tmp_path / "c.csv")
    )
    assert optiframe.solve(problem, "rankone.pgd").solution == pytest.approx([0.5] * 3)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"weights": [[0, 1, 1]], "values": [[0, 1, 1]]}, "square matrix, got 1 x 3"),
        ({"values": np.ones((3, 3))}, "weights are 2 x 2, values 3 x 3"),
        ({"weights": [[0, -1], [-1, 0]]}, r"\[0, 1\] is -1"),
        ({"weights": [[0, 1], [2, 0]]}, r"weights must be symmetric.*\[0, 1\] is 1"),
        ({"values": [[0, 1], [0.5, 0]]}, "values must be symmetric"),
        ({"lower": [0, 0, 0]}, "lower must be a number or 2"),
        ({"lower": 1, "upper": 0}, "lower is above upper"),
        ({"start": [1.0]}, "start has 1 entries"),
        ({"truth": [0.5, 0.2, 0.1]}, "truth has 3 entries"),
        ({"sign_weights": [1.0, 2.0, 3.0]}, "sign_weights must be a number or 2 numbers"),
        ({"sign_weights": -1.0}, r"sign_weights.*finite and at least 0"),
    ],
)
def test_wrong_matrices_are_refused_in_words(inputs: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        RankOneCompletion(**{"weights": np.ones((2, 2)), "values": np.ones((2, 2)), **inputs})


def test_the_trace_of_a_known_matrix_has_the_distance_at_every_recorded_iterate() -> None:
    problem = optiframe.problem(dataset={"name": "rank-one.grid", "workers": 9})
    result = optiframe.solve(problem, "rankone.pgd", budget={"tolerance": 1e-10})
    distances = result.trace["distance"]
    assert len(distances) == len(result.trace["iteration"])
    assert distances[0] > distances[-1] == result.metrics["distance"]
