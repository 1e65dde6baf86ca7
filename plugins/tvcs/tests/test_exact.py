"""The exact projection: proved on every call, equal to HiGHS, the same by every path."""

from __future__ import annotations

import pickle
from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optiframe_tvcs.projection.plan import ProjectionPlan
from optiframe_tvcs.solvers.exact import ExactProjection
from scipy.optimize import linprog
from tvcs_common import KINDS, Instance, hard_instance, paper_instance, random_instance, set_of

from optiframe import InvalidInput, Projection, Solver
from optiframe.testing import SolverContract

from .support_twins import BUILT, PATHS, best_worth, papers_set, points, sets, solve

instances = st.builds(
    lambda kind, seed: random_instance(np.random.default_rng(seed), kind, 300),
    st.sampled_from(KINDS),
    st.integers(0, 10**6),
)


def best_by_highs(instance: Instance) -> float:
    matrix, bounds = set_of(instance).incidence
    weights = instance.v**2
    largest = max(float(weights.max(initial=0.0)), 1e-300)
    found = linprog(-weights / largest, A_ub=matrix, b_ub=bounds, bounds=(0, 1), method="highs-ds")
    return float(-found.fun) * largest


class TestExact(SolverContract):
    solver: Solver = ExactProjection()

    def instances(self) -> Iterable[Projection]:
        made = []
        for seed, draw in enumerate([np.random.Generator.standard_normal, lambda r, s: r.integers(0, 4, s)]):
            over, rng = papers_set(25, seed)
            made.append(Projection(np.asarray(draw(rng, over.shape), dtype=float), over))
        return made

    def optimum(self, problem: Projection) -> float:
        over, point = problem.onto, problem.point
        chosen = solve("reference", over.plan, point.ravel() ** 2)
        return float(point.ravel() @ point.ravel() - chosen.certificate.primal) / 2


@pytest.mark.parametrize("path", PATHS)
@given(instance=instances)
def test_every_answer_is_proved_and_as_good_as_that_of_highs(path: str, instance: Instance) -> None:
    weights = instance.v**2
    plan = ProjectionPlan(*instance.bounds)
    found = solve(path, plan, weights)
    assert found.certificate.holds
    assert found.certificate.gap == 0.0
    assert found.certificate.primal == pytest.approx(best_by_highs(instance), rel=1e-9, abs=1e-30)


@given(data=st.data())
def test_small_sets_keep_as_much_as_trying_every_support(data: st.DataObject) -> None:
    over = data.draw(sets())
    v = data.draw(points(over.elements))
    best = best_worth(over, v**2)
    for path in PATHS:
        found = solve(path, over.plan, v**2)
        assert float((v**2)[found.support].sum()) == pytest.approx(best, rel=1e-12)
        assert over.excess(found.support) == 0


@pytest.mark.parametrize("path", PATHS)
@given(instance=instances, seed=st.integers(0, 10**6))
def test_worth_does_not_depend_on_order_and_sign(path: str, instance: Instance, seed: int) -> None:
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(instance.v))
    bounds = instance.bounds
    shuffled = bounds._replace(row_labels=bounds.row_labels[order], column_labels=bounds.column_labels[order])
    turned = (instance.v * rng.choice([-1.0, 1.0], len(order)))[order]
    before = solve(path, ProjectionPlan(*bounds), instance.v**2)
    after = solve(path, ProjectionPlan(*shuffled), turned**2)
    assert before.certificate.primal == pytest.approx(after.certificate.primal)  # summed in another order
    if instance.bounds.total and len(np.unique(instance.v**2)) == len(order):
        assert after.certificate.holds


@given(instance=instances, seed=st.integers(0, 10**6))
def test_larger_bounds_never_keep_less(instance: Instance, seed: int) -> None:
    rng = np.random.default_rng(seed)
    bounds = instance.bounds
    wider = bounds._replace(
        row_caps=bounds.row_caps + rng.integers(0, 3, len(bounds.row_caps)),
        column_caps=bounds.column_caps + rng.integers(0, 3, len(bounds.column_caps)),
        total=bounds.total + int(rng.integers(0, 3)),
    )
    weights = instance.v**2
    less = ProjectionPlan(*bounds).solve(weights)
    more = ProjectionPlan(*wider).solve(weights)
    assert more.certificate.primal >= less.certificate.primal


@pytest.mark.parametrize("path", PATHS)
@given(instance=instances, seed=st.integers(0, 10**6))
def test_a_start_changes_the_way_and_not_the_answer(path: str, instance: Instance, seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights = instance.v**2
    plan = ProjectionPlan(*instance.bounds)
    other = (instance.v * (1 + 0.3 * rng.standard_normal(len(weights)))) ** 2
    cold = solve(path, plan, weights)
    warm = solve(path, plan, weights, plan.solve(other).prices)
    assert warm.certificate.holds
    assert warm.certificate.primal == cold.certificate.primal


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gaussian", "ties", "equal", "pareto", "huge"])
def test_instances_beyond_the_sampled_sizes_are_proved(kind: str) -> None:
    instance = hard_instance(np.random.default_rng(3), 190, kind)  # large enough for a sample
    plan = ProjectionPlan(*instance.bounds)
    found = plan.solve(instance.v**2)
    assert found.certificate.holds
    again = plan.solve((instance.v * 1.01) ** 2, found.prices)
    assert again.certificate.holds


def test_guard_on_repair_work_leads_to_the_same_support() -> None:
    instance = paper_instance(np.random.default_rng(0), 30)
    plan = ProjectionPlan(*instance.bounds)
    usual, fallback = (plan.solve(instance.v**2, forced=forced) for forced in (False, True))
    assert plan.effort is not None
    assert plan.effort.fallback == BUILT
    assert np.array_equal(usual.support, fallback.support)


def test_real_weights_choose_nothing_below_zero() -> None:
    plan = ProjectionPlan(*paper_instance(np.random.default_rng(1), 8).bounds)
    weights = np.random.default_rng(2).standard_normal(64)
    for path in PATHS:
        found = solve(path, plan, weights)
        assert found.certificate.holds
        assert not (found.support & (weights <= 0)).any()


@pytest.mark.parametrize("path", PATHS)
def test_nothing_to_choose_is_an_empty_support_with_a_proof(path: str) -> None:
    plan = ProjectionPlan(*paper_instance(np.random.default_rng(1), 5).bounds)
    found = solve(path, plan, np.zeros(25))
    assert not found.support.any()
    assert found.certificate.holds
    assert found.certificate.primal == 0.0


@pytest.mark.parametrize("path", PATHS)
def test_weights_that_are_not_finite_or_of_another_length_are_named(path: str) -> None:
    plan = ProjectionPlan(*paper_instance(np.random.default_rng(1), 5).bounds)
    for wrong in (np.nan, np.inf, -np.inf):
        weights = np.ones(25)
        weights[7] = wrong
        with pytest.raises(InvalidInput, match=r"entry \[7\] of the values is"):
            solve(path, plan, weights)
    with pytest.raises(InvalidInput, match="25 values"):
        solve(path, plan, np.ones(24))


def test_a_plan_is_picklable_and_leaves_what_is_derived_behind() -> None:
    instance = paper_instance(np.random.default_rng(4), 60)
    plan = ProjectionPlan(*instance.bounds)
    found = plan.solve(instance.v**2)
    copy = pickle.loads(pickle.dumps(plan))
    assert len(pickle.dumps(plan)) < 9 * 3600
    assert np.array_equal(copy.solve(instance.v**2).support, found.support)
