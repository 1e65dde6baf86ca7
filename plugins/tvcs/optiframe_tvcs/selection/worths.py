"""Values as whole numbers, so that sums and comparisons of them are exact."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optiframe.records.fields import Array

_DECIMALS = 9
_NOISE = 2.0**-50  # relative: a few products of decimals are within it, and no two decimals of 15 digits
_LARGEST = 2.0**40  # sums along a path of 4,000 items stay below 2^52, where float64 is exact


@dataclass(frozen=True, eq=False)
class Worths:
    """Values as whole numbers divided by one number.

    Parameters
    ----------
    whole
        Whole numbers as float64, shape (items,).
    divisor
        `whole` / `divisor` are the values, without what is rounded; a power of ten if `exact`.
    exact
        Whether the values are decimals, but for rounding errors (`noisy`). Otherwise they are rounded to
        2^-40 of the largest.
    noisy
        A value that is a decimal but for a rounding error, such as 0.33000000000000007; None: there is none.
    """

    whole: Array
    divisor: float
    exact: bool
    noisy: float | None = None

    @classmethod
    def of(cls, values: Array) -> Worths:
        """Decimals of up to nine places count as written, but for rounding errors; others to 12 digits."""
        largest = float(np.abs(values).max(initial=0.0))
        for places in range(most_decimals(values) + 1):
            divisor = 10.0**places
            whole = np.rint(values * divisor)
            off = np.abs(whole / divisor - values)
            if (off <= _NOISE * np.abs(values)).all():
                noisy = float(values[off.argmax()]) if off.any() else None
                return cls(whole, divisor, exact=True, noisy=noisy)
        shift = min(40 - math.frexp(largest)[1], 1000)
        return cls(np.rint(np.ldexp(values, shift)), math.ldexp(1.0, shift), exact=False)

    def tidy(self, values: Array) -> Array:
        """Sums of values without what rounding adds: 1.7 in place of 1.7000000000000002."""
        return np.asarray(np.rint(values * self.divisor) / self.divisor)

    @property
    def places(self) -> int:
        """How many decimals the values have; only where `exact`."""
        assert self.exact
        return round(math.log10(self.divisor))

    def total(self, chosen: NDArray[np.bool_], values: Array) -> float:
        """The value of a choice."""
        if self.exact:
            return float(self.whole[chosen].sum()) / self.divisor
        return math.fsum(values[chosen].tolist())


def most_decimals(values: Array) -> int:
    """Up to how many decimals of values as large as these count as written; -1: not even whole numbers do."""
    largest = float(np.abs(values).max(initial=0.0))
    return max((places for places in range(_DECIMALS + 1) if largest * 10.0**places <= _LARGEST), default=-1)
