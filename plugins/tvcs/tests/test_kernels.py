"""The kernels against their references: the same worths, proofs that hold, refusals, threads and Ctrl-C."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optiframe_tvcs.kernels import projection, reference
from optiframe_tvcs.kernels.answers import Effort, Report
from optiframe_tvcs.kernels.numbers import quantise
from optiframe_tvcs.projection.certificate import Bounds, Prices
from optiframe_tvcs.projection.optimality import check
from optiframe_tvcs.projection.plan import ProjectionPlan
from tvcs_common import (
    CASES,
    KINDS,
    Case,
    Instance,
    adversarial_instance,
    hard_instance,
    paper_instance,
    random_instance,
    set_of,
)

from optiframe.testing import check_changes_meanwhile, check_interruptible, check_refusals

from .support_twins import BUILT, papers_set


def layout_arguments(instance: Instance) -> dict[str, Any]:
    rows, row_caps, columns, column_caps, total = instance.bounds
    return {
        "row": rows,
        "column": columns,
        "row_bounds": row_caps,
        "column_bounds": column_caps,
        "total": int(total),
    }


def project_arguments(instance: Instance, **changes: Any) -> dict[str, Any]:
    p, groups = len(instance.v), len(instance.bounds.row_caps) + len(instance.bounds.column_caps)
    return {
        "values": instance.v.copy(),
        "squared": True,
        "start": None,
        "unit": 0,
        "forced": False,
        "prices": np.zeros(1 + groups),
        "support": np.zeros(p, np.bool_),
        "kept": np.zeros(p),
        **changes,
    }


def check_a_projection(instance: Instance, **changes: Any) -> None:
    """The kernel and the reference choose the same support, and what each writes agrees and is proved."""
    supports, bounds = [], layout_arguments(instance)
    for module in (projection, reference):
        given = project_arguments(instance, **changes)
        report = module.project(module.Layout(**bounds), **given)
        values, support = given["values"], given["support"]
        assert np.array_equal(given["kept"], np.where(support, values, 0.0))
        _, unit = quantise(values, given["squared"])
        assert (report.refused, report.unit) == (False, unit)
        prices = unpacked(bounds, given["prices"])
        found, _ = check(values, instance.bounds, support, prices, squared=given["squared"])
        assert found.holds, found.reason
        supports.append(support)
    assert np.array_equal(*supports)


@given(
    kind=st.sampled_from(KINDS),
    seed=st.integers(0, 10**6),
    most=st.sampled_from([1, 40, 400]),
    squared=st.booleans(),
    forced=st.booleans(),
)
def test_a_projection_is_worth_as_much_as_that_of_the_reference(
    kind: str, seed: int, most: int, squared: bool, forced: bool
) -> None:
    instance = random_instance(np.random.default_rng(seed), kind, most)
    check_a_projection(instance, squared=squared, forced=forced)


@given(case=st.sampled_from(CASES), seed=st.integers(0, 10**6), p=st.integers(8, 150), forced=st.booleans())
def test_hard_instances_are_worth_as_much_as_by_the_reference(
    case: Case, seed: int, p: int, forced: bool
) -> None:
    instance = adversarial_instance(case, p, seed)
    values = instance.v**2  # some are beyond ordinary numbers when squared twice
    check_a_projection(instance, values=values, squared=False, forced=forced)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gaussian", "ties", "pareto", "huge"])
def test_candidates_and_samples_lead_to_the_worth_of_the_reference(kind: str) -> None:
    check_a_projection(hard_instance(np.random.default_rng(3), 70, kind))


@given(
    seed=st.integers(0, 10**6),
    size=st.sampled_from([0.0, 1e-9, 1.0, 1e9, np.inf, -1.0, np.nan]),
    unit=st.sampled_from([0, -50, 2000, -2000]),
)
def test_prices_to_begin_with_may_be_anything(seed: int, size: float, unit: int) -> None:
    rng = np.random.default_rng(seed)
    instance = random_instance(rng, KINDS[seed % len(KINDS)], 300)
    groups = len(project_arguments(instance)["prices"])
    start = np.where(rng.random(groups) < 0.5, size, rng.random(groups))
    check_a_projection(instance, start=start, unit=unit)


@pytest.mark.parametrize("forced", [False, True])
def test_nothing_to_project_is_an_empty_answer(forced: bool) -> None:
    none = Instance(np.zeros(0), paper_instance(np.random.default_rng(0), 1).bounds)
    empty = none.bounds._replace(row_labels=np.zeros(0, np.int32), column_labels=np.zeros(0, np.int32))
    check_a_projection(none._replace(bounds=empty), forced=forced)
    instance = paper_instance(np.random.default_rng(0), 5)
    check_a_projection(instance._replace(v=np.zeros(25)), forced=forced)
    check_a_projection(instance._replace(bounds=instance.bounds._replace(total=0)), forced=forced)


@pytest.mark.parametrize("module", [projection, reference])
@pytest.mark.parametrize("odd", [np.nan, -np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite_are_reported_and_nothing_is_written(module: Any, odd: float) -> None:
    instance = paper_instance(np.random.default_rng(0), 3)
    values = instance.v.copy()
    values[4] = odd
    for squared in (True, False):
        given = project_arguments(instance, values=values, squared=squared)
        assert module.project(module.Layout(**layout_arguments(instance)), **given).refused
        assert not given["prices"].any()
        assert not given["support"].any()


@pytest.mark.parametrize("module", [projection, reference])
def test_the_projection_alone_is_what_the_report_comes_with(module: Any) -> None:
    instance = paper_instance(np.random.default_rng(0), 6)
    layout, given = module.Layout(**layout_arguments(instance)), project_arguments(instance, squared=True)
    module.project(layout, **given)
    kept = np.empty((6, 6))
    assert module.keep(layout, instance.v.reshape(6, 6), kept)
    assert np.array_equal(kept.reshape(-1), given["kept"])
    odd = instance.v.copy()
    odd[7] = np.nan
    untouched = np.zeros(36)
    assert not module.keep(layout, odd, untouched)
    assert not untouched.any()


@pytest.mark.parametrize("module", [projection, reference])
def test_the_projection_alone_takes_no_other_arrays(module: Any) -> None:
    instance = paper_instance(np.random.default_rng(0), 6)
    layout = module.Layout(**layout_arguments(instance))
    v, kept, locked = instance.v, np.empty(36), np.zeros(36)
    locked.flags.writeable = False
    turned = v.reshape(6, 6).T
    for values, into in (
        (v.astype(np.float32), kept),
        (turned, kept),
        (v, turned),
        (v, locked),
        (v, kept.view(np.int64)),
    ):
        with pytest.raises(TypeError, match="in one piece"):
            module.keep(layout, values, into)
    for values, into in ((v[:-1], kept), (v, np.empty(37)), (v, kept[:0])):
        with pytest.raises(ValueError, match=r"length|one value"):
            module.keep(layout, values, into)
    assert not locked.any()


@pytest.mark.parametrize("odd", [None, 3, "abc", [1.0] * 36])
def test_the_projection_alone_takes_arrays_only(odd: Any) -> None:
    instance = paper_instance(np.random.default_rng(0), 6)
    layout = projection.Layout(**layout_arguments(instance))
    for values, into in ((odd, np.empty(36)), (instance.v, odd)):
        with pytest.raises((TypeError, AttributeError)):
            projection.keep(layout, values, into)


def unpacked(bounds: dict[str, Any], prices: np.ndarray) -> Prices:
    rows = 1 + len(bounds["row_bounds"])
    return Prices(float(prices[0]), prices[1:rows], prices[rows:])


@pytest.mark.parametrize("side", [5, 60])
def test_wrong_arguments_are_refused_and_crash_nothing(side: int) -> None:
    instance = paper_instance(np.random.default_rng(0), side)
    bounds = layout_arguments(instance)
    layout = projection.Layout(**bounds)
    groups = len(project_arguments(instance)["prices"])
    free = {"row_bounds", "column_bounds"}  # as many groups as one likes, with bounds of any size
    check_refusals(reference.Layout, bounds, any_length=free, any_number={*free, "total"})
    given = project_arguments(instance, start=np.ones(groups))
    optional = {"start", "support", "kept"}
    check_refusals(reference.project, {"layout": layout, **given}, any_number={"unit"}, optional=optional)


@pytest.mark.slow
def test_arrays_that_another_thread_changes_crash_nothing() -> None:
    rng = np.random.default_rng(0)
    instance = paper_instance(rng, 60)
    bounds = layout_arguments(instance)
    for order in (np.arange(3600), rng.permutation(3600)):
        row, column = (np.repeat(bounds[view][order], 10) for view in ("row", "column"))
        check_changes_meanwhile(reference.Layout, {**bounds, "row": row, "column": column})
        views = {view: bounds[view][order] for view in ("row", "column")}
        layout = projection.Layout(**{**bounds, **views})
        for size in (1.0, np.nan):  # of prices to begin with
            start = np.full(121, size)
            check_changes_meanwhile(
                reference.project, {"layout": layout, **project_arguments(instance, start=start)}
            )


RAISED = """
import sys
from threading import Event, Thread
import numpy as np
from optiframe_tvcs.kernels.projection import Layout, project
p, groups, rng = 44_000, 340, np.random.default_rng(0)
row, column = rng.integers(0, groups, (2, p)).astype(np.int32)
bounds = rng.integers(0, 4, (2, groups))
given = rng.random(p) * 10.0 ** rng.uniform(-300, 300, p)
layout, values, done = Layout(row, column, *bounds, p // 100), given.copy(), Event()
sys.setswitchinterval(1e-4)

def spoil():
    rng = np.random.default_rng(0)
    while not done.is_set():
        values[rng.integers(0, p, 50)] = 1e308
        values[rng.integers(0, p, 50)] = given[rng.integers(0, p, 50)]
        if rng.random() < 0.25:
            values[:] = given

spoiling = Thread(target=spoil)
spoiling.start()
for k in range(60):
    project(layout, values, True, None, 0, k % 3 > 0, np.empty(1 + 2 * groups), None, np.empty(p))
done.set()
spoiling.join()
"""


@pytest.mark.slow
@pytest.mark.skipif(not BUILT, reason="the reference serves no other thread")
def test_values_that_another_thread_raises_meanwhile_keep_no_projection_for_ever() -> None:
    subprocess.run([sys.executable, "-c", RAISED], check=True, timeout=60)  # one call in five had no end


@pytest.mark.parametrize("module", [projection, reference])
def test_reports_are_the_same_named_tuples(module: Any) -> None:
    instance = paper_instance(np.random.default_rng(0), 5)
    given, layout = project_arguments(instance), module.Layout(**layout_arguments(instance))
    report = module.project(layout, **given)
    assert type(report) is Report
    assert type(report.effort) is Effort
    assert report.effort.candidates == 25


def test_layouts_of_wrong_groups_are_refused_by_both() -> None:
    right = layout_arguments(paper_instance(np.random.default_rng(0), 3))
    wrong = [
        {"row": right["row"][:-1]},
        {"row": np.full(9, 3, np.int32)},
        {"column": np.full(9, -2, np.int32)},
        {"row_bounds": np.array([1, -1, 1])},
        {"total": -1},
    ]
    for module in (projection, reference):
        for changes in wrong:
            with pytest.raises(ValueError, match=r"column has|groups? |negative"):
                module.Layout(**{**right, **changes})


def test_two_threads_at_once_give_the_same_answers() -> None:
    rng = np.random.default_rng(0)
    instance = paper_instance(rng, 70)
    layout = projection.Layout(**layout_arguments(instance))
    points = [instance.v * (1 + 0.1 * rng.standard_normal(len(instance.v))) for _ in range(8)]

    def kept(v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        given = project_arguments(instance, values=v)
        assert projection.project(layout, **given).refused is False
        return given["kept"], given["prices"]

    alone = [kept(v) for v in points]
    with ThreadPoolExecutor(2) as pool:
        for _ in range(3):
            for one, other in zip(pool.map(kept, points), alone, strict=True):
                assert np.array_equal(one[0], other[0])
                assert np.array_equal(one[1], other[1])


LONG = """
import numpy as np
from optiframe_tvcs.kernels.projection import Layout, project
p, rng = {p}, np.random.default_rng(0)
row, column = np.arange(p, dtype=np.int32) // {each}, rng.integers(0, p // {each}, p).astype(np.int32)
bounds = np.full(p // {each}, 2)
print("ready")
for _ in range(100):
    layout = Layout(row, column, bounds, bounds, p // 10)
    project(layout, {values}, True, None, 0, {forced}, np.empty(1 + 2 * len(bounds)), None, np.empty(p))
"""


@pytest.mark.slow
@pytest.mark.skipif(not BUILT, reason="one pass of NumPy is not interrupted")
@pytest.mark.parametrize(
    ("p", "each", "values", "forced"),
    [
        (4_000_000, 2000, "rng.standard_normal(p)", False),  # passes over the elements
        (300_000, 5, "rng.standard_normal(p)", True),  # the fallback: many searches
    ],
)
def test_ctrl_c_ends_a_projection(p: int, each: int, values: str, forced: bool) -> None:
    check_interruptible(LONG.format(p=p, each=each, values=values, forced=forced))


@given(kind=st.sampled_from(KINDS), seed=st.integers(0, 10**6), most=st.sampled_from([300, 10_800]))
def test_keeping_entries_is_solving_for_their_squares(kind: str, seed: int, most: int) -> None:
    instance = random_instance(np.random.default_rng(seed), kind, most)
    plan = ProjectionPlan(*instance.bounds)
    found = plan.solve(instance.v, squared=True)
    kept = plan.keep(instance.v)
    assert kept is not None
    assert np.array_equal(kept[0], np.where(found.support, instance.v, 0.0))


@pytest.mark.parametrize("side", [40, 70])
@pytest.mark.parametrize("kind", ["gaussian", "ties", "pareto", "huge"])
def test_prices_from_anywhere_lead_to_the_same_worth(side: int, kind: str) -> None:
    instance = hard_instance(np.random.default_rng(4), side, kind)
    plan, rng = ProjectionPlan(*instance.bounds), np.random.default_rng(5)
    weights = instance.v**2
    cold = plan.solve(weights)
    for factor in (1.0, 1.001, 0.0, 5.0, 1e9):
        rows, columns = (rng.permutation(part) * factor for part in (cold.prices.rows, cold.prices.columns))
        warm = plan.solve(weights, Prices(cold.prices.total * factor, rows, columns))
        assert warm.certificate.holds
        assert warm.certificate.primal == cold.certificate.primal


@pytest.mark.parametrize("side", [50, 120])  # one list of all elements, and one of candidates
def test_prices_of_the_same_point_leave_next_to_nothing_to_repair(side: int) -> None:
    instance = paper_instance(np.random.default_rng(6), side)
    plan = ProjectionPlan(*instance.bounds)
    cold = plan.solve(instance.v**2)
    warm = plan.solve(instance.v**2, cold.prices)
    assert np.array_equal(warm.support, cold.support)
    assert plan.effort is not None
    assert plan.effort.units <= 5 or not BUILT  # the reference saves sweeps by given prices, not paths


@pytest.mark.skipif(not BUILT, reason="the reference makes no lists")
def test_prices_that_do_not_help_are_soon_given_up() -> None:
    tied = hard_instance(np.random.default_rng(4), 316, "ties")
    plan = ProjectionPlan(*tied.bounds)
    rng = np.random.default_rng(0)
    moved = tied.v * (1 + 0.05 * rng.standard_normal(len(tied.v)))
    before = plan.solve(tied.v**2).prices
    warm = plan.solve(moved**2, before)
    assert warm.certificate.holds
    assert np.array_equal(warm.support, ProjectionPlan(*tied.bounds).solve(moved**2).support)
    assert plan.effort is not None
    assert plan.effort.arcs < len(tied.v)  # five times as many where lists are not made again


@pytest.mark.skipif(not BUILT, reason="the reference makes no lists")
@pytest.mark.parametrize(("p", "worths", "bounds"), [(100_000, "wide", "2"), (1000, "1 + 1e-6", "half")])
def test_prices_of_another_point_cost_little_where_all_elements_are_one_list(
    p: int, worths: str, bounds: str
) -> None:
    instance = adversarial_instance(("pareto", worths, bounds), p, 0)
    plan = ProjectionPlan(*instance.bounds)
    moved = instance.v * (1 + 0.01 * np.random.default_rng(0).standard_normal(p))
    cold = plan.solve(moved, squared=True)
    assert plan.effort is not None
    arcs = plan.effort.arcs
    before = plan.solve(instance.v, squared=True).prices
    warm = plan.solve(moved, before, squared=True)
    assert np.array_equal(warm.support, cold.support)
    assert plan.effort.arcs <= arcs + p  # more than ten times as many by a repair from there


@pytest.mark.skipif(not BUILT, reason="the reference makes no lists")
def test_a_repair_from_given_prices_that_is_given_up_begins_anew_before_the_fallback() -> None:
    instance = adversarial_instance(("tiny groups", "gaussian", "2"), 4000, 0)
    plan = ProjectionPlan(*instance.bounds)
    moved = instance.v * (1 + 0.01 * np.random.default_rng(0).standard_normal(len(instance.v)))
    cold = plan.solve(moved, squared=True)
    before = plan.solve(instance.v, squared=True).prices
    warm = plan.solve(moved, before, squared=True)
    assert np.array_equal(warm.support, cold.support)
    assert plan.effort is not None
    assert not plan.effort.fallback


@pytest.mark.skipif(not BUILT, reason="the reference has no fallback")
def test_a_fallback_from_given_prices_that_paths_do_not_end_begins_anew_before_cost_scaling() -> None:
    p, rng = 35_048, np.random.default_rng(2)
    k, groups = np.arange(p), p // 2 + 1
    v = 1 + np.round(rng.standard_normal(p)) * 1e-12
    row_caps = (rng.random(groups) < 0.96).astype(np.int64)
    rows = np.where(rng.random(p) < 0.02, -1, k // 2)
    plan = ProjectionPlan(rows, row_caps, (k + 1) // 2, np.ones(groups, np.int64), int(0.88 * p))
    cold = plan.solve(v, squared=True)
    assert plan.effort is not None
    arcs = plan.effort.arcs
    warm = plan.solve(v, cold.prices, squared=True)
    assert np.array_equal(warm.support, cold.support)
    assert plan.effort.arcs < 30 * arcs  # two hundred times as many by cost scaling from there


@pytest.mark.skipif(not BUILT, reason="the reference has no fallback")
def test_ties_that_a_fallback_from_given_prices_leaves_are_solved_in_finer_units() -> None:
    instance = adversarial_instance(("sparse", "1 or 2", "1"), 12_000, 34)
    v = np.random.default_rng(0).choice([0.0, 0.7, 0.7, -0.7, 0.1], len(instance.v))
    plan = ProjectionPlan(*instance.bounds)
    cold = plan.solve(v, squared=True)
    assert np.array_equal(plan.solve(v, cold.prices, squared=True).support, cold.support)  # once without end


def test_groups_that_may_keep_nothing_have_some_price_where_all_worths_are_alike() -> None:
    p, rng = 12_000, np.random.default_rng(10)
    rows, columns = (rng.integers(0, groups, p).astype(np.int32) for groups in (120, 200))
    row_caps = rng.integers(0, 5, 120)
    total = int(rng.uniform(0.5, 1.1) * row_caps.sum())
    alike = Instance(np.full(p, 0.37), Bounds(rows, row_caps, columns, np.full(200, 3), total))
    layout, supports = projection.Layout(**layout_arguments(alike)), []
    for forced in (False, True):
        given = project_arguments(alike, forced=forced)
        projection.project(layout, **given)
        supports.append(given["support"])
    assert np.array_equal(*supports)  # once read beyond an array, which sanitizers see


@pytest.mark.parametrize(
    "case", [("pareto", "1 or 2", "1"), ("square", "sum", "2"), ("square", "product", "2")]
)
def test_a_few_of_many_are_those_that_cost_scaling_chooses(case: Case) -> None:
    instance = adversarial_instance(case, 22_500, 3)
    layout = projection.Layout(**layout_arguments(instance))
    supports = []
    for forced in (False, True):
        given = project_arguments(instance, forced=forced)
        projection.project(layout, **given)
        supports.append(given["support"])
    assert np.array_equal(*supports)


@pytest.mark.skipif(not BUILT, reason="the reference has one way for all shapes")
def test_prices_of_another_point_leave_few_rows_of_a_large_matrix_without_a_column() -> None:
    instance = adversarial_instance(("square", "gaussian", "1"), 90_000, 0)
    plan = ProjectionPlan(*instance.bounds)
    moved = instance.v * (1 + 0.05 * np.random.default_rng(0).standard_normal(90_000))
    before = plan.solve(instance.v, squared=True).prices
    warm = plan.solve(moved, before, squared=True)
    assert warm.certificate.holds
    assert plan.effort is not None
    assert plan.effort.paths < 40  # 78 with the prices as they are


def test_near_prices_leave_little_to_repair() -> None:
    instance = paper_instance(np.random.default_rng(6), 120)
    plan = ProjectionPlan(*instance.bounds)
    cold = plan.solve(instance.v**2)
    moved = instance.v * (1 + 0.01 * np.random.default_rng(7).standard_normal(120 * 120))
    warm = plan.solve(moved**2, cold.prices)
    assert warm.certificate.holds
    assert plan.effort is not None
    assert plan.effort.units < 12 or not BUILT  # the reference saves sweeps by given prices, not paths
    assert plan.effort.rounds <= 2


@pytest.mark.parametrize("p", [400, 3600])
def test_points_may_be_read_only_or_in_pieces(p: int) -> None:
    over, rng = papers_set(p, 8)
    side = round(p**0.5)
    v = rng.standard_normal((side, 2 * side))
    locked = v[:, :side].copy()
    locked.flags.writeable = False
    for point in (v[:, ::2], locked, np.asfortranarray(v[:, :side])):
        support = over.plan.solve(point.ravel(), squared=True).support.reshape(point.shape)
        assert np.array_equal(over.project(point), np.where(support, point, 0.0))
        kept = over.plan.keep(point.ravel()[::-1][::-1])
        assert kept is not None
        assert np.array_equal(kept[0].reshape(point.shape), np.where(support, point, 0.0))


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_points_whose_squares_are_no_ordinary_numbers_are_projected_all_the_same(size: float) -> None:
    instance = paper_instance(np.random.default_rng(9), 62)
    over = set_of(instance)
    assert np.array_equal(over.project(size * instance.v) != 0, over.project(instance.v) != 0)
