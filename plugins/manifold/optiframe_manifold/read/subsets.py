"""Parts of a table of comparisons, and tables joined."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optiframe.errors import InvalidInput
from optiframe.tables.ids import Ids, locked, positions
from optiframe_manifold.data import ChoiceTable


def some_rows(table: ChoiceTable, rows: NDArray[Any]) -> ChoiceTable:
    """These rows (codes or a mask), with all users and items."""
    return replace(
        table,
        user=locked(table.user[rows]),
        left=locked(table.left[rows]),
        right=locked(table.right[rows]),
        outcome=locked(table.outcome[rows]),
        weight=None if table.weight is None else locked(table.weight[rows]),
        lines=None,
    )


def joined(first: ChoiceTable, second: ChoiceTable) -> ChoiceTable:
    """All rows of both; users and items of the first keep their codes, new ones come after.

    Frames of answers stay of the kind of the first.

    Raises
    ------
    InvalidInput
        When ids are text in one and numbers in the other, which would make new users of old ones.
    """
    user_ids, user = _with(first.user_ids, second.user_ids, "users")
    item_ids, item = _with(first.item_ids, second.item_ids, "items")
    weight = None
    if first.weight is not None or second.weight is not None:
        weight = np.concatenate(
            [np.ones(len(table)) if table.weight is None else table.weight for table in (first, second)]
        )
    return ChoiceTable(
        locked(np.concatenate([first.user, user[second.user]])),
        locked(np.concatenate([first.left, item[second.left]])),
        locked(np.concatenate([first.right, item[second.right]])),
        locked(np.concatenate([first.outcome, second.outcome])),
        None if weight is None else locked(weight),
        locked(user_ids),
        locked(item_ids),
        first.backend,
    )


def _with(known: Ids, further: Ids, what: str) -> tuple[Ids, NDArray[np.int64]]:
    """The known ids and those of `further` that are new, and where each of `further` is."""
    place = positions(known, further)
    new = place < 0
    if new.any() and _spelling(known) != _spelling(further):
        raise InvalidInput(
            f"the {what} so far are {_spelling(known)}, such as {known.tolist()[0]!r}, and the new ones "
            f"{_spelling(further)}, such as {further[new].tolist()[0]!r}; spell them alike"
        )
    place[new] = len(known) + np.arange(int(new.sum()))
    fresh = further[new]
    if len(fresh) and fresh.dtype != known.dtype:
        known, fresh = known.astype(object), fresh.astype(object)
    return (np.concatenate([known, fresh]) if len(fresh) else known), place


def _spelling(ids: Ids) -> str:
    kinds = {isinstance(value, str) for value in ids.tolist()}
    return "mixed" if len(kinds) > 1 else "text" if kinds.pop() else "not text"
