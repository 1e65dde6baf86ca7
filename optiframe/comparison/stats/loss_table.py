"""What one outcome is worth: what counts as a failure, and what may be compared with what.

Failures are decided here and nowhere else, so that tables, tests and profiles agree on them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from optiframe.comparison.records import Direction, Outcome, Records
from optiframe.comparison.stats.intervals import median
from optiframe.errors import InvalidInput, nearest
from optiframe.numbers import number
from optiframe.solving.result import FEASIBLE, Status

ROUNDING = (
    1e-12  # what differs by no more than this differs by the order of summation: a tie at any tolerance
)
_PLAIN: Mapping[str, Direction] = {"suboptimality": "lower", "objective": "lower", "time": "lower"}
Table = dict[str, dict[str, dict[int, float]]]  # a measure by problem, solver and seed; lower is better
_BY_OBJECTIVE = ("suboptimality", "objective")


@dataclass(frozen=True)
class Failure:
    """A run without an answer that counts, with all there is to say why."""

    problem: str
    solver: str
    seed: int
    status: Status
    message: str
    stderr: str = field(default="", repr=False)
    traceback: str = field(default="", repr=False)


def suboptimality(outcome: Outcome, best: Mapping[str, float]) -> float:
    """How far the answer's objective is above the best known, relatively: (f - f*) / max(1, abs(f*)).

    Parameters
    ----------
    outcome
        How the run ended.
    best
        The lowest objective known, by the fingerprint of the problem solved: `Records.best`.

    Returns
    -------
    float
        inf for a failure, an infeasible answer included; nan where there is no objective, or no
        best one is known; never below zero, since an answer may be infeasible within the tolerance
        and so a little better than the best.
    """
    if not outcome.succeeded:
        return math.inf
    return above(outcome.objective, best.get(outcome.solved, math.nan))


def above(objective: float, best: float) -> float:
    """The relative distance of an objective above the best one; see `suboptimality`."""
    if math.isnan(objective) or not math.isfinite(best):
        return math.nan
    if math.isinf(objective):
        return math.inf  # either way: no answer has it, so the run has gone astray
    return max(0.0, (objective - best) / max(1.0, abs(best)))


def value(outcome: Outcome, measure: str, best: Mapping[str, float]) -> float:
    """One measure of an outcome, in its own direction; nan where it was not measured.

    "evaluations" sums the kinds of calls, each in full passes over the objective's terms: a
    gradient counts as much as a value.
    """
    if measure == "suboptimality":
        return suboptimality(outcome, best)
    if measure == "evaluations":
        return math.fsum(outcome.evaluations.values()) if outcome.evaluations else math.nan
    if measure in ("time", "cpu", "memory", "iterations", "objective"):
        return float(getattr(outcome, measure))
    return float(outcome.metrics.get(measure, math.nan))


def directions(records: Records) -> dict[str, Direction]:
    """Which direction is better, by measure, where it is known.

    "suboptimality", "objective" and "time" are better when lower. Of metrics the plan may say
    (`Records.better`), else the problems say; a metric of which two problems say the opposite
    has no direction.
    """
    said: dict[str, Direction] = {}
    disputed: set[str] = set()
    for _, outcome in records.outcomes:
        for name, direction in outcome.better.items():
            if said.setdefault(name, direction) != direction:
                disputed.add(name)
    kept = {name: direction for name, direction in said.items() if name not in disputed}
    return {**kept, **records.better, **_PLAIN}


def measures(records: Records) -> list[str]:
    """The measures that can rank solvers, first those that rank the most pairs of problem and solver.

    Those are "suboptimality", where at least one problem is comparable by its objective (see
    `incomparable`), and the metrics with a known direction that some successful run has. Among equals
    the metrics come first, in the order in which their directions are given: the first is the problem's
    primary metric, which says how good an answer is, where suboptimality says how well it was computed.
    Time alone is not among them, since being quick says nothing of an answer: see the profiles.
    """
    left_out = incomparable(records)
    known = [name for name in directions(records) if name not in _PLAIN]
    ranked: dict[str, set[tuple[str, str]]] = {name: set() for name in (*known, "suboptimality")}
    for row, outcome in records.outcomes:
        if not outcome.succeeded:
            continue
        if row.problem not in left_out and has_objective(outcome):
            ranked["suboptimality"].add((row.problem, row.solver))
        for name in known:
            if not math.isnan(outcome.metrics.get(name, math.nan)):
                ranked[name].add((row.problem, row.solver))
    return sorted((name for name in ranked if ranked[name]), key=lambda name: -len(ranked[name]))


def incomparable(records: Records) -> dict[str, str]:
    """The problems whose solvers cannot be compared by objective, with the reason.

    Objectives are compared within one problem and seed only where all that answers there have
    belong to the same problem actually solved (one fingerprint). A plan's problem that is drawn anew
    for every seed has one fingerprint a seed, which is fine. Where solvers solved different
    formulations, their objectives mean different things; the metrics compare them. A solver whose
    answers have none does not keep the others from being compared: see `without_objective`.
    """
    reasons: dict[str, str] = {}
    solved: dict[tuple[str, int], str] = {}
    answered: set[str] = set()
    with_objective: set[str] = set()
    mixed: set[str] = set()
    for row, outcome in records.outcomes:
        if not outcome.answered:
            continue
        answered.add(row.problem)
        if not has_objective(outcome):
            continue
        with_objective.add(row.problem)
        if solved.setdefault((row.problem, row.seed), outcome.solved) != outcome.solved:
            mixed.add(row.problem)
    for problem in records.problems:
        if problem in mixed:
            reasons[problem] = (
                "its solvers solved different formulations, whose objectives mean different things"
            )
        elif problem in answered - with_objective:
            reasons[problem] = "it has no objective"
    return reasons


def has_objective(outcome: Outcome) -> bool:
    """Whether the answer has an objective, of a problem that is known."""
    return bool(outcome.solved) and not math.isnan(outcome.objective)


def without_objective(records: Records) -> dict[str, list[str]]:
    """By problem comparable by its objective, the solvers that answered it and never with an objective.

    A majority vote, say, beside solvers of an optimization problem. By objective they are not
    compared there; a solver that has one for some seeds and not for others is, and fails for those.
    """
    left_out = incomparable(records)
    pairs: dict[tuple[str, str], bool] = {}
    for row, outcome in records.outcomes:
        if outcome.answered and row.problem not in left_out:
            pair = row.problem, row.solver
            pairs[pair] = pairs.get(pair, False) or has_objective(outcome)
    found: dict[str, list[str]] = {}
    for (problem, solver), has in pairs.items():
        if not has:
            found.setdefault(problem, []).append(solver)
    return found


def loss_table(records: Records, measure: str) -> Table:
    """A measure by problem, solver and seed, turned so that lower is better and a failure is inf.

    Left out are runs that have not ended, unsuited pairs, pairs of problem and solver that succeeded
    and never have the measure (a majority vote estimates no skills), and for suboptimality and
    objective the problems that are not comparable by them. A successful run that lacks the measure
    which the solver has for other seeds of the problem is a failure. Suboptimalities and metrics that
    differ by no more than the tolerance (`Records.tolerance`, relative above 1) are made equal.

    Raises
    ------
    InvalidInput
        If it is not known which direction of the measure is better.
    """
    known = directions(records)
    if measure not in known:
        raise InvalidInput(
            f"it is not known whether lower or higher {measure!r} is better{nearest(measure, known)}; "
            f"known are {', '.join(sorted(known))}; for a metric, say so under [better] in the plan"
        )
    sign = 1.0 if known[measure] == "lower" else -1.0
    left_out = incomparable(records) if measure in _BY_OBJECTIVE else {}
    table: Table = {}
    measured: set[tuple[str, str]] = set()  # pairs that have the measure
    succeeding: set[tuple[str, str]] = set()
    for row, outcome in records.outcomes:
        if not outcome.suited or row.problem in left_out:
            continue
        loss = math.inf
        if outcome.succeeded:
            succeeding.add((row.problem, row.solver))
            loss = sign * value(outcome, measure, records.best)
            if math.isnan(loss):
                loss = math.inf
            else:
                measured.add((row.problem, row.solver))
        table.setdefault(row.problem, {}).setdefault(row.solver, {})[row.seed] = loss
    if measure == "suboptimality":
        _tie(table, lambda gap: max(records.tolerance, ROUNDING), anchor=0.0)
    elif measure not in _PLAIN:
        _tie(table, lambda size: metric_tie(size, records.tolerance))
    lacking = succeeding - measured
    known_there = {problem for problem, _ in measured}
    nowhere = {problem for problem, _ in lacking} - known_there
    return {
        problem: {solver: runs for solver, runs in solvers.items() if (problem, solver) not in lacking}
        for problem, solvers in table.items()
        if problem not in nowhere
    }


def metric_tie(size: float, tolerance: float) -> float:
    """How far values of a metric of this size may be apart and tie; as for gaps, relative above 1."""
    return max(tolerance, ROUNDING) * max(1.0, abs(size))


def _tie(table: Table, width: Callable[[float], float], anchor: float = -math.inf) -> None:
    """Make equal, within a problem and seed, what is no further than a width from the best of its group.

    Groups begin at `anchor` and at the best value that is in none yet, so that a chain of small steps
    does not tie its ends.
    """
    for runs in table.values():
        for seed in {seed for by_seed in runs.values() for seed in by_seed}:
            having = [by_seed for by_seed in runs.values() if math.isfinite(by_seed.get(seed, math.inf))]
            least = anchor
            for by_seed in sorted(having, key=lambda by_seed: by_seed[seed]):
                if by_seed[seed] - least <= width(by_seed[seed]):
                    by_seed[seed] = least
                least = by_seed[seed]


def medians(runs: Mapping[str, Mapping[int, float]]) -> dict[str, float]:
    """Medians by solver, of one problem of a `Table`, over the seeds that all of them have ended.

    Empty without such seeds. A median between the best there is (-inf, of a metric without
    bound) and a failure is a failure.
    """
    seeds = set.intersection(*(set(by_seed) for by_seed in runs.values()))
    if not seeds:
        return {}
    found = {solver: median([by_seed[seed] for seed in seeds]) for solver, by_seed in runs.items()}
    return {solver: math.inf if math.isnan(middle) else middle for solver, middle in found.items()}


def reason(outcome: Outcome) -> str:
    """Why a run failed or could not begin, in a sentence; empty for a success."""
    if outcome.succeeded:
        return ""
    if outcome.answered:
        return f"the answer violates the constraints by {number(outcome.violation)}, more than {FEASIBLE:g}"
    return outcome.message or outcome.status.meaning


def failures(records: Records) -> list[Failure]:
    """The runs that failed, in the plan's order; unsuited pairs are not among them.

    An answer that is infeasible counts as a failure, whatever the solver says of it.
    """
    return [
        Failure(
            row.problem,
            row.solver,
            row.seed,
            outcome.status,
            reason(outcome),
            outcome.stderr,
            outcome.traceback,
        )
        for row, outcome in records.outcomes
        if outcome.suited and not outcome.succeeded
    ]
