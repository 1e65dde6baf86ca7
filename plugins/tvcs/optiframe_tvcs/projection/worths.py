"""What the elements of a point are worth: its squares."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from optiframe.records.fields import Array

_SMALL = 1e-100  # squares of numbers down to this, and up to its inverse, are ordinary float64 numbers
_LEAST = math.ulp(0.0)  # the worth of an entry whose square vanishes beside the largest


def squares(v: Array, closed: NDArray[np.bool_] | None = None) -> tuple[Array, float]:
    """Worths ``v**2`` that neither overflow nor vanish, and what one of their units is worth.

    ``worths * unit == v**2``. The unit is 1 for ordinary numbers and a power of four for very large
    or small ones, so nothing is rounded by it; beyond float64 it is inf or 0, and so are prices.
    Elements that are `closed`, which no support can hold, have no part in choosing it; the worths of
    these alone may be cut off at the largest number.
    """
    v = np.asarray(v, dtype=np.float64).reshape(-1)
    seen = v if closed is None else np.where(closed, 0.0, v)
    with np.errstate(over="ignore"):
        together = np.dot(seen, seen)  # one quick pass, which settles nearly every case
        largest, unit = 0.0, 1.0
        if not v.size * _SMALL**2 < together < _SMALL**-2:  # and so is the largest square
            largest = float(np.max(np.abs(seen), initial=0.0))
        if largest:
            exponent = math.frexp(largest)[1]
            worths = np.square(np.ldexp(v, -exponent))
            unit = math.ldexp(1.0, 2 * exponent) if 2 * exponent < 1024 else math.inf
        else:
            worths = np.square(v)
    if closed is not None:
        np.minimum(worths, np.finfo(np.float64).max, out=worths)
    if not worths.all():
        worths[(worths == 0) & (v != 0)] = _LEAST  # so that whatever fits is kept
    return worths, unit
