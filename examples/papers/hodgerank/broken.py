"""The negative control of robust ranking: plain least squares (L2), which knows no outliers."""

from __future__ import annotations

from typing import Any

import numpy as np
from harness.answers import kept, problem_of
from harness.runs import Run, Runs
from numpy.typing import NDArray
from optiframe_hodgerank.metrics import area_under_curve

MISFITS = "the largest misfits to L2 in its place"
LBI_BY_MISFIT = "the largest misfits to L2 in LBI's place"


def misfit(problem: Any) -> NDArray[np.float64]:
    """How far each comparison is from the scores of L2."""
    table, scores = problem.comparisons, problem.graph.scores(problem.graph.margin)
    return np.abs(table.margin - scores[table.left] + scores[table.right])


def areas(runs: Runs, name: str) -> NDArray[np.float64]:
    """Area under the curve of the misfits to L2, for the problem of each run; kept as `name`."""
    settings = [[run.problem, run.seed] for run in runs]
    return np.array(kept(runs, f"misfits-{name}", settings, lambda: [_area(run) for run in runs]))


def _area(run: Run) -> float:
    problem = problem_of(run)
    return float(area_under_curve(misfit(problem), problem.outlier_truth))
