"""Errors of the majority, rankone.pgd and two EM methods on the rank-one plugin's five label sets.

Run: python examples/bench/labels_shipped_sets.py

Share of wrong labels on labels.rte, temp, dogs, wsd and web, read from OPTIFRAME_DATA or downloaded, and
the mean over the sets. Target: `labels.dawid-skene`, which is recommended, has at most the least mean error
of the other methods. The last row shows what its end after 100 steps costs.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import numpy as np
from rankone_common import one_thread, verdict

import optiframe

SETS = ("rte", "temp", "dogs", "wsd", "web")
RECOMMENDED = "labels.dawid-skene"
SOLVERS: dict[str, tuple[str, dict[str, Any]]] = {
    **{name: (name, {}) for name in ("labels.majority", "rankone.pgd", "labels.one-coin-em", RECOMMENDED)},
    "  with 10,000 steps": (RECOMMENDED, {"steps": 10_000}),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS, help="which sets")
    chosen = parser.parse_args()
    one_thread()
    problems = [optiframe.problem(dataset=f"labels.{name}") for name in chosen.sets]
    print(f"{'error':<20}" + "".join(f"{name:>8}" for name in (*chosen.sets, "mean")))
    mean = {}
    for row, (solver, parameters) in SOLVERS.items():
        errors = [optiframe.solve(problem, solver, **parameters).metrics["error"] for problem in problems]
        mean[row] = float(np.mean(errors))
        print(f"{row:<20}" + "".join(f"{error:8.4f}" for error in (*errors, mean[row])))
    others = min(mean[row] for row, (solver, _) in SOLVERS.items() if solver != RECOMMENDED)
    ratio = mean[RECOMMENDED] / others
    return 0 if verdict(f"mean error of {RECOMMENDED} over the least of the others", ratio, 1.0) else 1


if __name__ == "__main__":
    sys.exit(main())
