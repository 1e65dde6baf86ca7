"""One view of a three-view set: groups of elements that do not overlap, and a bound for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optiframe.errors import InvalidInput, nearest
from optiframe.tables.ids import locked
from optiframe_tvcs.projection.certificate import used
from optiframe_tvcs.projection.checked import refuse_labels

Labels = NDArray[np.int32]
Caps = NDArray[np.int64]

_KEYS = ("labels", "groups", "bounds")
_BOUND = "a bound counts elements"
_LABEL = "-1 is for no group; numpy.unique(names, return_inverse=True)[1] numbers names"
_MOST_EMPTY = 1_000_000  # groups without elements that labels may imply: 8 MB of bounds


@dataclass(frozen=True, eq=False, repr=False)
class Groups:
    """Disjoint groups of elements, each with a bound on how many of its elements may be nonzero.

    Build it with `of_labels` or `of_lists`; the constructor takes arrays that are already
    checked. Memory: 4 bytes an element and 8 a group.

    Parameters
    ----------
    labels
        Group of each element, from 0, int32, shape (p,); -1: the element is in no group.
    caps
        Bound of each group, int64, shape (groups,).
    """

    labels: Labels
    caps: Caps

    def __repr__(self) -> str:
        return f"<{len(self)} groups of {self.size} elements>"

    @property
    def size(self) -> int:
        """Number of elements, those in no group included."""
        return len(self.labels)

    def __len__(self) -> int:
        return len(self.caps)

    def counts(self, support: NDArray[np.bool_]) -> NDArray[np.int64]:
        """How many elements of the support each group holds; shape (groups,)."""
        return used(self.labels[support], len(self))

    def scaled(self, factor: int) -> Groups:
        """The same groups with their bounds multiplied (GradMP looks for twice the support)."""
        most = np.iinfo(np.int64).max // max(factor, 1)  # a bound that large binds nothing
        return Groups(self.labels, locked(np.minimum(self.caps, most) * factor))

    @classmethod
    def of_labels(cls, labels: Any, bounds: Any, view: str = "groups") -> Groups:
        """Groups given as one label an element.

        Parameters
        ----------
        labels
            Whole numbers from 0, or -1 for an element in no group; shape (p,). A label that
            does not occur is a group without elements: codes of a table stay as they are
            when rows are filtered out.
        bounds
            One whole number for all groups, or one for each; with one for each, labels run
            below their number.
        view
            What to call the view in errors.

        Raises
        ------
        InvalidInput
            When a label or a bound cannot be one, naming the view, the group and the index.
        """
        codes = _whole(labels, f"{view}: labels", _LABEL)
        if codes.ndim != 1:
            raise InvalidInput(f"{view}: labels must be one number an element, got shape {codes.shape}")
        highest = int(codes.max(initial=-1))
        if highest >= np.iinfo(np.int32).max:
            raise InvalidInput(f"{view}: label {highest} is too large; number the groups from 0")
        given = _whole(bounds, f"{view}: bounds", _BOUND)
        if not given.ndim and highest >= max(_MOST_EMPTY, 2 * len(codes)):
            at = int(np.argmax(codes))
            raise InvalidInput(
                f"{view}: label of element {at} is {highest}, so that most groups would be empty; number the "
                "groups from 0 (numpy.unique with return_inverse does), or give one bound for each"
            )
        caps = _caps(given, None if given.ndim else highest + 1, view)
        refuse_labels(view, codes, len(caps))
        return cls(locked(codes.astype(np.int32)), locked(caps))

    @classmethod
    def of_lists(cls, groups: Any, bounds: Any, size: int, view: str = "groups") -> Groups:
        """Groups given as lists of the indices of their elements.

        Parameters
        ----------
        groups
            One list of indices (from 0) for each group; no index twice. Elements in no list
            are in no group.
        bounds
            One whole number for all groups, or one for each.
        size
            Number of elements p.
        view
            What to call the view in errors.

        Raises
        ------
        InvalidInput
            When a group is empty, an index is out of range or in two groups, or a bound is
            not a whole number of at least 0, naming the view, the group and the index.
        """
        if not isinstance(groups, Sequence | np.ndarray) or isinstance(groups, str):
            raise InvalidInput(f"{view}: groups must be a list of lists of indices")
        labels = np.full(size, -1, dtype=np.int32)
        for group, members in enumerate(groups):
            where = f"{view}: group {group}"
            indices = _whole(members, where, "list the indices of its elements")
            if indices.ndim != 1:
                raise InvalidInput(f"{where} must be a list of indices, got shape {indices.shape}")
            if indices.size == 0:
                raise InvalidInput(f"{where} is empty; leave it out, or list the indices of its elements")
            outside = np.flatnonzero((indices < 0) | (indices >= size))
            if outside.size:
                raise InvalidInput(
                    f"{where}: index {indices[outside[0]]} is out of range; "
                    + (f"indices run from 0 to {size - 1}" if size else "there are no elements")
                )
            other = labels[indices]
            taken = np.flatnonzero(other >= 0)
            if taken.size:
                at = taken[0]
                raise InvalidInput(
                    f"{where}: element {indices[at]} is in group {other[at]}, too; "
                    "groups of one view do not overlap (put the second one in the other view)"
                )
            seen, times = np.unique(indices, return_counts=True)
            if len(seen) < len(indices):
                raise InvalidInput(f"{where}: element {seen[times > 1][0]} is listed twice")
            labels[indices] = group
        return cls(locked(labels), locked(_caps(bounds, len(groups), view)))

    @classmethod
    def from_table(cls, table: Any, size: int | None, view: str) -> Groups:
        """Groups from a table with `bounds` and either `labels` or `groups`.

        `size` is needed for `groups`, since lists of indices do not tell how many elements
        there are.

        Raises
        ------
        InvalidInput
            For what is no such table, a key that is unknown or missing, and what `of_labels` and `of_lists`
            refuse, naming the view.
        """
        if not isinstance(table, Mapping):
            raise InvalidInput(
                f"{view}: must be a table with bounds, and labels or groups; got {type(table).__name__}"
            )
        for key in table:
            if key not in _KEYS:
                hint = nearest(str(key), _KEYS)
                raise InvalidInput(f"{view}: unknown key {key!r}{hint} (valid keys: {', '.join(_KEYS)})")
        if "bounds" not in table:
            raise InvalidInput(f"{view}: bounds is missing; give one number for all groups, or one for each")
        if ("labels" in table) == ("groups" in table):
            raise InvalidInput(
                f"{view}: give either labels (a group number for each element) or groups (lists of indices)"
            )
        if "labels" in table:
            return cls.of_labels(table["labels"], table["bounds"], view)
        if size is None:
            raise InvalidInput(f"{view}: with groups as lists of indices give size, the number of elements")
        return cls.of_lists(table["groups"], table["bounds"], size, view)


def _caps(bounds: Any, groups: int | None, view: str) -> Caps:
    """One bound for each group, as int64; `groups`: how many must be there, None: whatever is given."""
    caps = _whole(bounds, f"{view}: bounds", _BOUND)
    if caps.ndim > 1:
        raise InvalidInput(
            f"{view}: bounds must be one number, or one for each group; got shape {caps.shape}"
        )
    negative = np.flatnonzero(caps < 0)
    if negative.size:
        group = f"group {negative[0]}" if caps.ndim else "every group"
        raise InvalidInput(f"{view}: the bound of {group} is {caps.flat[negative[0]]}; it must be at least 0")
    if caps.ndim == 0:
        return np.full(groups or 0, caps, dtype=np.int64)
    if groups is not None and len(caps) != groups:
        raise InvalidInput(
            f"{view}: {len(caps)} bounds for {groups} groups; give one for each group, or one number for all"
        )
    return caps


def _whole(values: Any, what: str, hint: str) -> NDArray[np.int64]:
    """An int64 array of whole numbers, or an error naming the first entry that is none."""
    try:
        array = np.asarray(values)
    except ValueError:
        raise InvalidInput(f"{what} must be a list of whole numbers; {hint}") from None
    if np.ma.is_masked(values):
        raise InvalidInput(f"{what} must be whole numbers, and some are masked; {hint}")
    if array.size == 0 and array.dtype.kind == "f":  # an empty list
        array = array.astype(np.int64)
    if array.dtype.kind not in "iu":
        odd, wrong = _first_odd(array)
        at = f"entry {odd} is " if array.ndim else "got "
        raise InvalidInput(f"{what} must be whole numbers, {at}{wrong}; {hint}")
    if array.dtype.kind == "u" and array.size and array.max() > np.iinfo(np.int64).max:
        raise InvalidInput(f"{what}: {array.max()} is too large")
    return array.astype(np.int64)


def _first_odd(array: NDArray[Any]) -> tuple[int, str]:
    """The first entry that is no whole number (else the first, of a kind that counts nothing), in words."""
    entries = array.reshape(-1).tolist()
    plain = [
        isinstance(entry, int) and not isinstance(entry, bool) and abs(entry) < 2**63 for entry in entries
    ]
    if array.dtype.kind == "f":
        plain = [entry.is_integer() for entry in entries]
    at = plain.index(False) if False in plain else 0
    value = entries[at]
    kind = f" ({array.dtype})" if plain[at] else ""
    text = f"{value:g}" if isinstance(value, float) else f"{value!r:.60}"
    return at, f"{text}{kind}"
