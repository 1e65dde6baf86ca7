"""From a pandas data frame to labels: three solvers of ours beside crowd-kit's Dawid-Skene solvers.

Run: python examples/bench/rankone_speed.py

1,000 workers, 100,000 tasks, 1,000,000 labels of the single-coin model, in random order;
ids are whole numbers, then text, then whole numbers again with five classes in place of two. Every
method starts from the same frame, all run in turn in one process and one thread, and the least time of
each counts. Targets: `rankone.pgd` is 20 times faster than `DawidSkene` and 40 times than
`OneCoinDawidSkene`, its error within 0.002 of the vote with true skills; `labels.dawid-skene` is 10 times
faster than `DawidSkene`, `labels.crowd` as fast.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import numpy as np
import pandas as pd
from rankone_common import best_of, crowd_kit, one_thread, verdict

import optiframe

PEERS = ("DawidSkene", "OneCoinDawidSkene")
OURS = ("rankone.pgd", "labels.dawid-skene", "labels.crowd")
TARGETS = {
    ("DawidSkene", "rankone.pgd"): 20.0,
    ("OneCoinDawidSkene", "rankone.pgd"): 40.0,
    ("DawidSkene", "labels.dawid-skene"): 10.0,
    ("DawidSkene", "labels.crowd"): 1.0,
}
MANY = {("DawidSkene", "labels.crowd"): 1.0}  # with five classes
NEAR = 0.002  # of the error of the vote with true skills


def ours(frame: Any, solver: str = "rankone.pgd") -> Any:
    problem = optiframe.problem("label-aggregation", labels=frame)
    return optiframe.solve(problem, solver, trace=False, progress=False).solution.predicted()


def shuffled(labels: Any) -> pd.DataFrame:
    order = np.random.default_rng(1).permutation(len(labels["task"]))
    return pd.DataFrame(labels).iloc[order].reset_index(drop=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--workers", type=int, default=1000)
    parser.add_argument("--tasks", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=3)
    chosen = parser.parse_args()
    one_thread()
    data = optiframe.dataset(
        "synthetic.single-coin", workers=chosen.workers, tasks=chosen.tasks, labels_per_task=10
    )
    inputs = data.inputs()
    truth, skills = inputs["truth"]["label"], data.skills_of_workers()
    problem = optiframe.problem("label-aggregation", labels=inputs["labels"])
    oracle = float(np.mean(problem.weighted_vote(skills).predicted() != truth))
    found = float(np.mean(ours(inputs["labels"]) != truth))
    print(f"error {found:.4f}, of the vote with true skills {oracle:.4f}")
    good = verdict("difference", found - oracle, NEAR)
    peers = crowd_kit(*PEERS)
    if peers is None:
        return 0
    numbers = shuffled(inputs["labels"])
    five = optiframe.dataset(
        "synthetic.single-coin", workers=chosen.workers, tasks=chosen.tasks, labels_per_task=10, classes=5
    )
    rounds = (
        ("whole numbers", numbers, TARGETS),
        ("text", numbers.astype(str), TARGETS),
        ("whole numbers, five classes", shuffled(five.inputs()["labels"]), MANY),
    )
    for kind, frame, targets in rounds:
        solvers = {name: lambda name=name, frame=frame: ours(frame, name) for name in OURS}
        for peer in peers:
            solvers[peer.__name__] = lambda peer=peer, frame=frame: peer().fit(frame).labels_
        times, answers = best_of(chosen.repeats, solvers)
        print(f"-- ids are {kind}")
        for name, seconds in times.items():
            print(f"{name:<18} {seconds:7.3f} s")
        if kind == "whole numbers":
            for peer in peers:
                wrong = np.mean(answers[peer.__name__].sort_index().to_numpy() != truth)
                print(f"error of {peer.__name__} {wrong:.4f}")
        for (peer, mine), target in targets.items():
            ratio = times[peer] / times[mine]
            good &= verdict(f"{peer} over {mine}", ratio, target, unit=" x", most=False)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
