"""A run of projections from the prices of the last: the same answers, whatever came before."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optiframe_tvcs.datasets.planted import PlantedRegression
from optiframe_tvcs.learning.gradmp import GradientMatchingPursuit
from optiframe_tvcs.learning.htp import HardThresholdingPursuit
from optiframe_tvcs.learning.iht import IterativeHardThresholding
from optiframe_tvcs.learning.stochastic import StochasticIHT
from optiframe_tvcs.projection.checked import as_point
from optiframe_tvcs.projection.plan import Packed, ProjectionPlan
from optiframe_tvcs.projection.warm_start import WarmProjector
from optiframe_tvcs.sets.sparse_sets import projector
from optiframe_tvcs.sets.three_view import ThreeView
from tvcs_common import (
    CASES,
    KINDS,
    Case,
    Instance,
    adversarial_instance,
    paper_instance,
    random_instance,
    set_of,
)

from optiframe import InvalidInput, Minimize, Solver
from optiframe.problems.problem import Problem
from optiframe.problems.sets.constraint_set import ConstraintSet
from optiframe.records.fields import Array

from .learning_twins import points
from .support_twins import papers_set


class Noting(ProjectionPlan):
    """A plan that notes whether it was given prices."""

    def keep(self, v: Array, given: Packed | None = None) -> tuple[Array, Packed] | None:
        self.started = [*getattr(self, "started", []), given is not None]
        return super().keep(v, given)


class Cold(ConstraintSet):
    """A three-view set without a projector: every projection on its own."""

    name = "cold-three-view"
    convex = False
    views: Any = None

    def project(self, v: Array) -> Array:
        return np.asarray(self.views.project(v))

    def violation(self, x: Array) -> float:
        return float(self.views.violation(x))

    def enlarged(self, factor: int) -> Cold:
        return Cold(views=self.views.enlarged(factor))


def follower(instance: Instance) -> tuple[ThreeView, WarmProjector, Noting]:
    plan = Noting(*instance.bounds)
    return set_of(instance), WarmProjector(plan, as_point), plan


def check_a_walk(instance: Instance, seed: int, data: st.DataObject) -> None:
    over, following, _ = follower(instance)
    rng, v = np.random.default_rng(seed), instance.v
    for _ in range(4):
        moved = data.draw(st.sampled_from([0.001, 0.1, 3.0]))
        size = data.draw(st.sampled_from([1.0, 1.0, 1e160]))  # whose squares need other units
        v = v * (1 + moved * rng.standard_normal(len(v)))
        nearest, found = over.project(size * v), following.project(size * v)
        assert over.excess(found) == 0
        assert np.array_equal(found, nearest)


def planted(seed: int) -> Problem[Any]:
    data = PlantedRegression(side=8, samples=60, seed=seed)
    problem = data.inputs()
    return Minimize(problem["objective"], over=problem["over"])


@given(kind=st.sampled_from(KINDS), seed=st.integers(0, 10**6), data=st.data())
def test_every_answer_is_a_nearest_point_whatever_came_before(
    kind: str, seed: int, data: st.DataObject
) -> None:
    check_a_walk(random_instance(np.random.default_rng(seed), kind, 200), seed, data)


@given(case=st.sampled_from(CASES), p=st.sampled_from([2500, 4000]), seed=st.integers(0, 99), data=st.data())
def test_answers_by_lists_of_candidates_are_nearest_points_whatever_came_before(
    case: Case, p: int, seed: int, data: st.DataObject
) -> None:
    check_a_walk(adversarial_instance(case, p, seed), seed, data)


@pytest.mark.parametrize("side", [10, 60])  # one list of all elements, and one of candidates
def test_prices_are_given_to_the_next_point_(side: int) -> None:
    instance = paper_instance(np.random.default_rng(0), side)
    _, following, plan = follower(instance)
    for size in (1.0, 1.01, -1.02, 1e200, 1e200):
        following.project(size * instance.v)
    assert plan.started == [False, True, True, True, True]


def test_the_set_hands_out_a_new_projector_each_time() -> None:
    over, rng = papers_set(100, 1)
    v = rng.standard_normal(100)
    first, second = projector(over), projector(over)
    assert isinstance(first, WarmProjector)
    assert first is not second
    assert np.array_equal(first.project(v), second.project(v))


def test_threads_that_share_a_projector_get_nearest_points() -> None:
    over, rng = papers_set(2_500, seed=3)
    many = list(rng.standard_normal((12, *over.shape)))
    shared = over.projector()
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(shared.project, many * 4))
    for point, nearest in zip(many * 4, found, strict=True):
        assert np.array_equal(nearest, over.project(point))


def test_points_of_a_matrix_keep_their_shape_and_wrong_ones_are_named() -> None:
    over = ThreeView.of_matrix((2, 3), total=2, per_row=1, per_column=1)
    following = over.projector()
    assert following.project(np.array([[3, 1, 0], [1, 2, 0]])).tolist() == [[3.0, 0.0, 0.0], [0.0, 2.0, 0.0]]
    with pytest.raises(InvalidInput, match="shape"):
        following.project(np.ones(5))
    with pytest.raises(InvalidInput, match=r"entry \[0, 1\]"):
        following.project(np.array([[1.0, np.nan, 0.0], [0.0, 0.0, 0.0]]))


@pytest.mark.parametrize(
    "solver",
    [
        IterativeHardThresholding(),
        IterativeHardThresholding(step=0.1),
        HardThresholdingPursuit(),
        GradientMatchingPursuit(),
        StochasticIHT(block=20),
    ],
)
def test_solvers_go_the_same_way_with_and_without_it(solver: Solver) -> None:
    for seed in range(3):
        problem = planted(seed)
        warm = points(solver, problem, 8)
        cold = points(solver, Minimize(problem.function, over=Cold(views=problem.over)), 8)
        for one, other in zip(warm, cold, strict=True):
            assert np.array_equal(one, other)
