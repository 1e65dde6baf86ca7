"""Run by a test in a process of its own: OR-tools cannot be loaded beside highspy, which CVXPY loads."""

from __future__ import annotations

import json
import warnings

import numpy as np
from optiframe_tvcs.sets.three_view import ThreeView

import optiframe
from optiframe import Projection
from optiframe.testing import run_checks
from optiframe.testing.cases import Case


def instance(seed: int) -> Projection:
    """Random sets with bounds of 0, views left out, elements in no group; every other point with ties."""
    rng = np.random.default_rng(seed)
    p = int(rng.integers(0, 60))
    table: dict[str, object] = {"size": p, "total": int(rng.integers(0, p + 2))}
    for view in ("rows", "columns"):
        groups = int(rng.integers(0, 8))
        if groups:
            table[view] = {"labels": rng.integers(-1, groups, p), "bounds": rng.integers(0, 6, groups)}
    v = rng.standard_normal(p) if seed % 2 else rng.integers(-3, 4, p).astype(np.float64)
    return Projection(v, ThreeView.load(**table))


def assignment(seed: int, workers: int = 9, tasks: int = 14) -> optiframe.Problem:
    data = {"name": "assignment.uniform", "workers": workers, "tasks": tasks, "seed": seed}
    return optiframe.problem(dataset=data, samples=200)


def main() -> None:
    warnings.simplefilter("error")
    cases = {"ortools.projection": instance(1), "ortools.assignment": assignment(0, 6, 8)}
    failed = [
        one.failure
        for name, problem in cases.items()
        for one in run_checks(Case(optiframe.solver(name), problem))
        if one.failure is not None
    ]
    distances = []
    for seed in range(60):
        problem = instance(seed)
        found = optiframe.solve(problem, "ortools.projection", progress=False)
        exact = problem.objective(problem.onto.project(problem.point))
        distances.append([exact, found.objective, found.detail.certificate.holds])
    sums = []
    for seed in range(5):
        problem = assignment(seed)
        quality = problem.quality.quality
        ours, theirs = (
            optiframe.solve(problem, name, progress=False)
            for name in ("tvcs.assignment-by-quality", "ortools.assignment")
        )
        sums.append([float(quality[one.solution.chosen].sum()) for one in (ours, theirs)])
        sums[-1].append(theirs.detail.certificate.holds)
    beside = optiframe.solver("highspy.projection").unsuited(Projection(quality, problem.over))
    print(json.dumps({"failed": failed, "found": distances + sums, "beside": beside}))


if __name__ == "__main__":
    main()
