"""What rounding squares to whole numbers may cost: certificates state it, and prove nothing beyond 1e-9."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optiframe_tvcs.projection.certificate import PROVED
from optiframe_tvcs.projection.plan import ProjectionPlan
from optiframe_tvcs.sets.groups import Groups
from optiframe_tvcs.sets.three_view import ThreeView
from tvcs_common import paper_instance

import optiframe
from optiframe import Projection
from optiframe.solving.result import Status

from .support_twins import PATHS, solve

FAR_APART = np.array([1e8, 1.0, 2.0, 3.0])  # the largest square is 2**53 times the least
FIRST_TWO = ThreeView(total=2, size=4)


def distances(over: ThreeView, v: np.ndarray, support: np.ndarray) -> tuple[Fraction, Fraction]:
    """Squared distance of `v` to what `support` keeps and to the nearest point of the set, exact."""
    squares = np.array([Fraction(x) ** 2 for x in v.tolist()], dtype=object)
    every = ((np.arange(2 ** len(v))[:, None] >> np.arange(len(v))) & 1).astype(bool)
    fits = [kept for kept in every if over.excess(kept) == 0]
    return sum(squares[~support], Fraction(0)), min(sum(squares[~kept], Fraction(0)) for kept in fits)


@pytest.mark.parametrize("path", PATHS)
def test_entries_too_far_apart_are_not_proved_on_any_path(path: str) -> None:
    found = solve(path, FIRST_TWO.plan, FAR_APART**2)
    ours, best = distances(FIRST_TWO, FAR_APART, found.support)
    assert best == 5
    assert path == "fallback" or ours > best  # which of the three small ones is kept is chance
    assert not found.certificate.holds
    assert found.certificate.exact
    assert found.certificate.loss >= 1 - math.sqrt(best / ours)
    assert "differ too much in size" in found.certificate.reason
    # A warm start does not change it, nor do the units of a selection for the point.
    warm = solve(path, FIRST_TWO.plan, FAR_APART**2, found.prices)
    assert not warm.certificate.holds
    assert FIRST_TWO.select_for(FAR_APART).certificate.loss == pytest.approx(found.certificate.loss)
    assert FIRST_TWO.projector().project(FAR_APART)[0] == 1e8


@pytest.mark.parametrize("solver", ["tvcs.exact", "tvcs.greedy", "tvcs.pdhg"])
def test_no_exact_solver_says_converged_without_a_proof(solver: str) -> None:
    with pytest.warns(optiframe.NotConverged, match="not proved"):
        result = optiframe.solve(Projection(FAR_APART, FIRST_TWO), solver, budget={"iterations": 10_000})
    assert result.status is Status.STALLED
    assert result.violation == 0.0
    assert not result.detail.certificate.holds
    assert result.detail.certificate.reason in result.message
    assert any(result.detail.certificate.reason in finding.text for finding in result.findings)


@pytest.mark.parametrize("path", PATHS)
@given(data=st.data())
def test_a_certificate_that_holds_is_right_whatever_the_sizes_of_entries(
    path: str, data: st.DataObject
) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    p, decades = int(rng.integers(2, 9)), data.draw(st.sampled_from([0, 1, 3, 5, 8, 12, 20]))
    v = rng.choice([-1.0, 1.0], p) * (1 + rng.random(p)) * 10.0 ** -rng.uniform(0, decades, p)
    if data.draw(st.booleans()):
        v = np.float64(10.0) ** -rng.integers(0, decades + 1, p)  # ties, which decide by the last bits
    rows, columns = (Groups.of_labels(rng.integers(-1, 3, p), rng.integers(1, 4, 3)) for _ in range(2))
    over = ThreeView(total=int(rng.integers(1, p + 1)), rows=rows, columns=columns)
    found = solve(path, ProjectionPlan(*over.plan.bounds), v**2)
    ours, best = distances(over, v, found.support)
    loss = Fraction(found.certificate.loss)
    assert best >= (1 - loss) ** 2 * ours
    assert found.certificate.holds == (loss <= PROVED)
    if found.certificate.holds:
        assert ours <= best * (1 + Fraction(1, 10**9)) ** 2
    if decades <= 1:
        assert found.certificate.holds


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("noise", [1.0, 1e-3])
def test_ordinary_points_are_proved_with_next_to_no_loss(path: str, noise: float) -> None:
    for seed in range(3):
        instance = paper_instance(np.random.default_rng(seed), 120)
        plan = ProjectionPlan(*instance.bounds)
        first = plan.solve(instance.v**2).support
        v = np.where(first, instance.v, noise * instance.v)  # for little noise next to the set
        found = solve(path, plan, v**2).certificate
        assert found.holds
        assert found.loss <= (1e-14 if noise == 1.0 else 1e-11)


@pytest.mark.parametrize("path", PATHS)
def test_nothing_is_lost_where_everything_is_kept(path: str) -> None:
    over = ThreeView.of_matrix((2, 2), total=3, per_row=2)
    found = solve(path, over.plan, np.array([1e16, 1.0, 4.0, 0.0])).certificate
    assert found.holds
    assert found.loss == 0.0


def test_worths_that_are_not_squares_are_judged_by_the_worth_kept() -> None:
    found = FIRST_TWO.select(FAR_APART**2).certificate
    assert found.holds
    assert 8 / 1e16 <= found.loss <= 1e-14


def test_the_papers_method_answers_where_squares_are_beyond_float64() -> None:
    problem = Projection(np.array([1e200, 1.0, 2.0, 3.0]), FIRST_TWO)
    with pytest.warns(optiframe.NotConverged, match="stopped after 1000 iterations with residual"):
        result = optiframe.solve(problem, "tvcs.first-order", budget={"iterations": 1000})
    assert result.solution[0] == 1e200
    assert result.violation == 0.0
    assert not result.detail.certificate.holds
    assert any("not proved best" in finding.text for finding in result.findings)
