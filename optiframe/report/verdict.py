"""What a comparison says, in words, before any chart."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate

from optiframe.comparison.records import Records
from optiframe.comparison.stats import ranking
from optiframe.comparison.stats.digits import digits_apart
from optiframe.comparison.stats.loss_table import directions, failures, loss_table, medians
from optiframe.comparison.stats.no_ranking_reason import no_ranking_reason, ranking_measures
from optiframe.comparison.stats.pair_tests import PairVerdict
from optiframe.comparison.stats.paired_samples import one_data_set, pairs, too_few, unit
from optiframe.comparison.stats.ranking import Standing
from optiframe.comparison.stats.timings import unsteady_times
from optiframe.comparison.units import joined, quoted
from optiframe.numbers import counted, number, seconds
from optiframe.report.speed import speed_among, speed_beside_next
from optiframe.solving.result import Status

# More names than this in a sentence are not read, nor so many letters of names.
_NAMED = 4
_LETTERS = 110
_OPEN = 2  # statements on who is first that are read before the rest; the others are one click away
_SHOWN = 3  # values of this many problems can be read in a sentence
_WORDS = ("No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten")


@dataclass(frozen=True)
class Verdict:
    """Sentences: those to read first, and those for who wants to know more."""

    opening: list[str]
    more: list[str]


@dataclass(frozen=True)
class _Ranking:
    """What one measure says; measures that say the same share one sentence."""

    leaders: tuple[str, ...]
    ranked: int
    sure: str


def verdict(records: Records, judged: Mapping[str, list[PairVerdict]] | None = None) -> Verdict:
    """Who ranks first by which measures, how sure that is, and how many runs failed.

    `judged` are the `pairs` by measure, where they are known already.
    """
    if not records.rows:
        return Verdict(["This comparison has no runs: its plan names no problem or no solver."], [])
    if not records.outcomes:
        runs = counted(len(records.rows), "run")
        return Verdict([f"None of the {runs} has ended yet, so nothing can be said."], [])
    if not any(outcome.answered for _, outcome in records.outcomes):
        said = ["No solver gave an answer that counts, so there is nothing to rank."]
    elif len(records.solvers) == 1:
        said = [f"{records.solvers[0]} ran alone, so there is nothing to rank it against."]
    else:
        known = judged or {measure: pairs(records, measure) for measure in ranking_measures(records)}
        why = no_ranking_reason(records)
        said = [*([why] if why else []), *_rankings(records, known)]
    return Verdict([*said[:_OPEN], *_unsteady(records), _endings(records)], said[_OPEN:])


def _rankings(records: Records, judged: Mapping[str, list[PairVerdict]]) -> list[str]:
    """A statement for each group of measures that agree, in the order of their first measures.

    The first is by the primary metric and says how fast the winners are, too.
    """
    groups: dict[_Ranking, list[tuple[str, list[Standing]]]] = {}
    for measure, verdicts in judged.items():
        standings = [s for s in ranking.standings(records, measure) if not math.isnan(s.mean_rank)]
        if len(standings) > 1:
            leaders = tuple(s.solver for s in standings if s.mean_rank == standings[0].mean_rank)
            sure = "" if len(leaders) == len(standings) else _sure(records, leaders, verdicts)
            key = _Ranking(leaders, len(standings), sure)
            groups.setdefault(key, []).append((measure, standings))
    told: list[str] = []
    warned: set[str] = set()
    for key, measures in groups.items():
        first = _first(records, key, *measures[0])
        # Time stands beside the primary metric alone: that is what one chooses by.
        beside = "."
        if not told and len(key.leaders) > 1:
            beside = speed_among(records, key.leaders)
        elif not told:
            beside = speed_beside_next(records, key.leaders[0], measures[0][1][1].solver)
        parts = [f"{first}{beside}", _also(key, [measure for measure, _ in measures[1:]])]
        if key.sure not in warned:
            parts.append(key.sure)
        if key.sure and too_few(judged[measures[0][0]]):  # how many problems it takes is reported once
            warned.add(key.sure)
        told.append(" ".join(filter(None, parts)))
    return told


def _first(records: Records, said: _Ranking, measure: str, standings: list[Standing]) -> str:
    """Who is first by one measure, with the values where they are few."""
    count = max(s.problems for s in standings)
    # A solver may lack a measure, or suit none of its problems.
    some = said.ranked < len(records.solvers)
    everyone = len(said.leaders) == said.ranked
    report = "with an objective" if measure == "suboptimality" else "that report it"
    alike = f"the {said.ranked} solvers {report}" if some else f"all {said.ranked} solvers"
    who = alike if everyone and said.ranked > 2 else _names(list(said.leaders), "other")
    if len(said.leaders) > 1 and all(s.shared == count for s in standings if s.solver in said.leaders):
        if measure == "suboptimality":
            within = f", within the tolerance of {_power(records.tolerance)}"
            said_of = f"{who} reach the best objective known {_on(records, count)}{within}"
        else:
            which = "" if everyone else f"{_superlative(directions(records)[measure])} "
            said_of = f"{who} reach the same {which}{measure} {_on(records, count)}"
            said_of += _values(records, measure, said.leaders, count)
        return f"{said_of[0].upper()}{said_of[1:]}" if who is alike else said_of
    if everyone:
        return f"By {measure}, {who} rank alike {_over(records, count)}"
    first = standings[0]
    if len(said.leaders) == 1 and first.wins == first.problems:
        better = directions(records)[measure]
        if said.ranked == 2:
            which = f"the {better} {measure}" + (f" of the 2 solvers {report}" if some else "")
        else:
            have = f" {report}" if some else ""
            which = f"the {_superlative(better)} {measure} of the {said.ranked} solvers{have}"
        values = _values(records, measure, said.leaders, first.problems)
        return f"{quoted(first.solver)} had {which} {_on(records, first.problems)}{values}"
    rank = f"mean rank {number(first.mean_rank)} of {said.ranked}"
    if len(said.leaders) > 1:
        return (
            f"By {measure}, {_names(list(said.leaders), 'other')} share the first rank "
            f"{_over(records, count)} ({rank})"
        )
    wins = f"best on {first.wins}" + (f", tied on {first.shared}" if first.shared else "")
    return f"By {measure}, {quoted(first.solver)} ranks first {_over(records, count)}: {wins} ({rank})"


def _superlative(better: str) -> str:
    return better.replace("er", "est")


def _power(tolerance: float) -> str:
    return f"{tolerance:g}".replace("e-0", "e-")


def _over(records: Records, count: int) -> str:
    if count == 1 and len(records.problems) == 1:
        return f"on {records.problems[0]}"
    return f"over {counted(count, 'problem')}"


def _on(records: Records, count: int) -> str:
    """The problems a solver met another on, in words."""
    all_ = len(records.problems)
    if count == all_ == 1:
        return f"on {records.problems[0]}"
    whole = {1: "on the only problem", 2: "on both problems"}.get(count, f"on all {count} problems")
    return whole if count == all_ else f"{whole} that measure{'s' * (count == 1)} it"


def _values(records: Records, measure: str, leaders: tuple[str, ...], problems: int) -> str:
    """What the leaders reach and what the next does, problem by problem; empty where they are many."""
    if problems > _SHOWN:
        return ""
    sign = 1.0 if directions(records)[measure] == "lower" else -1.0
    shown = []
    for runs in loss_table(records, measure).values():
        found = medians(runs)
        if len(found) < 2 or not set(leaders) <= set(found):
            continue
        own = min(found.pop(leader) for leader in leaders)
        next_ = min(found.values(), default=math.nan)
        digits = digits_apart((own, next_))
        other = "a failure" if next_ == math.inf else number(sign * next_, digits)
        words = " vs" if len(found) == 1 else ", next is"
        shown.append(f"{number(sign * own, digits)}{f'{words} {other}' if found else ''}")
    return f" ({('; ' if ' is ' in shown[0] else ', ').join(shown)})" if shown else ""


def _also(said: _Ranking, measures: list[str]) -> str:
    """The other measures that say the same of who is first."""
    if not measures:
        return ""
    by = _names(measures, "other measure")
    if len(said.leaders) == said.ranked:
        return f"The same holds by {by}."
    if len(said.leaders) > 1:
        return f"These solvers share the first rank by {by}, too."
    return f"It ranks first by {by}, too."


def _sure(records: Records, leaders: tuple[str, ...], verdicts: list[PairVerdict]) -> str:
    """Whether the first place is more than chance."""
    if needed := too_few(verdicts):
        most = max(pair.problems for pair in verdicts)
        what = unit(verdicts)
        have = f"{_word(most)} {what}{' is' if most == 1 else 's are'}"
        why = one_data_set(records) if what == "problem" else ""
        chance = f"{have} too few to rule out chance; it takes at least {_word(needed).lower()}."
        return f"{chance} {why[0].upper()}{why[1:]}." if why else chance
    if len(leaders) > 1:
        return ""
    others: dict[bool, list[str]] = {True: [], False: []}
    for pair in verdicts:
        if leaders[0] in (pair.first, pair.second):
            others[pair.distinguishable].append(pair.second if pair.first == leaders[0] else pair.first)
    apart, alike = others[True], others[False]
    if not apart and not alike:
        return ""
    over = f"over the {unit(verdicts)}s"
    if not alike:
        return f"It is distinguishable from {_all_of(apart)} {over}."
    if not apart:
        return f"It is not distinguishable from {_all_of(alike)} {over}."
    from_ = f"from {_names(apart, 'other')} but not from {_names(alike, 'other')}"
    return f"It is distinguishable {from_} {over}."


def _word(count: int) -> str:
    return _WORDS[count] if count < len(_WORDS) else str(count)


def _all_of(names: list[str]) -> str:
    return quoted(names[0]) if len(names) == 1 else f"any of the {len(names)} others"


def _names(names: list[str], word: str) -> str:
    fit = sum(length <= _LETTERS for length in accumulate(map(len, names)))
    kept = max(1, min(fit, _NAMED if len(names) > _NAMED + 1 else len(names)))
    shown = [quoted(name) for name in names[:kept]]
    return joined(shown if kept == len(names) else [*shown, counted(len(names) - kept, word)])


def _unsteady(records: Records) -> list[str]:
    """A warning where times of short solves vary too much to be compared."""
    found = unsteady_times(records)
    if not found:
        return []
    worst = found[0]
    more = len(found) - 1
    others = f"; {counted(more, 'other')} {'varies' if more == 1 else 'vary'} likewise" if more else ""
    which = f"{quoted(worst.solver)} on {quoted(worst.problem)}"
    vary = f"{which} vary from {seconds(worst.low)} to {seconds(worst.high)}"
    remedy = 'Set repeat = "auto" to time short solves more often.'
    return [f"Do not rely on the shortest times: those of {vary}{others}. {remedy}"]


def _endings(records: Records) -> str:
    failed = failures(records)
    # An answer that violates the constraints failed whatever its solver said.
    counts = Counter(
        "infeasible answer" if _answers(failure.status) else str(failure.status).replace("_", " ")
        for failure in failed
    )
    total = len(records.rows)
    how = ", ".join(f"{count} {words}" for words, count in counts.most_common())
    said = f"{len(failed)} of {counted(total, 'run')} failed ({how})" if failed else "No run failed"
    unsuited = sum(not outcome.suited for _, outcome in records.outcomes)
    if unsuited:
        said += f"; {counted(unsuited, 'run')} left out, since the solver does not suit the problem"
    waiting = total - len(records.outcomes)
    if waiting:
        said += f"; {waiting} {'has' if waiting == 1 else 'have'} not ended yet"
    return f"{said}."


def _answers(status: Status) -> bool:
    return not status.of_comparison and status not in (Status.DIVERGED, Status.INFEASIBLE, Status.CANCELLED)
