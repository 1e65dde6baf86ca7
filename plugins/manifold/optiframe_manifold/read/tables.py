"""The tables of a collaborative-ranking problem, checked and turned into codes.

Comparisons have the columns `user, left, right` and `label` (the winner's id), and
optionally `weight`. Ids are anything hashable.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationInfo

from optiframe.errors import InvalidInput
from optiframe.records.fields import Array
from optiframe.tables.ids import Ids, listed, locked, positions
from optiframe.tables.number_columns import numbers
from optiframe.tables.pairs import empty_labels, read_preferences, spelled_twice
from optiframe.tables.read import Table, encode, read_table
from optiframe.tables.unused_columns import unused_columns
from optiframe_manifold.data import ChoiceTable, Codes

COLUMNS = ("user", "left", "right", "label", "weight", "item", "score")


def read_comparisons(value: Any, info: ValidationInfo) -> ChoiceTable | None:
    """Comparisons from a data frame, a mapping of columns, or a CSV or Parquet file.

    Raises
    ------
    InvalidInput
        For whatever `read_table` finds, for an item compared with itself, a label that is
        neither item nor a tie, a weight that is not positive, a user or item that is not among
        those listed in `users` and `items`, naming the rows; when labels are true or false, and
        when the sum of the weights is not finite.
    """
    known = info.data
    if any(key not in known for key in ("columns", "outcomes", "users", "items")):
        return None  # wrong and reported; reading on would only add noise
    if isinstance(value, ChoiceTable):
        _same_ids(value, known["users"], known["items"])
        return value
    return _choices(value, known, known["users"], known["items"], "comparisons")


def read_held_out(value: Any, info: ValidationInfo) -> ChoiceTable | None:
    """Further comparisons by the same users of the same items, for the metrics only."""
    comparisons: ChoiceTable | None = info.data.get("comparisons")
    if value is None or comparisons is None:
        return None
    if isinstance(value, ChoiceTable):
        _same_ids(value, comparisons.user_ids, comparisons.item_ids)
        return value
    return _choices(value, info.data, comparisons.user_ids, comparisons.item_ids, "held_out")


def _choices(
    value: Any, reading: Mapping[str, Any], users: Ids | None, items: Ids | None, title: str
) -> ChoiceTable:
    """The table; `reading` has the problem's `columns` and `outcomes`."""
    columns = reading["columns"]
    table = read_table(
        value,
        ("user", "left", "right"),
        ("label", "weight"),
        title=title,
        rename=columns,
        lenient=("weight",) if title == "held_out" else (),  # comparisons to predict may have none
    )
    if "label" not in table:
        read_table(value, ("user", "left", "right", "label"), title=title, rename=columns)  # says so
    pairs, outcome, weight = read_preferences(table, reading["outcomes"])
    user, user_ids = table.encoded("user", f"{table.title} users")
    rows = len(table)
    user, user_ids = _among(table, user, user_ids, users, "user")
    both = np.concatenate([pairs.first, pairs.second])
    item, item_ids = _among(table, both, pairs.item_ids, items, "item")
    return ChoiceTable(
        locked(user),
        locked(item[:rows]),
        locked(item[rows:]),
        locked(outcome),
        None if weight is None else locked(weight),
        locked(user_ids),
        locked(item_ids),
        table.backend,
        table.lines,
        (
            *spelled_twice(table.title, "item", item_ids),
            *spelled_twice(table.title, "user", user_ids),
            *unused_columns(
                table.title,
                table.unused,
                () if "weight" in table or "weight" in columns else ("weight",),
                columns.values(),
            ),
            *empty_labels(table, outcome),
        ),
    )


def _among(
    table: Table, code: NDArray[np.integer[Any]], found: Ids, every: Ids | None, what: str
) -> tuple[Codes, Ids]:
    """Codes among all ids, where these were listed."""
    if every is None:
        return code.astype(np.int64), found
    place = positions(every, found)
    unknown = place < 0
    if unknown.any():
        rows = np.unique(np.flatnonzero(unknown[code]) % len(table))
        raise InvalidInput(
            f"{table.title} {table.places(rows)}: {listed(found[unknown])} {_are(unknown)} not among the "
            f"{what}s of this problem ({listed(every)}); list every {what} in `{what}s`, or drop the rows"
        )
    return place[code], every


def _are(which: NDArray[np.bool_]) -> str:
    return "is" if which.sum() == 1 else "are"


def _same_ids(table: ChoiceTable, users: Ids | None, items: Ids | None) -> None:
    for mine, theirs, what in ((table.user_ids, users, "users"), (table.item_ids, items, "items")):
        if theirs is not None and theirs is not mine and not np.array_equal(mine, theirs):
            raise InvalidInput(f"was read for other {what} than these; give the table itself again")


def read_scores(value: Any, columns: dict[str, str], users: Ids, items: Ids) -> Array:
    """A table `user, item, score` with every pair, as a matrix.

    Raises
    ------
    InvalidInput
        For whatever `read_table` finds, a score that is not finite, a user or item that is not
        among the problem's, and a pair that is missing or occurs twice.
    """
    table = read_table(value, ("user", "item", "score"), title="truth", rename=columns)
    score = numbers(table, "score")
    place = []
    for what, every in (("user", users), ("item", items)):
        code, found = encode(table[what], f"{table.title} {what}s")
        at = positions(every, found)
        if (at < 0).any():
            raise InvalidInput(
                f"{table.title}: {what} {listed(found[at < 0])} {_are(at < 0)} not among the {what}s of the "
                f"comparisons ({listed(every)}); list every {what} in `{what}s`, or drop its rows"
            )
        place.append(at[code])
    count = np.zeros((len(users), len(items)), dtype=np.int64)
    np.add.at(count, tuple(place), 1)
    if (count != 1).any():
        i, j = (int(at) for at in np.argwhere(count != 1)[0])
        how = "has no score" if count[i, j] == 0 else f"has {count[i, j]} scores"
        raise InvalidInput(
            f"{table.title}: item {items[j]} of user {users[i]} {how}; a truth gives one for each item of "
            "each user"
        )
    scores = np.empty(count.shape)
    scores[tuple(place)] = score
    return scores
