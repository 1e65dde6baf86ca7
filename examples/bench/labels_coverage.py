"""Whether 90% intervals of workers hold the truth, on real label sets and drawn ones, and who is accused.

Run: python examples/bench/labels_coverage.py

First, of the workers with ten labels or more whose truth is known, the share whose interval
(`accuracy_low` to `accuracy_high`) holds their share of right labels by the truth, which the methods do not
see; and the mean width. labels.rte, temp, dogs, wsd and web are read from OPTIFRAME_DATA or downloaded, the
two sets of crowd/more where OPTIFRAME_DATA has them. Intervals are of the accuracy on tasks like these; the
share is of these tasks themselves, so that intervals that hold it more often than nine in ten times are to
be expected. An x marks answers that a finding says one skill for each worker does not explain.

Then the same for skills of the one-coin model, where the true skill is known: of good workers whom the box
of the least squares holds back (250 tasks, 5 labels each, 12 workers of skill .7 to 1), and of usual ones
(.1 to .8). At last, in how many draws without anybody of skill below .2 (300 tasks, 3 labels each, 100
workers) somebody is called reliably wrong.

Targets: intervals of the default hold .85 on the mean of the sets, those at the box .86, and nobody is
accused in more than 5% of the draws.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import numpy as np
from labels_shipped_sets import SETS, more_sets
from rankone_common import one_thread, verdict

import optiframe

DEFAULT = "labels.crowd"
SOLVERS = (DEFAULT, "labels.dawid-skene", "labels.one-coin-em", "rankone.pgd")
LEAST = 10  # labels whose truth is known
MISFIT = "labels.one-skill-does-not-fit"
ACCUSED = "labels.reliably-wrong-worker"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS, help="which sets")
    parser.add_argument(
        "--draws", type=int, default=200, help="of the model, for accusations; a fifth for skills"
    )
    chosen = parser.parse_args()
    one_thread()
    found = [verdict(f"share of {DEFAULT}, mean over the sets", real_sets(chosen.sets), 0.85, most=False)]
    print()
    at_box = drawn(max(chosen.draws // 5, 2))
    found.append(verdict("share of rankone.pgd at the box", at_box, 0.86, most=False))
    print()
    found.append(verdict("draws with an accusation, largest share", accusations(chosen.draws), 0.05))
    return 0 if all(found) else 1


def real_sets(names: list[str]) -> float:
    """Print what the intervals of each method hold on each set; the mean of the default."""
    problems = {name: optiframe.problem(dataset=f"labels.{name}") for name in names} | more_sets()
    print(f"{'share held, width':<20}" + "".join(f"{name:>14}" for name in problems))
    default = []
    for solver in SOLVERS:
        cells = []
        for problem in problems.values():
            result = optiframe.solve(problem, solver, trace=False)
            held, width = coverage(problem, result)
            refused = any(finding.identifier == MISFIT for finding in result.findings)
            cells.append(f"{held:.2f} {width:.2f}{' x' if refused else '  '}")
            if solver == DEFAULT:
                default.append(held)
        print(f"{solver:<20}" + "".join(f"{cell:>14}" for cell in cells))
    return float(np.mean(default))


def coverage(problem: Any, result: Any) -> tuple[float, float]:
    """Share of workers whose interval holds their share of right labels, and its mean width."""
    labels, workers = problem.labels, result.to_tables()["workers"]
    truth = problem.truth_codes[labels.task]
    known = truth >= 0
    size = len(labels.worker_ids)
    count = np.bincount(labels.worker[known], minlength=size)
    right = np.bincount(labels.worker[known & (problem.label_codes == truth)], minlength=size)
    enough = count >= LEAST
    share, low, high = (
        right[enough] / count[enough],
        workers["accuracy_low"][enough],
        workers["accuracy_high"][enough],
    )
    rounding = 1e-9
    held = (low <= share + rounding) & (share <= high + rounding)
    return float(held.mean()), float((high - low).mean())


def drawn(draws: int) -> float:
    """Print what intervals of skills hold where the true skills are known; the share at the box."""
    at_box = []
    print(f"{'share held':<20}{'good workers':>14}{'at the box':>14}{'usual':>14}")
    for solver in SOLVERS:
        shares = []
        held_at_box: list[bool] = []
        for lowest, highest in ((0.7, 1.0), (0.1, 0.8)):
            held = []
            for seed in range(draws):
                problem, skills = of_model(
                    seed, np.random.default_rng(seed).uniform(lowest, highest, 12), 250, 5
                )
                result = optiframe.solve(problem, solver, trace=False)
                workers = result.to_tables()["workers"]
                inside = (workers["skill_low"] <= skills) & (skills <= workers["skill_high"])
                held += inside.tolist()
                if result.solution.fitted:
                    held_at_box += inside[result.solution.skills >= problem.box[1] - 1e-6].tolist()
            shares.append(float(np.mean(held)))
        box = float(np.mean(held_at_box)) if held_at_box else float("nan")
        at_box.append(box)
        print(f"{solver:<20}{shares[0]:14.2f}{box:14.2f}{shares[1]:14.2f}")
    return at_box[-1]


def accusations(draws: int) -> float:
    """Print in how many draws of honest workers somebody is called reliably wrong; the largest share."""
    shares = []
    print(f"{'':<20}{'draws with an accusation':>26}")
    for solver in SOLVERS:
        accused = 0
        for seed in range(draws):
            skills = np.random.default_rng([seed, 1]).uniform(0.2, 0.8, 100)
            result = optiframe.solve(of_model(seed, skills, 300, 3)[0], solver, trace=False)
            accused += any(finding.identifier == ACCUSED for finding in result.findings)
        shares.append(accused / draws)
        print(f"{solver:<20}{accused:>17} of {draws}")
    return max(shares)


def of_model(seed: int, skills: np.ndarray, tasks: int, per_task: int) -> tuple[Any, np.ndarray]:
    """Labels of two classes by the one-coin model, and the skills of those who gave any."""
    rng = np.random.default_rng(seed)
    worker = np.argsort(rng.random((tasks, len(skills))), axis=1)[:, :per_task].ravel()
    task = np.repeat(np.arange(tasks), per_task)
    right = rng.random(len(task)) < (1 + skills[worker]) / 2
    label = rng.integers(2, size=tasks)[task] ^ ~right
    problem = optiframe.problem("label-aggregation", labels={"task": task, "worker": worker, "label": label})
    return problem, skills[problem.labels.worker_ids.astype(np.int64)]


if __name__ == "__main__":
    sys.exit(main())
