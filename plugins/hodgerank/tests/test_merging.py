"""Merging equal comparisons: exact, and quick enough not to matter."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optiframe_hodgerank.graph import merging
from optiframe_hodgerank.graph.comparison_graph import ComparisonGraph
from optiframe_hodgerank.graph.merging import merge, sorted_keys
from optiframe_hodgerank.kernels import compiled_merging

from .path_twins import columns


def drawn(seed: int, items: int, rows: int, values: str) -> tuple[np.ndarray, ...]:
    return tuple(columns(seed, items, rows, values, (0.5, 1.0, 2.0)).values())


rows = st.builds(
    drawn,
    st.integers(0, 10**6),
    st.integers(2, 6),
    st.integers(1, 60),
    st.sampled_from(["signs", "few", "real"]),
)


def check(left: np.ndarray, right: np.ndarray, margin: np.ndarray, weight: np.ndarray) -> None:
    """Against a dictionary, the slow and obvious way."""
    slow: dict[tuple[int, int, float], float] = {}
    for i, j, y, w in zip(left.tolist(), right.tolist(), margin.tolist(), weight.tolist(), strict=True):
        key = (i, j, y + 0.0) if i < j else (j, i, -y + 0.0)
        slow[key] = slow.get(key, 0.0) + w
    found = merge(6, left, right, margin, weight)
    keys = list(zip(found.left.tolist(), found.right.tolist(), found.margin.tolist(), strict=True))
    assert keys == sorted(slow)
    assert np.allclose(found.weight, [slow[key] for key in keys])
    assert found.count.sum() == found.rows == len(left)
    assert np.array_equal(found.expand(found.margin), margin)
    assert np.array_equal(
        np.where(found.flipped, found.expand_even(found.right), found.expand_even(found.left)), left
    )


@settings(max_examples=60)
@given(rows)
def test_merging_is_what_a_dictionary_does(given_rows: tuple[np.ndarray, ...]) -> None:
    check(*given_rows)


@pytest.mark.parametrize("largest", [10, 1 << 62])
@pytest.mark.parametrize("table", [0, 1 << 16])
def test_every_way_of_merging_gives_the_same(
    monkeypatch: pytest.MonkeyPatch, largest: int, table: int
) -> None:
    monkeypatch.setattr(merging, "_LARGEST_KEY", largest)
    monkeypatch.setattr(merging, "_SMALL_TABLE", table)
    monkeypatch.setattr(merging, "_CROWDED", 0 if table == 0 else 4)
    for values in ("signs", "few", "real"):
        check(*drawn(5, 6, 60, values))


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.integers(1, 60))
def test_the_compiled_pass_gives_the_same(seed: int, count: int) -> None:
    left, right, margin, weight = drawn(seed, 6, count, "signs")
    twin = merge(6, left, right, margin, weight)
    found = merging._decoded(6, weight, compiled_merging.merge_signs(6, left, right, margin))
    for name in vars(twin):
        assert np.array_equal(getattr(found, name), getattr(twin, name)), name


def test_many_rows_take_the_compiled_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merging, "_WORTH_COMPILING", 50)
    check(*drawn(5, 6, 60, "signs"))


def test_many_real_margins_that_hardly_repeat_are_only_oriented(monkeypatch: pytest.MonkeyPatch) -> None:
    left, right, margin, weight = drawn(5, 6, 200, "real")
    monkeypatch.setattr(merging, "_WORTH_SAMPLING", 100)
    monkeypatch.setattr(merging, "_SAMPLE", 50)
    found = merge(6, left, right, margin, weight)
    assert len(found) == 200
    assert (found.left < found.right).all()
    assert np.array_equal(found.weight, weight)
    assert np.array_equal(found.expand(found.margin), margin)
    monkeypatch.undo()
    twin = merge(6, left, right, margin, weight)
    scores = [
        ComparisonGraph(6, one.left, one.right, one.margin, one.weight).scores(one.margin)
        for one in (found, twin)
    ]
    assert np.allclose(*scores, atol=1e-12)


def test_a_tie_has_no_orientation() -> None:
    found = merge(2, np.array([0, 1]), np.array([1, 0]), np.array([0.0, -0.0]))
    assert len(found) == 1
    assert found.weight.tolist() == [2.0]
    assert not np.signbit(found.margin).any()


@settings(max_examples=30)
@given(rows)
def test_merged_rows_have_the_scores_and_the_misfit_of_all_rows(given_rows: tuple[np.ndarray, ...]) -> None:
    left, right, margin, weight = given_rows
    found = merge(6, left, right, margin, weight)
    all_rows = ComparisonGraph(6, left, right, margin, weight)
    merged = ComparisonGraph(6, found.left, found.right, found.margin, found.weight)
    assert np.allclose(merged.scores(merged.margin), all_rows.scores(margin), atol=1e-12)
    assert np.allclose(found.expand(merged.cycles(merged.margin)), all_rows.cycles(margin), atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(keys=st.lists(st.integers(0, 30), max_size=60), span=st.sampled_from([31, 1 << 40, 1 << 61]))
def test_keys_are_sorted_and_equal_ones_stay_in_their_order(keys: list[int], span: int) -> None:
    key = np.array(keys, dtype=np.int64)
    ordered, order = sorted_keys(key, span)
    assert order.tolist() == np.argsort(key, kind="stable").tolist()
    assert ordered.tolist() == sorted(keys)


def test_answers_are_expanded_alike_where_nothing_was_merged() -> None:
    one = merge(4, np.array([0, 2, 3]), np.array([1, 1, 0]), np.array([0.5, 0.25, 1.0]))
    for found, rows in ((one, 3), (merge(3, np.array([1, 0]), np.array([2, 1]), np.array([0.5, 1.0])), 2)):
        values = np.arange(1.0, rows + 1)
        sign = np.where(found.flipped, -1.0, 1.0)
        assert found.expand(values).tolist() == (sign * values[found.inverse]).tolist()
        assert found.expand_even(values).tolist() == values[found.inverse].tolist()
