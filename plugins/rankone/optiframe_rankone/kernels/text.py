"""Columns of text as codes, by compiled loops where those are at hand."""

from __future__ import annotations

from typing import Any

import numpy as np

from optiframe.tables.read import Coded
from optiframe_rankone.kernels import prepared

_LONG = 8  # letters of a text on the average; seven fit into a key, which tells the text without a look


def coded(column: Any) -> Coded | None:
    """Codes and sorted ids of a pyarrow array of text without gaps. Twin: `frames`' own, by Arrow.

    None where compiled kernels are not to be used, for other kinds of arrays, and for long texts,
    which Arrow reads quicker. Time is linear in the letters but for the sorting of the ids; memory
    8 bytes a row, 40 an id.
    """
    return _coded(column) if prepared.ready_for(len(column)) else None


def _coded(column: Any) -> Coded | None:
    width = {"string": np.int32, "large_string": np.int64}.get(str(column.type))
    if width is None or not hasattr(column, "buffers") or column.null_count or not len(column):
        return None
    _, offsets, letters = column.buffers()
    start = np.frombuffer(offsets, dtype=width)[column.offset : column.offset + len(column) + 1]
    if int(start[-1]) - int(start[0]) >= _LONG * len(column):
        return None
    codes, first, keys = prepared.text_codes(start, np.frombuffer(letters or b"", dtype=np.uint8))
    ids = column.take(first).to_numpy(zero_copy_only=False).astype(object, copy=False)
    order = np.argsort(keys)
    if (keys[order[1:]] == keys[order[:-1]]).any():  # eight letters do not tell all apart
        order = np.array(sorted(range(len(ids)), key=ids.__getitem__))
    rank = np.empty(len(ids), dtype=np.int32)
    rank[order] = np.arange(len(ids), dtype=np.int32)
    return Coded(rank[codes], ids[order])
