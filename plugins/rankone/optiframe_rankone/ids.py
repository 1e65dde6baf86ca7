"""Tables of ids: one id of its kind each, sorted where the ids can be compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from optiframe.findings import Finding
from optiframe.tables.read import encode

Ids = NDArray[Any]
Codes = NDArray[np.integer[Any]]

_SHOWN = 5  # ids named in a sentence before "and N more"


def union(first: Ids, second: Ids) -> Ids:
    """All ids of both tables, sorted where they can be compared; 1 and 1.0 are one id."""
    if first.dtype != second.dtype:
        first, second = first.astype(object), second.astype(object)
    return encode(np.concatenate([first, second]))[1]


def positions(ids: Ids, wanted: Ids) -> NDArray[np.int64]:
    """Where each wanted id is in `ids`; -1 where it is not. Ids must be hashable."""
    if ids.dtype == wanted.dtype and ids.dtype != object:
        at = np.minimum(np.searchsorted(ids, wanted), len(ids) - 1)
        return np.where(ids[at] == wanted, at, -1)
    table = {value: code for code, value in enumerate(ids.tolist())}
    return np.array([table.get(value, -1) for value in wanted.tolist()], dtype=np.int64)


def kind(ids: Ids) -> str:
    """What sort of ids these are, in words."""
    if ids.dtype == np.int64:
        return "whole numbers"
    if ids.dtype == np.float64:
        return "decimal numbers"
    if ids.dtype == bool:
        return "true or false"
    found = {type(value) for value in ids.tolist()}
    if found == {str}:
        return "text"
    return "whole numbers" if found == {int} else "values of mixed type"


def listed(ids: Ids | Sequence[Any]) -> str:
    """The first few ids, and how many more there are."""
    values = ids.tolist() if isinstance(ids, np.ndarray) else list(ids)
    shown = ", ".join(map(str, values[:_SHOWN]))
    return shown if len(values) <= _SHOWN else f"{shown} and {len(values) - _SHOWN} more"


def without_unused(codes: Codes, ids: Ids) -> tuple[Codes, Ids, Ids]:
    """Codes and ids without the ids that no code stands for, and those ids."""
    used = np.zeros(len(ids), dtype=bool)
    used[codes] = True
    if used.all():
        return codes, ids, ids[:0]
    return (np.cumsum(used) - 1)[codes], ids[used], ids[~used]


def locked(array: NDArray[Any]) -> NDArray[Any]:
    """The array itself, read-only from now on."""
    array.flags.writeable = False
    return array


def about(level: Literal["note", "warning", "error"], what: str, ids: Ids, rest: str) -> Finding:
    """`3 workers <rest>: a, b, c` with the ids attached."""
    count = f"{len(ids)} {what}{'' if len(ids) == 1 else 's'}"
    return Finding(level, f"{count} {rest}: {listed(ids)}", tuple(ids.tolist()))
