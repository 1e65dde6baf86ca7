"""The data of a collaborative-ranking problem: every user's comparisons as codes, and what the codes mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optiframe.findings import Finding
from optiframe.records.fields import Array
from optiframe.tables.ids import Ids, locked

Codes = NDArray[np.int64]

_LARGEST_KEY = 1 << 62  # users x items x items beyond does not fit a 64-bit key


@dataclass(frozen=True, eq=False)
class ChoiceTable:
    """Every user's comparisons as codes, in the caller's order.

    Parameters
    ----------
    user, left, right
        Codes of the users and of the items compared, shape (rows,); read-only.
    outcome
        +1 where left won, -1 where right did, 0 for a tie, shape (rows,).
    weight
        Shape (rows,), positive; None: 1 each.
    user_ids, item_ids
        What the codes stand for; some may occur in no row.
    backend
        The data-frame library the comparisons came from, for the way out. Not content.
    lines
        Line of the file for each row; None for frames. Not content.
    remarks
        What reading the table left open. Not content.
    """

    user: Codes
    left: Codes
    right: Codes
    outcome: Array
    weight: Array | None
    user_ids: Ids
    item_ids: Ids
    backend: str | None = field(default=None, compare=False)
    lines: Sequence[int] | None = field(default=None, compare=False)
    remarks: tuple[Finding, ...] = field(default=(), compare=False)

    def __len__(self) -> int:
        return len(self.user)

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # nothing cached

    @property
    def shape(self) -> tuple[int, int]:
        """Users and items."""
        return len(self.user_ids), len(self.item_ids)

    @cached_property
    def choices(self) -> Choices:
        """Comparisons grouped by user, equal ones merged, ties split into half a win for each side.

        Merging changes no sum over comparisons. Time is that of one sort; memory about 60 bytes a row.
        """
        return _grouped(self)

    @cached_property
    def compared(self) -> NDArray[np.bool_]:
        """Which items were compared with any other, shape (items,)."""
        compared = np.zeros(len(self.item_ids), dtype=bool)
        compared[self.left] = True
        compared[self.right] = True
        return locked(compared)

    def __repr__(self) -> str:
        return f"<{len(self)} comparisons of {len(self.item_ids)} items by {len(self.user_ids)} users>"


@dataclass(frozen=True, eq=False)
class Choices:
    """Who was preferred to whom, grouped by user; equal comparisons merged.

    Parameters
    ----------
    winner, loser
        Codes of the items, int32, shape (merged,); sorted by user, winner, loser.
    pointer
        Rows of user i are ``pointer[i]:pointer[i + 1]``, int64, shape (users + 1,).
    weight
        Sum of the weights of the rows merged, half a weight for each side of a tie; None: 1 each.
    """

    winner: NDArray[np.int32]
    loser: NDArray[np.int32]
    pointer: Codes
    weight: Array | None

    def __len__(self) -> int:
        return len(self.winner)

    @property
    def user(self) -> Codes:
        """Code of the user of each merged row, shape (merged,)."""
        return np.repeat(np.arange(len(self.pointer) - 1), np.diff(self.pointer))


def _grouped(table: ChoiceTable) -> Choices:
    users, items = table.shape
    tie = np.flatnonzero(table.outcome == 0)
    left_won = table.outcome >= 0
    winner = np.concatenate([np.where(left_won, table.left, table.right), table.right[tie]])
    loser = np.concatenate([np.where(left_won, table.right, table.left), table.left[tie]])
    user = np.concatenate([table.user, table.user[tie]])
    weight = np.ones(len(table)) if table.weight is None else table.weight
    weight = np.concatenate([np.where(table.outcome == 0, 0.5, 1.0) * weight, weight[tie] / 2])
    if users * items * items <= _LARGEST_KEY:
        key, place = np.unique((user * items + winner) * items + loser, return_inverse=True)
        pair, loser = np.divmod(key, items)
        user, winner = np.divmod(pair, items)
    else:
        rows, place = np.unique(np.column_stack([user, winner, loser]), axis=0, return_inverse=True)
        user, winner, loser = rows.T
    total = np.asarray(np.bincount(place.ravel(), weight, len(user)), dtype=np.float64)
    return Choices(
        locked(winner.astype(np.int32)),
        locked(loser.astype(np.int32)),
        locked(np.searchsorted(user, np.arange(users + 1)).astype(np.int64)),
        None if (total == 1.0).all() else locked(total),
    )
