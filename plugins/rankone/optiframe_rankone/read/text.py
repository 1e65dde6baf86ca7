"""Columns of text as codes."""

from __future__ import annotations

from typing import Any

import numpy as np

from optiframe.tables.read import Coded
from optiframe_rankone.ids import fixed_codes
from optiframe_rankone.kernels.labels import encode_texts

_OFFSETS = {"string": np.int32, "large_string": np.int64}


def coded(column: Any) -> Coded | None:
    """Codes and sorted ids of a pyarrow array of text without gaps; None for other kinds of arrays.

    Three to four times as fast as Arrow's dictionary, which costs more than all that follows.
    """
    width = _OFFSETS.get(str(column.type))
    if width is None or not hasattr(column, "buffers") or column.null_count or not len(column):
        return None
    _, offsets, letters = column.buffers()
    start = np.frombuffer(offsets, dtype=width)[column.offset : column.offset + len(column) + 1]
    begin, end = int(start[0]), int(start[-1])
    codes, first = encode_texts(
        start.astype(np.int64) - begin, np.frombuffer(letters or b"", dtype=np.uint8)[begin:end]
    )
    return Coded(fixed_codes(codes), np.array(column.take(first).to_pylist(), dtype=object))
