"""Values as whole numbers, so that sums and comparisons of them are exact."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from optiframe.records.fields import Array
from optiframe_tvcs.selection.data import Mask

_DECIMALS = 9
_LARGEST = 2.0**40  # sums along a path of 4,000 items stay below 2^52, where float64 is exact


@dataclass(frozen=True, eq=False)
class Worths:
    """Values as whole numbers divided by one number.

    Parameters
    ----------
    whole
        Whole numbers as float64, shape (items,).
    divisor
        `whole` / `divisor` are the values: a power of ten where they are decimals.
    exact
        Whether nothing was rounded. Otherwise the values are rounded to 2^-40 of the largest.
    """

    whole: Array
    divisor: float
    exact: bool

    @classmethod
    def of(cls, values: Array) -> Worths:
        """Decimals of up to nine places count as written; other values are rounded to 12 digits."""
        largest = float(np.abs(values).max(initial=0.0))
        for places in range(_DECIMALS + 1):
            divisor = 10.0**places
            if largest * divisor > _LARGEST:
                break
            whole = np.rint(values * divisor)
            if np.array_equal(whole / divisor, values):
                return cls(whole, divisor, exact=True)
        shift = min(40 - math.frexp(largest)[1], 1000)
        return cls(np.rint(np.ldexp(values, shift)), math.ldexp(1.0, shift), exact=False)

    def tidy(self, values: Array) -> Array:
        """Sums of values without what rounding adds: 1.7 in place of 1.7000000000000002."""
        return np.rint(values * self.divisor) / self.divisor if self.exact else values

    def total(self, chosen: Mask, values: Array) -> float:
        """The value of a choice."""
        if self.exact:
            return float(self.whole[chosen].sum()) / self.divisor
        return math.fsum(values[chosen].tolist())
