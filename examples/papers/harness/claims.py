"""What a paper says beside what came out here, and the stated rules that make a verdict of the two.

No verdict is typed: each comes from one of these functions, with tolerances that an item writes down
beside the paper's number. `why` is the reason we know for a difference; it shows only when there is one.

The rules are equivalence tests: a line agrees when the whole interval of what we measured lies where the
claim puts it, differs when the whole interval lies elsewhere, and otherwise cannot be checked.

A rule that a broken method meets as well is no evidence. So every line has a negative control (`against`):
the same rule asked of runs from which the claimed cause was taken away. Where the control passes too, the
rule cannot discriminate, and the line is not counted. Nor is a line counted for which a setting was chosen
to meet the paper's number (`chosen`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Verdict = Literal["agrees", "differs", "cannot be checked", "cannot discriminate", "no evidence", "ran"]
Whole = Verdict | Literal["agrees in part"]

MISSING = "missing: "  # how the rule of a line without a rule begins

_RESAMPLES = 2000
_FEWEST = 3  # repeats below which an interval of their mean says nothing
_SLACK = 1e-12  # rounding of averages
_OUTCOMES = {"agrees": "meets the rule, too", "differs": "does not meet the rule"}
_Z = 1.96  # standard errors to the ends of a 95% interval


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
    """Agrees when our mean's 95% interval lies within `within` of the paper's number.

    It differs when no number of the interval is so near. One repeat has no interval: its value is judged.
    """
    average = mean(ours)
    rule = (
        f"95% interval of our mean within {within:g} of the paper's number; it differs when all of it is not"
    )
    low, high = (end - paper for end in average.ends)
    line = Line(what, f"{paper:.4g}", str(average), "ran", rule, why)
    return _decided(line, low, high, within=within, count=average.count)


def sampled(what: str, paper: float, spread: float, repeats: int, ours: ArrayLike, *, why: str = "") -> Line:
    """Agrees when the two means are the same within one printed standard deviation.

    Both are means of samples: the printed one of `repeats` runs with standard deviation `spread`, and ours.
    The standard errors of the two add up in squares; 1.96 times that is the interval's half width.
    """
    sample = _sample(ours)
    printed = f"{paper:.4g} ± {spread:g}"
    if len(sample) < _FEWEST:
        return cannot(what, printed, f"more than {len(sample)} repeats", f"{sample.mean():.4g}")
    error = math.hypot(spread / math.sqrt(repeats), float(sample.std(ddof=1)) / math.sqrt(len(sample)))
    gap = float(sample.mean()) - paper
    low, high = gap - _Z * error, gap + _Z * error
    found = f"{sample.mean():.4g} ± {sample.std(ddof=1):.2g}; difference [{low:.2g}, {high:.2g}]"
    rule = (
        "95% interval of the difference of the two means within one printed standard deviation (after ±) "
        "of zero; it differs when all of it is not"
    )
    line = Line(what, printed, found, "ran", rule, why)
    return _decided(line, low, high, within=spread, count=len(sample))


def _decided(line: Line, low: float, high: float, *, within: float, count: int) -> Line:
    """The line by an equivalence test: an interval of differences that should be within `within` of 0."""
    # The slack is for binary fractions: .0712 is within .0005 of .0717.
    if -within - _SLACK <= low and high <= within + _SLACK:
        return replace(line, verdict="agrees")
    if low > within or high < -within:
        return replace(line, verdict="differs")
    missing = f"more than {count} repeats, for an interval on one side of the tolerance {within:g}"
    return cannot(line.what, line.paper, missing, line.ours)


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
    same: float = 0.0,
    told: str = "",
    why: str = "",
) -> Line:
    """Agrees when the paired differences `higher - lower` have a 95% interval above `margin`.

    It differs when the interval lies below `margin`, or, of two that are level, within `same` of it. Any
    other interval cannot be told from `margin` with so few repeats. Of one or two repeats every difference
    has to be above. `told` is put before the difference: the two means, for example.
    """
    gaps = _sample(higher) - _sample(lower)
    average = mean(gaps)
    if math.isnan(average.low):
        rule = f"every paired difference above {margin:g}"
        low, high = float(gaps.min()), float(gaps.max())
    else:
        rule = (
            f"95% interval of the paired differences above {margin:g}; it differs when the interval is below"
        )
        rule += f", or within {same:g} of it" if same else ""
        low, high = average.ends
    ours = f"{told}{'; ' if told else ''}difference {average} of {len(gaps)}"
    if low > margin + _SLACK:  # an interval's end of 1e-17 is rounding, not above 0
        return Line(what, claim, ours, "agrees", rule, why)
    level_with = margin - same - _SLACK <= low and high <= margin + same + _SLACK
    if high < margin or level_with:
        return Line(what, claim, ours, "differs", rule, why)
    return cannot(what, claim, f"more than {len(gaps)} repeats: it cannot be told from {margin:g}", ours)


def level(
    what: str, claim: str, first: ArrayLike, second: ArrayLike, *, within: float, why: str = ""
) -> Line:
    """Agrees when the 95% interval of the paired differences lies inside plus and minus `within`."""
    average = mean(_sample(second) - _sample(first))
    rule = (
        f"95% interval of the paired differences within {within:g} of zero; it differs when all of it is not"
    )
    ours = f"difference {average} of {average.count}"
    line = Line(what, claim, ours, "ran", rule, why)
    return _decided(line, *average.ends, within=within, count=average.count)


def none_below(
    what: str, claim: str, gaps: Mapping[str, ArrayLike], *, within: float, told: str = "", why: str = ""
) -> Line:
    """Agrees when no rival is better by more than `within`: every rival's 95% interval lies above -`within`.

    `gaps` are paired differences by rival, the rival's less ours, of something that should be small. It
    differs when a rival's whole interval lies below -`within`.
    """
    means = {name: mean(each) for name, each in gaps.items()}
    below = {name: each for name, each in means.items() if each.ends[1] < -within - _SLACK}
    open_ = {name: each for name, each in means.items() if each.ends[0] < -within - _SLACK}
    shown = below or open_ or {name: each for name, each in means.items() if each.ends[1] < 0}
    said = ", ".join(f"{name} by {_negative(each)}" for name, each in shown.items())
    ours = f"{told}{'; ' if told else ''}better: {said or 'none'}"
    rule = (
        f"every rival's 95% interval of paired differences above -{within:g}; it differs when one lies below"
    )
    if open_ and not below:
        return cannot(what, claim, f"more repeats: {', '.join(open_)} may be better by {within:g}", ours)
    return Line(what, claim, ours, "differs" if below else "agrees", rule, why)


def _negative(gap: Mean) -> Mean:
    return Mean(-gap.value, -gap.high, -gap.low, gap.count)


def holds(what: str, claim: str, ours: str, *, found: bool, rule: str, why: str = "") -> Line:
    """Agrees when `found`, which the item computed by `rule` from numbers without noise."""
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
    told = f"{broken}: {control.ours}; {_OUTCOMES.get(control.verdict, 'undecided')}"
    lost = passed and line.verdict == "agrees"
    return replace(line, control=told, verdict="cannot discriminate" if lost else line.verdict)


def halves(sample: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Every other value of a sample, and as many of the rest: two samples between which nothing changed."""
    values = _sample(sample)
    half = max(len(values) // 2, 1)
    return values[::2][:half], values[1::2][:half] if len(values) > 1 else values


def chosen(line: Line, how: str) -> Line:
    """A line for which `how` was chosen so that the paper's number is met: that it agrees proves nothing."""
    if line.verdict != "agrees":
        return line
    return replace(line, verdict="no evidence", why=f"{how} was chosen because the paper's number is met so")


def throughout(lines: Mapping[str, Line], open_setting: str) -> Line:
    """One line of a claim judged at several values of a setting that the paper leaves open.

    It has a verdict where all values give the same one; else it cannot be checked without the setting, and
    the line says for which values it agrees. `lines` is by value, the one that is told in full comes last.
    """
    *_, told = lines.values()
    verdicts = {line.verdict for line in lines.values()}
    if len(verdicts) == 1:
        return replace(told, ours=f"{told.ours}; the same for {open_setting} {_listed(list(lines))}")
    where = "; ".join(
        f"{verdict} for {_listed([value for value, line in lines.items() if line.verdict == verdict])}"
        for verdict in sorted(verdicts)
    )
    lacking = cannot(told.what, told.paper, f"{open_setting}: {where}", told.ours)
    return replace(lacking, control=told.control)


def _listed(values: Sequence[str]) -> str:
    """With whole numbers in a row as a range."""
    if len(values) > 2 and all(each.isdigit() for each in values):
        numbers = [int(each) for each in values]
        if numbers == list(range(numbers[0], numbers[0] + len(numbers))):
            return f"{numbers[0]} to {numbers[-1]}"
    return ", ".join(values)


def ran(line: Line) -> Line:
    """The line as the quick size shows it: too few runs for a verdict."""
    return replace(line, verdict="ran")


def printable(printed: str, value: float) -> bool:
    """Whether a number can be printed so, rounded or cut off to as many digits."""
    unit = 10.0 ** -len(printed.partition(".")[2])
    return bool(-unit / 2 - _SLACK <= value - float(printed) < unit - _SLACK)


def overall(lines: Sequence[Line]) -> Whole:
    """Of an item: differs when a line does; agrees when all its lines are evidence and agree.

    It agrees in part when some lines are evidence and agree, and the others are none. Without evidence it
    cannot discriminate, if a line could be checked at all.
    """
    verdicts = {line.verdict for line in lines}
    if verdicts == {"ran"}:
        return "ran"
    if "differs" in verdicts:
        return "differs"
    if any(line.counts for line in lines):
        return "agrees" if all(line.counts for line in lines) else "agrees in part"
    without = {"agrees", "cannot discriminate", "no evidence"}
    return "cannot discriminate" if verdicts & without else "cannot be checked"


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
