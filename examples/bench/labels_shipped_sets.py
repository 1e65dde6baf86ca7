"""Errors and confidence of labels.crowd beside four other methods on real label sets.

Run: python examples/bench/labels_shipped_sets.py

Share of wrong labels on labels.rte, temp, dogs, wsd and web, read from OPTIFRAME_DATA or downloaded, their
mean, and, where OPTIFRAME_DATA has them, the two sets of crowd/more. Then, as means over the five sets, what
the confidence is worth: log-loss, -log of the probability of the true class, at least 1e-6 (nats; lower is
better), and ECE, by how much confidence differs from the share of right answers, in ten bins of confidence.

Target: `labels.crowd`, which is recommended, has at most the mean error and log-loss of each other method.
All seven sets were looked at when it was made.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
from rankone_common import one_thread, verdict

import optiframe

SETS = ("rte", "temp", "dogs", "wsd", "web")
MORE = ("d_sentiment", "s4_relevance")
RECOMMENDED = "labels.crowd"
SOLVERS: dict[str, tuple[str, dict[str, Any]]] = {
    **{
        name: (name, {})
        for name in (
            "labels.majority",
            "rankone.pgd",
            "labels.one-coin-em",
            "labels.dawid-skene",
        )
    },
    "  with 10,000 steps": ("labels.dawid-skene", {"steps": 10_000, "gain": 0.0}),
    RECOMMENDED: (RECOMMENDED, {}),
}
_LEAST = 1e-6


def scores(result: Any) -> tuple[float, float, float]:
    """Error, log-loss and ECE of an answer, over the tasks whose truth is one of the classes."""
    problem, solution = result.problem, result.solution
    truth = problem.truth_codes
    known = np.flatnonzero((truth >= 0) & (truth < len(problem.classes)))
    probability = solution.probabilities[known]
    loss = -np.log(np.maximum(probability[np.arange(len(known)), truth[known]], _LEAST)).mean()
    confidence = probability.max(axis=1)
    right = solution.predicted_codes()[known] == truth[known]
    bins = np.minimum((confidence * 10).astype(int), 9)
    gap = np.bincount(bins, weights=confidence - right, minlength=10)
    return result.metrics["error"], float(loss), float(np.abs(gap).sum() / len(known))


def more_sets() -> dict[str, Any]:
    folder = Path(os.environ.get("OPTIFRAME_DATA", "")) / "crowd" / "more"
    tables = {name: (folder / name / "labels.csv", folder / name / "truth.csv") for name in MORE}
    return {
        name: optiframe.problem("label-aggregation", labels=labels, truth=truth)
        for name, (labels, truth) in tables.items()
        if labels.exists()
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS, help="which sets")
    chosen = parser.parse_args()
    one_thread()
    problems = {name: optiframe.problem(dataset=f"labels.{name}") for name in chosen.sets}
    found = {
        row: {
            name: scores(optiframe.solve(problem, solver, **parameters)) for name, problem in problems.items()
        }
        for row, (solver, parameters) in SOLVERS.items()
    }
    mean = {row: np.mean(list(of_sets.values()), axis=0) for row, of_sets in found.items()}
    print(f"{'error':<20}" + "".join(f"{name:>8}" for name in (*problems, "mean")))
    for row, of_sets in found.items():
        errors = [each[0] for each in of_sets.values()]
        print(f"{row:<20}" + "".join(f"{error:8.4f}" for error in (*errors, mean[row][0])))
    print()
    if more := more_sets():
        print(f"{'error':<20}" + "".join(f"{name:>14}" for name in more))
        for solver in (solver for solver, parameters in SOLVERS.values() if not parameters):
            errors = [scores(optiframe.solve(problem, solver))[0] for problem in more.values()]
            print(f"{solver:<20}" + "".join(f"{error:14.4f}" for error in errors))
        print()
    print(f"{'confidence':<20}{'log-loss':>10}{'ECE':>8}")
    for row in found:
        print(f"{row:<20}{mean[row][1]:10.4f}{mean[row][2]:8.4f}")
    reached = []
    for place, what in enumerate(("mean error", "mean log-loss")):
        others = min(mean[row][place] for row, (solver, _) in SOLVERS.items() if solver != RECOMMENDED)
        ratio = float(mean[RECOMMENDED][place] / others)
        reached.append(verdict(f"{what} of {RECOMMENDED} over the least of the others", ratio, 1.0))
    return 0 if all(reached) else 1


if __name__ == "__main__":
    sys.exit(main())
