"""Curves of a run: objective, gap and accuracy against rounds, bytes and seconds."""

from __future__ import annotations

from typing import Any

import numpy as np

from optiframe.errors import InvalidInput
from optiframe.problems.minimize import Minimize
from optiframe.problems.problem import Problem
from optiframe.records.fields import Array
from optiframe.solving.result import Result
from optiframe.tables.columns import Columns
from optiframe_comrade.local.newton import minimum
from optiframe_comrade.problem import LinearClassification
from optiframe_comrade.protocol.ledger import Ledger


def curves(result: Result[Array, Ledger], optimum: float | None = None) -> Columns:
    """One row a step of a distributed run: rounds, bytes up and down, seconds, objective, gap, accuracies.

    Parameters
    ----------
    result
        Of a solver whose detail is a ledger.
    optimum
        The least objective; by default it is computed, by an exact solve.

    Returns
    -------
    Columns "step", "rounds", "bytes_up", "bytes_down", "seconds" (nan where the core recorded no
    trace), "objective", "gap", and for a `linear-classification` "accuracy" and, with test rows,
    "test_accuracy". Each costs one pass over the data a step.

    Raises
    ------
    InvalidInput
        When the result has no ledger.
    """
    ledger = result.detail
    if not isinstance(ledger, Ledger):
        raise InvalidInput(f"curves are drawn from a ledger, and this result has {type(ledger).__name__}")
    problem = result.problem
    least = least_objective(problem) if optimum is None else optimum
    values = np.array([result.evaluated.objective(point) for point in ledger.points])
    recorded = (
        dict(zip(result.trace["iteration"], result.trace["time"], strict=True)) if len(result.trace) else {}
    )
    costs = np.array(ledger.costs, dtype=np.int64).reshape(-1, 3)
    table: dict[str, Any] = {
        "step": np.arange(1, len(values) + 1),
        "rounds": costs[:, 0],
        "bytes_up": costs[:, 1],
        "bytes_down": costs[:, 2],
        "seconds": np.array([recorded.get(step, np.nan) for step in range(1, len(values) + 1)]),
        "objective": values,
        "gap": values - least,
    }
    if isinstance(problem, LinearClassification):
        table["accuracy"] = np.array([problem.accuracy(point) for point in ledger.points])
        if problem.test_matrix is not None:
            table["test_accuracy"] = np.array([problem.accuracy(point, test=True) for point in ledger.points])
    return table


def least_objective(problem: Problem[Array]) -> float:
    """The least objective of a smooth convex problem without constraints, by an exact solve."""
    if isinstance(problem, LinearClassification):
        return problem.lowest
    if isinstance(problem, Minimize):
        return problem.function.value(minimum(problem.function))
    raise InvalidInput(
        f"the optimum of a {problem.name!r} problem is not computed here; give it as `optimum`"
    )
