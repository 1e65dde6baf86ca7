"""Assign workers to tasks so that the labels come out right, within caps.

python examples/assign_tasks.py

Qualities are drawn (20 workers, 40 tasks, right with a chance between .5 and .9). A worker may have
four tasks, a task two workers, and the budget is 64 answers. With real workers the qualities are a
table with the columns worker, task, quality.
"""

from __future__ import annotations

import numpy as np

import optiframe

CAPS = {"per_worker": 4, "per_task": 2, "total": 64}


def main() -> None:
    problem = optiframe.problem("task-assignment", dataset="assignment.uniform", **CAPS)
    for name in ("tvcs.assignment-random", "tvcs.assignment-by-quality", "tvcs.assignment-iht"):
        result = optiframe.solve(problem, name, progress=False)
        found = result.solution
        per_task = np.bincount(found.chosen.sum(axis=0), minlength=3)
        print(
            f"{name:27} expected accuracy {found.accuracy.value:.3f}; tasks with 0, 1, 2 workers: {per_task}"
        )

    tables = result.to_tables()
    print("\nThe first pairs of the last one:")
    for task, worker, quality in list(zip(*tables["assignment"].values(), strict=True))[:4]:
        print(f"  {task}  {worker}  right with chance {quality:.2f}")
    print(f"One more answer would add {tables['caps']['one_more_adds'][0]:.4f} to the accuracy.")


if __name__ == "__main__":
    main()
