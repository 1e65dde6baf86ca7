"""Run by a test in a process of its own: OR-tools cannot be loaded beside highspy."""

from __future__ import annotations

import json
import warnings

import optiframe
from optiframe.testing import run_checks
from optiframe.testing.cases import Case


def main() -> None:
    warnings.simplefilter("error")
    small = optiframe.problem(dataset={"name": "assignment.uniform", "workers": 6, "tasks": 8}, samples=200)
    failed = [
        one.failure
        for one in run_checks(Case(optiframe.solver("ortools.assignment"), small))
        if one.failure is not None
    ]
    sums = []
    for seed in range(5):
        problem = optiframe.problem(
            dataset={"name": "assignment.uniform", "workers": 9, "tasks": 14, "seed": seed}, samples=200
        )
        quality = problem.quality.quality
        ours, theirs = (
            optiframe.solve(problem, name, progress=False)
            for name in ("tvcs.assignment-by-quality", "ortools.assignment")
        )
        sums.append([float(quality[one.solution.chosen].sum()) for one in (ours, theirs)])
        sums[-1].append(theirs.detail.certificate.holds)
    beside = optiframe.solver("highspy.projection").unsuited(optiframe.Projection(quality, problem.over))
    print(json.dumps({"failed": failed, "sums": sums, "beside": beside}))


if __name__ == "__main__":
    main()
