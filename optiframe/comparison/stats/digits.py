"""How many digits numbers need, so that what differs also reads differently."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import pairwise

from optiframe.comparison.stats.loss_table import metric_tie

_LEAST = 3
MOST = 9  # differences in later digits are no reader's concern, and would make a table of digits


def digits_apart(values: Iterable[float], tolerance: float = 0.0) -> int:
    """The significant digits, from 3 to 9, at which values that differ also print differently.

    Values that differ by rounding alone, or by no more than the tolerance, are equal, as in ranks.
    """
    known = sorted({value for value in values if math.isfinite(value)})
    near = [(low, high) for low, high in pairwise(known) if high - low > metric_tie(high, tolerance)]
    for digits in range(_LEAST, MOST):
        if all(f"{low:.{digits - 1}e}" != f"{high:.{digits - 1}e}" for low, high in near):
            return digits
    return MOST if near else _LEAST
