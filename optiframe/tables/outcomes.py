"""Who won a comparison, by its label: the winner's id, or a word for a side that the user maps."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from optiframe.errors import InvalidInput
from optiframe.records.fields import Array
from optiframe.tables.ids import Ids, as_text, spelled_alike
from optiframe.tables.read import Table, encode, missing

_BOOLEANS = {bool, np.bool_}
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


def who_won(
    table: Table, left: Ids, right: Ids, item_ids: Ids, outcomes: Mapping[str, str] | None = None
) -> Array:
    """+1 where left won, -1 where right did, 0 for a tie: an empty label, or 0 where no item is called so.

    Parameters
    ----------
    table
        With the column `label`.
    left, right
        Ids of the items of each row, shape (rows,).
    item_ids
        Every item once.
    outcomes
        What labels stand for that are no ids: label as text -> "left", "right" or "tie". None: the problem
        has no such mapping, and errors propose none.

    Raises
    ------
    InvalidInput
        For a label that is neither item nor a tie, or that is true or false, naming the rows, and with the
        mapping to write where labels look like names of the sides.
    """
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
        label = as_text(label)
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
                    named, same = given[row], str(given[row]) == str(item)
                    named = named.item() if isinstance(named, np.generic) else named
                    how = "one is text and one is not" if same else "they differ in capitals or blanks alone"
                    raise InvalidInput(
                        f"{table.title} {table.place(row)}: the label is {named!r} and the item {item!r}"
                        f"{more}; {how}: {'give both as text' if same else 'spell them alike'}"
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


def _spelled(values: Ids) -> Ids:
    """Numbers as text, whole ones plainly: 1, "1" and "1.0", as a gap makes pandas write 1, are "1"."""
    plain = [str(v) if isinstance(v, str | int | float) else v for v in values.tolist()]
    return np.array([_WHOLE.sub(r"\1", v) if isinstance(v, str) else v for v in plain], dtype=object)


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
