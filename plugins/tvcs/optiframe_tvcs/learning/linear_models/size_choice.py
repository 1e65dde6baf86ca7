"""The sizes that a sparse fit tries, and what there is to say of the one it chose."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any, get_args

import numpy as np

from optiframe.errors import InvalidInput, nearest
from optiframe.findings import Finding
from optiframe.numbers import number
from optiframe.records.fields import Array
from optiframe_tvcs.learning.linear_models.path import Criterion

_CHOICES = ("cv", *get_args(Criterion))
_ALL = 20  # sizes up to which each is tried
_STRIDE = 1.1  # times the last size, from there on
_LONG, _MORE = 1.5, 20  # times the best size and so many more: as far as one looks for a better one
_ON_THE_WAY = 20  # sizes at least, of as many smaller ones, on the way to a given size: each costs a fit
_GAIN = 1.0  # standard errors by which the total alone must be better before a finding says so


def sizes_to_fit(size: Any, sizes: Sequence[int] | None, shape: tuple[float, int], most: int) -> list[int]:
    """Sizes to fit, rising; the last is the one asked for where it is a number.

    Parameters
    ----------
    size
        A number of coefficients, or how to choose it.
    sizes
        Those to choose from, or to begin with; None: a path.
    shape
        Samples and features.
    most
        What the set allows.

    Raises
    ------
    InvalidInput
        For a size that is no whole number, and for a way to choose that there is not.
    """
    rows, features = shape
    if isinstance(size, str):
        if size not in _CHOICES:
            raise InvalidInput(
                f"size must be a whole number or one of {', '.join(_CHOICES)}, "
                f"got {size!r}{nearest(size, _CHOICES)}"
            )
        if sizes is None:
            # As many as abess tries: more cannot be told apart from noise.
            spread = np.log(max(features, 2)) * max(np.log(max(np.log(rows), 1.0)), 1.0)
            largest = int(max(1, min(most, rows // spread)))
            return list(range(largest + 1))
        given = _several(sizes, most)
        if not given:
            raise InvalidInput("sizes is empty; give at least one size, or None for a path")
        return sorted(given)
    asked = _whole(size, most, "size")
    given = set(range(asked)) if sizes is None else _several(sizes, most)
    below = sorted(each for each in given if each < asked)
    # A path leads to the size asked for: a start from smaller fits is a better one.
    thinned = below[:: max(1, len(below) // _ON_THE_WAY)]
    return [*thinned, asked]


def _several(sizes: Any, most: int) -> set[int]:
    if not isinstance(sizes, Iterable) or isinstance(sizes, str):
        raise InvalidInput(f"sizes must be a list of whole numbers or None, got {sizes!r}")
    return {_whole(each, most, "sizes") for each in sizes}


def _whole(size: Any, most: int, name: str) -> int:
    whole = isinstance(size, Integral)
    if isinstance(size, float | np.floating):  # as grids of parameters give it
        whole = float(size).is_integer()
    if isinstance(size, bool) or not whole or size < 0:
        raise InvalidInput(f"{name}: a number of coefficients must be whole and at least 0, got {size!r}")
    return min(int(size), most)


def search(sizes: Sequence[int], score: Callable[[int], Array], *, shorten: bool) -> dict[int, Array]:
    """Scores of sizes, lower ones better; `score` gives one for each fold.

    All sizes where not `shorten`. Else all up to 20, then steps of a tenth; no larger ones once they have
    long been no better; and those left out between the best and its neighbours, halving the gap. What is
    nan, as a loss may be where it is not defined, counts as inf.
    """

    def scored(size: int) -> Array:
        scores = score(size)
        return np.where(np.isnan(scores), np.inf, scores)

    found: dict[int, Array] = {}
    if not shorten:
        return {size: scored(size) for size in sizes}
    for size in sizes:
        if found and size != sizes[-1] and size < _STRIDE * max(found) and size > _ALL:
            continue
        found[size] = scored(size)
        if size >= _LONG * _best(found) + _MORE:
            break
    while between := _left_out(found, sizes):
        size = between[len(between) // 2]
        found[size] = scored(size)
    return found


def _best(found: Mapping[int, Array]) -> int:
    return min(sorted(found), key=lambda size: float(found[size].mean()))


def _left_out(found: Mapping[int, Array], sizes: Sequence[int]) -> list[int]:
    """Sizes between the best and one of its neighbours, the side with more of them."""
    tried, best = sorted(found), _best(found)
    at = tried.index(best)
    low, high = tried[max(at - 1, 0)], tried[min(at + 1, len(tried) - 1)]
    sides = [[size for size in sizes if low < size < best], [size for size in sizes if best < size < high]]
    return max(sides, key=len)


def end_of_sizes(tried: Sequence[int], chosen: int, largest: int, most: int) -> list[Finding]:
    """A note on why larger sizes were not tried, where they might be asked for."""
    if tried[-1] < largest:
        text = (
            f"Sizes above {tried[-1]} (to {largest}) were not tried: none above {tried[chosen]} was better. "
            "Give `sizes` to try them."
        )
        return [Finding("note", text, identifier="sparse.sizes-ended")]
    if 0 < chosen == len(tried) - 1 and largest < most:
        text = (
            f"The largest size tried, {largest}, was chosen; larger ones may be better. Give larger `sizes`."
        )
        return [Finding("note", text, identifier="sparse.largest-size-chosen")]
    return []


def views_do_not_help(losses: Mapping[int, Array], alone: Mapping[int, Array]) -> list[Finding]:
    """A finding where the size alone predicts better than the views, by the same folds.

    Nothing for a single fold, which has no standard error, nor where a loss is not finite.
    """
    ours, theirs = _best(losses), _best(alone)
    if len(losses[ours]) < 2 or not np.isfinite(losses[ours] + alone[theirs]).all():
        return []
    gap = losses[ours] - alone[theirs]
    error = float(gap.std(ddof=1) / np.sqrt(len(gap)))
    if gap.mean() <= _GAIN * error:
        return []
    with_them, without = number(losses[ours].mean()), number(alone[theirs].mean())
    text = (
        f"The bounds on groups make predictions worse: held-out loss {with_them} with them "
        f"(size {ours}), {without} with the size alone (size {theirs}). "
        "Leave `over` out, or check the bounds and groups."
    )
    return [Finding("warning", text, identifier="sparse.views-do-not-help")]
