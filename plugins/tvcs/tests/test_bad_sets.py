"""Wrong sets and points: errors that say what is wrong, where, and what to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from optiframe_tvcs import Groups, ThreeView, shadow_prices
from optiframe_tvcs.projection.certificate import Prices
from optiframe_tvcs.projection.plan import ProjectionPlan

from optiframe import InvalidInput, Projection, solve
from optiframe.records.fields import paths_relative_to


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"row": {"labels": [0, 0], "bounds": 1}}, "row: unknown key; did you mean 'rows'?"),
        (
            {"rows": {"labels": np.array([0, 0, 1], dtype=object), "bounds": 1}},
            "rows: labels must be whole numbers, entry 0 is 0 (object)",
        ),
        ({"total": 3}, "size is missing; give the number of elements, or groups with labels"),
        ({"total": -1, "size": 3}, "total: must be at least 0, got -1"),
        ({"total": 1.5, "size": 3}, "total: must be a whole number, got 1.5"),
        ({"size": -2}, "size: must be at least 0, got -2"),
        ({"size": 2.0}, "size: must be a whole number"),
        ({"size": 3, "rows": {"labels": [0, 1], "bounds": 1}}, "rows: there are 2 labels for 3 elements"),
        (
            {"rows": {"labels": [0, 1], "bounds": 1}, "columns": {"labels": [0, 1, 1], "bounds": 1}},
            "columns: there are 3 labels for 2 elements; give one for each element",
        ),
        ({"size": 2, "rows": {"labels": [0, 1]}}, "rows: bounds is missing"),
        ({"size": 2, "rows": {"bounds": 1}}, "rows: give either labels"),
        ({"size": 2, "rows": {"labels": [0, 1], "groups": [[0]], "bounds": 1}}, "rows: give either labels"),
        ({"size": 2, "rows": {"label": [0, 1], "bounds": 1}}, "rows: unknown key 'label'; did you mean"),
        ({"size": 2, "columns": [0, 1]}, "columns: must be a table with bounds"),
        ({"size": 2, "columns": {"groups": [[0], [0]], "bounds": 1}}, "columns: group 1: element 0 is in"),
        ({"size": 2, "columns": {"groups": [[0], []], "bounds": 1}}, "columns: group 1 is empty"),
        ({"size": 2, "columns": {"groups": [[2]], "bounds": 1}}, "columns: group 0: index 2 is out of range"),
        ({"rows": {"groups": [[0], [1]], "bounds": 1}}, "rows: with groups as lists of indices give size"),
        ({"matrix": [2, 3], "size": 5}, "size is 5, and a matrix of shape (2, 3) has 6"),
        ({"matrix": [2]}, "matrix: must be two whole numbers (rows, columns), got [2]"),
        ({"matrix": [2, -1]}, "matrix: must be two whole numbers (rows, columns), got [2, -1]"),
        ({"matrix": [2, 3], "columns": {"bounds": [1]}}, "columns: 1 bounds for 3 columns of the matrix"),
        ({"matrix": [2, 3], "rows": {"bounds": -1}}, "rows: the bound of group 0 is -1"),
        ({"size": 3, "per_row": 1}, "per_row: unknown key"),
    ],
)
def test_wrong_sets_are_named(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput) as error:
        ThreeView.load(**given)
    assert said in str(error.value)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_points_that_are_not_finite_are_named(bad: float) -> None:
    over = ThreeView.of_matrix((2, 2), total=2)
    v = np.array([[1.0, 2.0], [bad, 3.0]])
    for use in (over.project, over.support, lambda v: Projection(v, over)):
        with pytest.raises(InvalidInput, match=r"entry \[1, 0\].* is (nan|inf|-inf)"):
            use(v)
    assert over.violation(v) == np.inf


@pytest.mark.parametrize("shape", [(3,), (5,), (2, 3), (1, 4)])
def test_points_of_another_shape_are_refused(shape: tuple[int, ...]) -> None:
    over = ThreeView.of_matrix((2, 2), total=2)
    for use in (over.project, over.support, over.excess, lambda v: Projection(v, over)):
        with pytest.raises(InvalidInput, match=r"points of shape \(2, 2\) or \(4,\), not of shape"):
            use(np.zeros(shape))


def test_a_set_of_nothing_holds_the_empty_point() -> None:
    for over in (
        ThreeView(size=0, total=3),
        ThreeView(rows=Groups.of_labels([], [1, 2])),
        ThreeView.of_matrix((0, 4), total=1, per_column=2),
    ):
        assert over.project(np.zeros(over.shape)).shape == over.shape
        selection = over.select_for(np.zeros(over.shape))
        assert selection.certificate.holds
        assert selection.certificate.primal == 0.0
        assert over.violation(np.zeros(over.shape)) == 0.0


@pytest.mark.parametrize("v", [[["a", "b"], ["c", "d"]], [[1j, 0], [0, 0]], [[None, 0], [0, 0]]])
def test_points_of_other_things_than_numbers_are_refused(v: object) -> None:
    over = ThreeView.of_matrix((2, 2), total=2)
    for use in (over.project, over.support, over.excess, over.violation):
        with pytest.raises(InvalidInput, match=r"the point must hold real numbers(, got|; entry)"):
            use(v)
    with pytest.raises(InvalidInput, match=r"real numbers, got a sparse csr_array; give v\.toarray\(\)"):
        over.project(sp.csr_array(np.eye(2)))
    with pytest.raises(InvalidInput, match=r"the rows of the point differ in length"):
        over.project([[1.0], [2.0, 3.0]])


def test_masked_points_are_refused() -> None:
    over = ThreeView.of_matrix((2, 2), total=2)
    masked = np.ma.array(np.ones((2, 2)), mask=[[False, True], [False, False]])
    for use in (over.project, over.support, over.select_for, over.projector().project):
        with pytest.raises(InvalidInput, match="entries of the point are masked; fill them"):
            use(masked)
    assert np.array_equal(over.project(np.ma.array(np.eye(2))), np.eye(2))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_worths_that_are_not_finite_have_no_shadow_prices(bad: float) -> None:
    with pytest.raises(InvalidInput, match=r"entry \[1\] of the worths is"):
        shadow_prices(ThreeView(total=1, size=3), np.array([1.0, bad, 2.0]))


def test_whole_numbers_of_numpy_count_as_such() -> None:
    caps = np.array([1, 2])
    over = ThreeView.of_matrix((2, 2), total=caps.sum(), per_row=caps, per_column=caps.max())
    assert over == ThreeView.of_matrix((2, 2), total=3, per_row=[1, 2], per_column=2)
    assert ThreeView(size=np.int64(4), total=np.int32(2)) == ThreeView(size=4, total=2)


def test_labels_and_bounds_come_from_files(tmp_path: Path) -> None:
    np.save(tmp_path / "labels.npy", [0, 0, 1, 1, -1])
    (tmp_path / "bounds.csv").write_text("1\n2\n", encoding="utf-8")
    with paths_relative_to(tmp_path):
        over = ThreeView.load(rows={"labels": "labels.npy", "bounds": "bounds.csv"})
        assert over.project([3.0, 4.0, 1.0, 2.0, 5.0]).tolist() == [0, 4, 1, 2, 5]
        matrix = ThreeView.load(matrix=[2, 3], rows={"bounds": "bounds.csv"})
        assert matrix.rows.caps.tolist() == [1, 2]
        (tmp_path / "bounds.csv").write_text("1\n2.5\n", encoding="utf-8")
        with pytest.raises(InvalidInput, match=r"rows: bounds must be whole numbers, entry 1 is 2\.5"):
            ThreeView.load(rows={"labels": "labels.npy", "bounds": "bounds.csv"})
        with pytest.raises(InvalidInput, match=r"columns: labels: no file .*none\.csv"):
            ThreeView.load(columns={"labels": "none.csv", "bounds": 1})


@pytest.mark.parametrize(("text", "shape"), [("3\n4\n1\n2\n", (4, 1)), ("3,4,1,2\n", (1, 4))])
def test_a_vector_comes_from_a_file_of_one_column_or_one_row(
    tmp_path: Path, text: str, shape: tuple[int, int]
) -> None:
    (tmp_path / "point.csv").write_text(text, encoding="utf-8")
    over = ThreeView.load(rows={"labels": [0, 0, 1, -1], "bounds": 1}, total=2)
    result = solve(Projection(str(tmp_path / "point.csv"), over), "tvcs.exact")
    assert result.solution.shape == shape
    assert result.solution.ravel().tolist() == [0, 4, 0, 2]
    assert result.detail.certificate.holds
    with pytest.raises(InvalidInput, match=r"of shape \(2, 2\) or \(4,\), not of shape \(4, 1\)"):
        ThreeView.of_matrix((2, 2), total=1).project(np.ones((4, 1)))


def test_a_plan_names_the_view_and_the_group_or_element_that_is_wrong() -> None:
    right = {
        "row_labels": [0, 0], "row_caps": [1], "column_labels": [0, 0], "column_caps": [1], "total": 2,
    }  # fmt: skip
    for wrong, said in (
        ({"row_labels": [0, 5]}, "rows: element 1 is in group 5, and there are bounds for 1 groups"),
        ({"row_labels": [0, -2]}, "rows: label of element 1 is -2; labels start at 0"),
        ({"row_caps": [-1]}, "rows: the bound of group 0 is -1; it must be at least 0"),
        ({"column_caps": [1.5]}, "columns: bounds: must be a vector of whole numbers, got float64"),
        ({"column_caps": np.array([2**64 - 1], np.uint64)}, "columns: bounds: has a number beyond 9_223"),
        ({"column_labels": [[0, 0]]}, r"columns: labels: must be a vector .* of shape \(1, 2\)"),
        ({"column_labels": [2**32, 0]}, "columns: labels: has a number beyond 2_147_483_647"),
        ({"column_labels": [0]}, "columns: there are 1 labels, and 2 of rows"),
        ({"total": -1}, "total must be a whole number of at least 0, got -1"),
        ({"total": 1.0}, "total must be a whole number of at least 0, got 1.0"),
    ):
        with pytest.raises(InvalidInput, match=said):
            ProjectionPlan(**(right | wrong))
    plan = ProjectionPlan(**right)
    assert plan.support(np.array([1.0, 2.0])).tolist() == [False, True]
    for wrong, said in (
        (np.array([1.0 + 2j, 2.0]), "must hold real numbers, got complex128"),
        (np.ma.masked_array([1.0, 2.0], [True, False]), "entries of the point are masked"),
        (["1", "2"], "must hold real numbers, got <U1"),
    ):
        with pytest.raises(InvalidInput, match=said):
            plan.solve(wrong)


def test_a_plan_does_not_change_with_the_arrays_it_was_made_of() -> None:
    labels, caps, none = np.zeros(3, np.int32), np.array([1]), np.zeros(0, np.int64)
    plan = ProjectionPlan(labels, caps, np.full(3, -1, np.int32), none, 3)
    caps[0], labels[:] = 3, -1
    assert plan.support(np.array([1.0, 3.0, 2.0])).tolist() == [False, True, False]


def test_prices_to_start_at_are_one_real_number_for_each_group() -> None:
    plan = ThreeView.of_matrix((4, 5), total=6, per_row=2, per_column=1).plan
    values = np.arange(20.0)
    best = plan.solve(values)
    whole = Prices(0, np.zeros(4, int), np.zeros(5, int))
    assert np.array_equal(plan.solve(values, whole).support, best.support)
    start: Any
    for start, said in (
        (
            Prices(0.0, np.zeros(3), np.zeros(5)),
            r"prices of rows have shape \(3,\); give one for each of the 4",
        ),
        (Prices(0.0, np.zeros(4), np.zeros(0)), r"prices of columns have shape \(0,\)"),
        (
            Prices(np.zeros(2), np.zeros(4), np.zeros(5)),
            r"prices of total have shape \(2,\); give one number",
        ),
        (Prices(0.0, np.array(list("abcd")), np.zeros(5)), "prices of rows must be real numbers, got <U1"),
        (best, "start must be the `prices` of a selection, got Selection"),
    ):
        with pytest.raises(InvalidInput, match=said):
            plan.solve(values, start)
