"""What the theory asks: coherence, terms a worker, the share of hostile workers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from optiframe_comrade.local.per_sample import mean_of
from optiframe_comrade.trust.theory import advice, cheap_notes, coherence, terms_wanted

import optiframe
from optiframe import Budget, InvalidInput, Minimize, Unsuited, from_function
from optiframe.problems.objectives.losses import LeastSquares, Logistic

from .classification_twins import hessian_row_by_row, planted
from .test_local_step import by_hand


@settings(max_examples=20)
@given(rows=st.integers(5, 30), columns=st.integers(1, 5), seed=st.integers(0, 99), sparse=st.booleans())
def test_coherence_is_that_of_an_orthonormal_basis(rows: int, columns: int, seed: int, sparse: bool) -> None:
    rng = np.random.default_rng(seed)
    matrix, weights = rng.standard_normal((rows, columns)), rng.random(rows) + 0.1
    basis, _ = np.linalg.qr(np.sqrt(weights)[:, np.newaxis] * matrix)
    slow = rows / columns * (basis**2).sum(axis=1).max()
    mu = coherence(sp.csr_array(matrix) if sparse else matrix, weights)
    assert mu == pytest.approx(slow, rel=1e-8)
    assert 1 - 1e-9 <= mu <= rows / columns * (1 + 1e-9)


def test_a_matrix_of_lower_rank_has_a_coherence() -> None:
    matrix = np.outer(np.arange(1.0, 5.0), [1.0, 2.0])
    basis = np.arange(1.0, 5.0) / np.sqrt(30)
    assert coherence(matrix) == pytest.approx(4 / 2 * (basis**2).max())


def test_the_bound_of_theorem_1() -> None:
    assert terms_wanted(2.0, 10, 20, 0.5, 0.1) == pytest.approx(3 * 2 * 10 / 0.25 * math.log(2000))


def test_the_advice_puts_it_together() -> None:
    f = planted(600, 5)
    w = np.full(5, 0.3)
    found = advice(Minimize(f), workers=20, byzantine=0.4, at=w)
    kappa = np.linalg.cond(hessian_row_by_row(f, w))
    assert found.condition == pytest.approx(kappa)
    assert found.byzantine_allowed == pytest.approx(1 / math.sqrt(kappa))
    assert (found.terms, found.columns) == (30, 5)
    assert found.terms_wanted == terms_wanted(found.coherence, 5, 20, 0.5, 0.1)
    assert [finding.level for finding in found.findings] == ["note"]  # 600 rows are below Theorem 1's bound
    crowded = advice(Minimize(f), workers=60, byzantine=0.45, at=10 * w).findings
    assert "holds 2 terms for each of the 5 columns" in crowded[0].text
    assert "45% of the workers may be hostile" in crowded[-1].text


def test_the_advice_looks_through_a_formulation_and_needs_a_linear_model() -> None:
    f = planted(60, 3)
    problem = optiframe.problem("linear-classification", matrix=f.matrix, target=f.target)
    model = Logistic(matrix=f.matrix, target=f.target, l2=1 / 60)
    assert advice(problem, 4) == advice(Minimize(model), 4)
    with pytest.raises(Unsuited, match="the advice needs a linear model"):
        advice(Minimize(from_function(lambda x: (x**2).sum(), 2)))


def test_advice_on_impossible_numbers_is_refused() -> None:
    on = Minimize(planted(60, 3))
    for name, value in (
        ("workers", 0),
        ("workers", 61),
        ("byzantine", 5),
        ("byzantine", 0.5),
        ("byzantine", -0.1),
        ("byzantine", math.nan),
        ("hessian_terms", 0),
        ("eta", 0.0),
        ("delta", 1.0),
    ):
        with pytest.raises(InvalidInput, match=f"{name} is {value}"):
            advice(on, **{name: value})


def test_a_point_that_is_no_finite_vector_of_the_right_length_is_refused() -> None:
    on = Minimize(planted(60, 3))
    for at, why in (
        (np.ones(2), r"at must be a vector of 3 finite numbers, got shape \(2,\)"),
        (np.ones((3, 1)), r"got shape \(3, 1\)"),
        ([1.0, math.nan, 0.0], "some are nan or infinite"),
        (["a", "b", "c"], "at must be a vector of 3 numbers"),
    ):
        with pytest.raises(InvalidInput, match=why):
            advice(on, 4, at=at)
    assert advice(on, 4, at=[0, 0, 0]) == advice(on, 4)
    far = Minimize(LeastSquares(matrix=np.full((60, 3), 1e200), target=np.ones(60)))
    with np.errstate(over="ignore"), pytest.raises(InvalidInput, match="Hessian at this point is not finite"):
        advice(far, 4)


def test_a_sampled_hessian_has_as_many_terms_as_its_sample() -> None:
    on = Minimize(planted(600, 5))
    assert advice(on, 20, hessian_terms=12).terms == 12
    assert advice(on, 20, hessian_terms=1000) == advice(on, 20)


def notes_of(on: Minimize, method: str = "newton.comrade", **parameters: Any) -> list[str]:
    ended = Budget(iterations=2, tolerance=0.0)
    found = optiframe.solve(on, method, workers=10, budget=ended, **parameters).findings
    return [each.text for each in found if each.identifier.endswith("-than-theory")]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::optiframe.NotConverged")
def test_a_newton_answer_says_what_the_theory_asks_where_that_costs_little() -> None:
    on, far = Minimize(planted(600, 5)), np.full(5, 3.0)
    asked = advice(on, 10, 0.45, at=far, hessian_terms=30)
    expected = [each.text for each in asked.findings if each.level == "note"]
    assert expected[0].startswith("Theorem 1 guarantees nothing here")
    assert expected[1].startswith("45% of the workers may be hostile; the theory allows about")
    assert notes_of(on, byzantine=0.45, trim=0.45, hessian_terms=30, start=far) == expected
    assert notes_of(on, "gradient.robust") == []  # no theory of Newton's method is about it
    wide = planted(600, 130)
    assert notes_of(Minimize(wide)) == []  # (600 x 130 + 130^2) x 130 is above the limit
    assert advice(Minimize(wide), 10).findings
    assert notes_of(Minimize(mean_of(by_hand, wide.matrix[:, :3], wide.target))) == []


@pytest.mark.filterwarnings("ignore::optiframe.NotConverged")
def test_rows_too_large_for_advice_do_not_end_a_run() -> None:
    f = planted(100, 2)
    huge = LeastSquares(matrix=np.asarray(f.matrix) * 1e160, target=f.target)
    assert cheap_notes(huge, 10, 0.0, at=np.zeros(2)) == ()
