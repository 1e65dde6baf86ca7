"""What a comparison says, in words, before any chart."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate

from optiframe.comparison import statistics
from optiframe.comparison.records import Records
from optiframe.comparison.statistics import PairVerdict, Standing
from optiframe.report.numbers import counted, listed, number
from optiframe.results import Status

# More names than this in a sentence are not read, nor so many letters of names.
_NAMED = 4
_LETTERS = 110
_OPEN = 2  # sentences on who is first that are read before the rest; the others are one click away
_UNRANKED = (
    "No measure ranks the solvers: they share no objective, and no metric is known to be better when "
    "lower or higher; the comparison's file can say which under [better]."
)


@dataclass(frozen=True)
class Verdict:
    """Sentences: those to read first, and those for who wants to know more."""

    opening: list[str]
    more: list[str]


@dataclass(frozen=True)
class _Ranking:
    """What one measure says; measures that say the same are told in one sentence."""

    leaders: tuple[str, ...]
    ranked: int
    sure: str


def verdict(records: Records, judged: Mapping[str, list[PairVerdict]] | None = None) -> Verdict:
    """Who ranks first by which measures, how sure that is, and how many runs failed.

    `judged` are the `pairs` by measure, where they are known already.
    """
    if not records.rows:
        return Verdict(["This comparison has no runs: its plan names no problem or no solver."], [])
    if all(row.outcome is None for row in records.rows):
        runs = counted(len(records.rows), "run")
        return Verdict([f"None of the {runs} has ended yet, so nothing can be said."], [])
    ranked = statistics.measures(records)
    if not any(row.outcome is not None and row.outcome.answered for row in records.rows):
        said = ["No solver gave an answer that counts, so there is nothing to rank."]
    elif len(records.solvers) == 1:
        said = [f"{records.solvers[0]} ran alone, so there is nothing to rank it against."]
    elif ranked:
        said = _rankings(records, judged or {measure: pairs(records, measure) for measure in ranked})
    else:
        said = [_UNRANKED]
    return Verdict([*said[:_OPEN], _endings(records)], said[_OPEN:])


def pairs(records: Records, measure: str) -> list[PairVerdict]:
    """Every two solvers compared: over problems, or over the seeds of the only problem there is."""
    verdicts = statistics.compare_pairs(records, measure)
    if max((verdict.problems for verdict in verdicts), default=0) == 1 and len(records.problems) == 1:
        return statistics.compare_pairs(records, measure, unit="seed", problem=records.problems[0])
    return verdicts


def unit(records: Records) -> str:
    """What `pairs` are paired over."""
    return "seed" if len(records.problems) == 1 else "problem"


def too_few(verdicts: list[PairVerdict]) -> int:
    """Where no two solvers can be told apart for want of problems: how many it takes; else 0."""
    tested = [pair for pair in verdicts if pair.problems]
    if not tested or not all(pair.needed for pair in tested):
        return 0
    return max(pair.needed for pair in tested)


def _rankings(records: Records, judged: Mapping[str, list[PairVerdict]]) -> list[str]:
    """A sentence for each group of measures that agree, in the order of their first measures."""
    groups: dict[_Ranking, list[tuple[str, Standing, int]]] = {}
    for measure, verdicts in judged.items():
        standings = [s for s in statistics.standings(records, measure) if not math.isnan(s.mean_rank)]
        if len(standings) > 1:
            leaders = tuple(s.solver for s in standings if s.mean_rank == standings[0].mean_rank)
            key = _Ranking(leaders, len(standings), _sure(records, leaders, verdicts))
            most = max(s.problems for s in standings)
            groups.setdefault(key, []).append((measure, standings[0], most))
    return [_sentence(records, key, measures) for key, measures in groups.items()]


def _sentence(records: Records, said: _Ranking, measures: list[tuple[str, Standing, int]]) -> str:
    counts = sorted({problems for _, _, problems in measures})
    over = counted(counts[-1], "problem") if len(counts) == 1 else f"{counts[0]} to {counts[-1]} problems"
    by = f"By {_names([measure for measure, _, _ in measures], 'other measure')}, over {over},"
    # A solver may lack a measure, or suit none of its problems.
    among = f" of the {said.ranked} solvers it ranks" if said.ranked < len(records.solvers) else ""
    if len(said.leaders) == said.ranked:
        alike = f"the {said.ranked} solvers that have it" if among else "all solvers"
        return f"{by} {alike} rank alike."
    ranks = {first.mean_rank for _, first, _ in measures}
    rank = f" (mean rank {number(ranks.pop())} of {said.ranked})" if len(ranks) == 1 else among
    verb = "share the first rank" if len(said.leaders) > 1 else "ranks first"
    return f"{by} {_names(list(said.leaders), 'other')} {verb}{rank}{said.sure}."


def _sure(records: Records, leaders: tuple[str, ...], verdicts: list[PairVerdict]) -> str:
    """Whether the first place is more than chance."""
    if needed := too_few(verdicts):
        return f"; that may be chance: to distinguish two takes at least {counted(needed, unit(records))}"
    if len(leaders) > 1:
        return ""
    others: dict[bool, list[str]] = {True: [], False: []}
    for pair in verdicts:
        if leaders[0] in (pair.first, pair.second):
            others[pair.distinguishable].append(pair.second if pair.first == leaders[0] else pair.first)
    apart, alike = others[True], others[False]
    if not apart and not alike:
        return ""
    if not alike:
        return f", distinguishable from {_all_of(apart)}"
    if not apart:
        return f", but not distinguishable from {_all_of(alike)}"
    return f", distinguishable from {_names(apart, 'other')} but not from {_names(alike, 'other')}"


def _all_of(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"any of the {len(names)} others"


def _names(names: list[str], word: str) -> str:
    fit = sum(length <= _LETTERS for length in accumulate(map(len, names)))
    kept = max(1, min(fit, _NAMED if len(names) > _NAMED + 1 else len(names)))
    if kept == len(names):
        return listed(names)
    return listed([*names[:kept], counted(len(names) - kept, word)])


def _endings(records: Records) -> str:
    failed = statistics.failures(records)
    # An answer that violates the constraints failed whatever its solver said.
    counts = Counter(
        "infeasible answer" if _answers(failure.status) else str(failure.status).replace("_", " ")
        for failure in failed
    )
    total = len(records.rows)
    how = ", ".join(f"{count} {words}" for words, count in counts.most_common())
    said = f"{len(failed)} of {counted(total, 'run')} failed ({how})" if failed else "No run failed"
    unsuited = sum(row.outcome is not None and row.outcome.status is Status.UNSUITED for row in records.rows)
    if unsuited:
        said += f"; {unsuited} did not take place, the solver being unsuited to the problem"
    waiting = sum(row.outcome is None for row in records.rows)
    if waiting:
        said += f"; {waiting} {'has' if waiting == 1 else 'have'} not ended yet"
    return f"{said}."


def _answers(status: Status) -> bool:
    return not status.of_comparison and status not in (Status.DIVERGED, Status.INFEASIBLE, Status.CANCELLED)
