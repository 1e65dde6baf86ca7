"""The main job: crowd labels to true labels, by four solvers chosen by name.

Runs on the RTE labels (800 tasks, 164 workers) when they are found or can be fetched, and
on generated labels of the same shape otherwise.
"""

from __future__ import annotations

import optiframe

SOLVERS = ("labels.majority", "labels.one-coin-em", "rankone.pgd", "scipy.lbfgs")
GENERATED = {
    "name": "synthetic.single-coin",
    "tasks": 800,
    "workers": 164,
    "labels_per_task": 10,
    "activity_skew": 1.0,
    "skill_low": -0.1,
    "skill_high": 0.9,
}


def main() -> None:
    try:
        problem = optiframe.problem(dataset="labels.rte")
        print("labels.rte: 800 tasks, 164 workers, 8,000 labels (Snow et al., 2008)\n")
    except optiframe.OptiframeError as error:
        print(f"The real labels are not here ({error}).\nGenerated labels of the same shape instead.\n")
        problem = optiframe.problem(dataset=GENERATED)
    print(f"{'solver':<20} {'error':>7} {'balanced':>9} {'iterations':>11} {'seconds':>8}  status")
    for name in SOLVERS:
        result = optiframe.solve(problem, name)
        error, balanced = result.metrics["error"], result.metrics["balanced_error"]
        print(
            f"{name:<20} {error:7.4f} {balanced:9.4f} {result.iterations:11d} {result.time:8.3f}"
            f"  {result.status}"
        )
    print("\nWhat to know before trusting the last answer:")
    for finding in result.findings:
        print(f"- {finding.level}: {finding.text}")


if __name__ == "__main__":
    main()
