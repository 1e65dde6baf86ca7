"""What is known to be true, for the metrics: scores of items, and which comparisons are wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationInfo

from optiframe.errors import InvalidInput
from optiframe.records.fields import as_vector
from optiframe.tables.ids import Ids, listed, locked, positions
from optiframe.tables.number_columns import numbers
from optiframe.tables.read import encode, read_table
from optiframe_hodgerank.data import Comparisons, TruthTable


def read_truth(value: Any, info: ValidationInfo) -> TruthTable | None:
    """True scores from a data frame, a mapping of columns, or a CSV or Parquet file.

    Items that nobody compared are left out and kept in `ignored`.

    Raises
    ------
    InvalidInput
        For whatever `read_table` finds, for an item that occurs twice, a score that is not
        finite, and when no item of the truth occurs among the comparisons.
    """
    comparisons: Comparisons | None = info.data.get("comparisons")
    if value is None or isinstance(value, TruthTable):
        if value is not None and comparisons is not None and len(value.score) != len(comparisons.item_ids):
            raise InvalidInput(
                f"was read for other comparisons, with {len(value.score)} items; these have "
                f"{len(comparisons.item_ids)}. Give the table or file of the truth again"
            )
        return value
    columns = info.data.get("columns")
    if comparisons is None or columns is None:  # they were wrong and are reported
        return None
    return truth_of(value, comparisons.item_ids, columns)


def truth_of(value: Any, item_ids: Ids, columns: Mapping[str, str]) -> TruthTable:
    """True scores of these items, as by `read_truth`."""
    rename = {name: columns[name] for name in ("item", "score") if name in columns}
    table = read_table(value, ("item", "score"), title="truth", rename=rename)
    item, ids = encode(table["item"], f"{table.title} items")
    score = numbers(table, "score")
    count = np.bincount(item, minlength=len(ids))
    if (count > 1).any():
        rows = np.flatnonzero(item == int(count.argmax()))
        raise InvalidInput(
            f"{table.title} {table.places(rows)}: item {table['item'][rows[0]]} occurs {len(rows)} times; "
            "keep one row"
        )
    place = positions(item_ids, table["item"])
    if (place < 0).all():
        raise InvalidInput(
            f"{table.title}: none of its items occurs among the comparisons (these are {listed(ids)}; there "
            f"they are {listed(item_ids)})"
        )
    here = np.full(len(item_ids), np.nan)
    here[place[place >= 0]] = score[place >= 0]
    return TruthTable(locked(here), locked(table["item"][place < 0].copy()))


def read_outlier_truth(value: Any, info: ValidationInfo) -> NDArray[np.bool_] | None:
    """Which comparisons are truly wrong: one of true/false or 1/0 for each row.

    Raises
    ------
    InvalidInput
        For another length than the comparisons', or other values.
    """
    comparisons: Comparisons | None = info.data.get("comparisons")
    if value is None or comparisons is None:
        return None
    array = np.asarray(value) if not isinstance(value, str) else None
    if array is None or array.dtype != bool:
        given = as_vector(value)
        if not np.isin(given, (0.0, 1.0)).all():
            raise InvalidInput("must hold true or false (or 1 and 0) for each comparison")
        array = given != 0
    if array.shape != (len(comparisons),):
        raise InvalidInput(
            f"has shape {array.shape}, but there are {len(comparisons)} comparisons; give one entry for each"
        )
    return locked(array.copy())
