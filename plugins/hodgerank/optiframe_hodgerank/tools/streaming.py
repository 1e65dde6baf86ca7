"""More comparisons than fit in memory: merged chunk by chunk, and flagged in a second pass.

::

    def chunks():
        return parquet_chunks("votes.parquet", ("left", "right", "margin"))

    merged = merge_stream(chunks(), items=1000)
    result = optiframe.solve(merged.problem(), "hodge.hlasso", lambda_=1.0, per_decade=1)
    for mask in flagged(chunks(), merged.scores_of(result.solution), level=1.0):
        ...
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optiframe.errors import InvalidInput, require
from optiframe.records.fields import Array
from optiframe_hodgerank.answer import Ranking
from optiframe_hodgerank.graph.merging import merge
from optiframe_hodgerank.problem import PairwiseRanking

Codes = NDArray[np.int64]
Chunk = tuple[Any, ...]
"""left, right, margin and maybe weight: arrays of one length."""

_TABLE = 1 << 26
"""A table of all pairs and signs is kept while it has at most so many cells: 0.5 GB, 4,700 items."""
_ROWS = 1 << 20  # rows of a chunk of a file: some 40 MB of them while they are read


@dataclass(frozen=True, eq=False)
class MergedStream:
    """The unique comparisons of a stream.

    Parameters
    ----------
    items
        Number of items; codes run from 0.
    left, right, margin
        Of each merged row, with ``left < right``, shape (merged,).
    weight
        How many comparisons it stands for, or the sum of their weights.
    rows
        Number of comparisons read.
    """

    items: int
    left: Codes
    right: Codes
    margin: Array
    weight: Array
    rows: int

    def __len__(self) -> int:
        return len(self.margin)

    def __repr__(self) -> str:
        return f"<{self.rows} comparisons of {self.items} items, merged to {len(self)}>"

    def problem(self, **more: Any) -> PairwiseRanking:
        """The problem of these rows with their weights; its item ids are the codes.

        Its objective and scores are those of all comparisons. A share of outliers, and the outliers
        themselves, count merged rows, so give a `lambda_`, and see `flagged`.
        """
        columns: Any = {"left": self.left, "right": self.right, "margin": self.margin, "weight": self.weight}
        return PairwiseRanking(comparisons=columns, **more)

    def scores_of(self, solution: Ranking) -> Array:
        """Scores by code, shape (items,); nan for items that nobody compared."""
        scores = np.full(self.items, np.nan)
        scores[np.asarray(solution.items, dtype=np.int64)] = solution.scores
        return scores


def merge_stream(chunks: Iterable[Chunk], items: int) -> MergedStream:
    """Merge a stream of comparisons of codes, holding a chunk at a time.

    Parameters
    ----------
    chunks
        Tuples of left, right, margin and maybe weight; y = +1 where left won, -1, 0, or a margin.
    items
        Number of items; codes are 0, 1, ..., items - 1.

    Notes
    -----
    Where y is -1, 0 or 1 and there are at most some 4,700 items, a table of counts takes
    24 items^2 bytes. Else chunks are merged, and merged with each
    other as they come to like sizes: about 120 bytes a distinct comparison at its height, so
    that real margins, which hardly repeat, are not for a stream longer than memory.

    Raises
    ------
    InvalidInput
        For a code that is none, an item compared with itself, or a margin or weight that is not
        finite, naming the row (counted over all chunks, from 0).
    """
    counts, rows = _Counts(items), 0
    for chunk in chunks:
        left, right, margin, weight = _checked(chunk, items, rows)
        counts.add(left, right, margin, weight)
        rows += len(margin)
    if not rows:
        raise InvalidInput("the stream has no comparisons")
    return MergedStream(items, *counts.total(), rows)


def flagged(chunks: Iterable[Chunk], scores: Array, level: float) -> Iterator[NDArray[np.bool_]]:
    """For each chunk which of its comparisons are off by more than `level`: Huber-LASSO's outliers.

    Memory is that of a chunk.
    """
    beyond = level * (1 + 1e-9)  # what is at lambda is no outlier, whatever the rounding
    for left, right, margin, *_ in chunks:
        theta = scores[np.asarray(left)]
        theta -= scores[np.asarray(right)]
        yield np.abs(np.subtract(margin, theta, out=theta), out=theta) > beyond


def parquet_chunks(
    path: str | Path, columns: tuple[str, ...] = ("left", "right", "margin"), rows: int = _ROWS
) -> Iterator[Chunk]:
    """Chunks of a Parquet file whose items are whole numbers from 0; needs pyarrow.

    `columns` names those of left, right, margin and maybe weight.
    """
    parquet = require("pyarrow.parquet", "frames")
    with parquet.ParquetFile(path) as file:
        known = file.schema_arrow.names
        for name in columns:
            if name not in known:
                raise InvalidInput(f"{Path(path).name} has no column {name} (it has {', '.join(known)})")
        for batch in file.iter_batches(batch_size=rows, columns=list(columns)):
            yield tuple(batch.column(name).to_numpy(zero_copy_only=False) for name in columns)


def _checked(chunk: Chunk, items: int, before: int) -> tuple[Codes, Codes, Array, Array | None]:
    """The columns of a chunk as codes and numbers; `before` rows were read earlier."""
    if len(chunk) not in {3, 4} or len({len(column) for column in chunk}) != 1:
        raise InvalidInput(
            f"the chunk from row {before} must be left, right, margin and maybe weight, of one length"
        )
    found = []
    for name, column in zip(("left", "right"), chunk[:2], strict=True):
        code = np.asarray(column)
        if code.dtype.kind not in "iu":
            raise InvalidInput(
                f"{name} from row {before} on is not of whole numbers; give items codes from 0 to {items - 1}"
            )
        _first((code < 0) | (code >= items), before, f"{name} is none of the codes 0 to {items - 1}")
        found.append(code.astype(np.int64, copy=False))
    left, right = found
    _first(left == right, before, "left and right are the same item")
    margin = np.asarray(chunk[2], dtype=np.float64)
    _first(~np.isfinite(margin), before, "the margin is not a finite number")
    if len(chunk) == 3:
        return left, right, margin, None
    weight = np.asarray(chunk[3], dtype=np.float64)
    _first(~(np.isfinite(weight) & (weight > 0)), before, "the weight is not a positive number")
    return left, right, margin, weight


def _first(wrong: NDArray[np.bool_], before: int, what: str) -> None:
    if wrong.any():
        raise InvalidInput(f"row {before + int(np.argmax(wrong))} of the stream: {what}; drop or fix it")


Run = tuple[Codes, Codes, Array, Array]  # left, right, margin and weight of merged rows


class _Counts:
    """Sums of weights by oriented pair and y: a table for signs, and merged runs for what it cannot hold."""

    def __init__(self, items: int) -> None:
        self.items = items
        self._table: Array | None = None
        self._runs: list[Run] = []

    def add(self, left: Codes, right: Codes, margin: Array, weight: Array | None) -> None:
        """Take in the rows of a chunk."""
        cells = 3 * self.items * self.items
        if cells <= _TABLE and bool(((margin == 0.0) | (np.abs(margin) == 1.0)).all()):
            if self._table is None:
                self._table = np.zeros(cells)
            sign = np.where(left < right, margin, -margin).astype(np.int64)
            key = np.minimum(left, right)
            key *= self.items
            key += np.maximum(left, right)
            key *= 3
            key += sign
            key += 1
            np.add.at(self._table, key, 1.0 if weight is None else weight)
            return
        if len(margin):
            self._runs.append(self._merge(left, right, margin, weight))
        # As a binary counter carries: each row is merged about log2(chunks) times in all.
        while len(self._runs) > 1 and 2 * len(self._runs[-1][2]) >= len(self._runs[-2][2]):
            self._join()

    def _merge(self, left: Codes, right: Codes, margin: Array, weight: Array | None) -> Run:
        found = merge(self.items, left, right, margin, weight)
        return found.left, found.right, found.margin, found.weight

    def _join(self) -> None:
        last, before = self._runs.pop(), self._runs.pop()
        both = [np.concatenate(pair) for pair in zip(before, last, strict=True)]
        self._runs.append(self._merge(*both))

    def total(self) -> Run:
        """All of it merged."""
        if self._table is not None:
            key = np.flatnonzero(self._table)
            pair, sign = np.divmod(key, 3)
            left, right = np.divmod(pair, self.items)
            self._runs.append((left, right, sign - 1.0, self._table[key]))
            self._table = None
        while len(self._runs) > 1:
            self._join()
        return self._runs[0]
