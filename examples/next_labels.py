"""Buying labels where they help: `suggest` against asking at random, on generated labels.

Every task starts with three labels. In each round 100 more are bought, each of a worker drawn
at random: for the tasks that need it most, or for any. Prints the error after each round.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from optiframe_rankone import suggest

import optiframe

Ints: TypeAlias = NDArray[np.int64]

WORKERS, TASKS, ROUNDS, BOUGHT = 20, 400, 6, 100
DATA = optiframe.dataset(
    "synthetic.single-coin", workers=WORKERS, tasks=TASKS, labels_per_task=3, skill_low=0.2, seed=1
)


def main() -> None:
    given = DATA.inputs()
    truth, accuracy = given["truth"], (1 + given["skills"]["skill"]) / 2
    print(f"{'labels':>7} {'at random':>10} {'suggest':>12}")
    errors: dict[str, list[float]] = {"random": [], "needed": []}
    for way, found in errors.items():
        labels, rng = given["labels"], np.random.default_rng(0)
        for _ in range(ROUNDS):
            problem = optiframe.problem("label-aggregation", labels=labels, truth=truth)
            result = optiframe.solve(problem, "rankone.pgd")
            found.append(result.metrics["error"])
            if way == "needed":
                asked = suggest(result, n=BOUGHT, workers="average", measure="information")
                tasks = asked["task"]
            else:
                tasks = rng.choice(TASKS, BOUGHT, replace=False)
            labels = bought(labels, tasks, truth["label"], accuracy, rng)
    for step, (random, needed) in enumerate(zip(errors["random"], errors["needed"], strict=True)):
        print(f"{3 * TASKS + step * BOUGHT:>7} {random:>10.3f} {needed:>12.3f}")


def bought(
    labels: dict[str, Ints], tasks: Ints, truth: Ints, accuracy: NDArray[np.float64], rng: np.random.Generator
) -> dict[str, Ints]:
    """The labels so far and one more for each task, from a worker who has not labelled it."""
    have = set(zip(labels["task"].tolist(), labels["worker"].tolist(), strict=True))
    free = [[w for w in range(WORKERS) if (task, w) not in have] for task in tasks.tolist()]
    worker = np.array([rng.choice(workers) for workers in free])
    right = rng.random(len(tasks)) < accuracy[worker]
    label = np.where(right, truth[tasks], 1 - truth[tasks])
    more = {"task": tasks, "worker": worker, "label": label}
    return {name: np.concatenate([labels[name], more[name]]) for name in more}


if __name__ == "__main__":
    main()
