"""The conditions of Sec. 4 against the paper's matrices, and against what the methods then do."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optiframe_hodgerank.problem import PairwiseRanking
from optiframe_hodgerank.solvers.huber_lasso import HuberLasso
from optiframe_hodgerank.solvers.lbi import LinearizedBregman
from optiframe_hodgerank.tools.identifiability import Conditions, conditions
from scipy.linalg import null_space

import optiframe
from optiframe.errors import InvalidInput

from .path_twins import incidence, unmerged, votes


def psi(problem: PairwiseRanking) -> np.ndarray:
    """U_2': an orthonormal basis of the cycles of the caller's rows, from the null space of X'."""
    return null_space(incidence(unmerged(problem)).T).T


def by_the_paper(problem: PairwiseRanking, rows: np.ndarray) -> dict[str, float]:
    """C1, C2, C0 and mu as printed, column by column."""
    x, basis = incidence(unmerged(problem)), psi(problem)
    other = np.setdiff1d(np.arange(problem.rows), rows)
    inside, outside = basis[:, rows], basis[:, other]
    gram = inside.T @ inside
    found = {
        "c_min": float(np.linalg.eigvalsh(gram)[0]),
        "rho": float((x @ np.linalg.pinv(x.T @ x) @ x.T).max()),
        "mu": float((outside**2).sum(axis=0).max()),
        "l": len(basis),
    }
    if found["c_min"] > 1e-9:
        found["eta"] = 1 - float(np.abs(outside.T @ inside @ np.linalg.inv(gram)).sum(axis=1).max())
    return found


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(3, 7), st.integers(5, 40), st.integers(1, 6))
def test_the_conditions_are_those_of_the_papers_matrices(seed: int, items: int, rows: int, size: int) -> None:
    problem = votes(seed, items, rows)
    chosen = np.random.default_rng(seed).choice(problem.rows, min(size, problem.rows - 1), replace=False)
    found, slow = conditions(problem, chosen), by_the_paper(problem, chosen)
    assert found.rho == pytest.approx(slow["rho"])
    assert found.mu == pytest.approx(slow["mu"])
    assert (found.m, found.s, found.l) == (problem.rows, len(chosen), slow["l"])
    assert found.c_min == pytest.approx(slow["c_min"], abs=1e-9)
    assert found.restricted_eigenvalue == ("eta" in slow)
    if "eta" in slow:
        assert found.eta == pytest.approx(slow["eta"], abs=1e-7)
    if found.incoherent:  # Proposition 2
        assert found.c_min >= 1 - found.s * found.rho - 1e-9
        assert found.eta >= (1 - 2 * found.s * found.rho) / (1 - found.s * found.rho) - 1e-9


def margins(seed: int, sigma: float, size: float = 1.0) -> tuple[PairwiseRanking, np.ndarray]:
    """Complete graph of 12 items, each pair four times, three outliers; the same graph for every seed."""
    rng = np.random.default_rng(seed)
    left, right = (np.tile(side, 4) for side in np.triu_indices(12, 1))
    wrong = np.array([5, 77, 200])
    margin = sigma * rng.standard_normal(len(left))
    margin[wrong] += size * np.array([1.0, -1.0, 1.0])
    return PairwiseRanking(comparisons={"left": left, "right": right, "margin": margin}), wrong


def theorems(found: Conditions, problem: PairwiseRanking, rows: np.ndarray, gamma: np.ndarray) -> Any:
    """Theorems 4.1 and 4.2 as printed, with B as the docstring derives it beside."""
    basis = psi(problem)
    inside = basis[:, rows]
    inverse = np.linalg.inv(inside.T @ inside)
    lambda_bar = 2 * found.sigma * math.sqrt(found.mu) / found.eta * math.sqrt(math.log(found.m))
    c_0 = found.eta / math.sqrt(found.c_min * found.mu) + np.linalg.norm(inverse, np.inf)
    first = np.abs(gamma).max() + 2 * found.sigma * math.sqrt(math.log(found.m) / found.c_min)
    size = np.linalg.norm(inside @ gamma)
    l, s = found.l, found.s  # noqa: E741  # the paper's letters
    derived = first + (size + 2 * found.sigma * math.sqrt(s * math.log(l))) / math.sqrt(found.c_min)
    return {
        "lambda_bar": lambda_bar,
        "lambda_top": np.abs(gamma).min() / c_0,
        "overshoot": derived,
        "tau_bar": (1 - derived / (found.kappa * found.eta)) / lambda_bar,
    }


def test_lambda_and_tau_are_those_of_the_theorems() -> None:
    problem, wrong = margins(0, 0.02)
    found = conditions(problem, wrong, kappa=100.0)
    graph = unmerged(problem)
    kept = np.setdiff1d(np.arange(problem.rows), wrong)
    x, y = incidence(graph), graph.margin
    theta = np.linalg.lstsq(x[kept], y[kept], rcond=None)[0]
    gamma = (y - x @ theta)[wrong]
    for name, value in theorems(found, problem, wrong, gamma).items():
        assert getattr(found, name) == pytest.approx(value), name
    rest = (y - x @ theta)[kept]
    assert found.sigma == pytest.approx(math.sqrt(rest @ rest / (len(kept) - 11)))
    assert (found.gamma_min, found.gamma_max) == pytest.approx((np.abs(gamma).min(), np.abs(gamma).max()))
    assert found.tau_bar * found.lambda_bar == pytest.approx(1 - found.overshoot / (100.0 * found.eta))


def flagged(problem: PairwiseRanking, solver: Any) -> set[int]:
    return set(optiframe.solve(problem, solver).solution.flagged.tolist())


@pytest.mark.slow
def test_within_the_theorems_range_the_methods_flag_the_outliers_and_these_stay_below_the_bound() -> None:
    sigma = 0.02
    for seed in range(6):  # each may fail with a chance of 2/264
        problem, wrong = margins(seed, sigma)
        found = conditions(problem, wrong, sigma=sigma)
        assert found.large_outliers
        for level in (found.lambda_bar, 0.999 * found.lambda_top):
            assert flagged(problem, HuberLasso(lambda_=level)) == set(wrong.tolist())
        result = optiframe.solve(problem, LinearizedBregman(t=found.tau_bar))
        assert set(result.solution.flagged.tolist()) == set(wrong.tolist())
        path = result.detail
        assert max(float(np.abs(path.outliers_at(t)).max()) for t in path.knots) <= found.overshoot


def test_outliers_that_cut_the_graph_cannot_be_identified() -> None:
    ring = PairwiseRanking(comparisons={"left": [0, 1, 2, 3], "right": [1, 2, 3, 0], "label": [0, 1, 2, 0]})
    found = conditions(ring, [0, 1])
    assert (found.c_min, found.restricted_eigenvalue) == (0.0, False)
    assert np.isnan(found.eta)
    assert not found.irrepresentable
    assert (found.lambda_bar, found.lambda_top, found.tau_bar) == (math.inf, 0.0, 0.0)
    assert "C1 (eigenvalue)        fails" in str(found)


def test_it_takes_an_answer_rows_or_true_and_false_alike() -> None:
    problem = votes(3)
    answer = optiframe.solve(problem, "hodge.lbi").solution
    mask = answer.outliers != 0
    assert conditions(problem, answer) == conditions(problem, mask) == conditions(problem, answer.flagged)


@pytest.mark.parametrize(
    ("flagged", "message"),
    [
        ([], "0 of 66 comparisons are flagged"),
        (np.ones(66, dtype=bool), "66 of 66"),
        (np.ones(5, dtype=bool), "there are 66 comparisons"),
        ([3, 66], "names row 66, rows are 0 to 65"),
        ([0.5], "must be an answer, row numbers"),
    ],
)
def test_what_cannot_be_flagged_is_refused(flagged: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        conditions(votes(0), flagged)


def test_unequal_weights_and_large_problems_are_refused() -> None:
    rows = {"left": [1, 1, 2], "right": [2, 3, 3], "label": [1, 1, 2], "weight": [1, 1, 2]}
    with pytest.raises(InvalidInput, match="of equal weight"):
        conditions(PairwiseRanking(comparisons=rows), [0])
    large = optiframe.problem(dataset={"name": "pairwise.random-order", "items": 100, "comparisons": 5000})
    with pytest.raises(InvalidInput, match="100 items and 4,500 flagged comparisons"):
        conditions(large, np.arange(4500))
