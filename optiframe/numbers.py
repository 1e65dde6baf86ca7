"""Numbers as people read them: three digits, units, percent for shares, and zero for rounding errors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

DASH = "\u2013"  # what is not known
_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))
_SIZES = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
_NOISE = 1e-15  # of the largest number of a column of scores: what is smaller, rounding may have put there
_NO_SHARE = 1e-9  # a share below this is rounding, or as good as none


def number(value: float, significant: int = 3) -> str:
    """Three significant digits, or as many as given (from four on, no zeros at the end); a dash for nan."""
    if math.isnan(value):
        return DASH
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if abs(value) < 1e6 and abs(value - round(value)) <= 1e-12 * abs(value):
        return f"{round(value):,}"
    if 1e-3 <= abs(value) < max(1e4, 10.0**significant):
        digits = max(0, significant - 1 - math.floor(math.log10(abs(value))))
        text = f"{value:,.{digits}f}"
        return text.rstrip("0").rstrip(".") if significant > 3 and digits else text
    mantissa, exponent = f"{value:.{significant - 1}e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def percent(share: float, significant: int = 2) -> str:
    """A share in percent, of two digits or three; 0% and 100% are exactly none and all."""
    if not math.isfinite(share):
        return number(share)
    share = 0.0 if abs(share) < _NO_SHARE else share
    if 0.995 <= share < 1:
        return f"{min(99.9, 100 * share):.1f}%"
    if 0 < abs(share) < 0.001:
        return "under 0.1%"
    if significant > 2:
        return f"{100 * share:.1f}%"
    text = f"{100 * share:.2g}" if 0 < abs(share) < 0.0995 else f"{100 * share:.0f}"
    return f"{text}%"


def _scaled(value: float, units: Sequence[tuple[float, str]], space: str) -> str:
    if not math.isfinite(value) or value == 0:
        return number(value)
    scale, unit = next(((scale, unit) for scale, unit in units if abs(value) >= scale), units[-1])
    return f"{number(value / scale)}{space}{unit}"


def seconds(value: float, *, space: str = "\u202f") -> str:
    """Seconds with the unit that keeps the number short; `space` stands before it."""
    return _scaled(value, _TIMES, space)


def size(value: float, *, space: str = "\u202f") -> str:
    """Bytes with the unit that keeps the number short; `space` stands before it."""
    return _scaled(value, _SIZES, space)


def rounded(values: Sequence[float], digits: int = 5) -> list[float | None]:
    """Fewer digits than a chart can show, and None (a gap in the curve) for what is not finite."""
    return [float(f"{value:.{digits}g}") if math.isfinite(value) else None for value in map(float, values)]


def counted(count: int, word: str) -> str:
    """`1 cell`, `2 cells`."""
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def without_rounding_errors(values: Any) -> Any:
    """A column of an answer, an array, with 0 for what only rounding put there.

    In a column of decimals of both signs, such as scores, that is what is below 1e-15 of its largest:
    -3.33e-17 beside 0.5. Of any other column only -0.0 becomes 0.0: a probability may well be 1e-20.
    """
    if getattr(values, "dtype", None) is None or values.dtype.kind != "f" or not values.size:
        return values
    values = values + 0.0
    finite = values[abs(values) < math.inf]
    least = _NOISE * float(abs(finite).max(initial=0.0))
    if least and finite.min() < -least and finite.max() > least:
        values[abs(values) <= least] = 0.0
    return values
