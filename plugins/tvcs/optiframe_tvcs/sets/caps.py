"""Caps as people write them: a whole number, a ratio, a list, or a table by id."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import PlainValidator

from optiframe.errors import InvalidInput, nearest
from optiframe.problems.problem import Problem
from optiframe.records.fields import Accepts

OTHERS = "*"
"""What stands in a table by id for all that have no number of their own."""

_RATIO_ROUNDING = 1e-9  # so that .29 of 100 is 29, although .29 * 100 is a little less in float64

_LARGEST = 2**62  # fits into int64, and no number of elements comes near it


def as_cap(value: Any) -> Any:
    """A cap as it may be written: a whole number, a ratio, a list, or a table by id; None: no cap.

    Raises
    ------
    InvalidInput
        For anything else, naming the first entry that is no whole number from 0 to 2^62.
    """
    if value is None or _is_count(value) or _is_ratio(value):
        return value
    value = without_index(value)
    if isinstance(value, Mapping):
        wrong = [key for key, cap in value.items() if not _is_count(cap)]
        if wrong:
            raise InvalidInput(f"the cap of {wrong[0]!r} is {value[wrong[0]]!r}; give a whole number >= 0")
        return {key: int(cap) for key, cap in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        caps = list(value)
        for at, cap in enumerate(caps):
            if not _is_count(cap):
                raise InvalidInput(f"cap number {at} is {cap!r}; give a whole number of at least 0")
        return tuple(int(cap) for cap in caps)
    raise InvalidInput(
        f"must be a whole number of at least 0, a ratio above 0 and up to 1 (with a decimal point), or "
        f"one whole number for each, got {value!r:.60}"
    )


def as_total(value: Any) -> Any:
    """The cap on the whole assignment: a whole number or a ratio; None: no cap."""
    if value is None or _is_count(value) or _is_ratio(value):
        return value
    raise InvalidInput(
        f"must be a whole number of at least 0, or a ratio above 0 and up to 1, got {value!r:.60}"
    )


def caps_of(cap: Any, ids: NDArray[Any], others: int, kind: str) -> NDArray[np.int64]:
    """The cap of each of `ids`; a ratio is that share of `others`, rounded down and at least 1.

    Raises
    ------
    InvalidInput
        When a list has another length, or a table by id misses one or has one there is not.
    """
    if cap is None:
        return np.full(len(ids), others, dtype=np.int64)
    if _is_ratio(cap):
        return np.full(len(ids), share_of(cap, others), dtype=np.int64)
    if isinstance(cap, tuple):
        if len(cap) != len(ids):
            raise InvalidInput(f"there are {len(cap)} caps for {len(ids)} {kind}s; give one for each")
        return np.array(cap, dtype=np.int64)
    if isinstance(cap, Mapping):
        return np.array(by_id(cap, ids, kind, "cap"), dtype=np.int64)
    return np.full(len(ids), cap, dtype=np.int64)


def total_of(total: Any, *caps: NDArray[np.int64]) -> int | None:
    """The cap on all: a ratio is that share of the smaller sum of the other caps."""
    if _is_ratio(total):
        return share_of(total, min(sum(cap.tolist()) for cap in caps))  # int64 may not hold the sum
    return None if total is None else int(total)


def refuse_misfits(problem: Problem[Any], made: Mapping[str, str]) -> None:
    """Compute properties of a problem from its fields, so that an error names the field.

    Parameters
    ----------
    problem
        Just validated.
    made
        Field -> cached property.
    """
    for field, name in made.items():
        try:
            getattr(problem, name)
        except InvalidInput as error:
            raise InvalidInput(f"{field}: {error}", [((field,), str(error))]) from None


def share_of(ratio: float, whole: int) -> int:
    """`ratio` of `whole`, rounded down and at least 1."""
    return max(1, int(ratio * whole + _RATIO_ROUNDING))


def by_id(given: Mapping[Any, Any], ids: NDArray[Any], kind: str, what: str) -> list[Any]:
    """What a table gives each of `ids`, in their order; `what` it is, and of which `kind`, for errors.

    Raises
    ------
    InvalidInput
        For a key that is no id, and an id without a value where the table has none for all others.
    """
    known = ids.tolist()
    table = dict(given)
    others = None if OTHERS in known else table.pop(OTHERS, None)
    if table.keys().isdisjoint(known):  # keys of a TOML table are text; the ids may be numbers
        table = {str(key): value for key, value in table.items()}
        known = [str(one) for one in known]
    there = set(known)
    unknown = [key for key in table if key not in there]
    if unknown:
        raise InvalidInput(f"there is no {kind} {unknown[0]!r}{nearest(str(unknown[0]), map(str, known))}")
    absent = [one for one in known if one not in table]
    if absent and others is None:
        raise InvalidInput(
            f"{kind} {absent[0]!r} has no {what}; give one for each {kind}, or '{OTHERS}' one for all others"
        )
    return [table.get(one, others) for one in known]


def without_index(value: Any) -> Any:
    """A pandas Series as a table by its index; anything else as it is."""
    series = hasattr(value, "index") and hasattr(value, "to_dict") and not hasattr(value, "columns")
    return value.to_dict() if series else value


def _is_count(value: Any) -> bool:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool) and bool(value >= 0)
    if whole and value > _LARGEST:
        raise InvalidInput(f"a cap may be at most {_LARGEST}; leave it out where there is none")
    return whole


def _is_ratio(value: Any) -> bool:
    return isinstance(value, float | np.floating) and bool(0 < value <= 1)


Cap = Annotated[Any, PlainValidator(as_cap), Accepts("whole number, ratio (0.2), list, or table by id")]
Total = Annotated[Any, PlainValidator(as_total), Accepts("whole number or ratio (0.8)")]
