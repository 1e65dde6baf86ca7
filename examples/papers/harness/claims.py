"""What a paper says beside what came out here, and the stated rules that make a verdict of the two.

No verdict is typed: each comes from one of these functions, with tolerances that an item writes down
beside the paper's number. `why` is the reason we know for a difference; it shows only when there is one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Verdict = Literal["agrees", "differs", "cannot be checked"]

MISSING = "missing: "  # how the rule of a line without a rule begins

_RESAMPLES = 2000
_FEWEST = 3  # repeats below which an interval of their mean says nothing
_SLACK = 1e-12  # rounding of averages
_Z = 1.96  # standard errors to the ends of a 95% interval
_ENOUGH = 10  # repeats from which "not distinguishable" counts as a difference and not as a lack of runs


class NoAnswer(ValueError):
    """A rule was asked about runs that failed."""


@dataclass(frozen=True)
class Line:
    """One number or claim of a paper beside ours; `rule` says in words how the verdict was made."""

    what: str
    paper: str
    ours: str
    verdict: Verdict
    rule: str
    why: str = ""


@dataclass(frozen=True)
class Mean:
    """A mean of `count` repeats with the ends of its 95% bootstrap interval (nan below three)."""

    value: float
    low: float
    high: float
    count: int

    @property
    def ends(self) -> tuple[float, float]:
        """Of the interval; the mean twice where there are too few repeats for one."""
        return (self.value, self.value) if math.isnan(self.low) else (self.low, self.high)

    def __str__(self) -> str:
        value, low, high = (0.0 if abs(each) < _SLACK else each for each in (self.value, *self.ends))
        return f"{value:.4g}" if low == high else f"{value:.4g} [{low:.4g}, {high:.4g}]"


def mean(values: ArrayLike) -> Mean:
    """The mean of repeats with a percentile bootstrap interval; nan values (failed runs) are an error."""
    sample = _sample(values)
    if len(sample) < _FEWEST:
        return Mean(float(sample.mean()), math.nan, math.nan, len(sample))
    low, high = np.quantile(_resampled_means(sample), [0.025, 0.975])
    return Mean(float(sample.mean()), float(low), float(high), len(sample))


def number(what: str, paper: float, ours: ArrayLike, *, within: float, why: str = "") -> Line:
    """Agrees when the paper's number is within `within` of our mean, or of its 95% interval."""
    average = mean(ours)
    low, high = average.ends
    # The slack is for binary fractions: .0712 is within .0005 of .0717.
    agrees = low - within - _SLACK <= paper <= high + within + _SLACK
    rule = f"the paper's number within {within:g} of our mean or of its 95% interval"
    return Line(what, f"{paper:.4g}", str(average), "agrees" if agrees else "differs", rule, why)


def sampled(what: str, paper: float, spread: float, repeats: int, ours: ArrayLike, *, why: str = "") -> Line:
    """Agrees when a printed mean of `repeats` runs is within 1.96 standard errors of ours.

    The standard error is that of the difference: the printed `spread`, a standard deviation, and ours, each
    over the root of its repeats, add up in squares. Noisy means are easily near: `ours` says how far apart
    they would have had to be.
    """
    sample = _sample(ours)
    printed = f"{paper:.4g} ± {spread:g}"
    if len(sample) < _FEWEST:
        return cannot(what, printed, f"more than {len(sample)} repeats", f"{sample.mean():.4g}")
    error = math.hypot(spread / math.sqrt(repeats), float(sample.std(ddof=1)) / math.sqrt(len(sample)))
    found = f"{sample.mean():.4g} ± {sample.std(ddof=1):.2g} (to differ: {_Z * error:.2g} apart)"
    agrees = abs(float(sample.mean()) - paper) <= _Z * error + _SLACK
    rule = "the two means within 1.96 standard errors of their difference (± is a standard deviation)"
    return Line(what, printed, found, "agrees" if agrees else "differs", rule, why)


def column(what: str, paper: ArrayLike, ours: ArrayLike, *, within: float, why: str = "") -> Line:
    """Agrees when every number of a column is within `within` of the paper's."""
    printed, found = _sample(paper), _sample(ours)
    gap = float(np.abs(found - printed).max())
    agrees = gap <= within + _SLACK
    rule = f"every number of the column within {within:g} of the paper's"
    said = f"{len(printed)} numbers, from {printed.min():.4g} to {printed.max():.4g}"
    return Line(what, said, f"largest difference {gap:.2g}", "agrees" if agrees else "differs", rule, why)


def order(
    what: str,
    claim: str,
    lower: ArrayLike,
    higher: ArrayLike,
    *,
    margin: float = 0.0,
    told: str = "",
    why: str = "",
) -> Line:
    """Agrees when the paired differences `higher - lower` have a 95% interval above `margin`.

    An interval that holds `margin` cannot be told from level: with ten repeats or more that differs from
    the claim, with fewer it cannot be checked; the line says so. Of one or two repeats every difference has
    to be above. `told` is put before the difference: the two means, for example.
    """
    gaps = _sample(higher) - _sample(lower)
    average = mean(gaps)
    above = margin + _SLACK  # an interval's end of 1e-17 is rounding, not above 0
    if math.isnan(average.low):
        rule = f"every paired difference above {margin:g}"
        low, high = float(gaps.min()), float(gaps.max())
    else:
        rule = (
            f"95% interval of the paired differences above {margin:g}; "
            f"one that holds {margin:g} is a difference from {_ENOUGH} repeats on"
        )
        low, high = average.ends
    ours = f"{told}{'; ' if told else ''}difference {average} of {len(gaps)}"
    if low > above:
        verdict: Verdict = "agrees"
    elif high < margin or low == high:
        verdict = "differs"
    elif len(gaps) >= _ENOUGH:
        verdict = "differs"
        ours += f", cannot be told from {margin:g}"
    else:
        verdict = "cannot be checked"
        ours += f"; more than {len(gaps)} repeats are needed"
    return Line(what, claim, ours, verdict, rule, why)


def level(
    what: str, claim: str, first: ArrayLike, second: ArrayLike, *, within: float, why: str = ""
) -> Line:
    """Agrees when the 95% interval of the paired differences lies inside plus and minus `within`."""
    average = mean(_sample(second) - _sample(first))
    low, high = average.ends
    inside = -within <= low and high <= within
    rule = f"95% interval of the paired differences within {within:g} of zero"
    return Line(what, claim, f"difference {average}", "agrees" if inside else "differs", rule, why)


def holds(what: str, claim: str, ours: str, *, found: bool, rule: str, why: str = "") -> Line:
    """Agrees when `found`, which the item computed by `rule`."""
    return Line(what, claim, ours, "agrees" if found else "differs", rule, why)


def cannot(what: str, paper: str, missing: str, ours: str = "") -> Line:
    """What cannot be checked, and what is missing for it."""
    return Line(what, paper, ours or "not run", "cannot be checked", f"{MISSING}{missing}")


def overall(lines: Sequence[Line]) -> Verdict:
    """Of an item: differs when a line does, agrees when every line that can be checked does."""
    verdicts = {line.verdict for line in lines}
    if "differs" in verdicts:
        return "differs"
    return "agrees" if "agrees" in verdicts else "cannot be checked"


def _sample(values: ArrayLike) -> NDArray[np.float64]:
    sample = np.atleast_1d(np.asarray(values, dtype=float))
    if sample.size == 0 or not np.isfinite(sample).all():
        raise NoAnswer(f"runs without an answer among the values: {sample}")
    return sample


def _resampled_means(sample: NDArray[np.float64]) -> NDArray[np.float64]:
    rng = np.random.default_rng(0)  # the same values give the same interval
    drawn: NDArray[np.float64] = sample[rng.integers(len(sample), size=(_RESAMPLES, len(sample)))]
    means: NDArray[np.float64] = drawn.mean(axis=1)
    return means
