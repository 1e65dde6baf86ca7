"""Tables of ids: finding some among others, and naming a few in a sentence."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[Any]

_SHOWN = 5  # ids named in a sentence before "and N more"
_WHOLE = re.compile(r"(-?\d+)\.0")
_TIME = re.compile(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d.*)")
_MIDNIGHT = "00:00:00"
_LARGEST = 2.0**53  # float64 holds every whole number up to this


def positions(ids: Ids, wanted: Ids) -> NDArray[np.int64]:
    """Where each wanted id is in `ids`; -1 where it is not. Ids must be hashable.

    An id that is not there is looked for by its spelling: a column of a file is numbers or text as a
    whole, so that 1 may come as "1", and from some programs as "1.0". A day may come with its midnight, but
    names no midnight where another of the ids has a time.

    Parameters
    ----------
    ids
        (n,) distinct ids.
    wanted
        (k,) ids.

    Returns
    -------
    (k,) int64
    """
    table = {value: code for code, value in enumerate(ids.tolist())}
    found = [table.get(value, -1) for value in wanted.tolist()]
    if min(found, default=0) < 0:
        written = {str(value): code for value, code in table.items()}
        times = (_TIME.fullmatch(text) for text in written)
        days = all(time is None or time[2] == _MIDNIGHT for time in times)
        spelled = {_spelling(text, days=days): code for text, code in written.items()} | written
        found = [
            spelled.get(text, spelled.get(_spelling(text, days=days), -1)) if code < 0 else code
            for text, code in zip(map(str, wanted.tolist()), found, strict=True)
        ]
    return np.array(found, dtype=np.int64)


def _spelling(text: str, *, days: bool) -> str:
    """An id without what some programs add: the .0 of a whole number, and the midnight of `days`."""
    if whole := _WHOLE.fullmatch(text):
        return whole[1]
    time = _TIME.fullmatch(text) if days else None
    return time[1] if time and time[2] == _MIDNIGHT else text


def whole_ids(ids: Ids) -> Ids:
    """The ids as whole numbers where all are, as those of a pandas column that once had a gap."""
    if ids.dtype != np.float64 or not ((ids % 1 == 0) & (np.abs(ids) <= _LARGEST)).all():
        return ids
    return ids.astype(np.int64)


def plain(ids: Iterable[Any]) -> list[Any]:
    """The ids without the types of NumPy, whose names a message should not show."""
    return [value.item() if isinstance(value, np.generic) else value for value in ids]


def listed(ids: Ids | Sequence[Any]) -> str:
    """The first few ids, and how many more there are."""
    values = ids.tolist() if isinstance(ids, np.ndarray) else list(ids)
    shown = ", ".join(map(str, values[:_SHOWN]))
    return shown if len(values) <= _SHOWN else f"{shown} and {len(values) - _SHOWN} more"


def spelled_alike(ids: Ids) -> list[list[Any]]:
    """Ids that differ in capitals and blanks alone, so that they may mean one thing; several each."""
    if ids.dtype.kind not in "OUS":  # numbers
        return []
    alike: dict[str, list[Any]] = {}
    for value in ids.tolist():
        text = str(value)
        plain = text if text.isascii() else unicodedata.normalize("NFKC", text)  # three times as fast
        alike.setdefault("".join(plain.casefold().split()), []).append(value)
    return [several for several in alike.values() if len(several) > 1]


def locked(array: NDArray[Any]) -> NDArray[Any]:
    """The array itself, read-only from now on."""
    array.flags.writeable = False
    return array


def as_text(ids: Ids) -> Ids:
    """Ids of whatever type as text."""
    return np.array([str(value) for value in ids.tolist()], dtype=object)


def joined(left: Ids, right: Ids) -> Ids:
    """Both columns of ids one after the other, whatever their types."""
    if left.dtype != right.dtype:
        left, right = left.astype(object), right.astype(object)
    return np.concatenate([left, right])
