"""The columns of paired comparisons, `left`, `right`, who won and weights, as plugins read them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optiframe.errors import Complaints, InvalidInput
from optiframe.findings import Finding
from optiframe.records.fields import Array
from optiframe.tables.read import Table, encode, gap_words, missing

Ids = NDArray[Any]

_BOOLEANS = {bool, np.bool_}
_COMMA = re.compile(r"^[+-]?\d*,\d+$")
_WHOLE = re.compile(r"^(-?\d+)\.0*$")


@dataclass(frozen=True)
class Pairs:
    """Ids of both sides of each row, their codes, and the ids the codes stand for."""

    left: Ids
    right: Ids
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    item_ids: Ids


def read_preferences(table: Table) -> tuple[Pairs, Array, Array | None]:
    """Pairs; by how much left was preferred: the `margin` where the table has one, else who won; weights.

    Raises
    ------
    InvalidInput
        For ids that cannot be hashed; for an item compared with itself, a label that is neither item
        nor a tie, a margin that is not finite, a weight that is not positive or a sum of weights that
        is not finite, naming the rows, all that is wrong at once.
    """
    pairs, preferred, weight = _pairs(table), np.empty(0), None
    complaints = Complaints()
    with complaints:
        _refuse_own(table, pairs)
    with complaints:
        preferred = numbers(table, "margin") if "margin" in table else who_won(table, pairs)
    with complaints:
        weight = _weights(table) if "weight" in table else None
    complaints.tell()
    return pairs, preferred, weight


def _pairs(table: Table) -> Pairs:
    """The columns `left` and `right`, coded together."""
    left, right = _alike(table, table["left"], table["right"])
    rows = len(table)
    code, item_ids = encode(joined(left, right), f"{table.title} items")
    first, second = code[:rows], code[rows:]
    return Pairs(left, right, first, second, item_ids)


def _refuse_own(table: Table, pairs: Pairs) -> None:
    """Raise `InvalidInput` for an item compared with itself, naming the rows."""
    own = np.flatnonzero(pairs.first == pairs.second)
    if len(own):
        first = int(own[0])
        more = f" ({len(own)} rows are so: {table.places(own)})" if len(own) > 1 else ""
        raise InvalidInput(
            f"{table.title} {table.place(first)}: left and right are both {pairs.left[first]}{more}; an item "
            f"cannot be compared with itself, drop the row{'s' if more else ''}"
        )


def _alike(table: Table, left: Ids, right: Ids) -> tuple[Ids, Ids]:
    """Both columns as text where a file has one as text and one as numbers."""
    if table.lines is not None and left.dtype != right.dtype:
        return _text(left), _text(right)
    return left, right


def _text(ids: Ids) -> Ids:
    return np.array([str(value) for value in ids.tolist()], dtype=object)


def _spelled(values: Ids) -> Ids:
    """Numbers as text, whole ones plainly: 1, "1" and "1.0", as a gap makes pandas write 1, are "1"."""
    plain = [str(v) if isinstance(v, str | int | float) else v for v in values.tolist()]
    return np.array([_WHOLE.sub(r"\1", v) if isinstance(v, str) else v for v in plain], dtype=object)


def joined(left: Ids, right: Ids) -> Ids:
    """Both columns of ids one after the other, whatever their types."""
    if left.dtype != right.dtype:
        left, right = left.astype(object), right.astype(object)
    return np.concatenate([left, right])


def who_won(table: Table, pairs: Pairs) -> Array:
    """+1 where left won, -1 where right did, 0 for a tie: an empty label, or 0 where no item is called so.

    Raises
    ------
    InvalidInput
        For a label that is neither item nor a tie, or that is true or false, naming the rows.
    """
    left, right, item_ids, label = pairs.left, pairs.right, pairs.item_ids, table["label"]
    gap = missing(label)
    if gap.any() and label.dtype == object:
        label = label.copy()
        label[gap] = None  # NA as text names nobody, and pandas' NA is neither equal to an id nor different
    kinds = {type(value) for value in label.tolist()} if label.dtype == object else {label.dtype.type}
    if kinds & _BOOLEANS and not {type(value) for value in item_ids.tolist()} & _BOOLEANS:
        raise InvalidInput(
            f"{table.title}: the labels are true or false; give the winner's id, not true or false"
        )
    given = label
    if label.dtype == object and left.dtype != object:  # text beside numbers: one cell made the column text
        if str in kinds:
            left, right, label = _spelled(left), _spelled(right), _spelled(label)
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
                f"{table.title} {table.place(row)}: the label is {given[row]}, which is neither left "
                f"({left[row]}) nor right ({right[row]}){more}; give the winner's id, or leave it empty or 0 "
                "for a tie"
            )
        if zero.any() and any(value in (0, "0") for value in item_ids.tolist()):
            raise InvalidInput(
                f"{table.title} {table.places(rows[zero])}: the label 0 could be a tie or item 0; leave the "
                "label of ties empty"
            )
    return np.asarray(won.astype(np.float64) - lost)


def empty_labels(table: Table, preferred: Array) -> tuple[Finding, ...]:
    """A note on ties that come from an empty label: they may stand for no answer as well; or nothing."""
    if "label" not in table:
        return ()
    label = table["label"][np.flatnonzero(preferred == 0)]
    gaps = label[missing(label)]
    if not len(gaps):
        return ()
    words = gap_words(gaps)
    how = (
        f"empty ({', '.join(words)} {'counts' if len(words) == 1 else 'count'} as that)" if words else "empty"
    )
    one = len(gaps) == 1
    return (
        Finding(
            "note",
            f"{len(gaps)} of {len(table)} comparisons {'is a tie' if one else 'are ties'} since the label is "
            f"{how}; where that means that nobody answered, drop the row{'' if one else 's'}",
            identifier="comparisons.empty-labels",
        ),
    )


def numbers(table: Table, column: str, above: float = -np.inf) -> Array:
    """A column of finite numbers; text from a file is read as numbers.

    Raises
    ------
    InvalidInput
        For a value that is no number, not finite or not above `above`, naming the rows.
    """
    values = table[column]
    if values.dtype == object:
        found = np.array([_number(value) for value in values.tolist()])
    else:
        found = np.full(len(values), np.nan) if values.dtype == bool else values.astype(np.float64)
    wrong = np.flatnonzero(~(np.isfinite(found) & (found > above)))
    if len(wrong):
        kind = "a positive number" if above == 0 else "a finite number"
        if _COMMA.match(str(values[int(wrong[0])])):
            kind += ", and decimals are written with a point"
        more = f" ({len(wrong)} rows are so: {table.places(wrong)})" if len(wrong) > 1 else ""
        shown = values[int(wrong[0])]
        raise InvalidInput(
            f"{table.title} {table.place(int(wrong[0]))}: the {column} is "
            f"{'empty' if missing(values[wrong[:1]])[0] else shown}; it must be {kind}{more}"
        )
    return found


def _weights(table: Table) -> Array:
    weight = numbers(table, "weight", above=0.0)
    with np.errstate(over="ignore"):
        total = float(weight.sum())
    if not np.isfinite(total):
        raise InvalidInput(
            f"{table.title}: the sum of the weights is not finite; divide them all by one number"
        )
    return weight


def _number(value: Any) -> float:
    try:
        return float("nan") if value is None or isinstance(value, bool | np.bool_) else float(value)
    except (TypeError, ValueError):
        return float("nan")
