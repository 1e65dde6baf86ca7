"""Who is likely to prefer what: chances read from an answer, asked for by ids or by a table."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from optiframe.errors import InvalidInput, nearest
from optiframe.records.fields import Array
from optiframe.tables.frames import to_frame
from optiframe.tables.ids import Ids, listed, positions
from optiframe.tables.read import encode, read_table
from optiframe_manifold.answer import Rankings, chances
from optiframe_manifold.data import Codes

_COLUMNS = ("user", "left", "right", "label", "weight")


@dataclass(frozen=True)
class Shared:
    """What users nobody knows are predicted by.

    Parameters
    ----------
    scores
        Of the population, in the answer's unit, shape (items,).
    reliability
        Chance that such a user chooses by them.
    """

    scores: Array
    reliability: float = 1.0


def predicted(
    answer: Rankings, shared: Shared, asked: tuple[Any, Any, Any], *, names: Mapping[str, str]
) -> Any:
    """The chance that a user prefers `left` to `right`; see `CollaborativeRanker.predict`.

    `names` are those of a table's columns, where they differ from ours.
    """
    user, left, right = asked
    if left is None and right is None:
        rename = {k: v for k, v in names.items() if k in ("user", "left", "right")}
        table = read_table(table_of(user), ("user", "left", "right"), title="pairs", rename=rename)
        chance = _chances(answer, shared, table["user"], table["left"], table["right"])
        winner = np.where(chance > 0.5, table["left"], table["right"]).astype(object)
        winner[chance == 0.5] = None
        columns = {name: table[name] for name in ("user", "left", "right")}
        return to_frame(columns | {"probability": chance, "winner": winner}, table.backend)
    if left is None or right is None:
        raise InvalidInput("give user, left and right, or a table with these columns alone")
    columns = {"user": user, "left": left, "right": right}
    several = {name: given for name, given in columns.items() if not isinstance(given, Hashable)}
    if not several:
        return float(_chances(answer, shared, _one(user), _one(left), _one(right))[0])
    if len({len(given) for given in several.values()}) > 1:
        raise InvalidInput("user, left and right differ in length; give sequences of one length")
    size = len(next(iter(several.values())))
    if size == 0:
        return np.empty(0)
    spread = {name: several.get(name, [given] * size) for name, given in columns.items()}
    table = read_table(spread, ("user", "left", "right"), title="pairs")
    return _chances(answer, shared, table["user"], table["left"], table["right"])


def chances_of(answer: Rankings, shared: Shared, user: Codes, left: Codes, right: Codes) -> Array:
    """Chances by codes; -1 is a user nobody knows, who is predicted by the population, or such an item.

    An item nobody knows has the average of the others, as has one that was never compared.
    """
    served = answer.served
    of_items = np.vstack([served.right, np.zeros(served.rank)])  # the last row is where -1 leads
    gap = np.einsum("er,er->e", served.left[user], of_items[left] - of_items[right]) / answer.sigma
    pooled = np.append(shared.scores, 0.0)
    gap = np.where(user < 0, (pooled[left] - pooled[right]) / answer.sigma, gap)
    if answer.reliability is None and shared.reliability == 1.0:
        return chances(gap)
    each = np.ones(len(answer.users)) if answer.reliability is None else answer.reliability
    return chances(gap, np.where(user < 0, shared.reliability, each[user]))


def codes_among(answer: Rankings, ids: Ids, what: Literal["user", "item"], *, caller: int = 5) -> Codes:
    """The codes of these users or items in the answer; -1 for those it does not know.

    These are warned of by name, with the nearest known one, at whoever called, so many frames up.
    """
    every = answer.users if what == "user" else answer.items
    place = positions(every, ids)
    if (place < 0).any():
        unknown = ids[place < 0]
        near = nearest(str(unknown[0]), map(str, every.tolist()))
        instead = (
            "predicted by the ranking of all users together, which population() shows"
            if what == "user"
            else "given the average score"
        )
        warnings.warn(
            f"there is no {what} {listed(unknown)} among the {len(every)} of the comparisons; "
            f"{instead}{near}",
            UnknownId,
            stacklevel=caller,
        )
    return place


class UnknownId(UserWarning):
    """A prediction was asked for a user or an item that no comparison names."""


def table_of(frame: Any) -> Any:
    """An array as columns in the order user, left, right, label, weight; anything else as it is."""
    if not isinstance(frame, np.ndarray):
        return frame
    if frame.ndim != 2 or not 3 <= frame.shape[1] <= len(_COLUMNS):
        raise InvalidInput(
            f"an array of comparisons has the columns {', '.join(_COLUMNS[:4])} and maybe weight; this one "
            f"has shape {frame.shape}"
        )
    return dict(zip(_COLUMNS, frame.T, strict=False))


def _chances(answer: Rankings, shared: Shared, user: Ids, left: Ids, right: Ids) -> Array:
    sides = (
        (left, right) if left.dtype.kind == right.dtype.kind else (left.astype(object), right.astype(object))
    )
    item, unique = encode(np.concatenate(sides))
    j, k = np.split(codes_among(answer, unique, "item")[item], 2)
    who, unique = encode(user)
    return chances_of(answer, shared, codes_among(answer, unique, "user")[who], j, k)


def _one(given: Hashable) -> Ids:
    found = np.empty(1, dtype=object)
    found[0] = given
    return found
