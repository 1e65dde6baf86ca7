"""The semidefinite relaxation: exact where theory says so, honest about its rank where it is not."""

from __future__ import annotations

import numpy as np
import pytest
from optiframe_rankone.completion.problem import RankOneCompletion
from optiframe_rankone.solvers.relaxation import TraceRelaxation

import optiframe
from optiframe import Unsuited

SKILLS = np.array([0.9, 0.4, 0.6, 0.5, 0.7, 0.3])


def products(skills: np.ndarray, known: np.ndarray | None = None, **bounds: float) -> RankOneCompletion:
    weights = np.ones((len(skills), len(skills))) if known is None else known
    return RankOneCompletion(weights=weights, values=np.outer(skills, skills), truth=skills, **bounds)


def test_all_pairs_of_a_balanced_vector_are_completed() -> None:
    found = optiframe.solve(products(SKILLS), TraceRelaxation(share=1e-6))
    assert found.metrics["distance"] < 1e-3
    assert found.detail.rank_one > 0.99


def test_an_entry_above_the_sum_of_the_others_makes_the_trace_prefer_a_higher_rank() -> None:
    skills = np.array([2.0, 0.3, 0.3, 0.3])  # all pairs known; 2 > .9 (Saunderson et al. 2012)
    found = optiframe.solve(products(skills), TraceRelaxation(share=1e-6))
    assert found.detail.rank_one < 0.95
    assert found.metrics["distance"] > 0.1
    assert np.trace(found.detail.matrix) < skills @ skills  # less trace, same pairs
    off = ~np.eye(4, dtype=bool)
    np.testing.assert_allclose(found.detail.matrix[off], np.outer(skills, skills)[off], atol=1e-4)


def test_a_larger_price_shrinks_the_answer() -> None:
    sizes = [
        float(np.linalg.norm(optiframe.solve(products(SKILLS), TraceRelaxation(share=share)).solution))
        for share in (1e-3, 0.1, 0.5)
    ]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[2] < 0.8 * sizes[0]


def test_two_components_have_an_eigenvector_each() -> None:
    known = np.zeros((6, 6))
    known[:3, :3] = known[3:, 3:] = 1.0
    found = optiframe.solve(products(SKILLS, known), TraceRelaxation(share=1e-6))
    np.testing.assert_allclose(found.solution, SKILLS, atol=1e-2)


def test_the_answer_keeps_within_the_bounds() -> None:
    found = optiframe.solve(products(SKILLS, lower=0.0, upper=0.5), TraceRelaxation())
    assert found.violation == 0.0
    assert (np.diag(found.detail.matrix) <= 0.25 + 1e-6).all()


def test_values_that_only_contradict_give_zero() -> None:
    values = -np.ones((2, 2))
    found = optiframe.solve(
        RankOneCompletion(weights=np.ones((2, 2)), values=values, lower=0.0), TraceRelaxation()
    )
    assert np.isfinite(found.solution).all()
    assert found.violation == 0.0


def test_values_of_zero_give_zero_where_nothing_bounds_the_diagonal() -> None:
    known = RankOneCompletion(weights=np.ones((3, 3)), values=np.zeros((3, 3)))
    found = optiframe.solve(known, TraceRelaxation())
    assert not found.solution.any()
    assert found.objective == 0.0


def test_a_large_case_is_refused_in_words() -> None:
    problem = products(np.full(101, 0.5))
    with pytest.raises(Unsuited, match="101 rows, and it takes up to 100"):
        optiframe.solve(problem, TraceRelaxation())
