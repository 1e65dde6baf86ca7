"""Numbers as a reader wants them: three digits and a unit."""

from __future__ import annotations

import math
from collections.abc import Sequence

DASH = "\u2013"  # what is not known
_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))
_SIZES = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


def number(value: float, significant: int = 3) -> str:
    """Three significant digits, or as many as said; a dash for what is not known."""
    if math.isnan(value):
        return DASH
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if value == int(value) and abs(value) < 1e6:
        return f"{int(value):,}".replace(",", "\u2009")
    if 1e-3 <= abs(value) < 1e4:
        digits = max(0, significant - 1 - math.floor(math.log10(abs(value))))
        return f"{value:.{digits}f}"
    mantissa, exponent = f"{value:.{significant - 1}e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def _scaled(value: float, units: Sequence[tuple[float, str]]) -> str:
    if not math.isfinite(value) or value == 0:
        return number(value)
    scale, unit = next(((scale, unit) for scale, unit in units if abs(value) >= scale), units[-1])
    return f"{number(value / scale)}\u202f{unit}"


def seconds(value: float) -> str:
    """Seconds with the unit that keeps the number short."""
    return _scaled(value, _TIMES)


def size(value: float) -> str:
    """Bytes with the unit that keeps the number short."""
    return _scaled(value, _SIZES)


def rounded(values: Sequence[float], digits: int = 5) -> list[float | None]:
    """Fewer digits than a chart can show, and None (a gap in the curve) for what is not finite."""
    return [float(f"{value:.{digits}g}") if math.isfinite(value) else None for value in map(float, values)]


def counted(count: int, word: str) -> str:
    """`1 cell`, `2 cells`."""
    return f"{count:,}".replace(",", "\u2009") + f" {word}{'' if count == 1 else 's'}"
