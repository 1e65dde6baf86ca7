"""Figures 4 and 5: gradient descent and Eq. 4 look alike, step for step.

Run: python examples/bench/rankone_descents.py

25 workers with skills from [.4, .6], unit weights, both methods from 0.6 with step 0.01; the largest
error of a skill after so many steps, without noise (Figure 4) and with noise of width 0.01 on
every product (Figure 5).
"""

from __future__ import annotations

import argparse
import sys
import warnings

from rankone_common import verdict

import optiframe

STEPS = (10, 30, 100, 300, 1000, 3000, 10_000)
METHODS = {"descent": "rankone.pgd", "Eq. 4": "rankone.exponentiated"}
# The curves of the figures lie on each other to the eye: within a twentieth of the error at the start.
ALIKE = 0.05


def distance(problem: optiframe.Problem, solver: str, steps: int) -> float:
    budget = {"iterations": steps, "tolerance": 0.0}
    result = optiframe.solve(problem, solver, step=0.01, budget=budget, trace=False, progress=False)
    return result.metrics["distance"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--most", type=int, default=STEPS[-1], help="steps at most")
    most = parser.parse_args().most
    counts = [steps for steps in STEPS if steps <= most]
    warnings.simplefilter("ignore", optiframe.NotConverged)  # the steps are counted, not the end
    widest = 0.0
    for noise, figure in ((0.0, "Figure 4"), (0.01, "Figure 5")):
        for graph in ("ring", "grid", "erdos-renyi"):
            problem = optiframe.problem(dataset={"name": f"rank-one.{graph}", "noise": noise})
            first = problem.metrics(problem.start)["distance"]
            print(f"-- {figure}, {graph}: {first:.4f} at the start")
            print(f"{'steps':<8}" + "".join(f"{steps:>9}" for steps in counts))
            curves = {}
            for name, solver in METHODS.items():
                curves[name] = [distance(problem, solver, steps) for steps in counts]
                print(f"{name:<8}" + "".join(f"{error:9.5f}" for error in curves[name]))
            gaps = [abs(a - b) for a, b in zip(*curves.values(), strict=True)]
            widest = max(widest, max(gaps) / first)
    return 0 if verdict("widest gap between the curves, of the start", widest, ALIKE) else 1


if __name__ == "__main__":
    sys.exit(main())
