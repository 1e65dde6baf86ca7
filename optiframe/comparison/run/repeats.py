"""How often to time a solve: a fixed number of times, or until the median is known well enough.

A number above 1 is kept to. 1, the default, means more where a solve takes milliseconds: one time says little
then, and further ones cost nothing that anybody notices.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

_LEVEL = 0.95  # the interval's coverage
_WIDTH = 0.05  # "narrow enough": this share of the median, half of what one would call a difference
_MOST = 100  # repeats at most: by then the interval spans a fifth of the sample
_SECONDS = 10.0  # spent on repeats at most: a comparison has many cells
SHORT = 0.05
"""Seconds of a solve below which being observed may show in its time, and it is timed again unasked."""
_UNASKED_WIDTH = 0.1  # "narrow enough" then
_UNASKED_SECONDS = 0.1  # spent on it at most, with the first solve


def order_statistic_interval(times: Sequence[float], level: float = _LEVEL) -> tuple[float, float] | None:
    """The interval of the median by order statistics: right for any distribution of times.

    Its ends are the k-th smallest and k-th largest value, k as large as a binomial count below k
    allows at this level (David and Nagaraja, Order Statistics, Sec. 7.1). None with too few
    values: at 95% it takes six.
    """
    n, outside = len(times), 0.0
    ranked = sorted(times)
    k = 0
    while True:
        outside += math.comb(n, k) * 2.0**-n  # the chance that k or fewer values lie below the median
        if 2 * outside > 1 - level or 2 * (k + 1) > n:
            break
        k += 1
    return (ranked[k - 1], ranked[n - k]) if k else None


def narrow_enough(times: Sequence[float], width: float = _WIDTH) -> bool:
    """Whether the interval of the median is narrower than this share of it."""
    interval = order_statistic_interval(times)
    return interval is not None and interval[1] - interval[0] <= width * median(times)


def agree(times: Sequence[float]) -> bool:
    """Whether the median is known to 10%: its interval, or of few times all of them, lie so close."""
    if len(times) < 2:
        return False
    low, high = order_statistic_interval(times) or (min(times), max(times))
    return high - low <= _UNASKED_WIDTH * median(times)


def is_another_wanted(
    times: Sequence[float], repeat: int | str, *, costs: Sequence[float], left: float
) -> bool:
    """Whether another timed solve is wanted, and fits.

    Parameters
    ----------
    times
        Seconds inside the solver of the timed solves so far.
    repeat
        How many are wanted, or "auto".
    costs
        Whole seconds of each solve so far, with setup and evaluation of iterates.
    left
        Seconds of the hard limit that are left.
    """
    if not costs:
        return True
    fits = 1.2 * max(costs) < left  # a fifth more than ever so far: solves of one cell differ little
    spent = sum(costs)
    if repeat == 1 and times and median(times) < SHORT:
        within = spent + max(costs) <= _UNASKED_SECONDS
        return len(times) < _MOST and fits and within and not narrow_enough(times, _UNASKED_WIDTH)
    if repeat != "auto":
        return len(times) < int(repeat) and fits
    within = spent + max(costs) <= min(_SECONDS, (spent + left) / 2)
    return len(times) < _MOST and fits and within and not narrow_enough(times)
