"""The tables of a pairwise-ranking problem, checked and turned into codes.

Comparisons have the columns `left, right` and `label` (who won) or `margin` (by how much), and
optionally `worker` and `weight`. Ids are anything hashable.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationInfo

from optiframe.column_names import column_names
from optiframe.errors import InvalidInput
from optiframe.frames import Table, encode, missing, read_table
from optiframe.values import Array
from optiframe_hodgerank.ids import Ids

_COLUMNS = ("worker", "left", "right", "label", "margin", "weight", "item", "score")
_BOOLEANS = {bool, np.bool_}
_WHOLE = re.compile(r"^(-?\d+)\.0*$")


@dataclass(frozen=True, eq=False)
class ComparisonTable:
    """Comparisons as codes, in the caller's order.

    Parameters
    ----------
    left, right
        Codes of the items, shape (rows,); read-only.
    margin
        y, shape (rows,): above 0 where left is preferred. +1, -1 and 0 (a tie) for labels.
    weight
        Shape (rows,), positive; None: 1 each.
    worker
        Codes of the workers, shape (rows,); -1 where none is given. None: no row has one.
    item_ids, worker_ids
        What the codes stand for. Every id occurs in some row.
    graded
        Whether y was given as a margin, so that scores are in its units; else who won.
    backend
        The data-frame library the comparisons came from, for the way out. Not content.
    lines
        Line of the file for each row; None for frames. Not content.
    """

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    margin: Array
    weight: Array | None
    worker: NDArray[np.int64] | None
    item_ids: Ids
    worker_ids: Ids
    graded: bool
    backend: str | None = field(default=None, compare=False)
    lines: Sequence[int] | None = field(default=None, compare=False)

    def __len__(self) -> int:
        return len(self.left)

    def __repr__(self) -> str:
        by = "" if self.worker is None else f" by {len(self.worker_ids)} workers"
        return f"<{len(self)} comparisons of {len(self.item_ids)} items{by}>"


def read_columns(value: Any) -> dict[str, str]:
    """Our column name -> the user's, as by `optiframe.column_names.column_names`."""
    return column_names(value, _COLUMNS)


def read_comparisons(value: Any, info: ValidationInfo) -> ComparisonTable | None:
    """Comparisons from a data frame, a mapping of columns, or a CSV or Parquet file.

    Raises
    ------
    InvalidInput
        For whatever `read_table` finds, for an item compared with itself, a label that is
        neither item nor a tie, a margin that is not finite, or a weight that is not positive,
        naming the rows; when label and margin are both given, when labels are true or false,
        and when the sum of the weights is not finite.
    """
    if isinstance(value, ComparisonTable):
        return value
    columns = info.data.get("columns")
    if columns is None:  # wrong and reported; reading on would only add noise
        return None
    table = read_table(
        value, ("left", "right"), ("worker", "label", "margin", "weight"), title="comparisons", rename=columns
    )
    if "label" not in table.columns and "margin" not in table.columns:
        read_table(value, ("left", "right", "label"), title="comparisons", rename=columns)  # says so
    if "label" in table.columns and "margin" in table.columns:
        raise InvalidInput(
            f"{table.title} has both a label and a margin; keep one, or map the other to a name it does "
            "not have with `columns`"
        )
    left, right = _alike(table, table["left"], table["right"])
    rows = len(table)
    code, item_ids = encode(_joined(left, right), f"{table.title} items")
    first, second = code[:rows], code[rows:]
    own = np.flatnonzero(first == second)
    if len(own):
        raise InvalidInput(
            f"{table.title} {table.places(own)}: left and right are both {left[own[0]]}; an item cannot be "
            "compared with itself, drop the row"
        )
    graded = "margin" in table.columns
    margin = numbers(table, "margin") if graded else _who_won(table, left, right, item_ids)
    weight = numbers(table, "weight", above=0.0) if "weight" in table.columns else None
    if weight is not None and not np.isfinite(_total(weight)):
        raise InvalidInput(
            f"{table.title}: the sum of the weights is not finite; divide them all by one number"
        )
    worker, worker_ids = _workers(table)
    return ComparisonTable(
        locked(first),
        locked(second),
        locked(margin),
        None if weight is None else locked(weight),
        None if worker is None else locked(worker),
        locked(item_ids),
        locked(worker_ids),
        graded,
        table.backend,
        table.lines,
    )


def _alike(table: Table, left: Ids, right: Ids) -> tuple[Ids, Ids]:
    """Both columns as text where a file has one as text and one as numbers."""
    if table.lines is not None and left.dtype != right.dtype:
        return _text(left), _text(right)
    return left, right


def _text(ids: Ids) -> Ids:
    return np.array([str(value) for value in ids.tolist()], dtype=object)


def _spelled(label: Ids) -> Ids:
    """Labels with whole numbers written plainly: 1.0, as a gap makes pandas write 1, is 1."""
    plain = [_WHOLE.sub(r"\1", value) if isinstance(value, str) else value for value in label.tolist()]
    return np.array(plain, dtype=object)


def _joined(left: Ids, right: Ids) -> Ids:
    if left.dtype != right.dtype:
        left, right = left.astype(object), right.astype(object)
    return np.concatenate([left, right])


def _who_won(table: Table, left: Ids, right: Ids, item_ids: Ids) -> Array:
    """+1, -1, or 0 for a tie: an empty label, or 0 where no item is called so."""
    label = table["label"]
    gap = missing(label)
    kinds = {type(value) for value in label.tolist()} if label.dtype == object else {label.dtype.type}
    if kinds & _BOOLEANS and not {type(value) for value in item_ids.tolist()} & _BOOLEANS:
        raise InvalidInput(
            f"{table.title}: the labels are true or false; give the winner's id, not true or false"
        )
    if gap.any() and label.dtype == object:
        label = label.copy()
        label[gap] = None  # pandas' NA is neither equal to an id nor different from it
    if label.dtype == object and left.dtype != object:  # text beside numbers: one cell made the column text
        if str in kinds:
            whole = left.dtype == right.dtype == np.int64
            left, right, label = _text(left), _text(right), _spelled(label) if whole else label
    elif left.dtype == object and str not in kinds and table.lines is not None:
        label = _text(label)
        label[gap] = None
    won, lost = np.asarray(label == left, dtype=bool), np.asarray(label == right, dtype=bool)
    tie = ~(won | lost)
    rows = np.flatnonzero(tie)
    if len(rows):
        empty = gap[rows]
        zero = np.asarray((label[rows] == 0) | (label[rows] == "0"), dtype=bool) & ~empty
        neither = rows[~(empty | zero)]
        if len(neither):
            row = int(neither[0])
            more = f" ({len(neither)} rows are so: {table.places(neither)})" if len(neither) > 1 else ""
            raise InvalidInput(
                f"{table.title} {table.place(row)}: the label is {label[row]}, which is neither left "
                f"({left[row]}) nor right ({right[row]}){more}; give the winner's id, or leave it empty or 0 "
                "for a tie"
            )
        if zero.any() and any(value in (0, "0") for value in item_ids.tolist()):
            raise InvalidInput(
                f"{table.title} {table.places(rows[zero])}: the label 0 could be a tie or item 0; leave the "
                "label of ties empty"
            )
    return np.asarray(won.astype(np.float64) - lost)


def numbers(table: Table, column: str, above: float = -np.inf) -> Array:
    """A column of finite numbers; text from a file is read as numbers."""
    values = table[column]
    if values.dtype == object:
        found = np.array([_number(value) for value in values.tolist()])
    else:
        found = np.full(len(values), np.nan) if values.dtype == bool else values.astype(np.float64)
    wrong = np.flatnonzero(~(np.isfinite(found) & (found > above)))
    if len(wrong):
        kind = "a positive number" if above == 0 else "a finite number"
        more = f" ({len(wrong)} rows are so: {table.places(wrong)})" if len(wrong) > 1 else ""
        shown = values[int(wrong[0])]
        raise InvalidInput(
            f"{table.title} {table.place(int(wrong[0]))}: the {column} is "
            f"{'empty' if missing(values[wrong[:1]])[0] else shown}; it must be {kind}{more}"
        )
    return found


def _total(values: Array) -> float:
    with np.errstate(over="ignore"):
        return float(values.sum())


def _number(value: Any) -> float:
    try:
        return float("nan") if value is None or isinstance(value, bool | np.bool_) else float(value)
    except (TypeError, ValueError):
        return float("nan")


def _workers(table: Table) -> tuple[NDArray[np.int64] | None, Ids]:
    """Codes of the workers, -1 where there is none; None when no row has one."""
    if "worker" not in table.columns:
        return None, np.empty(0, dtype=object)
    known = np.flatnonzero(~missing(table["worker"]))
    if not len(known):
        return None, np.empty(0, dtype=object)
    code, ids = encode(table["worker"][known], f"{table.title} workers")
    if len(known) == len(table):
        return code, ids
    worker = np.full(len(table), -1, dtype=np.int64)
    worker[known] = code
    return worker, ids


def locked(array: NDArray[Any]) -> NDArray[Any]:
    """The array itself, read-only from now on."""
    array.flags.writeable = False
    return array
