"""Steps of descent where activity is skewed: 1/L against scaling each worker by his own curvature.

Run: python examples/bench/rankone_steps.py

200 workers, 20,000 tasks, 5 labels each; worker i labels in proportion to 1/i^a. At a = 1 the
objective that scaling reaches (tolerance 1e-6) is the goal, and the steps are counted until
each method is within one part in a million of it. At a = 1.3 the default must converge.
"""

from __future__ import annotations

import argparse
import sys
import warnings

from rankone_common import one_thread, verdict

import optiframe

STEEPER = 100.0  # times as many steps that the plain step should need, at least, for the claim to hold
MOST = 1000.0  # steps within which the default converges at a = 1.3


def labels(skew: float, tasks: int) -> optiframe.Problem:
    data = optiframe.dataset(
        "synthetic.single-coin", workers=200, tasks=tasks, labels_per_task=5, activity_skew=skew
    )
    return optiframe.problem(dataset=data)


def steps_to(problem: optiframe.Problem, goal: float, most: int, **parameters: object) -> int | None:
    result = optiframe.solve(
        problem, "rankone.pgd", budget={"iterations": most, "tolerance": 1e-9}, progress=False, **parameters
    )
    columns = zip(result.trace["iteration"], result.trace["objective"], strict=True)
    reached = next((int(at) for at, objective in columns if objective <= goal), None)
    error = result.metrics["error"]
    shown = reached if reached is not None else f"more than {result.iterations}"
    print(f"{parameters or 'scaled'}: {shown} steps, error at the end {error:.4f}")
    return reached


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tasks", type=int, default=20_000)
    parser.add_argument("--most", type=int, default=30_000)
    chosen = parser.parse_args()
    one_thread()
    warnings.simplefilter("ignore", optiframe.NotConverged)  # running out of steps is the point
    problem = labels(1.0, chosen.tasks)
    best = optiframe.solve(problem, "rankone.pgd", progress=False)
    goal = best.objective * (1 + 1e-6)
    scaled = steps_to(problem, goal, chosen.most)
    plain = steps_to(problem, goal, chosen.most, step="lipschitz")
    ratio = (plain or chosen.most) / (scaled or chosen.most)
    good = verdict("steps with 1/L over steps with scaling, Zipf 1.0", ratio, STEEPER, unit=" x", most=False)
    steep = optiframe.solve(labels(1.3, chosen.tasks), "rankone.pgd", progress=False)
    print(f"Zipf 1.3: {steep.status} after {steep.iterations} steps, error {steep.metrics['error']:.4f}")
    good &= steep.status == "converged" and verdict("steps at Zipf 1.3", steep.iterations, MOST)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
