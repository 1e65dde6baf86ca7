"""What to know of a sparse fit before it is trusted, and data that no fit can be trusted on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from optiframe.errors import InvalidInput
from optiframe.findings import Finding
from optiframe.numbers import number
from optiframe.records.fields import Array

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


def separated(margins: Array, l2: float) -> Iterator[Finding]:
    """A warning where the fit tells the classes of all samples apart, and no penalty bounds coefficients."""
    if l2 == 0 and float(margins.min()) > 0:
        text = (
            "The classes are told apart without an error, so larger coefficients always fit better and their "
            "sizes mean nothing. Set l2 above 0."
        )
        yield Finding("warning", text, identifier="sparse.separated")


def cut_short(size: int, message: str) -> Finding:
    """A warning that the fit kept had not come to its end."""
    return Finding(
        "warning",
        f"The fit of {size} coefficients was cut short: {message}.",
        identifier="sparse.cut-short",
    )
