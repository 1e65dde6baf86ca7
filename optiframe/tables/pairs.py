"""The columns of paired comparisons, `left`, `right`, who won and weights, as plugins read them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optiframe.errors import Complaints, InvalidInput
from optiframe.findings import Finding
from optiframe.records.fields import Array
from optiframe.tables.ids import spelled_alike
from optiframe.tables.read import Table, encode, gap_words, missing

Ids = NDArray[Any]

_BOOLEANS = {bool, np.bool_}
_COMMA = re.compile(r"^[+-]?\d*,\d+$")
_WHOLE = re.compile(r"^(-?\d+)\.0*$")

OUTCOMES = ("left", "right", "tie")
"""What a label may stand for that is no item's id."""

# What labels of the two sides are often called; 0 is a tie by itself, and not beside 1 alone.
_SIDES = {
    **dict.fromkeys(
        ("left", "first", "a", "model_a", "item_a", "option_a", "l", "1", "true", "win", "won"),
        "left",
    ),
    **dict.fromkeys(
        ("right", "second", "b", "model_b", "item_b", "option_b", "r", "2", "-1", "false", "loss", "lost"),
        "right",
    ),
    **dict.fromkeys(("tie", "ties", "tied", "draw", "both", "equal", "neither", "none", "same"), "tie"),
}
_NUMBERS = {"0", "1", "2", "-1"}  # that name sides where labels are only these, and items are others too
_SHOWN = 6  # labels in a mapping that an error proposes
_MOST = 0.9  # share of labels that are no items' from which on all may name sides


@dataclass(frozen=True)
class Pairs:
    """Ids of both sides of each row, their codes, and the ids the codes stand for."""

    left: Ids
    right: Ids
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    item_ids: Ids


def read_preferences(
    table: Table, outcomes: Mapping[str, str] | None = None
) -> tuple[Pairs, Array, Array | None]:
    """Pairs; by how much left was preferred: the `margin` where the table has one, else who won; weights.

    `outcomes` says what labels stand for that are no ids; see `who_won`.

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
        preferred = numbers(table, "margin") if "margin" in table else who_won(table, pairs, outcomes)
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
        more = f" ({len(own)} such rows: {table.places(own)})" if len(own) > 1 else ""
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


def who_won(table: Table, pairs: Pairs, outcomes: Mapping[str, str] | None = None) -> Array:
    """+1 where left won, -1 where right did, 0 for a tie: an empty label, or 0 where no item is called so.

    Parameters
    ----------
    table, pairs
        The table, and its columns `left` and `right`.
    outcomes
        What labels stand for that are no ids: label as text -> "left", "right" or "tie". None: the problem
        has no such mapping, and errors propose none.

    Raises
    ------
    InvalidInput
        For a label that is neither item nor a tie, or that is true or false, naming the rows, and with the
        mapping to write where labels look like names of the sides.
    """
    left, right, item_ids = pairs.left, pairs.right, pairs.item_ids
    label = _translated(table["label"], left, right, outcomes) if outcomes else table["label"]
    gap = missing(label)
    if gap.any() and label.dtype == object:
        label = label.copy()
        label[gap] = None  # NA as text names nobody, and pandas' NA is neither equal to an id nor different
    kinds = {type(value) for value in label.tolist()} if label.dtype == object else {label.dtype.type}
    if kinds & _BOOLEANS and not {type(value) for value in item_ids.tolist()} & _BOOLEANS:
        how = "" if outcomes is None else ', or set outcomes = { true = "left", false = "right" }'
        raise InvalidInput(
            f"{table.title}: the labels are true or false; give the winner's id, not true or false{how}"
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
            more = f" ({len(neither)} such rows: {table.places(neither)})" if len(neither) > 1 else ""
            for item in (left[row], right[row]):
                if spelled_alike(np.array([item, label[row]], dtype=object)):
                    raise InvalidInput(
                        f"{table.title} {table.place(row)}: the label is {given[row]!r} and the item {item!r}"
                        f"{more}; they differ in capitals or blanks alone: spell them alike"
                    )
            how = (
                "" if outcomes is None else _mapping(given[neither], given[~gap], item_ids, bool(zero.any()))
            )
            words = f" or one of {', '.join(outcomes)}" if outcomes else ""
            raise InvalidInput(
                f"{table.title} {table.place(row)}: the label is {given[row]}, which is neither left "
                f"({left[row]}) nor right ({right[row]}){more}; give the winner's id{words}, or leave it "
                f"empty or 0 for a tie{how}"
            )
        if zero.any() and any(value in (0, "0") for value in item_ids.tolist()):
            raise InvalidInput(
                f"{table.title} {table.places(rows[zero])}: the label 0 could be a tie or item 0; leave the "
                "label of ties empty"
            )
    return np.asarray(won.astype(np.float64) - lost)


def _translated(label: Ids, left: Ids, right: Ids, outcomes: Mapping[str, str]) -> Ids:
    """Labels that stand for a side become its id, and those for a tie become None."""
    codes, words = encode(label, "labels")
    stands = [outcomes.get(_plain(word), "") for word in words.tolist()]
    found = label.astype(object)
    for outcome, ids in zip(OUTCOMES, (left, right, np.full(len(label), None)), strict=True):
        rows = np.array([one == outcome for one in stands])[codes]
        found[rows] = ids[rows]
    return found


def _plain(label: Any) -> str:
    """A label as a key of a mapping: text, with whole numbers plain, and true and false as TOML has them."""
    if type(label) in _BOOLEANS:
        return str(label).lower()
    return _WHOLE.sub(r"\1", str(label).strip())


def _mapping(wrong: Ids, labels: Ids, item_ids: Ids, zeros: bool) -> str:
    """What to write where labels name sides: they look like that, or most are no items'; empty where not.

    `wrong` are those that are neither of the row's items, `labels` all that are not empty.
    """
    words, items = list(dict.fromkeys(map(_plain, wrong.tolist()))), set(map(_plain, item_ids.tolist()))
    every = set(map(_plain, labels.tolist()))
    if items & set(words):  # numbers may be both: those of sides and of items
        if len(every) < 2 or not every <= _NUMBERS or items <= _NUMBERS:
            return ""
        words = sorted(every - {"0"})
    sides = {word: _SIDES.get(word.lower(), "") for word in words[:_SHOWN]}
    strange = len(words) <= len(OUTCOMES) and len(wrong) >= _MOST * len(labels)
    if len(words) > _SHOWN or not (any(sides.values()) or strange):
        return ""
    if zeros:
        sides["0"] = "right" if set(words) == {"1"} else "tie"
    shown = ", ".join(f'"{word}" = "{side or "left, right or tie"}"' for word, side in sides.items())
    return f". If labels name the side, say so: outcomes = {{ {shown} }}"


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
            f"{len(gaps)} of {len(table)} comparisons {'counts as a tie' if one else 'count as ties'}, "
            f"because the label is {how}; if nobody answered there, drop the row{'' if one else 's'}",
            identifier="comparisons.empty-labels",
        ),
    )


def read_outcomes(value: Any) -> dict[str, str]:
    """Label as text -> left, right or tie, checked.

    Raises
    ------
    InvalidInput
        For anything else.
    """
    if not isinstance(value, Mapping):
        raise InvalidInput(f"must be a table of label to left, right or tie, got {value!r}")
    for label, outcome in value.items():
        if outcome not in OUTCOMES:
            raise InvalidInput(f"the label {label} must stand for left, right or tie, not {outcome!r}")
    return {str(label).lower() if label in (True, False) else str(label): out for label, out in value.items()}


def spelled_twice(title: str, what: str, ids: Ids) -> tuple[Finding, ...]:
    """A warning that names items, workers or users that differ in capitals and blanks alone; or nothing.

    Parameters
    ----------
    title
        Of the table.
    what
        "item", "worker" or "user": what the ids are of.
    ids
        All of them, each once.
    """
    twice = spelled_alike(ids)
    if not twice:
        return ()
    shown = "; ".join(" and ".join(repr(one) for one in alike) for alike in twice[:5])
    more = f" and {len(twice) - 5} more" if len(twice) > 5 else ""
    many = f"one {what}" if len(twice) == 1 else f"{len(twice)} {what}s"
    text = (
        f"{title}: {many} may be spelled in several ways, and each spelling counts by itself: "
        f"{shown}{more}. If they are one, spell them alike"
    )
    about = tuple(one for alike in twice for one in alike)
    return (Finding("warning", text, about, identifier=f"comparisons.{what}-spelled-twice"),)


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
        more = f" ({len(wrong)} such rows: {table.places(wrong)})" if len(wrong) > 1 else ""
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


def share_right(lead: Array, preferred: Array, weight: Array | None = None) -> float:
    """Share of the decided comparisons whose winner is the one predicted, by weight.

    Parameters
    ----------
    lead
        Above 0 where left is predicted to win, below 0 where right is; 0 counts as one half, shape (rows,).
    preferred
        Above 0 where left won, below 0 where right did; 0, a tie, is left out, shape (rows,).
    weight
        Of each comparison, shape (rows,); None: 1 each.

    Returns
    -------
    float
        nan where every comparison is a tie.
    """
    counts = (np.ones(len(preferred)) if weight is None else weight) * (preferred != 0)
    right = (1 + np.sign(lead) * np.sign(preferred)) / 2
    return float(counts @ right / counts.sum()) if counts.any() else float("nan")
