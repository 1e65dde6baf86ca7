"""Why signs are fitted and not read afterwards: the route over |C| on sparse labels.

Run: python examples/bench/rankone_absolute.py

1,000 workers, 100,000 tasks, 10 labels each: most pairs of workers share one task or a few, where
|C| is far above |s_i s_j|. Errors of the signed solvers, of those on |C| with signs read
breadth-first (Sec. 5.2), and of the vote with true skills. Target: the default is within
0.002 of the last, and the others show the gap.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

from rankone_common import one_thread, verdict

import optiframe

NEAR = 0.002
RUNS: list[tuple[str, dict[str, Any]]] = [
    ("labels.majority", {}),
    ("rankone.pgd", {}),
    ("rankone.coordinate", {}),
    ("rankone.pgd", {"signs": "recovered"}),
    ("rankone.exponentiated", {}),
    ("rankone.exponentiated", {"route": "sinkhorn"}),
]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--workers", type=int, default=1000)
    parser.add_argument("--tasks", type=int, default=100_000)
    chosen = parser.parse_args()
    one_thread()
    good = True
    for low in (-0.3, 0.0):
        data = optiframe.dataset(
            "synthetic.single-coin",
            workers=chosen.workers,
            tasks=chosen.tasks,
            labels_per_task=10,
            skill_low=low,
        )
        problem = optiframe.problem(dataset=data)
        oracle = problem.metrics(problem.weighted_vote(data.skills_of_workers()))["error"]
        print(f"-- skills from {low:g} to 0.8: error of the vote with true skills {oracle:.4f}")
        for name, parameters in RUNS:
            result = optiframe.solve(problem, name, trace=False, progress=False, **parameters)
            error = result.metrics["error"]
            shown = ", ".join(f"{key} = {value}" for key, value in parameters.items())
            print(f"{name + (f' ({shown})' if shown else ''):<42} {error:.4f}  {result.iterations} steps")
            if name == "rankone.pgd" and not parameters:
                good &= verdict("difference", error - oracle, NEAR)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
