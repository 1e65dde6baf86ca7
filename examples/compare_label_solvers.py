"""Every solver for crowd labels on one data set, in a table.

    python examples/compare_label_solvers.py            # labels.rte, or generated labels without it
    python examples/compare_label_solvers.py labels.dogs

Solvers come from the registry, so that those of further plugins take part by themselves.
"""

from __future__ import annotations

import sys
import warnings

import optiframe
from optiframe.registry.registry import registry

GENERATED = {
    "name": "synthetic.single-coin",
    "tasks": 800,
    "workers": 164,
    "labels_per_task": 10,
    "activity_skew": 1.0,
    "skill_low": -0.1,
    "skill_high": 0.9,
}
FAMILIES = ("labels", "rankone")


def main(name: str = "labels.rte") -> None:
    try:
        problem = optiframe.problem(dataset=name)
        print(f"{name}\n")
    except optiframe.InvalidInput as error:
        print(f"{error}\nGenerated labels instead.\n")
        problem = optiframe.problem(dataset=GENERATED)
    print(f"{'solver':<22} {'error':>7} {'balanced':>9} {'iterations':>11} {'seconds':>8}  status")
    for entry in registry().entries("solver"):
        if entry.name.split(".")[0] not in FAMILIES:
            continue
        solver = optiframe.solver(entry.name)
        reason = optiframe.why_unsuited(problem, solver)
        if reason is not None:
            print(f"{entry.name:<22} - {reason}")
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optiframe.NotConverged)  # the status says it
            result = optiframe.solve(problem, solver, budget={"time": 5.0})
        error, balanced = result.metrics["error"], result.metrics["balanced_error"]
        print(
            f"{entry.name:<22} {error:7.4f} {balanced:9.4f} {result.iterations:11d} {result.time:8.3f}"
            f"  {result.status}"
        )


if __name__ == "__main__":
    main(*sys.argv[1:2])
