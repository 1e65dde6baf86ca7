"""The three-view set: its projection against trying every support, its special cases, its forms."""

from __future__ import annotations

import pickle
from unittest.mock import patch

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optiframe_tvcs import Groups, ThreeView, shadow_prices
from optiframe_tvcs.projection import plan

import optiframe
from optiframe import InvalidInput, Projection
from optiframe.problems.sets.vector_sets import Cardinality

from .support_twins import best_worth, papers_set, points, sets


@given(st.data())
def test_projection_is_the_best_of_all_supports(data: st.DataObject) -> None:
    over = data.draw(sets())
    v = data.draw(points(over.elements))
    x = over.project(v)
    assert over.excess(x) == 0
    assert np.array_equal(x[x != 0], v[x != 0])
    best = best_worth(over, v**2)
    assert float(x @ x) == pytest.approx(best, rel=1e-12)
    selection = over.select_for(v)
    assert selection.certificate.holds
    assert selection.certificate.gap == 0.0
    assert selection.certificate.dual == pytest.approx(best, rel=1e-12)


@given(st.data())
def test_support_has_the_greatest_worth_and_takes_nothing_below_zero(data: st.DataObject) -> None:
    over = data.draw(sets())
    c = data.draw(points(over.elements))
    x = over.support(c)
    assert set(np.unique(x)) <= {0.0, 1.0}
    assert over.excess(x) == 0
    assert not (x[c <= 0] > 0).any()
    # Smallest first, so that the sum of the twin and this one lose alike.
    assert float(np.sort(c[x > 0]).sum()) == pytest.approx(best_worth(over, np.maximum(c, 0.0)), rel=1e-12)


def test_a_matrix_may_have_the_shape_that_numpy_gives() -> None:
    assert ThreeView.of_matrix(np.array([2, 3]), total=1) == ThreeView.of_matrix((2, 3), total=1)
    with pytest.raises(
        InvalidInput, match=r"matrix: must be two whole numbers \(rows, columns\), got \[2.5, 3"
    ):
        ThreeView.of_matrix(np.array([2.5, 3.0]), total=1)


def test_plan_and_projector_show_what_they_project_onto() -> None:
    over = ThreeView.of_matrix((2, 3), total=2, per_row=1)
    shown = "<projection plan: 6 elements, 2 row groups, 0 column groups, at most 2 chosen>"
    assert repr(over.plan) == shown
    warm = over.projector()
    assert repr(warm) == f"<warm projector, not used yet: {shown}>"
    warm.project(np.ones((2, 3)))
    assert repr(warm) == f"<warm projector, with prices: {shown}>"


def test_a_support_is_that_of_the_selection_without_its_proof() -> None:
    over, rng = papers_set(100, 0)
    c = rng.standard_normal((10, 10))
    selection = over.select(c)
    with patch.object(plan, "check", side_effect=AssertionError):
        assert np.array_equal(over.support(c), selection.support.reshape(10, 10))


@given(st.data())
def test_projection_is_idempotent_and_blind_to_signs(data: st.DataObject) -> None:
    over = data.draw(sets())
    v = data.draw(points(over.elements))
    x = over.project(v)
    assert np.array_equal(over.project(x), x)
    assert over.violation(x) == 0.0
    assert over.contains(x)
    flipped = over.project(-v)
    assert float(flipped @ flipped) == pytest.approx(float(x @ x), rel=1e-12)


def test_the_total_alone_keeps_the_largest_entries() -> None:
    v = np.random.default_rng(0).standard_normal(50)
    assert np.array_equal(ThreeView(total=7, size=50).project(v), Cardinality(size=7).project(v))


def test_one_view_keeps_the_largest_entries_of_each_group() -> None:
    v = np.random.default_rng(1).standard_normal((6, 9))
    over = ThreeView.of_matrix((6, 9), per_row=2)
    for kept, row in zip(over.project(v), v, strict=True):
        assert np.array_equal(kept, Cardinality(size=2).project(row))


def test_a_view_and_a_total_cut_twice() -> None:
    v = np.random.default_rng(2).standard_normal((6, 9))
    twice = Cardinality(size=5).project(ThreeView.of_matrix((6, 9), per_row=2).project(v))
    assert np.array_equal(ThreeView.of_matrix((6, 9), total=5, per_row=2).project(v), twice)


def test_two_views_of_one_each_solve_the_assignment_problem() -> None:
    from scipy.optimize import linear_sum_assignment

    worth = np.random.default_rng(3).random((7, 7))
    chosen = ThreeView.of_matrix((7, 7), per_row=1, per_column=1).support(worth)
    rows, columns = linear_sum_assignment(worth, maximize=True)
    assert np.array_equal(np.argwhere(chosen), np.column_stack([rows, columns]))


def test_bounds_that_are_never_reached_keep_everything() -> None:
    v = np.arange(1.0, 13.0).reshape(3, 4)
    over = ThreeView.of_matrix((3, 4), total=99, per_row=10**12, per_column=50)
    assert np.array_equal(over.project(v), v)
    assert over.select_for(v).prices.binding["total"] is False


def test_matrix_points_keep_their_shape_and_may_come_as_vectors() -> None:
    over, rng = papers_set(25, 0)
    v = rng.standard_normal((5, 5))
    assert over.project(v).shape == (5, 5)
    assert np.array_equal(over.project(v.ravel()), over.project(v).ravel())
    assert over.origin((5, 5)).shape == (5, 5)
    assert (over.shape, over.elements) == ((5, 5), 25)


def test_the_argument_is_not_changed_and_the_answer_is_new() -> None:
    over, rng = papers_set(25, 1)
    v = rng.standard_normal((5, 5))
    before = v.copy()
    over.project(v)[:] = 7.0
    assert np.array_equal(v, before)


def test_entries_at_odd_places_of_memory_are_read() -> None:
    point = np.random.default_rng(0).standard_normal((4, 5))
    odd = np.frombuffer(b"-" + point.tobytes(), np.uint8)[1:].view(np.float64).reshape(4, 5)
    assert not odd.flags.aligned
    over = ThreeView.of_matrix((4, 5), total=6, per_row=2, per_column=2)
    assert (over.project(odd) == over.project(point)).all()
    assert (over.projector().project(odd) == over.project(point)).all()
    assert over.select_for(odd).certificate.holds


def test_nullable_columns_of_pandas_are_numbers() -> None:
    frame = pd.DataFrame({"a": [1.5, 2.5], "b": [3, 1]}).convert_dtypes()
    over = ThreeView.of_matrix((2, 2), total=2, per_row=1)
    assert over.project(frame).tolist() == [[0.0, 3.0], [2.5, 0.0]]
    assert Projection(frame, over).point.tolist() == [[1.5, 3.0], [2.5, 1.0]]
    gap = frame.mask(frame > 2.6)
    for read in (over.project, lambda point: Projection(point, over)):
        with pytest.raises(InvalidInput, match=r"must hold real numbers; entry \[0, 1\] is <NA>"):
            read(gap)
    with pytest.raises(InvalidInput, match="beyond the range of float64"):
        over.project([[10**400, 1], [1, 1]])


def test_violation_is_the_distance_to_the_nearest_point() -> None:
    over = ThreeView.of_matrix((2, 2), total=2, per_row=1, per_column=1)
    x = np.array([[3.0, 1.0], [0.5, 2.0]])
    assert over.violation(x) == pytest.approx(np.hypot(1.0, 0.5))
    assert over.excess(x) == 2 + 2 + 2  # in all, by rows, by columns
    assert not over.contains(x)
    assert over.violation(np.full((2, 2), np.nan)) == np.inf


def test_very_large_and_very_small_numbers_are_told_apart() -> None:
    over = ThreeView(total=1, size=3)
    assert over.project(np.array([1e200, 3e200, 2e200])).tolist() == [0.0, 3e200, 0.0]
    assert over.project(np.array([1e-200, 3e-200, 2e-200])).tolist() == [0.0, 3e-200, 0.0]
    tiny = np.array([1e200, 1e-200, 0.0])
    assert np.array_equal(ThreeView(total=2, size=3).project(tiny), tiny)


def test_prices_bound_what_one_more_place_is_worth() -> None:
    # Each row has room for one entry; row 0 would like both of its own, 5 and 4.
    v = np.array([[5.0, 4.0], [1.0, 0.0]])
    over = ThreeView.of_matrix((2, 2), per_row=1)
    selection = over.select_for(v)
    wider = ThreeView.of_matrix((2, 2), per_row=[2, 1])
    gain = wider.select_for(v).certificate.primal - selection.certificate.primal
    assert gain == 16.0
    assert gain <= selection.prices.rows[0] <= 25.0
    assert selection.prices.total == 0.0
    assert 0 in selection.prices.binding["rows"]
    assert shadow_prices(over, v**2).rows.tolist() == [16.0, 0.0]


def test_tables_build_the_same_sets() -> None:
    by_hand = ThreeView(total=2, rows=Groups.of_labels([0, 0, 1], 1), size=3)
    table = {"name": "three-view", "total": 2, "rows": {"labels": [0, 0, 1], "bounds": 1}}
    assert optiframe.problem("projection", point=[1, 2, 3], onto=table).onto == by_hand
    lists = {"groups": [[0, 1], [2]], "bounds": [1, 1]}
    assert ThreeView.load(rows=lists, size=4) == ThreeView(rows=Groups.of_labels([0, 0, 1, -1], 1))
    matrix = ThreeView.load(matrix=[3, 4], total=5, rows={"bounds": 2}, columns={"bounds": [1, 1, 0, 1]})
    assert matrix == ThreeView.of_matrix((3, 4), total=5, per_row=2, per_column=[1, 1, 0, 1])


def test_it_is_pickled_without_its_plan_and_is_the_same_afterwards() -> None:
    over, rng = papers_set(25, 2)
    v = rng.standard_normal((5, 5))
    before = over.project(v)
    again = pickle.loads(pickle.dumps(over))
    assert "plan" not in vars(again)
    assert again == over
    assert np.array_equal(again.project(v), before)
    assert over.plan is over.plan


def test_its_program_gives_the_projection_by_cvxpy() -> None:
    for seed in range(3):
        over, rng = papers_set(16, seed)
        v = rng.integers(-3, 4, (4, 4)).astype(np.float64)
        written = over.projection_as_cvxpy(v)
        written.program.solve(solver=written.engine)
        x = written.read()
        assert over.excess(x) == 0
        best = Projection(v, over).objective(over.project(v))
        assert Projection(v, over).objective(x) == pytest.approx(best)
        assert written.objective(written.program.value) == pytest.approx(best)


def test_it_is_not_convex_and_its_hull_is_what_supports_span() -> None:
    over = ThreeView.of_matrix((2, 2), total=2, per_row=1, per_column=1)
    x = cp.Variable((2, 2))
    assert over.as_cvxpy(x) is None
    cost = np.array([[3.0, -2.0], [-2.5, 1.0]])
    program = cp.Problem(cp.Maximize(cp.sum(cp.multiply(cost, x))), over.hull_as_cvxpy(x, 2.0))
    # A linear cost over the hull is best at one of its points: two entries of size 2.
    program.solve(solver="CLARABEL")
    assert program.value == pytest.approx(2 * max(3.0 + 1.0, 2.0 + 2.5), rel=1e-6)


@pytest.mark.parametrize("magnitude", [np.nan, -1.0, np.inf])
def test_its_hull_asks_for_a_size_of_entries_that_can_be_one(magnitude: float) -> None:
    with pytest.raises(InvalidInput, match="magnitude must be a finite number of at least 0"):
        ThreeView.of_matrix((2, 2), total=1).hull_as_cvxpy(cp.Variable((2, 2)), magnitude)


@pytest.mark.parametrize("scale", [1e-6, 1e-4, 1e30])
def test_its_program_does_not_depend_on_the_scale_of_the_point(scale: float) -> None:
    over = ThreeView.of_matrix((3, 3), total=3, per_row=1, per_column=1)
    v = scale * np.random.default_rng(0).standard_normal((3, 3))
    program = over.projection_as_cvxpy(v)
    program.program.solve(solver=program.engine)
    kept = over.project(v)
    np.testing.assert_array_equal(program.read(), kept)
    assert program.objective(program.program.value) == pytest.approx(np.sum((v - kept) ** 2) / 2, rel=1e-9)


def test_prices_whose_unit_is_beyond_float64_are_numbers_or_infinite() -> None:
    over = ThreeView.of_matrix((2, 2), total=2, per_row=1)
    free = over.select_for(np.diag([1e200, 1.0]))
    assert free.certificate.holds
    assert (free.certificate.gap, free.prices.total) == (0.0, 0.0)
    tied = over.select_for(np.full((2, 2), 1e200))
    assert tied.certificate.primal == np.inf
    assert not np.isnan([tied.prices.total, *tied.prices.rows, tied.certificate.gap]).any()
