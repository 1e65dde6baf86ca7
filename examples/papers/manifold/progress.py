"""How far the three methods have come on their own functions, read off stored traces."""

from __future__ import annotations

import numpy as np
from harness.runs import Run
from numpy.typing import NDArray

BROKEN = "conjugate gradients"  # the negative control: no curvature
LIKELIHOOD_ONLY = ("BFGDB", "SPG")  # they minimize other functions, in the trace as `minimized`


def column(run: Run, name: str) -> NDArray[np.float64]:
    """A column of the trace; nan where it says nothing."""
    return np.array([np.nan if value is None else value for value in run.outcome.trace[name]], dtype=float)


def own_gap(run: Run) -> NDArray[np.float64]:
    """What the method minimizes, over its least value in this run, relative to it."""
    values = column(run, "minimized" if run.solver_title in LIKELIHOOD_ONLY else "objective")
    least = float(np.nanmin(values))
    return (values - least) / abs(least)


def until(run: Run, inside: NDArray[np.bool_], of: str) -> float:
    """Iterations or seconds (`of`) up to the first recorded point inside."""
    found = np.flatnonzero(inside)
    return float(column(run, of)[found[0]]) if len(found) else np.inf


def seconds(run: Run) -> float:
    """Of the solver: its clock, or its processor time with the evaluation of iterates, whichever is less.

    Both are never less than the processor time of the method alone; on a busy machine the clock
    holds the waiting as well.
    """
    return min(run.value("time"), run.value("cpu"))
