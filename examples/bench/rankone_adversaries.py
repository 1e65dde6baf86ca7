"""Thirty workers of whom eight are adversarial: `rankone.pgd` beside crowd-kit's MMSR.

Run: python examples/bench/rankone_adversaries.py

Skills: 22 drawn from [.2, .8], 8 from [-.8, -.2]; 2,000 tasks, 10 labels each, two classes,
over several draws. Target: on the mean within 0.01 of the vote with true skills.
"""

from __future__ import annotations

import argparse
import sys
import warnings

import numpy as np
import pandas as pd
from rankone_common import crowd_kit, one_thread, verdict

import optiframe

NEAR = 0.01


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--tasks", type=int, default=2000)
    chosen = parser.parse_args()
    one_thread()
    peers = crowd_kit("MMSR")
    errors: dict[str, list[float]] = {"true skills": [], "rankone.pgd": [], "labels.majority": [], "MMSR": []}
    for seed in range(chosen.draws):
        rng = np.random.default_rng(seed)
        skills = np.concatenate([rng.uniform(0.2, 0.8, 22), rng.uniform(-0.8, -0.2, 8)])
        data = optiframe.dataset(
            "synthetic.single-coin",
            workers=30,
            tasks=chosen.tasks,
            labels_per_task=10,
            skills=skills.tolist(),
            seed=seed,
        )
        inputs = data.inputs()
        truth = inputs["truth"]["label"]
        problem = optiframe.problem("label-aggregation", **inputs)
        errors["true skills"].append(problem.metrics(problem.weighted_vote(skills))["error"])
        for name in ("rankone.pgd", "labels.majority"):
            errors[name].append(optiframe.solve(problem, name).metrics["error"])
        if peers is not None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # its own, about its inputs
                answer = peers[0]().fit_predict(pd.DataFrame(inputs["labels"]))
            errors["MMSR"].append(float(np.mean(answer.sort_index().to_numpy() != truth)))
    for name, values in errors.items():
        if values:
            print(f"{name:<16} error {np.mean(values):.4f}  accuracy {1 - np.mean(values):.4f}")
    gap = float(np.mean(errors["rankone.pgd"]) - np.mean(errors["true skills"]))
    return 0 if verdict("rankone.pgd over the vote with true skills", gap, NEAR) else 1


if __name__ == "__main__":
    sys.exit(main())
