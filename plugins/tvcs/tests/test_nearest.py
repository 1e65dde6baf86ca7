"""The nearest point, whatever the sizes of entries, against oracles in whole numbers."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optiframe_tvcs import ThreeView
from optiframe_tvcs.kernels.numbers import exact_worths, tie_breaks, with_ties
from optiframe_tvcs.projection.certificate import compare
from optiframe_tvcs.projection.plan import ProjectionPlan
from tvcs_common import (
    CASES,
    KINDS,
    SPREADS,
    adversarial_instance,
    improves,
    random_instance,
    set_of,
    spread_entries,
)

import optiframe
from optiframe import Projection
from optiframe.solving.result import Status

from .support_twins import BUILT, PATHS, sets, solve

FAR_APART = np.array([1e8, 1.0, 2.0, 3.0])  # the largest square is 2**53 times the least
FIRST_TWO = ThreeView(total=2, size=4)


def best_by_trying(over: ThreeView, worths: list[int]) -> np.ndarray:
    """The support of greatest worth, by trying all of them."""
    p = len(worths)
    every = ((np.arange(2**p)[:, None] >> np.arange(p)) & 1).astype(bool)
    fits = [kept for kept in every if over.excess(kept) == 0]
    return max(fits, key=lambda kept: sum(q for q, one in zip(worths, kept.tolist(), strict=True) if one))


@pytest.mark.parametrize("path", PATHS)
@given(data=st.data(), spread=st.sampled_from(SPREADS), seed=st.integers(0, 10**6))
def test_small_points_get_the_one_support_that_trying_all_finds(
    path: str, data: st.DataObject, spread: str, seed: int
) -> None:
    over = data.draw(sets(most=8))
    v = spread_entries(np.random.default_rng(seed), np.ones(over.elements), spread)
    for squared in (True, False):
        found = solve(path, over.plan, v, squared=squared)
        worths = with_ties(exact_worths(v, squared)[0], len(v))
        assert found.support.tolist() == best_by_trying(over, worths).tolist()
        assert found.certificate.holds
        assert found.certificate.gap == 0.0


@given(kind=st.sampled_from(KINDS), spread=st.sampled_from(SPREADS), seed=st.integers(0, 10**6))
def test_no_cycle_improves_an_answer_and_all_paths_agree(kind: str, spread: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    instance = random_instance(rng, kind, 60)
    v = spread_entries(rng, instance.v, spread)
    plan = ProjectionPlan(*instance.bounds)
    found = [solve(path, plan, v, squared=True) for path in PATHS]
    found.append(solve("kernel", plan, v, found[0].prices, squared=True))
    assert not improves(instance, found[0].support, with_ties(exact_worths(v, squared=True)[0], len(v)))
    for each in found:
        assert np.array_equal(each.support, found[0].support)
        assert each.certificate.holds
    nearest = np.where(found[0].support, v, 0.0)
    assert np.array_equal(set_of(instance).project(v), nearest)


@pytest.mark.slow
@pytest.mark.parametrize("spread", SPREADS)
def test_lists_of_candidates_and_the_fallback_give_the_same_nearest_point(spread: str) -> None:
    for seed in range(4):
        instance = adversarial_instance(CASES[(37 * seed) % len(CASES)], 3500, seed)
        v = spread_entries(np.random.default_rng(seed), instance.v, spread)
        plan = ProjectionPlan(*instance.bounds)
        usual, fallback = (plan.support(v, squared=True), plan.solve(v, forced=True, squared=True))
        assert plan.effort is not None
        assert plan.effort.fallback == BUILT
        assert np.array_equal(usual, fallback.support)
        kept = plan.keep(v)
        assert kept is not None
        assert np.array_equal(kept[0], np.where(usual, v, 0.0))


@pytest.mark.parametrize("path", PATHS)
def test_small_entries_beside_a_huge_one_are_told_apart(path: str) -> None:
    found = solve(path, FIRST_TWO.plan, FAR_APART, squared=True)
    assert found.support.tolist() == [True, False, False, True]
    assert 4.0 <= found.prices.total <= 9.0  # one place less would cost 9, one more is worth 4
    assert found.certificate.holds
    assert FIRST_TWO.project(FAR_APART).tolist() == [1e8, 0.0, 0.0, 3.0]


@pytest.mark.parametrize("size", [1e-307, 1e-160, 1.0, 1e160, 1e307])
def test_the_support_does_not_depend_on_the_scale(size: float) -> None:
    v = np.random.default_rng(0).standard_normal((6, 7)).round(3)
    over = ThreeView.of_matrix((6, 7), 9, 2, 2)
    assert np.array_equal(over.project(size * v) != 0, over.project(v) != 0)


@pytest.mark.parametrize("path", PATHS)
def test_of_equal_entries_those_that_come_first_are_kept(path: str) -> None:
    chosen = solve(path, ThreeView(total=3, size=50).plan, np.full(50, 0.3), squared=True).support
    assert np.flatnonzero(chosen).tolist() == [0, 1, 2]
    first, second = tie_breaks(np.arange(1000), 1000)
    assert (np.diff(first) < 0).all()
    assert first.max() < 2**50
    assert 0 < second.min() <= second.max() <= 2**50


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["tvcs.exact", "tvcs.greedy", "tvcs.pdhg", "tvcs.first-order"])
@given(data=st.data(), spread=st.sampled_from(SPREADS), seed=st.integers(0, 10**6))
def test_converged_means_the_nearest_point(solver: str, data: st.DataObject, spread: str, seed: int) -> None:
    over = data.draw(sets(most=6))
    v = spread_entries(np.random.default_rng(seed), np.ones(over.elements), spread)
    best = over.select_for(v)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optiframe.NotConverged)
        result = optiframe.solve(Projection(v, over), solver, budget={"iterations": 200})
    worths, _ = exact_worths(v, squared=True)
    kept, most = (sum(q for q, one in zip(worths, each, strict=True) if one) for each in
                  (result.detail.support.tolist(), best.support.tolist()))  # fmt: skip
    assert result.violation == 0.0
    assert (result.status is Status.CONVERGED) == (kept == most)
    assert result.detail.certificate.holds == (kept == most)
    if solver == "tvcs.exact":
        assert result.status is Status.CONVERGED


def test_what_a_support_loses_is_exact() -> None:
    problem = Projection(
        np.array([1e8, 3.0, 2.0, 1.0]), ThreeView(rows={"labels": [0, 0, 1, 1], "bounds": 1}, total=2)
    )
    program = optiframe.solve(problem, "tvcs.exact").detail
    assert program.support.tolist() == [True, False, True, False]

    worse = compare(
        problem.point,
        problem.onto.plan.bounds,
        np.array([True, False, False, True]),
        program.support,
        squared=True,
    )
    assert not worse.holds
    assert worse.gap == 3.0
    nearest, found = Fraction(3**2 + 1), Fraction(3**2 + 2**2)
    assert worse.loss == pytest.approx(1 - math.sqrt(nearest / found))
