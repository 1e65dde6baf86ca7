"""Pairs of solvers over what there is: over problems, or over the seeds of the only problem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from optiframe.comparison.records import Records
from optiframe.comparison.stats.pair_tests import PairVerdict, compare_pairs


def pairs(records: Records, measure: str, level: float = 0.05) -> list[PairVerdict]:
    """Every two solvers compared by one measure, as page, lead sentence and `Comparison.verdicts` say it.

    Over problems; where there is only one, over its seeds, unless it is one data set on which no
    two solvers' values change with the seed: seeds then repeat one observation, and it takes more
    problems.

    Raises
    ------
    InvalidInput
        If the measure's direction is not known.
    """
    verdicts = compare_pairs(records, measure, level)
    if len(records.problems) != 1 or max((pair.problems for pair in verdicts), default=0) != 1:
        return verdicts
    (problem,) = records.problems
    over_seeds = compare_pairs(records, measure, level, unit="seed", problem=problem)
    if problem not in records.fixed or any(pair.problems > 1 for pair in over_seeds):
        return over_seeds
    why = one_data_set(records)
    return [replace(pair, text=f"{pair.text}; {why}") if pair.needed else pair for pair in verdicts]


def one_data_set(records: Records) -> str:
    """Why more seeds do not help where the only problem has the same data for every seed; else empty."""
    if len(records.problems) != 1 or records.problems[0] not in records.fixed:
        return ""
    if len({row.seed for row in records.rows}) > 1:
        return "this is one data set: more seeds change nothing; add problems"
    return "this is one data set: more seeds draw no other data; add problems"


def unit(verdicts: Sequence[PairVerdict]) -> str:
    """What the pairs are paired over: "problem" or "seed"."""
    return verdicts[0].unit if verdicts else "problem"


def too_few(verdicts: Sequence[PairVerdict]) -> int:
    """Where no two solvers can be told apart for want of problems: how many it takes; else 0."""
    tested = [pair for pair in verdicts if pair.problems]
    if not tested or not all(pair.needed for pair in tested):
        return 0
    return max(pair.needed for pair in tested)
