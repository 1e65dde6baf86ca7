"""Errors on crowds that mislead: the default solver for labels beside the majority and other methods.

Run: python examples/bench/labels_hostile.py

Mean and worst share of wrong labels over draws of each structure of `synthetic.hostile-crowd`, with 2 and 4
classes. In all of them most labels are right. Targets: the mean error of `labels.crowd` is nowhere above that
of the majority by more than .01 where workers err independently, nor where copiers share one vote
(`copies = "share"`). Copiers and colluders who keep their votes are shown and have no target: their
agreement is what every method takes for skill.
"""

from __future__ import annotations

import argparse
import sys
import warnings

import numpy as np
from rankone_common import one_thread, verdict

import optiframe

STRUCTURES = ("drive-by", "clickers", "sparse", "guessers", "adversaries")
DEPENDENT = ("copiers", "copiers-on-part", "colluders")
SHARED = ("copiers", "copiers-on-part")
MAJORITY, DEFAULT = "labels.majority", "labels.crowd"
SOLVERS = (
    MAJORITY,
    DEFAULT,
    "labels.dawid-skene",
    "labels.one-coin-em",
    "rankone.pgd",
    "labels.iwmv",
    "labels.opt-ds",
    "labels.ratio",
    "labels.kos",
)
NEAR = 0.01


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--draws", type=int, default=20, help="seeds of each structure")
    draws = parser.parse_args().draws
    one_thread()
    warnings.simplefilter("ignore", optiframe.NotConverged)  # labels.kos where copiers keep their votes
    rows = [(structure, "keep") for structure in (*STRUCTURES, *DEPENDENT)]
    rows += [(structure, "share") for structure in SHARED]
    cases = {(*row, classes): measured(*row, classes, draws) for row in rows for classes in (2, 4)}
    for title, of_draws in (("mean", np.mean), ("worst", np.max)):
        print(f"{title + ' error':<26}" + "".join(f"{name.partition('.')[2]:>13}" for name in SOLVERS))
        for (structure, copies, classes), errors in cases.items():
            name = structure + (", shared" if copies == "share" else "")
            print(f"{name:<24}{classes:>2}" + "".join(f"{each:13.3f}" for each in of_draws(errors, axis=0)))
        print()
    found = [
        verdict(
            f"mean error of {DEFAULT} less that of the majority, at most, {what}",
            max(excess(errors) for (name, copies, _), errors in cases.items() if chosen(name, copies)),
            NEAR,
        )
        for what, chosen in (
            ("where workers err independently", lambda name, _: name in STRUCTURES),
            ("where copiers share one vote", lambda _, copies: copies == "share"),
        )
    ]
    return 0 if all(found) else 1


def measured(structure: str, copies: str, classes: int, draws: int) -> np.ndarray:
    """Errors, shape (draws, solvers)."""
    errors = []
    for seed in range(draws):
        data = {"name": "synthetic.hostile-crowd", "structure": structure, "classes": classes, "seed": seed}
        problem = optiframe.problem(dataset=data, copies=copies)
        errors.append([optiframe.solve(problem, solver).metrics["error"] for solver in SOLVERS])
    return np.array(errors)


def excess(errors: np.ndarray) -> float:
    """Mean error of the default less that of the majority."""
    mean = errors.mean(axis=0)
    return float(mean[SOLVERS.index(DEFAULT)] - mean[SOLVERS.index(MAJORITY)])


if __name__ == "__main__":
    sys.exit(main())
