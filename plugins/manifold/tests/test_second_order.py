"""The certificate: the spectrum's ends agree with the whole Hessian, and saddles are told."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from optiframe_manifold.geometry.fixed_rank import Factors, FixedRank, balanced, stacked
from optiframe_manifold.low_rank import LowRank, Rank
from optiframe_manifold.objective.completion import KnownEntries
from optiframe_manifold.problem import CollaborativeRanking
from optiframe_manifold.trust import certificate as module
from optiframe_manifold.trust.certificate import SecondOrder, second_order

import optiframe
from optiframe import InvalidInput, Minimize, Unsuited
from optiframe.problems.sets.vector_sets import Box
from optiframe.records.fields import Array

from .cases import drawn


@cache
def solved(penalty: str = "log-sum-exp") -> Any:
    return optiframe.solve(drawn(20, 15, 20.0, penalty=penalty), "manifold.trust-region")


def spectrum(problem: CollaborativeRanking, x: LowRank) -> Array:
    """All eigenvalues on horizontal vectors, by second differences of the objective along retractions."""
    x = balanced(x)
    geometry, point, f = FixedRank(*x.shape, x.rank), Factors(x), problem.likelihood
    basis = []  # orthonormal in the metric, horizontal
    for e in np.eye(sum(x.shape) * x.rank).reshape(-1, sum(x.shape), x.rank):
        v = geometry.projection(point, e)
        for b in basis:
            v = v - geometry.inner_product(point, b, v) * b
        if geometry.norm(point, v) > 1e-6:
            basis.append(v / geometry.norm(point, v))
    assert len(basis) == geometry.dim

    def slope(v: Array) -> Array:
        return stacked(f.gradient(balanced_not(x, v)))

    # At a stationary point the second derivative along any curve is the Hessian's.
    h = 1e-5
    bent = np.array([(slope(h * v) - slope(-h * v)) / (2 * h) for v in basis])
    matrix = np.einsum("vij,wij->vw", bent, np.array(basis))
    return np.asarray(np.linalg.eigvalsh((matrix + matrix.T) / 2))


def balanced_not(x: LowRank, v: Array) -> LowRank:
    """The factors moved as they are."""
    return LowRank(x.left + v[: len(x.left)], x.right + v[len(x.left) :])


def test_both_ends_are_those_of_the_hessian_by_differences() -> None:
    result = solved()
    found = second_order(result)
    values = spectrum(result.problem, result.solution.factors)
    assert found.smallest == pytest.approx(values[0], rel=1e-4)
    assert found.largest == pytest.approx(values[-1], rel=1e-4)
    assert found.is_minimum
    assert found.finding.level == "note"


def test_lanczos_finds_what_the_whole_matrix_has(monkeypatch: pytest.MonkeyPatch) -> None:
    result = solved()
    whole = second_order(result, tolerance=1e-8)
    monkeypatch.setattr(module, "_DENSE", 0)
    found = second_order(result, tolerance=1e-8)
    assert found.smallest == pytest.approx(whole.smallest, abs=1e-6 * whole.largest)
    assert found.error <= 1e-5 * whole.largest
    assert found.products > 0
    again = second_order(result, tolerance=1e-8)
    assert again.smallest == found.smallest  # the same bits


def test_the_direction_has_the_curvature_that_is_said() -> None:
    result = solved()
    found, x = second_order(result), balanced(result.solution.factors)
    f = result.problem.likelihood
    line = [f.value(balanced_not(x, h * stacked(found.direction))) for h in (-1e-3, 0.0, 1e-3)]
    assert (line[0] - 2 * line[1] + line[2]) / 1e-6 == pytest.approx(found.smallest, rel=1e-2)


def test_without_a_penalty_the_shift_of_a_users_scores_is_flat() -> None:
    found = second_order(solved("none"), tolerance=1e-8)
    assert found.is_minimum is None
    assert found.smallest == pytest.approx(0.0, abs=1e-6)
    assert "flat to second order" in found.finding.text


def test_a_saddle_is_told_from_a_minimum() -> None:
    """The second and third singular pair of a known matrix: stationary, and no minimum."""
    left, right = (np.linalg.qr(np.random.default_rng(s).standard_normal((9, 3)))[0] for s in (0, 1))
    row, column = (at.ravel() for at in np.indices((9, 9)))
    whole = (left * [3.0, 2.0, 1.0]) @ right.T
    known = KnownEntries(row=row, column=column, entry=whole.ravel(), rows=9, columns=9)
    problem = Minimize(known, over=Rank(9, 9, 2))
    best = second_order(problem, LowRank(left[:, :2] * [3.0, 2.0], right[:, :2]))
    saddle = second_order(problem, LowRank(left[:, 1:] * [2.0, 1.0], right[:, 1:]))
    assert best.gradient_norm < 1e-10
    assert best.is_minimum
    assert saddle.gradient_norm < 1e-10
    assert saddle.is_minimum is False
    assert saddle.finding.level == "warning"
    assert "leads further down" in saddle.finding.text


def test_a_problem_and_its_answer_do_as_well_as_the_result() -> None:
    result = solved()
    for answer in (result, result.solution):
        assert second_order(result.problem, answer).smallest == second_order(result).smallest


def test_what_has_no_certificate_says_why() -> None:
    result = solved()
    problem, factors = result.problem, result.solution.factors
    with pytest.raises(InvalidInput, match="give an answer as well"):
        second_order(problem)
    with pytest.raises(InvalidInput, match="not finite"):
        second_order(problem, problem.from_factors(LowRank(factors.left * np.nan, factors.right)))
    with pytest.raises(InvalidInput, match="tolerance must be between 0 and 1, got 0"):
        second_order(result, tolerance=0)
    flat = LowRank(factors.left * [1.0, 0.0], factors.right)
    with pytest.raises(Unsuited, match="lower rank than the set's 2"):
        second_order(problem, problem.from_factors(flat))
    box = Minimize(optiframe.objective("least-squares", matrix=np.eye(2), target=[0.0, 1.0]), over=Box())
    with pytest.raises(Unsuited, match="not the set of matrices of a fixed rank"):
        second_order(box, np.zeros(2))


def test_the_certificate_shows_its_sentence_and_not_its_fields() -> None:
    found = SecondOrder(2.0, 9.0, 1e-9, 1e-8, LowRank(np.ones((2, 1)), np.ones((2, 1))), 7)
    assert repr(found) == f"<{found.finding.text}>"
    assert f"<p>{found.finding.text}</p>" in found._repr_html_()
