"""The median of a sample with its bootstrap interval, for one sample or for thousands at once."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy  # its parts are loaded when they are used: scipy.stats takes half a second

_LEVEL = 0.95
# Each tail of such an interval then rests on 50 resamples, and thousands of samples take seconds.
_RESAMPLES = 2000
_FEWEST = 3  # the median of two values is their mean, and resampling two values says nothing of the spread
_TOGETHER = 500  # samples bootstrapped at once
_BATCH = 200  # resamples held at once: 500 samples of 10 are then 8 MB
_BEYOND = 1e6  # stands for inf in a sample scaled to [0, 1]; any mean that involves it is far above 1


@dataclass(frozen=True)
class Interval:
    """A median over `count` values, and the ends of its interval; nan where there is none."""

    median: float
    low: float
    high: float
    count: int


def median_intervals(samples: Sequence[Sequence[float]]) -> list[Interval]:
    """Of each sample the median with a 95% percentile bootstrap interval (Efron 1979).

    The same values give the same interval; samples of equal size are resampled together.

    Parameters
    ----------
    samples
        In each, nan (not measured) is left out; inf, for a failure, is a value like any other, so that
        the median or an end of the interval may be inf. A percentile interval cannot be wider than the
        sample: of five values, the range holds the true median in only 94% of samples, of three in 75%.

    Returns
    -------
    list of Interval
        With low and high nan for fewer than three values, all nan for none.
    """
    arrays = [np.asarray(sample, dtype=float) for sample in samples]
    arrays = [np.sort(array[~np.isnan(array)]) for array in arrays]
    found: list[Interval | None] = [None] * len(arrays)
    by_size: dict[int, list[int]] = {}
    for number, array in enumerate(arrays):
        count = len(array)
        middle = median(array)
        if count < _FEWEST:
            found[number] = Interval(middle, np.nan, np.nan, count)
        elif array[0] == array[-1]:
            found[number] = Interval(middle, middle, middle, count)
        else:
            by_size.setdefault(count, []).append(number)
    for count, numbers in by_size.items():
        for begin in range(0, len(numbers), _TOGETHER):
            chunk = numbers[begin : begin + _TOGETHER]
            lows, highs = _ends(np.stack([arrays[number] for number in chunk]))
            for number, low, high in zip(chunk, lows, highs, strict=True):
                middle = median(arrays[number])
                found[number] = Interval(middle, min(low, middle), max(high, middle), count)
    return [interval for interval in found if interval is not None]


def median(values: Iterable[float]) -> float:
    """The middle of the values: nan for none, or where it falls between -inf and inf."""
    ordered = sorted(map(float, values))
    if not ordered:
        return math.nan
    lower, upper = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
    return lower if lower == upper else lower / 2 + upper / 2  # halves first: their sum may overflow


def _ends(samples: np.ndarray[Any, Any]) -> tuple[list[float], list[float]]:
    """Ends of the intervals of samples, one a row, none constant.

    A sample is scaled to [0, 1] with large numbers in place of the infinities: interpolating
    between inf and inf would give nan. What comes out far outside involves one, and becomes
    infinite again.
    """
    finite = np.isfinite(samples)
    first = np.min(np.where(finite, samples, np.inf), axis=1, keepdims=True)
    last = np.max(np.where(finite, samples, -np.inf), axis=1, keepdims=True)
    first = np.where(np.isfinite(first), first, 0.0)  # a row of infinities alone
    span = np.where(last > first, last - first, 1.0)
    scaled = np.where(
        finite, (np.where(finite, samples, first) - first) / span, np.copysign(_BEYOND, samples)
    )
    interval = scipy.stats.bootstrap(
        (scaled,),
        np.median,
        axis=-1,
        vectorized=True,
        n_resamples=_RESAMPLES,
        batch=_BATCH,
        confidence_level=_LEVEL,
        method="percentile",
        rng=np.random.default_rng(0),
    ).confidence_interval

    def back(ends: Any) -> list[float]:
        column = np.asarray(ends)[:, None]
        inside = first + span * np.clip(column, 0.0, 1.0)
        # -1 + 1 * 1 passes a last value of -1e-100
        inside = np.clip(inside, first, np.maximum(first, last))
        return [
            float(end)
            for end in np.where(column > 2.0, np.inf, np.where(column < -1.0, -np.inf, inside))[:, 0]
        ]

    return back(interval.low), back(interval.high)
