"""The main job twice: crowd labels to true labels, and a few comparisons to a ranking for every user.

The labels are those of RTE (800 tasks, 164 workers) when they are found or can be fetched, and
generated ones of the same shape otherwise; the comparisons are generated. Solvers are chosen by name.
"""

from __future__ import annotations

import textwrap

import optiframe

LABEL_SOLVERS = (
    "labels.majority",
    "rankone.pgd",
    "scipy.lbfgs",
    "labels.dawid-skene",
    "labels.crowd",  # the recommended one
)
GENERATED = {
    "name": "synthetic.single-coin",
    "tasks": 800,
    "workers": 164,
    "labels_per_task": 10,
    "activity_skew": 1.0,
    "skill_low": -0.1,
    "skill_high": 0.9,
}
# The yardstick is pymanopt's own trust region, on the matrix written out and differentiated by autograd.
RANKING_SOLVERS = (
    ("manifold.trust-region", {}),
    ("manifold.lbfgs", {}),
    ("manifold.pymanopt", {"derivatives": "autograd", "init": "random"}),
)


def labels() -> None:
    try:
        problem = optiframe.problem(dataset="labels.rte")
        print("labels.rte: 800 tasks, 164 workers, 8,000 labels (Snow et al., 2008)\n")
    except optiframe.OptiframeError as error:
        print("Generated labels: 800 tasks, 164 workers. The real ones of RTE are not here:")
        print(textwrap.fill(str(error), 100, initial_indent="  ", subsequent_indent="  "), "\n")
        problem = optiframe.problem(dataset=GENERATED)
    print(f"{'solver':<22} {'error':>7} {'balanced':>9} {'iterations':>11} {'seconds':>8}  status")
    for name in LABEL_SOLVERS:
        result = optiframe.solve(problem, name)
        error, balanced = result.metrics["error"], result.metrics["balanced_error"]
        print(
            f"{name:<22} {error:7.4f} {balanced:9.4f} {result.iterations:11d} {result.time:8.3f}"
            f"  {result.status}"
        )
    print("\nWhat to know before trusting the last answer:")
    for finding in result.findings:
        print(f"- {finding.level}: {finding.text}")


def rankings() -> None:
    problem = optiframe.problem(dataset={"name": "collaborative.low-rank", "users": 100, "items": 100})
    print("\ncollaborative.low-rank: 100 users, 100 items, scores of rank 10, generated comparisons\n")
    print(f"{'solver':<22} {'error':>7} {'tau':>9} {'iterations':>11} {'seconds':>8}  status")
    for name, parameters in RANKING_SOLVERS:
        result = optiframe.solve(problem, name, budget={"tolerance": 1e-4}, **parameters)
        error, tau = result.metrics["centred_error"], result.metrics["kendall_tau"]
        print(
            f"{name:<22} {error:7.4f} {tau:9.4f} {result.iterations:11d} {result.time:8.3f}  {result.status}"
        )


if __name__ == "__main__":
    labels()
    rankings()
