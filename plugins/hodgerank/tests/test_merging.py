"""Merging equal comparisons: exact, and quick enough not to matter."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from optiframe_hodgerank.graph.comparison_graph import ComparisonGraph
from optiframe_hodgerank.graph.merging import merge

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


def test_answers_are_expanded_alike_where_nothing_was_merged() -> None:
    one = merge(4, np.array([0, 2, 3]), np.array([1, 1, 0]), np.array([0.5, 0.25, 1.0]))
    for found, rows in ((one, 3), (merge(3, np.array([1, 0]), np.array([2, 1]), np.array([0.5, 1.0])), 2)):
        values = np.arange(1.0, rows + 1)
        sign = np.where(found.flipped, -1.0, 1.0)
        assert found.expand(values).tolist() == (sign * values[found.inverse]).tolist()
        assert found.expand_even(values).tolist() == values[found.inverse].tolist()
