"""Tables of ids: finding some among others, and naming a few in a sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optiframe.errors import InvalidInput
from optiframe.tables.read import encode, missing, read_table
from optiframe_manifold.data import Ids

_SHOWN = 5  # ids named in a sentence before "and N more"


def read_ids(value: Any) -> Ids | None:
    """All users or all items, in the order given; None stays None.

    Raises
    ------
    InvalidInput
        When it is not a list, is empty, or when an id is missing, not hashable or occurs twice.
    """
    if value is None:
        return None
    if isinstance(value, str | bytes | Mapping | Set):
        raise InvalidInput(f"must be a list of ids, got {value!r:.60}")
    ids = read_table({"id": value}, (), ("id",), title="ids")["id"]
    gap = np.flatnonzero(missing(ids))
    if len(gap):
        raise InvalidInput(f"entry {gap[0]} is empty; give every one an id")
    code, known = encode(ids)
    if len(known) < len(ids):
        twice = known[int(np.bincount(code).argmax())]
        raise InvalidInput(f"{twice} occurs more than once; list each id once")
    ids = ids.copy()
    ids.flags.writeable = False
    return ids


def positions(ids: Ids, wanted: Ids) -> NDArray[np.int64]:
    """Where each wanted id is in `ids`; -1 where it is not. Ids must be hashable.

    What is not there is looked for by its spelling: a column of a file is numbers or text as a
    whole, so that 1 may come as "1".
    """
    table = {value: code for code, value in enumerate(ids.tolist())}
    found = [table.get(value, -1) for value in wanted.tolist()]
    if min(found, default=0) < 0:
        spelled = {str(value): code for value, code in table.items()}
        found = [
            spelled.get(str(value), -1) if code < 0 else code
            for value, code in zip(wanted.tolist(), found, strict=True)
        ]
    return np.array(found, dtype=np.int64)


def sizes(shape: tuple[int, int]) -> str:
    """So many items for so many users."""
    users, items = shape
    return f"{items} item{'s' * (items != 1)} for {users} user{'s' * (users != 1)}"


def listed(ids: Ids | Sequence[Any]) -> str:
    """The first few ids, and how many more there are."""
    values = ids.tolist() if isinstance(ids, np.ndarray) else list(ids)
    shown = ", ".join(map(str, values[:_SHOWN]))
    return shown if len(values) <= _SHOWN else f"{shown} and {len(values) - _SHOWN} more"
