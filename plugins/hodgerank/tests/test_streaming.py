"""Streams of comparisons: the same rows, scores and flags as from memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optiframe_hodgerank.graph.merging import merge
from optiframe_hodgerank.problem import PairwiseRanking
from optiframe_hodgerank.tools import streaming
from optiframe_hodgerank.tools.streaming import flagged, merge_stream, parquet_chunks

from optiframe import InvalidInput, solve

from .path_twins import columns

Columns = tuple[np.ndarray, ...]


def drawn(seed: int, items: int, rows: int, values: str) -> Columns:
    found = columns(seed, items, rows, "signs" if values == "mixed" else values, (0.5, 1.0, 2.0))
    if values == "mixed":
        found["margin"][rows // 2 :] *= 0.5
    return tuple(found.values())


def pieces(given_rows: Columns, size: int) -> Iterator[Columns]:
    for start in range(0, len(given_rows[0]), size):
        yield tuple(column[start : start + size] for column in given_rows)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    size=st.integers(1, 40),
    values=st.sampled_from(["signs", "few", "mixed"]),
    weighted=st.booleans(),
)
def test_chunks_of_any_size_are_merged_as_all_at_once(
    seed: int, size: int, values: str, weighted: bool
) -> None:
    given_rows = drawn(seed, 6, 80, values)[: 4 if weighted else 3]
    found, twin = merge_stream(pieces(given_rows, size), 6), merge(6, *given_rows)
    order = np.lexsort((found.margin, found.right, found.left))
    for name in ("left", "right", "margin"):
        assert np.array_equal(getattr(found, name)[order], getattr(twin, name)), name
    assert found.weight[order] == pytest.approx(twin.weight)
    assert (found.rows, found.items) == (80, 6)


def test_signs_of_too_many_items_for_a_table_are_merged_in_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "_TABLE", 10)
    left, right, margin, _ = drawn(0, 6, 80, "signs")
    found, twin = merge_stream(pieces((left, right, margin), 7), 6), merge(6, left, right, margin)
    assert np.array_equal(found.margin, twin.margin)
    assert np.array_equal(found.weight, twin.weight)


def test_a_streamed_parquet_file_has_the_scores_and_the_flags_of_the_table_in_memory(tmp_path: Path) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    left, right, margin, _ = drawn(1, 9, 400, "signs")
    pq.write_table(
        pa.table({"a": left.astype(np.int32), "b": right.astype(np.int32), "y": margin.astype(np.int8)}),
        tmp_path / "votes.parquet",
    )

    def chunks() -> Iterator[Columns]:
        return parquet_chunks(tmp_path / "votes.parquet", ("a", "b", "y"), rows=64)

    merged = merge_stream(chunks(), 10)  # item 9 is never compared
    streamed = solve(merged.problem(), "hodge.hlasso", lambda_=0.8)
    known = PairwiseRanking(comparisons={"left": left, "right": right, "margin": margin})
    whole = solve(known, "hodge.hlasso", lambda_=0.8)
    scores = merged.scores_of(streamed.solution)
    assert np.isnan(scores[9])
    assert scores[:9] == pytest.approx(whole.solution.scores, abs=1e-10)
    masks = list(flagged(chunks(), scores, 0.8))
    assert [len(mask) for mask in masks] == [64] * 6 + [16]
    assert np.array_equal(np.concatenate(masks), whole.solution.outliers != 0)
    with pytest.raises(InvalidInput, match=r"votes.parquet has no column left \(it has a, b, y\)"):
        next(parquet_chunks(tmp_path / "votes.parquet"))


@pytest.mark.parametrize(
    ("chunk", "said"),
    [
        (([0, 3], [1, 0], [1.0, 1.0]), "row 3 of the stream: left is none of the codes 0 to 2"),
        (([0, 1], [1, -1], [1.0, 1.0]), "row 3 of the stream: right is none of the codes 0 to 2"),
        (([0, 1], [1, 1], [1.0, 1.0]), "row 3 of the stream: left and right are the same item"),
        (([0, 1], [1, 0], [np.nan, 1.0]), "row 2 of the stream: the margin is not a finite number"),
        (([0, 1], [1, 0], [1.0, 1.0], [1.0, 0.0]), "row 3 of the stream: the weight is not a positive"),
        ((["a", "b"], ["b", "a"], [1.0, 1.0]), "left from row 2 on is not of whole numbers"),
        (([0, 1], [1, 0], [1.0]), "the chunk from row 2 must be left, right, margin"),
        (None, "no comparisons"),
    ],
)
def test_wrong_rows_are_named(chunk: tuple[list[float], ...] | None, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        merge_stream([] if chunk is None else [([0, 1], [1, 2], [1.0, 1.0]), chunk], 3)
