"""Codes, whole numbers from 0 that stand for ids, and the tables of ids they stand for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from optiframe.findings import Finding
from optiframe.tables.ids import Ids, listed
from optiframe.tables.read import encode

Codes = NDArray[np.integer[Any]]

_FEW = 8  # codes that are counted one after the other: bincount waits for the count before


def fixed_codes(codes: Any) -> NDArray[np.int32]:
    """Codes of 32 bits in one piece, read-only; the same memory where they are so already."""
    fixed = np.ascontiguousarray(codes, dtype=np.int32).view()
    fixed.flags.writeable = False
    return fixed


def firsts(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where groups of these sizes begin one after the other, and where the last ends, shape (groups + 1,)."""
    return np.concatenate([[0], np.cumsum(sizes)])


def counts_of(codes: Codes, size: int) -> NDArray[np.int64]:
    """How often each code below `size` occurs, shape (size,)."""
    if size > _FEW:
        return np.bincount(codes, minlength=size)
    return np.array([np.count_nonzero(codes == code) for code in range(size)], dtype=np.int64)


def union(first: Ids, second: Ids) -> Ids:
    """All ids of both tables, sorted where they can be compared; 1 and 1.0 are one id."""
    if first.dtype != second.dtype:
        first, second = first.astype(object), second.astype(object)
    return encode(np.concatenate([first, second]))[1]


def exact_positions(ids: Ids, wanted: Ids) -> NDArray[np.int64]:
    """Where each wanted id is in `ids`; -1 where it is not. Ids must be hashable.

    Unlike `optiframe.tables.ids.positions`, 1 and "1" are two ids: a crowd may give both. Sorted ids of
    one type are looked up together, so that millions take no time.
    """
    if len(ids) and ids.dtype == wanted.dtype and ids.dtype != object:
        at = np.minimum(np.searchsorted(ids, wanted), len(ids) - 1)
        return np.where(ids[at] == wanted, at, -1)
    table = {value: code for code, value in enumerate(ids.tolist())}
    return np.array([table.get(value, -1) for value in wanted.tolist()], dtype=np.int64)


def without_unused(codes: Codes, ids: Ids) -> tuple[Codes, Ids, Ids]:
    """Codes and ids without the ids that no code stands for, and those ids."""
    used = np.zeros(len(ids), dtype=bool)
    used[codes] = True
    if used.all():
        return codes, ids, ids[:0]
    return (np.cumsum(used, dtype=np.int32) - 1)[codes], ids[used], ids[~used]


def about(
    level: Literal["note", "warning", "error"], what: str, ids: Ids, rest: str, *, identifier: str
) -> Iterator[Finding]:
    """`3 workers <rest>: a, b, c` with the ids attached; no finding where there are no ids."""
    if len(ids):
        count = f"{len(ids)} {what}{'' if len(ids) == 1 else 's'}"
        yield Finding(level, f"{count} {rest}: {listed(ids)}", tuple(ids.tolist()), identifier=identifier)
