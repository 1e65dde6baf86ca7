"""The columns of paired comparisons, `left`, `right`, who won and weights, as plugins read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optiframe.errors import Complaints, InvalidInput
from optiframe.findings import Finding
from optiframe.records.fields import Array
from optiframe.tables.ids import Ids, as_text, joined, spelled_alike
from optiframe.tables.number_columns import numbers
from optiframe.tables.outcomes import who_won
from optiframe.tables.read import Table, encode, gap_words, missing


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
        preferred = (
            numbers(table, "margin")
            if "margin" in table
            else who_won(table, pairs.left, pairs.right, pairs.item_ids, outcomes)
        )
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
        return as_text(left), as_text(right)
    return left, right


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


def _weights(table: Table) -> Array:
    weight = numbers(table, "weight", above=0.0)
    with np.errstate(over="ignore"):
        total = float(weight.sum())
    if not np.isfinite(total):
        raise InvalidInput(
            f"{table.title}: the sum of the weights is not finite; divide them all by one number"
        )
    return weight


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
