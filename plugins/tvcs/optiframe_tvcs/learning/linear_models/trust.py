"""What to know of a sparse fit before it is trusted, and data that no fit can be trusted on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from optiframe.errors import InvalidInput
from optiframe.findings import Finding
from optiframe.numbers import number
from optiframe.records.fields import Array

_SURE = 15.0  # logistic margin of a chance of 3e-7: fits end there or beyond where nothing holds them back
_APART = 1e-4  # of the largest entries: from a plane; a thousand times what a linear program leaves undecided
_LARGEST = 1e140  # squares of larger numbers, added up, and of smaller ones than its inverse leave float64


def refuse_extremes(scaled: Any, target: Array) -> None:
    """Raise `InvalidInput` for scaled columns and targets whose squares are no ordinary numbers."""
    entries = scaled.data if sp.issparse(scaled) else scaled
    for what, numbers in (("X, as it is scaled,", entries), ("y", target)):
        size = float(np.abs(numbers).max(initial=0.0))
        if size > _LARGEST or 0 < size < 1 / _LARGEST:
            kind, change = ("large", "divide") if size > 1 else ("small", "multiply")
            raise InvalidInput(
                f"the largest entry of {what} is {number(size)}, too {kind} for squares; {change} it"
            )


def fits_anything(parameters: int, samples: int) -> Iterator[Finding]:
    """A warning where there are as many parameters as samples."""
    if parameters >= samples:
        text = (
            f"{parameters} parameters fit {samples} samples whatever the targets are: the training error "
            "says nothing. Take a smaller size, or more samples."
        )
        yield Finding("warning", text, identifier="sparse.fits-anything")


def real_targets(y: Any) -> Array:
    """Targets as float64, not copied where they are; `InvalidInput` names the first that is no number."""
    try:
        numbers = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.array([_number(each) for each in y])
    if len(wrong := np.flatnonzero(~np.isfinite(numbers))):
        entry = np.asarray(y, dtype=object)[wrong[0]]
        raise InvalidInput(f"y must hold numbers, and entry {wrong[0]} is {entry!r}")
    return numbers


def separated(margins: Array, signed: Array, names: Sequence[Any], l2: float) -> Iterator[Finding]:
    """A warning where a plane tells samples of the classes apart, and no penalty bounds coefficients.

    Parameters
    ----------
    margins
        Predictions times the class, which is 1 or -1.
    signed
        The chosen columns times the class, and the class itself at the end, if there is an intercept.
    names
        Of the chosen columns.
    """
    if l2 > 0:
        return
    if float(margins.min()) > 0:
        text = (
            "The classes are told apart without an error, so larger coefficients always fit better and their "
            "sizes mean nothing. Set l2 above 0."
        )
    elif float(margins.max()) > _SURE and (found := _on_one_side(signed)) is not None:
        apart, used = found
        by = ", ".join(str(name) for name, inside in zip(names, used, strict=False) if inside)
        text = (
            f"{apart} of {len(margins)} samples are told apart without an error by {by}, so larger "
            "coefficients there always fit better and their sizes mean nothing. Set l2 above 0."
        )
    else:
        return
    yield Finding("warning", text, identifier="sparse.separated")


def _on_one_side(signed: Array) -> tuple[int, NDArray[np.bool_]] | None:
    """A plane with samples on their side and all others on it: how many, and which columns it uses.

    None where there is none: then a fit without a penalty exists (Albert, Anderson 1984).
    """
    from scipy.optimize import linprog

    scaled = signed / np.maximum(np.abs(signed).max(axis=0), 1e-300)
    found = linprog(-scaled.mean(axis=0), A_ub=-scaled, b_ub=np.zeros(len(scaled)), bounds=(-1.0, 1.0))
    if not found.success or -found.fun * len(scaled) < _APART:
        return None
    return int(np.count_nonzero(scaled @ found.x > _APART)), np.abs(found.x) > _APART


def cut_short(size: int, message: str) -> Finding:
    """A warning that the fit kept had not come to its end."""
    return Finding(
        "warning",
        f"The fit of {size} coefficients was cut short: {message}.",
        identifier="sparse.cut-short",
    )


def _number(given: Any) -> float:
    try:
        return float(given)
    except (TypeError, ValueError):
        return np.nan
