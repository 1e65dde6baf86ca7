"""Who is likely to prefer what: chances read from an answer, asked for by ids or by a table."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from optiframe.errors import InvalidInput, nearest
from optiframe.records.fields import Array
from optiframe.tables.ids import Ids, listed, positions
from optiframe.tables.read import encode, read_table, to_frame
from optiframe_manifold.answer import Rankings

_COLUMNS = ("user", "left", "right", "label", "weight")


def predicted(answer: Rankings, user: Any, left: Any, right: Any, names: Mapping[str, str]) -> Any:
    """The chance that a user prefers `left` to `right`; see `CollaborativeRanker.predict`.

    `names` are those of a table's columns, where they differ from ours.
    """
    if left is None and right is None:
        rename = {k: v for k, v in names.items() if k in ("user", "left", "right")}
        table = read_table(table_of(user), ("user", "left", "right"), title="pairs", rename=rename)
        chance = _chances(answer, table["user"], table["left"], table["right"])
        winner = np.where(chance > 0.5, table["left"], table["right"]).astype(object)
        winner[chance == 0.5] = None
        columns = {name: table[name] for name in ("user", "left", "right")}
        return to_frame(columns | {"probability": chance, "winner": winner}, table.backend)
    if left is None or right is None:
        raise InvalidInput("give user, left and right, or a table with these columns alone")
    columns = {"user": user, "left": left, "right": right}
    several = {name: given for name, given in columns.items() if not isinstance(given, Hashable)}
    if not several:
        return float(_chances(answer, _one(user), _one(left), _one(right))[0])
    if len({len(given) for given in several.values()}) > 1:
        raise InvalidInput("user, left and right differ in length; give sequences of one length")
    size = len(next(iter(several.values())))
    if size == 0:
        return np.empty(0)
    spread = {name: several.get(name, [given] * size) for name, given in columns.items()}
    table = read_table(spread, ("user", "left", "right"), title="pairs")
    return _chances(answer, table["user"], table["left"], table["right"])


def codes_among(answer: Rankings, ids: Ids, what: Literal["user", "item"]) -> NDArray[np.int64]:
    """The codes of these users or items in the answer.

    Raises
    ------
    InvalidInput
        For ids it does not know, naming them.
    """
    every = answer.users if what == "user" else answer.items
    place = positions(every, ids)
    if (place < 0).any():
        unknown = ids[place < 0]
        near = nearest(str(unknown[0]), map(str, every.tolist()))
        raise InvalidInput(
            f"there is no {what} {listed(unknown)} among the {len(every)} of the comparisons{near}"
        )
    return place


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


def _chances(answer: Rankings, user: Ids, left: Ids, right: Ids) -> Array:
    u, j, k = _coded(answer, user, "user"), _coded(answer, left, "item"), _coded(answer, right, "item")
    gap = answer.served.at(u, j) - answer.served.at(u, k)
    return np.asarray(expit(gap / answer.sigma), dtype=np.float64)


def _coded(answer: Rankings, ids: Ids, what: Literal["user", "item"]) -> NDArray[np.int64]:
    code, unique = encode(ids)
    return codes_among(answer, unique, what)[code]


def _one(given: Hashable) -> Ids:
    found = np.empty(1, dtype=object)
    found[0] = given
    return found
