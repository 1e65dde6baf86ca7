"""Lists of users and of items, checked, and how many there are in words."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

import numpy as np

from optiframe.errors import InvalidInput
from optiframe.tables.ids import Ids, locked
from optiframe.tables.read import encode, missing, read_table


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
    return locked(ids.copy())


def sizes(shape: tuple[int, int]) -> str:
    """So many items for so many users."""
    users, items = shape
    return f"{items} item{'s' * (items != 1)} for {users} user{'s' * (users != 1)}"
