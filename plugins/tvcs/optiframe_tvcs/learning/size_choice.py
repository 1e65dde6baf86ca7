"""The sizes that a sparse fit tries, and what there is to say of the one it chose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

import numpy as np

from optiframe.errors import InvalidInput, nearest
from optiframe.findings import Finding
from optiframe.numbers import number
from optiframe.records.fields import Array
from optiframe_tvcs.learning.path import Criterion

_CHOICES = ("cv", *get_args(Criterion))
_MOST_SIZES = 100  # on a path by default: a fit each
_GAIN = 1.0  # standard errors by which the total alone must be better before a finding says so


def sizes_to_fit(size: Any, sizes: Sequence[int] | None, shape: tuple[int, int], most: int) -> list[int]:
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
            steps = np.linspace(0, largest, min(largest, _MOST_SIZES) + 1)
            return sorted({round(step) for step in steps})
        return sorted({_whole(each, most, "sizes") for each in sizes}) or [0]
    asked = _whole(size, most, "size")
    given = range(asked) if sizes is None else (_whole(each, most, "sizes") for each in sizes)
    below = [each for each in given if each < asked]
    # A path leads to the size asked for: a start from smaller fits is a better one.
    thinned = below[:: max(1, len(below) // 20)]
    return [*sorted(set(thinned)), asked]


def _whole(size: Any, most: int, name: str) -> int:
    if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 0:
        raise InvalidInput(f"{name}: a number of coefficients must be whole and at least 0, got {size!r}")
    return min(int(size), most)


def largest_chosen(size: int) -> Finding:
    """A note that the largest size tried was chosen."""
    return Finding(
        "note",
        f"The largest size tried, {size}, was chosen; larger ones may be better. Give larger `sizes`.",
        identifier="sparse.largest-size-chosen",
    )


def views_do_not_help(losses: Array, alone: Array, sizes: Sequence[int]) -> list[Finding]:
    """A finding where the size alone predicts better than the views, by the same folds."""
    ours, theirs = int(np.argmin(losses.mean(axis=0))), int(np.argmin(alone.mean(axis=0)))
    gap = losses[:, ours] - alone[:, theirs]
    error = float(gap.std(ddof=1) / np.sqrt(len(gap)))
    if gap.mean() <= _GAIN * error:
        return []
    with_them, without = number(losses[:, ours].mean()), number(alone[:, theirs].mean())
    text = (
        f"The bounds on groups make predictions worse: held-out loss {with_them} with them "
        f"(size {sizes[ours]}), {without} with the size alone (size {sizes[theirs]}). "
        "Leave `over` out, or check the bounds and groups."
    )
    return [Finding("warning", text, identifier="sparse.views-do-not-help")]
