"""Whether solvers can be told apart: paired tests with correction, and a test over all solvers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Any, Literal

import numpy as np
import scipy  # its parts are loaded when they are used: scipy.stats takes half a second

from optiframe.comparison.records import Records
from optiframe.comparison.stats.loss_table import Table, directions, loss_table, medians
from optiframe.errors import InvalidInput
from optiframe.numbers import number

_EXACT = 13  # with ties, SciPy's wilcoxon goes through all signs up to here: 8192 of them
_Array = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class PairVerdict:
    """Whether two solvers can be told apart by one measure.

    Parameters
    ----------
    first, second
        Titles of the solvers.
    problems
        How many problems (with ``unit="seed"``: seeds) the test is over.
    difference
        Median over them of the first solver's value less the second's, in the measure's own unit and
        direction; infinite where one of them fails, nan without any or where failures of both are
        in the middle.
    p, p_corrected
        Of the test, and after Holm's correction for the number of pairs; nan without a test.
    distinguishable
        Whether `p_corrected` is at most the level.
    text
        The verdict in words.
    needed
        Where so few cannot distinguish any two solvers, how many it takes; else 0.
    unit
        What it is paired over.
    """

    first: str
    second: str
    problems: int
    difference: float
    p: float
    p_corrected: float
    distinguishable: bool
    text: str
    needed: int = 0
    unit: Literal["problem", "seed"] = "problem"


@dataclass(frozen=True)
class Overall:
    """Whether any solvers can be told apart at all; prints as its text."""

    solvers: int
    problems: int
    p: float
    distinguishable: bool
    text: str

    def __str__(self) -> str:
        return self.text


def compare_pairs(
    records: Records,
    measure: str,
    level: float = 0.05,
    *,
    unit: Literal["problem", "seed"] = "problem",
    problem: str | None = None,
) -> list[PairVerdict]:
    """Every two solvers, tested against each other by one measure.

    The test is Wilcoxon's signed-rank test (`scipy.stats.wilcoxon`), paired over problems, each
    standing with the medians over the seeds both solvers have ended; p-values are corrected for the
    number of pairs by Holm's method. Problems where one of the two is unsuited are left
    out.

    A failure is inf, and an infinite difference is taken as larger than all finite ones: the test only
    uses the ranks of differences, so any such number gives the same p. Where both fail there is
    no difference, which the test leaves out, as it does every zero.

    Where even a clean sweep over so few problems could not reach the level, it is reported in
    place of "not distinguishable", with the number it takes: of n problems, no p is below 2 / 2**n.

    Parameters
    ----------
    records, measure
        What to compare, by which measure: one of `measures`.
    level
        How often solvers that do not differ may be told apart, over all pairs together.
    unit
        "seed" pairs the seeds of one problem instead. That says something of this problem, and
        nothing of others.
    problem
        Which problem, for ``unit="seed"``; not needed where only one has the measure.

    Raises
    ------
    InvalidInput
        If the measure's direction is not known, or `problem` is missing or has no such measure.
    """
    table = loss_table(records, measure)
    sign = 1.0 if directions(records)[measure] == "lower" else -1.0
    if unit == "seed":
        problem = _one_problem(table, problem, measure)
    elif problem is not None:
        raise InvalidInput('`problem` goes with unit="seed": the test over problems takes all of them')
    pairs = []
    for first, second in combinations(_present(records, table), 2):
        if problem is not None:
            differences = _over_seeds(table[problem], first, second)
        else:
            differences = _over_problems(table, first, second)
        pairs.append((first, second, differences))
    tested = [at for at, (_, _, differences) in enumerate(pairs) if len(differences)]
    ps = [_wilcoxon(pairs[at][2]) for at in tested]
    corrected = dict(zip(tested, _holm(ps), strict=True))
    reachable = dict(zip(tested, _reachable([len(pairs[at][2]) for at in tested]), strict=True))
    plain = dict(zip(tested, ps, strict=True))
    verdicts = []
    for at, (first, second, differences) in enumerate(pairs):
        count = len(differences)
        p, after = plain.get(at, math.nan), corrected.get(at, math.nan)
        what = f"{count} {unit}{'s' * (count != 1)}" + (f" of {problem}" if unit == "seed" else "")
        how = f"({_p(after)}{' after correction' * (len(tested) > 1)}, {what})"
        told = count > 0 and after <= level
        needed = 0
        if count == 0:
            text = f"no {unit} was taken by both {first} and {second}"
        elif told:
            leads = _signed_rank_sum(differences) < 0
            text = f"{first if leads else second} is better than {second if leads else first} {how}"
        elif problem is not None and count == 1 and len(_common(table[problem], first, second)) > 1:
            why = "one data set, more seeds change nothing; add problems"
            alike = f"{first} and {second} give the same values for all seeds of {problem}"
            text = f"{alike}: {why if problem in records.fixed else 'no test'}"
        elif reachable[at] > level:
            needed = _needed(len(tested), level)
            text = f"{what} cannot distinguish {first} and {second}; at least {needed} are needed"
        else:
            text = f"{first} and {second} are not distinguishable {how}"
        middle = sign * _middle(differences)
        verdicts.append(PairVerdict(first, second, count, middle, p, after, told, text, needed, unit))
    return verdicts


def overall(records: Records, measure: str, level: float = 0.05) -> Overall:
    """Whether any of three or more solvers differ: Friedman's test (`scipy.stats.friedmanchisquare`).

    Over the problems that all the solvers took, each with medians over seeds; failures share the
    last rank. Its p-value is from the chi-square approximation, which is rough for few problems.

    Raises
    ------
    InvalidInput
        If it is not known which direction of the measure is better.
    """
    table = loss_table(records, measure)
    solvers = _present(records, table)
    blocks = [found for runs in table.values() if len(found := medians(runs)) == len(solvers)]
    count, number = len(blocks), len(solvers)
    if number < 3:
        text = "the test over all solvers takes three or more; see the pairs"
        return Overall(number, count, math.nan, False, text)
    if count == 0:
        text = f"no problem was taken by all {number} solvers; see the pairs"
        return Overall(number, count, math.nan, False, text)
    ranks = np.array([scipy.stats.rankdata([found[s] for s in solvers]) for found in blocks])
    equal = bool(np.all(ranks == ranks[:, :1]))
    p = 1.0 if equal else float(scipy.stats.friedmanchisquare(*ranks.T).pvalue)
    what = f"{count} problem{'s' * (count != 1)}"
    told = p <= level
    if told:
        text = f"the {number} solvers are not all alike ({_p(p)}, {what})"
    elif _same_order(count, number) > level:
        needed = next(n for n in range(count + 1, 10_000) if _same_order(n, number) <= level)
        text = f"{what} cannot distinguish {number} solvers; at least {needed} are needed"
    else:
        text = f"the {number} solvers are not distinguishable ({_p(p)}, {what})"
    return Overall(number, count, p, told, text)


def _present(records: Records, table: Table) -> list[str]:
    return [solver for solver in records.solvers if any(solver in runs for runs in table.values())]


def _one_problem(table: Table, problem: str | None, measure: str) -> str:
    if problem is None and len(table) == 1:
        return next(iter(table))
    known = ", ".join(repr(name) for name in table) or "none"
    if problem is None:
        raise InvalidInput(f'unit="seed" compares within one problem: give `problem`, one of {known}')
    if problem not in table:
        raise InvalidInput(f"no problem {problem!r} can be compared by {measure}; those that can: {known}")
    return problem


def _over_problems(table: Table, first: str, second: str) -> _Array:
    found = []
    for runs in table.values():
        if first in runs and second in runs:
            pair = medians({first: runs[first], second: runs[second]})
            if pair:
                found.append(_less(pair[first], pair[second]))
    return np.array(found, dtype=float)


def _over_seeds(runs: dict[str, dict[int, float]], first: str, second: str) -> _Array:
    ours, theirs = runs.get(first, {}), runs.get(second, {})
    seeds = _common(runs, first, second)
    if len({(ours[seed], theirs[seed]) for seed in seeds}) == 1:
        seeds = seeds[:1]  # both ignore the seed: one observation, however often it was repeated
    return np.array([_less(ours[seed], theirs[seed]) for seed in seeds], dtype=float)


def _common(runs: dict[str, dict[int, float]], first: str, second: str) -> list[int]:
    return sorted(runs.get(first, {}).keys() & runs.get(second, {}).keys())


def _less(one: float, other: float) -> float:
    return 0.0 if one == other else one - other  # inf less inf: both failed, no difference


def _middle(differences: _Array) -> float:
    """The median, nan where it falls between failures of one and of the other."""
    if not len(differences):
        return math.nan
    ordered = np.sort(differences)
    lower, upper = float(ordered[(len(ordered) - 1) // 2]), float(ordered[len(ordered) // 2])
    return lower if lower == upper else (lower + upper) / 2 + 0.0


def _signed_rank_sum(differences: _Array) -> float:
    return float(np.sum(np.sign(differences) * scipy.stats.rankdata(np.abs(differences))))


def _wilcoxon(differences: _Array) -> float:
    kept = differences[differences != 0.0]
    if len(kept) < 2:
        return 1.0  # nothing differs, or once: either sign is as likely
    # Their signed ranks stand for the differences: the same test, without infinities.
    return _signed_ranks_p(tuple(np.sort(np.sign(kept) * scipy.stats.rankdata(np.abs(kept))).tolist()))


@lru_cache(maxsize=4096)  # a few hundred pairs, by a few measures
def _signed_ranks_p(signed: tuple[float, ...]) -> float:
    ranks = np.array(signed)
    if len(np.unique(np.abs(ranks))) == len(ranks) or len(ranks) > _EXACT:
        return float(scipy.stats.wilcoxon(ranks).pvalue)
    # SciPy goes through all signs here too, but ranks again each time, which takes a second.
    exact = scipy.stats.permutation_test(
        (ranks,), np.sum, permutation_type="samples", vectorized=True, n_resamples=np.inf
    )
    return float(exact.pvalue)


def _holm(ps: list[float]) -> list[float]:
    # As multipletests of statsmodels, which collects the process's garbage at every call, for .2 s.
    order = np.argsort(ps)
    stepped = np.sort(ps) * np.arange(len(ps), 0, -1)
    corrected = np.empty(len(ps))
    corrected[order] = np.minimum(np.maximum.accumulate(stepped), 1.0)
    return [float(p) for p in corrected]


def _least(count: int) -> float:
    """The smallest two-sided p of so many pairs: all differences of one sign."""
    return 2.0 ** (1 - count)


def _reachable(counts: list[int]) -> list[float]:
    """The smallest corrected p of each pair: all of them clean sweeps over so many problems."""
    if len(set(counts)) == 1:  # the usual case
        return [min(1.0, len(counts) * _least(counts[0]))] * len(counts)
    return _holm([_least(count) for count in counts])


def _needed(pairs: int, level: float) -> int:
    """How many problems it takes until a clean sweep is significant, with so many pairs."""
    return next(count for count in range(1, 10_000) if pairs * _least(count) <= level)


def _same_order(problems: int, solvers: int) -> float:
    """Friedman's p where every problem puts the solvers in the same order, without ties."""
    return float(scipy.stats.chi2.sf(problems * (solvers - 1), solvers - 1))


def _p(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {number(p)}"
