"""What a paper says beside what came out here, and the stated rules that make a verdict of the two.

No verdict is typed: each comes from one of these functions, with tolerances that an item writes down
beside the paper's number. `why` is the reason we know for a difference; it shows only when there is one.

A rule that a broken method meets as well is no evidence. So a line gets a negative control (`against`): the
same rule asked of runs from which the claimed cause was taken away. Where the control passes too, the rule
cannot discriminate, and the line is not counted.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Verdict = Literal["agrees", "differs", "cannot be checked", "cannot discriminate", "ran"]

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
    """One number or claim of a paper beside ours; `rule` says in words how the verdict was made.

    `control` says what the same rule gave where the claimed cause was taken away; empty without a control.
    """

    what: str
    paper: str
    ours: str
    verdict: Verdict
    rule: str
    why: str = ""
    control: str = ""

    @property
    def counts(self) -> bool:
        """Whether it is evidence: it differs, or it agrees and its negative control does not."""
        return self.verdict == "differs" or (self.verdict == "agrees" and bool(self.control))


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


def against(line: Line, broken: str, control: Line) -> Line:
    """The line with its negative control: the same rule on what `broken` names.

    A line that agrees while its control agrees as well cannot discriminate. What a control of a line that
    differs, or that cannot be checked, gives is only told.
    """
    passed = control.verdict == "agrees"
    outcome = "meets the rule, too" if passed else "does not meet the rule"
    told = f"{broken}: {control.ours}; {outcome}"
    lost = passed and line.verdict == "agrees"
    return replace(line, control=told, verdict="cannot discriminate" if lost else line.verdict)


def throughout(lines: Mapping[str, Line], open_setting: str) -> Line:
    """One line of a claim judged at several values of a setting that the paper leaves open.

    It has a verdict where all values give the same one; else it cannot be checked without the setting, and
    the line says for which values it agrees. `lines` is by value, the one that is told in full comes last.
    """
    *_, told = lines.values()
    if len({line.verdict for line in lines.values()}) == 1:
        return replace(told, ours=f"{told.ours}; the same for {open_setting} {', '.join(lines)}")
    agrees = [value for value, line in lines.items() if line.verdict == "agrees"]
    others = [value for value in lines if value not in agrees]
    where = f"agrees for {', '.join(agrees) or 'none'}, not for {', '.join(others)}"
    lacking = cannot(told.what, told.paper, f"{open_setting}: it {where}", told.ours)
    return replace(lacking, control=told.control)


def ran(line: Line) -> Line:
    """The line as the quick size shows it: too few runs for a verdict."""
    return replace(line, verdict="ran")


def overall(lines: Sequence[Line]) -> Verdict:
    """Of an item: differs when a line does; agrees when all that are evidence do.

    Without evidence it cannot discriminate, if a line could be checked at all.
    """
    verdicts = {line.verdict for line in lines}
    if verdicts == {"ran"}:
        return "ran"
    if "differs" in verdicts:
        return "differs"
    if any(line.counts for line in lines):
        return "agrees"
    return "cannot discriminate" if verdicts & {"agrees", "cannot discriminate"} else "cannot be checked"


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
