"""What the theory asks: coherence, terms a worker, the share of hostile workers."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from optiframe_comrade.theory import advice, coherence, terms_wanted

import optiframe
from optiframe import InvalidInput, Minimize, Unsuited, from_function
from optiframe.losses import Logistic

from .classification_twins import hessian_row_by_row, planted


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
    assert "2 terms a column" in crowded[0].text
    assert "0.45 of the workers may be hostile" in crowded[-1].text


def test_the_advice_looks_through_a_formulation_and_needs_a_linear_model() -> None:
    f = planted(60, 3)
    problem = optiframe.problem("linear-classification", matrix=f.matrix, target=f.target)
    model = Logistic(matrix=f.matrix, target=f.target, l2=1 / 60)
    assert advice(problem, 4) == advice(Minimize(model), 4)
    with pytest.raises(Unsuited, match="this needs a linear model"):
        advice(Minimize(from_function(lambda x: (x**2).sum(), 2)))


def test_advice_on_impossible_numbers_is_refused() -> None:
    on = Minimize(planted(60, 3))
    for name, value in (("workers", 0), ("eta", 0.0), ("delta", 1.0)):
        with pytest.raises(InvalidInput, match=f"{name} is {value}"):
            advice(on, **{name: value})
