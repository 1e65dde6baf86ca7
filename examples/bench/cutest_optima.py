"""How many of the optima that CUTEst's files state are found, beaten or not reached.

Run: python examples/bench/cutest_optima.py [--variables 15] [--most 300]

Each problem of at most so many variables whose file states an optimum for its usual size is solved by two of
SciPy's methods from its start and from two points beside it, 1,000 iterations or 5 s each. An optimum is
confirmed within 1e-3 of it, relative above 1. One that is beaten is wrong (or the constraints are met within
1e-6 only); one that is not reached may be wrong, or these solvers ended in a local minimum.

Target: nine in ten confirmed or beaten, so that a comparison seldom measures gaps from what nobody can reach.
"""

from __future__ import annotations

import argparse
import warnings
from collections import Counter
from typing import Any

import numpy as np
from rankone_common import one_thread, verdict

import optiframe

SOLVERS = {
    "none": ("scipy.lbfgs", "scipy.newton-cg"),
    "bounds": ("scipy.lbfgs", "scipy.tnc"),
    "linear": ("scipy.slsqp", "scipy.trust-constr"),
    "nonlinear": ("scipy.slsqp", "scipy.trust-constr"),
}
CLOSE = 1e-3


def best(problem: Any, solvers: tuple[str, ...]) -> float:
    """The least feasible objective that the solvers find, or the first that is near to the stated one."""
    rng, least = np.random.default_rng(0), np.inf
    scale = 0.3 * np.maximum(1.0, np.abs(problem.start))
    starts = [problem.start, *(problem.start + scale * rng.standard_normal(len(scale)) for _ in range(2))]
    for solver in solvers:
        for start in starts:
            budget = optiframe.Budget(time=5.0, iterations=1000, tolerance=1e-8)
            found = optiframe.solve(problem, solver, budget=budget, start=start, progress=False)
            if found.violation <= 1e-6 and np.isfinite(found.objective):
                least = min(least, found.objective)
            if abs(least - problem.optimum) <= CLOSE * max(1.0, abs(problem.optimum)):
                return least
    return least


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--variables", type=int, default=15)
    parser.add_argument("--most", type=int, default=300)
    asked = parser.parse_args()
    one_thread()
    warnings.simplefilter("ignore")
    counts: Counter[str] = Counter()
    for kind, solvers in SOLVERS.items():
        members: Any = optiframe.dataset("cutest", variables=[1, asked.variables], constraints=kind)
        for name, table in members.members().items():
            problem: Any = optiframe.problem(dataset=table)
            if problem.optimum is None or counts.total() == asked.most:
                continue
            least = best(problem, solvers)
            apart = (least - problem.optimum) / max(1.0, abs(problem.optimum))
            how = "confirmed" if abs(apart) <= CLOSE else "beaten" if apart < 0 else "not reached"
            counts[how] += 1
            if how != "confirmed":
                print(f"{name:10} {how}: states {problem.optimum:.6g}, found {least:.6g}")
    print(", ".join(f"{how} {number}" for how, number in counts.items()))
    reached = (counts["confirmed"] + counts["beaten"]) / counts.total()
    verdict("share of stated optima that are reached", reached, 0.9, most=False)


if __name__ == "__main__":
    main()
