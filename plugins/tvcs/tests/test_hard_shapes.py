"""Shapes that were slow once: groups that cannot bind, groups of a few elements, worths close together."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optiframe_tvcs.projection.binding import Binding
from optiframe_tvcs.projection.certificate import Bounds, Prices
from optiframe_tvcs.projection.plan import ProjectionPlan
from optiframe_tvcs.sets.three_view import ThreeView
from tvcs_common import (
    CASES,
    SHAPES,
    Case,
    adversarial_instance,
    hard_instance,
    more_instance,
    paper_instance,
)

from .support_twins import BUILT, PATHS, solve

hard = st.builds(lambda case, seed: (case, seed), st.sampled_from(CASES), st.integers(0, 10**6))


@given(made=hard, p=st.integers(8, 150))
def test_every_path_proves_the_same_support_on_hard_instances(made: tuple[Case, int], p: int) -> None:
    instance = adversarial_instance(made[0], p, made[1])
    weights = instance.v**2
    plan = ProjectionPlan(*instance.bounds)
    supports = []
    for path in PATHS:
        found = solve(path, plan, weights)
        assert found.certificate.holds
        supports.append(found.support)
    assert all(np.array_equal(each, supports[0]) for each in supports)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_fallback_comes_with_the_same_certificate(shape: str) -> None:
    instance = adversarial_instance((shape, "1 + 1e-6", "uniform"), 4000, 0)
    plan = ProjectionPlan(*instance.bounds)
    usual, fallback = (plan.solve(instance.v**2, forced=forced).certificate for forced in (False, True))
    assert plan.effort is not None
    assert plan.effort.fallback == BUILT
    assert fallback.holds
    assert fallback == usual


@pytest.mark.parametrize(
    "case",
    [("square", "1 or 2", "uniform"), ("three rows", "1 or 2", "half"), ("sparse", "sum", "2")],
    ids=["on flat trees", "given up", "after cost scaling"],
)
def test_the_network_simplex_breaks_ties_as_every_path_does(case: Case) -> None:
    instance = adversarial_instance(case, 3600, 0)
    plan = ProjectionPlan(*instance.bounds)
    usual, scaled = (plan.solve(instance.v, squared=True, forced=forced) for forced in (False, True))
    assert usual.certificate.holds
    assert np.array_equal(usual.support, scaled.support)


@pytest.mark.parametrize("shape", ["tiny groups", "sparse", "chain", "ladder"])
@pytest.mark.parametrize("worths", ["wide", "1 or 2", "1 + 1e-12", "product down", "sum"])
def test_paths_between_groups_find_the_same_support_as_cost_scaling(shape: str, worths: str) -> None:
    for bounds in ("1", "uniform"):
        instance = adversarial_instance((shape, worths, bounds), 3600, 1)
        plan = ProjectionPlan(*instance.bounds)
        usual, scaled = (plan.solve(instance.v, squared=True, forced=forced) for forced in (False, True))
        assert usual.certificate.holds
        assert np.array_equal(usual.support, scaled.support)


@pytest.mark.skipif(not BUILT, reason="the reference does not count looks at arcs")
def test_few_looks_are_taken_where_searches_end_at_the_source_and_the_sink() -> None:
    for case in (("chain", "wide", "2"), ("ladder", "product down", "uniform"), ("sparse", "wide", "1")):
        instance = adversarial_instance(case, 10_000, 0)
        plan = ProjectionPlan(*instance.bounds)
        assert plan.solve(instance.v, squared=True).certificate.holds
        assert plan.effort is not None
        assert plan.effort.arcs < 100 * len(instance.v)  # cost scaling: 280 to 730


@pytest.mark.skipif(not BUILT, reason="the reference does not count looks at arcs")
def test_ties_on_a_square_and_in_regular_groups_take_few_looks() -> None:
    made = (
        (adversarial_instance(("square", "1 or 2", "1"), 10_000, 0), 75),
        (more_instance("regular of 3", 10_000, 0), 200),
    )
    for instance, looks in made:
        plan = ProjectionPlan(*instance.bounds)
        assert plan.solve(instance.v, squared=True).certificate.holds
        assert plan.effort is not None
        assert plan.effort.arcs < looks * len(instance.v)  # cost scaling alone: 115 and 294


@pytest.mark.skipif(not BUILT, reason="the reference does not count looks at arcs")
def test_ties_whose_units_have_far_to_go_take_few_looks() -> None:
    equal = hard_instance(np.random.default_rng(0), 250, "equal")
    row, column = np.indices((100, 100), dtype=np.int32).reshape(2, -1)
    half = np.full(100, 50)
    ones = (np.random.default_rng(5).random(10_000) < 0.9).astype(np.float64)
    for v, bounds, looks in (
        (equal.v, equal.bounds, 500),
        (ones, Bounds(row, half, column, half, 4000), 1000),
    ):
        plan = ProjectionPlan(*bounds)
        assert plan.solve(v, squared=True).certificate.holds
        assert plan.effort is not None
        assert plan.effort.arcs < looks * len(v)  # in steps of the smallest width: many 10,000 and 4,700


@pytest.mark.skipif(not BUILT, reason="the reference does not count looks at arcs")
@pytest.mark.parametrize(
    ("case", "p", "looks"),
    [
        (("three rows", "sum", "half"), 10_000, 30),  # network simplex and cost scaling: 150
        (("one column", "1 or 2", "half"), 10_000, 60),  # the same: 145
        (("pareto", "sum", "half"), 40_000, 50),  # without bundles of what lies between two groups: 730
        (("square", "sum", "half"), 40_000, 150),  # without smoothed prices to begin with: 360
    ],
    ids=["three rows", "one column", "bundles", "smoothed"],
)
def test_ties_by_many_thousands_take_few_looks_and_are_broken_by_index(
    case: Case, p: int, looks: int
) -> None:
    instance = adversarial_instance(case, p, 0)
    plan = ProjectionPlan(*instance.bounds)
    usual = plan.solve(instance.v, squared=True)
    assert usual.certificate.holds
    assert plan.effort is not None
    assert plan.effort.arcs < looks * len(instance.v)
    assert np.array_equal(usual.support, plan.solve(instance.v, squared=True, forced=True).support)


@pytest.mark.skipif(not BUILT, reason="the reference makes no lists")
@pytest.mark.parametrize(
    ("case", "listed"),
    [
        (("pareto", "gaussian", "1"), 10),  # elements a group; from samples of these 26
        (("pareto", "few values", "1"), 8),  # 10
        (("square", "gaussian", "2"), 25),  # 38
        (("square", "sum", "2"), 200),  # ties by the thousand, which are all listed
        (("pareto", "1 or 2", "1"), 200),  # and settled by a sweep, too
        (("square", "product", "2"), 200),  # a sweep says nothing
    ],
    ids=lambda each: " ".join(each) if isinstance(each, tuple) else "",
)
def test_a_few_chosen_of_many_are_found_among_the_first_of_their_groups(case: Case, listed: int) -> None:
    instance = adversarial_instance(case, 40_000, 11)
    plan = ProjectionPlan(*instance.bounds)
    usual = plan.solve(instance.v, squared=True)
    assert usual.certificate.holds
    assert plan.effort is not None
    assert plan.effort.candidates <= listed * (
        len(instance.bounds.row_caps) + len(instance.bounds.column_caps)
    )
    assert np.array_equal(usual.support, plan.solve(instance.v, squared=True, forced=True).support)


@pytest.mark.skipif(not BUILT, reason="the reference makes no lists")
def test_entries_over_thirty_decades_are_repaired_in_a_list_of_those_next_to_the_thresholds() -> None:
    instance = adversarial_instance(("pareto", "wide", "2"), 100_000, 0)
    plan = ProjectionPlan(*instance.bounds)
    usual = plan.solve(instance.v, squared=True)
    assert usual.certificate.holds
    assert plan.effort is not None
    assert plan.effort.arcs < 200 * len(instance.v)  # 330 in a list of all
    assert np.array_equal(usual.support, plan.solve(instance.v, squared=True, forced=True).support)


@pytest.mark.skipif(not BUILT, reason="the reference has one way for all shapes")
@pytest.mark.parametrize("values", [(1, 10), (0, 2), (-1, 2)])
def test_whole_numbers_on_a_square_with_one_a_row_and_column_take_few_paths(values: tuple[int, int]) -> None:
    side, rng = 100, np.random.default_rng(0)
    plan = ThreeView.of_matrix((side, side), per_row=1, per_column=1).plan
    worths = rng.integers(*values, side * side).astype(np.float64)
    usual = plan.solve(worths)
    assert usual.certificate.holds
    assert plan.effort is not None
    assert plan.effort.paths < 30  # 60 to 87 where all rows want the same columns first
    assert np.array_equal(usual.support, plan.solve(worths, forced=True).support)


@pytest.mark.parametrize("shape", [(1, 5000), (5000, 1)])
def test_a_matrix_of_one_row_is_a_partial_sort(shape: tuple[int, int]) -> None:
    over = ThreeView.of_matrix(shape, total=2000, per_row=3000, per_column=3000)
    v = np.random.default_rng(0).standard_normal(shape)
    kept = over.plan.solve(v.ravel() ** 2)
    assert kept.certificate.holds
    assert np.array_equal(np.flatnonzero(kept.support), np.sort(np.argsort(-(v.ravel() ** 2))[:2000]))
    # With a search for each unit through 5,000 groups these were 100,000 paths.
    assert over.plan.effort is not None
    assert not over.plan.effort.fallback
    assert over.plan.effort.paths < 10


@pytest.mark.parametrize("worths", ["gaussian", "few values", "1 + 1e-6"])
def test_groups_of_a_few_elements_leave_few_units_to_repair(worths: str) -> None:
    instance = adversarial_instance(("tiny groups", worths, "1"), 5000, 0)
    plan = ProjectionPlan(*instance.bounds)
    assert plan.solve(instance.v**2).certificate.holds
    assert plan.effort is not None
    assert not plan.effort.fallback
    if BUILT:  # the reference repairs more
        assert plan.effort.units <= 25  # hundreds by smoothing alone


def test_groups_that_cannot_bind_are_left_out_and_cost_nothing() -> None:
    labels = np.array([0, 0, 1, 2, 2, -1], dtype=np.int32)
    caps = np.array([1, 1, 2, 0])
    bounds = Bounds(labels, caps, np.full(6, -1, np.int32), np.zeros(0, np.int64), 4)
    binding = Binding.of(bounds)
    assert binding.rows.tolist() == [True, False, False, False]
    reduced = binding.reduced(bounds)
    assert reduced.row_labels.tolist() == [0, 0, -1, -1, -1, -1]
    assert reduced.row_caps.tolist() == [1]
    few = Prices(2.0, np.array([3.0]), np.zeros(0))
    every = binding.all_prices(few)
    assert every.rows.tolist() == [3.0, 0.0, 0.0, 0.0]
    assert binding.reduced_prices(every).rows.tolist() == [3.0]


def test_where_few_groups_cannot_bind_a_matrix_stays_whole() -> None:
    caps = np.full(16, 3)
    caps[5] = 16
    over = ThreeView.of_matrix((16, 16), 40, caps, caps)
    assert Binding.of(over.plan.bounds).rows.all()
    found = over.plan.solve(np.arange(256.0))
    assert found.certificate.holds
    assert found.prices.rows[5] == 0.0


def test_the_reference_proves_matrices_with_several_lacks_at_once() -> None:
    for seed in range(60):
        rng = np.random.default_rng(seed)
        rows, columns = (int(each) for each in rng.integers(2, 25, 2))
        over = ThreeView.of_matrix(
            (rows, columns), rows * columns // 3 + 1, rng.integers(0, 5, rows), rng.integers(0, 4, columns)
        )
        worths = rng.random(rows * columns) ** (1 + 7 * (seed % 2))
        worths[rng.random(worths.size) < 0.5] *= 1e-15
        assert solve("reference", over.plan, worths).certificate.holds


def worths_of(rng: np.random.Generator, kind: str, p: int) -> np.ndarray:
    """Worths that are ordinary, tied, often nothing, or of very different sizes."""
    if kind == "ties":
        return rng.integers(0, 4, p).astype(np.float64)
    if kind == "zeros":
        return rng.random(p) * (rng.random(p) < 0.2)
    return 10.0 ** rng.uniform(-200, 200, p) if kind == "wide" else rng.random(p)


shapes = st.tuples(
    st.integers(1, 30), st.integers(1, 30), st.sampled_from(["plain", "ties", "zeros", "wide"])
)


@given(shape=shapes, share=st.sampled_from([0.4, 0.6, 0.9, 1.0]), seed=st.integers(0, 10**6))
def test_matrices_with_bounds_of_one_get_the_same_support_by_every_path(
    shape: tuple[int, int, str], share: float, seed: int
) -> None:
    rows, columns, kind = shape
    total = math.ceil(share * min(rows, columns))
    plan = ThreeView.of_matrix((rows, columns), total, per_row=1, per_column=1).plan
    worths = worths_of(np.random.default_rng(seed), kind, rows * columns)
    found = [solve(path, plan, worths) for path in PATHS]
    assert all(each.certificate.holds for each in found)
    assert all(np.array_equal(each.support, found[0].support) for each in found)


@pytest.mark.skipif(not BUILT, reason="the reference has one way for all shapes")
@pytest.mark.parametrize("worths", ["gaussian", "1 to 9", "product down", "wide"])
def test_a_part_of_an_assignment_needs_no_fallback_and_no_candidates(worths: str) -> None:
    instance = adversarial_instance(("square", worths, "1"), 900, 0)
    plan = ProjectionPlan(*instance.bounds)
    assert plan.solve(instance.v, squared=True).certificate.holds
    assert plan.effort is not None
    assert (plan.effort.fallback, plan.effort.candidates) == (False, 0)
    assert 0 < plan.effort.paths < 60


@pytest.mark.skipif(not BUILT, reason="the reference has one way for all shapes")
@pytest.mark.parametrize("shape", [(60, 61), (61, 60), (40, 100)])
@pytest.mark.parametrize("worths", ["equal", "1 to 3"])
def test_ties_on_a_matrix_that_is_no_square_need_no_path_for_each_row(
    shape: tuple[int, int], worths: str
) -> None:
    plan = ThreeView.of_matrix(shape, per_row=1, per_column=1).plan
    numbers = np.random.default_rng(0).integers(1, 4, math.prod(shape)).astype(float)
    assert plan.solve(np.ones(len(numbers)) if worths == "equal" else numbers).certificate.holds
    assert plan.effort is not None
    assert plan.effort.paths < 20


@pytest.mark.skipif(not BUILT, reason="the reference has one way for all shapes")
def test_bounds_of_one_on_a_thin_matrix_need_no_path_for_each_column() -> None:
    plan = ThreeView.of_matrix((3, 400), 2, per_row=1, per_column=1).plan
    assert plan.solve(np.random.default_rng(0).random(1200)).certificate.holds
    assert plan.effort is not None
    assert plan.effort.paths < 20  # with dummies for what stays without there were 400


@given(
    shape=shapes,
    few=st.integers(1, 3),
    share=st.sampled_from([0.2, 0.6, 1.5]),
    flipped=st.booleans(),
    seed=st.integers(0, 10**6),
)
def test_few_groups_in_one_view_get_the_same_support_by_every_path(
    shape: tuple[int, int, str], few: int, share: float, flipped: bool, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    many, each, kind = shape
    many, p = many + 16, (many + 16) * max(each // 4, 1)
    views = [
        {
            "labels": rng.integers(-1, groups, p),
            "bounds": rng.integers(0, 2 + int(share * p / groups), groups),
        }
        for groups in (few, many)
    ]
    rows, columns = views[::-1] if flipped else views
    plan = ThreeView.load(rows=rows, columns=columns, total=int(rng.integers(1, p))).plan
    worths = worths_of(rng, kind, p)
    start = plan.solve(rng.random(p)).prices
    found = [solve(path, plan, worths) for path in PATHS] + [solve("kernel", plan, worths, start)]
    assert all(each.certificate.holds for each in found)
    assert all(np.array_equal(each.support, found[0].support) for each in found)


@pytest.mark.skipif(not BUILT, reason="the reference has one way for all shapes")
def test_two_long_rows_take_one_short_path_for_each_unit() -> None:
    side = 20_000
    over = ThreeView.of_matrix((2, side), per_row=side // 2, per_column=1)
    assert over.plan.solve(np.random.default_rng(0).random(2 * side)).certificate.holds
    assert over.plan.effort is not None
    assert not over.plan.effort.fallback
    assert over.plan.effort.paths == over.plan.effort.units < side


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["one row", "one column"])
@pytest.mark.parametrize("bounds", ["1", "2", "half"])
def test_one_view_of_worths_that_fall_evenly_needs_no_fallback(shape: str, bounds: str) -> None:
    instance = adversarial_instance((shape, "product down", bounds), 10_000, 0)
    plan = ProjectionPlan(*instance.bounds)
    assert plan.solve(instance.v, squared=True).certificate.holds
    assert plan.effort is not None
    assert not plan.effort.fallback


@pytest.mark.parametrize("groups", ["rows", "columns", "none"])
def test_one_view_takes_the_largest_wherever_there_is_room_and_solves_nothing_again(groups: str) -> None:
    p, rng = 3600, np.random.default_rng(0)
    labels, total = rng.permutation(p) % 500, 1000
    views = {} if groups == "none" else {groups: {"labels": labels, "bounds": 3}}
    over = ThreeView.load(total=total, size=p, **views)
    # Over 600 decades, with ties.
    v = np.round(10.0 ** rng.uniform(0, 2, p)) * 10.0 ** rng.choice([-300.0, -1.0, 300.0], p)
    room, kept = np.full(500, p if groups == "none" else 3), np.zeros(p)
    for at in np.argsort(-v, kind="stable").tolist():
        if room[labels[at]] and np.count_nonzero(kept) < total:
            room[labels[at]] -= 1
            kept[at] = v[at]
    selection = over.select_for(v)
    assert selection.certificate.holds
    assert np.array_equal(np.where(selection.support, v, 0.0), kept)
    assert over.plan.effort is not None
    assert over.plan.effort.levels == 0


@pytest.mark.skipif(not BUILT, reason="the reference has one path, and takes long")
@pytest.mark.parametrize("side", [60, 145])  # more than one list holds; more than are smoothed at once
def test_ties_of_equal_worths_are_broken_by_index_on_every_path(side: int) -> None:
    instance = hard_instance(np.random.default_rng(side), side, "equal")
    plan = ProjectionPlan(*instance.bounds)
    kept, prices = plan.keep(instance.v)
    assert np.array_equal(kept != 0, plan.solve(instance.v, forced=True, squared=True).support)
    assert np.array_equal(plan.keep(instance.v, prices)[0], kept)
    assert np.array_equal(plan.support(-2 * kept, squared=True), kept != 0)


@pytest.mark.skipif(not BUILT, reason="the reference cuts no worths")
def test_a_few_huge_entries_leave_few_of_the_others_open() -> None:
    side = 200
    instance = paper_instance(
        np.random.default_rng(0), side, np.random.default_rng(1).pareto(0.8, side**2) + 1
    )
    plan = ProjectionPlan(*instance.bounds)
    found = plan.solve(instance.v, squared=True)
    assert found.certificate.holds
    assert plan.effort is not None
    assert plan.effort.open < side**2 // 100
    assert not plan.effort.fallback
    again = plan.solve(instance.v, squared=True, forced=True)
    assert np.array_equal(found.support, again.support)


@pytest.mark.skipif(not BUILT, reason="the reference cuts no worths")
def test_huge_entries_that_compete_with_each_other_are_told_apart() -> None:
    side, rng = 200, np.random.default_rng(0)
    v = rng.random((side, side))
    v[0] = 1e7 * (1 + rng.random(side))
    over = ThreeView.of_matrix((side, side), per_row=side // 2, per_column=side // 2)
    kept = over.project(v)
    assert set(np.flatnonzero(kept[0])) == set(np.argsort(v[0])[side // 2 :])
    assert over.select_for(v).certificate.holds
