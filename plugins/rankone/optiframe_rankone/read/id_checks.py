"""Ids that are probably not meant: infinite numbers, 1 beside "1"."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from optiframe.errors import InvalidInput
from optiframe.tables.ids import Ids
from optiframe.tables.read import Coded, Table
from optiframe_rankone.ids import Codes


def refuse_infinite(
    table: Table, name: str, codes: Codes, ids: Ids, rows: NDArray[np.intp] | None = None
) -> None:
    """Raise `InvalidInput` where an id of a column is an infinite number, naming its row.

    ``codes`` are those of the given rows; of all of them by default.
    """
    if ids.dtype.kind not in "fO":
        return
    endless = [isinstance(value, float) and abs(value) == np.inf for value in ids.tolist()]
    if any(endless):
        at = int(np.flatnonzero(np.asarray(endless)[codes])[0])
        raise InvalidInput(
            f"{table.title} {table.place(at if rows is None else int(rows[at]))}: {name} is "
            f"{ids[codes[at]]}; an infinite number is no id: drop the row or give it one"
        )


def look_alike(table: Table, name: str, ids: Ids) -> tuple[str, ...]:
    """Text that occurs in a column beside another id that prints the same, such as "1" and 1 or 1.0."""
    return () if isinstance(table.parts[name], Coded) else ids_alike(ids)


def ids_alike(ids: Ids) -> tuple[str, ...]:
    """The same of a table of ids."""
    if ids.dtype != object:
        return ()
    texts = {value for value in ids.tolist() if isinstance(value, str)}
    others = {_printed(value) for value in ids.tolist() if not isinstance(value, str)}
    return tuple(sorted(texts & others))


def _printed(value: object) -> str:
    """As `str`, but 1.0 as 1, which is the same id."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
