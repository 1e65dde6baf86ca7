"""What a comparison says, in words, before any chart."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping

from optiframe.comparison import statistics
from optiframe.comparison.records import Records
from optiframe.comparison.statistics import PairVerdict, Standing
from optiframe.report.numbers import counted, listed, number
from optiframe.results import Status

# More names than this in a sentence are not read.
_NAMED = 4
_UNRANKED = (
    "No measure ranks the solvers: they share no objective, and no metric is known to be better when "
    "lower or higher; the comparison's file can say which under [better]."
)


def verdict(records: Records, judged: Mapping[str, list[PairVerdict]] | None = None) -> list[str]:
    """Sentences on who ranks first by which measure, how sure that is, and how many runs failed.

    `judged` are the `pairs` by measure, where they are known already.
    """
    if not records.rows:
        return ["This comparison has no runs: its plan names no problem or no solver."]
    if all(row.outcome is None for row in records.rows):
        return [f"None of the {counted(len(records.rows), 'run')} has ended yet, so nothing can be said."]
    ranked = statistics.measures(records)
    if not any(row.outcome is not None and row.outcome.answered for row in records.rows):
        said = ["No solver gave an answer that counts, so there is nothing to rank."]
    elif len(records.solvers) == 1:
        said = [f"{records.solvers[0]} ran alone, so there is nothing to rank it against."]
    elif ranked:
        judged = judged or {measure: pairs(records, measure) for measure in ranked}
        said = [_ranking(records, measure, judged[measure]) for measure in ranked]
    else:
        said = [_UNRANKED]
    return [sentence for sentence in (*said, _endings(records)) if sentence]


def pairs(records: Records, measure: str) -> list[PairVerdict]:
    """Every two solvers compared: over problems, or over the seeds of the only problem there is."""
    verdicts = statistics.compare_pairs(records, measure)
    if max((verdict.problems for verdict in verdicts), default=0) == 1 and len(records.problems) == 1:
        return statistics.compare_pairs(records, measure, unit="seed", problem=records.problems[0])
    return verdicts


def _ranking(records: Records, measure: str, verdicts: list[PairVerdict]) -> str:
    standings = [s for s in statistics.standings(records, measure) if not math.isnan(s.mean_rank)]
    if len(standings) < 2:
        return ""
    first = standings[0]
    by = f"By {measure}, over {counted(max(s.problems for s in standings), 'problem')},"
    leaders = [s.solver for s in standings if s.mean_rank == first.mean_rank]
    if len(leaders) == len(standings):
        return f"{by} all solvers rank alike."
    rank = f"(mean rank {number(first.mean_rank)} of {len(standings)})"
    if len(leaders) > 1:
        return f"{by} {_names(leaders)} share the first rank {rank}."
    return f"{by} {first.solver} ranks first {rank}{_sure(first, verdicts)}."


def _sure(first: Standing, verdicts: list[PairVerdict]) -> str:
    """Whether the first place is more than chance."""
    others: dict[bool, list[str]] = {True: [], False: []}
    for pair in verdicts:
        if first.solver in (pair.first, pair.second):
            others[pair.distinguishable].append(pair.second if pair.first == first.solver else pair.first)
    apart, alike = others[True], others[False]
    if not apart and not alike:
        return ""
    if not alike:
        return f", distinguishable from {_all_of(apart)}"
    if not apart:
        return f", but not distinguishable from {_all_of(alike)}"
    return f", distinguishable from {_names(apart)} but not from {_names(alike)}"


def _all_of(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"any of the {len(names)} others"


def _names(names: list[str]) -> str:
    if len(names) > _NAMED:
        return listed([*names[:_NAMED], counted(len(names) - _NAMED, "other")])
    return listed(names)


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
