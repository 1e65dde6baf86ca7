"""Profiles on histories of evaluations, as OptiProfiler makes them, for derivative-free solvers.

A run solves an instance to the accuracy tau by its first evaluation whose merit is at most
``tau * start + (1 - tau) * least``: `start` is the merit of the starting point and `least` the least that any
run of the comparison found on the instance. The merit is the objective with a penalty for violating the
constraints (`optiframe.solving.counting.merit_of`). Evaluations are counted exactly, between iterates
too. What a solver returns in the end does not count: only what it evaluated.

Source: More and Wild, Benchmarking derivative-free optimization algorithms, 2009; Huang, Ragonneau and Zhang,
OptiProfiler.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from optiframe.comparison.records import Outcome, Records
from optiframe.comparison.stats.loss_table import incomparable
from optiframe.comparison.stats.profiles import Curve, step_curves
from optiframe.errors import InvalidInput
from optiframe.tables.columns import Columns

ACCURACIES = (1e-1, 1e-3, 1e-5)
"""Accuracies that reports draw: what a first rough, a useful and an accurate answer cost."""
_Array = np.ndarray[Any, np.dtype[np.float64]]


def evaluation_profile(
    records: Records, kind: Literal["performance", "data"], *, accuracy: float
) -> list[Curve]:
    """Share of instances solved to an accuracy, by evaluations; empty where no history is on record.

    Parameters
    ----------
    records
        A comparison whose budget limits evaluations, so that histories were kept.
    kind
        "data": within `x` times n + 1 evaluations, for n variables. "performance": within `x` times the
        evaluations of the solver that took the fewest.
    accuracy
        The share of the decrease from the start to the least merit found that may be missing: above 0
        and below 1.

    Returns
    -------
    list of Curve
        One a solver, in the plan's order. A run that failed or was unsuited has not solved its instance.

    Raises
    ------
    InvalidInput
        For another kind or accuracy.
    """
    if kind not in ("performance", "data"):
        raise InvalidInput(f"a profile is 'performance' or 'data', got {kind!r}")
    if not 0 < accuracy < 1:
        raise InvalidInput(f"an accuracy is above 0 and below 1, got {accuracy}")
    solvers, costs, per_variable = work(records, accuracy)
    if not len(costs):
        return []
    if kind == "data":
        finite = per_variable[np.isfinite(per_variable)]
        return step_curves(solvers, per_variable, float(finite.min()) if len(finite) else 1.0)
    best = costs.min(axis=1, keepdims=True)
    solved = np.isfinite(costs)
    return step_curves(solvers, np.where(solved, costs / np.where(np.isfinite(best), best, 1.0), np.inf), 1.0)


def solved_shares(
    records: Records, *, accuracies: Sequence[float] = ACCURACIES, within: Sequence[float] = (10.0, 100.0)
) -> Columns:
    """Points of the data profiles as a table: a row a solver, a column an accuracy and a budget.

    `within` are evaluations over n + 1. Empty where no history is on record.
    """
    columns: dict[str, Any] = {}
    for accuracy in accuracies:
        solvers, _, per_variable = work(records, accuracy)
        if not len(per_variable):
            return {}
        columns.setdefault("solver", solvers)
        for most in within:
            shares = (per_variable <= most).mean(axis=0)
            columns[f"{accuracy:g} within {most:g} (n + 1)"] = [float(share) for share in shares]
    return columns


def work(records: Records, accuracy: float) -> tuple[list[str], _Array, _Array]:
    """Evaluations until solved, by instance and solver, plain and over n + 1; inf where not solved.

    Left out are problems that cannot be compared by objective, and instances that some solver has not
    ended.
    """
    left_out = incomparable(records)
    table: dict[tuple[str, int], dict[str, Outcome | None]] = {}
    for row in records.rows:
        if row.problem not in left_out:
            table.setdefault((row.problem, row.seed), {})[row.solver] = row.outcome
    counted = {row.solver for row, outcome in records.outcomes if outcome.history}
    silent = {row.solver for row, outcome in records.outcomes if outcome.answered} - counted
    # A solver that answers without asking the objective is left out; one that only failed has solved nothing.
    solvers = [solver for solver in records.solvers if counted and solver not in silent]
    costs, per_variable = [], []
    for runs in table.values():
        if any(runs.get(solver) is None for solver in solvers):
            continue
        histories = [runs[solver].history for solver in solvers]  # type: ignore[union-attr]  # all have ended
        target = _target([history for history in histories if history], accuracy)
        found = [_first(history, target) for history in histories]
        costs.append([one for one, _ in found])
        per_variable.append([one for _, one in found])
    shape = (len(costs), len(solvers))
    return solvers, np.array(costs, dtype=float).reshape(shape), np.array(per_variable).reshape(shape)


def _target(histories: list[Any], accuracy: float) -> float:
    """The merit that counts as solved."""
    if not histories:
        return -math.inf
    start = float(histories[0]["merit"][0])
    least = min(float(min(history["merit"])) for history in histories)
    if math.isinf(start) and start > 0:
        return math.inf
    if not math.isfinite(least):
        return -math.inf
    return max(accuracy * start + (1.0 - accuracy) * least, least)


def _first(history: Any, target: float) -> tuple[float, float]:
    if history:
        reached = np.flatnonzero(np.asarray(history["merit"][1:]) <= target)  # row 0 is no evaluation
        if len(reached):
            at = int(reached[0]) + 1
            return history["evaluations"][at], history["per_variable"][at]
    return math.inf, math.inf
