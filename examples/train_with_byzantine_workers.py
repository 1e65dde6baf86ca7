"""Train a classifier on twenty workers, two of which learn from flipped labels.

python examples/train_with_byzantine_workers.py

The data are `libsvm.a9a` (census income) from the folder in OPTIFRAME_DATA; without them, generated ones.
"""

from __future__ import annotations

from typing import Any

from optiframe_comrade import curves

import optiframe
from optiframe.problems.datasets import MissingData

# COMRADE ends when its update has not become shorter for so many steps: it is at its floor then.
PATIENCE = 3


def data() -> Any:
    try:
        return optiframe.problem(dataset="libsvm.a9a")
    except MissingData:
        print("The census data are not here; generated ones instead.\n")
        return optiframe.problem(
            dataset={"name": "synthetic.covtype-shape", "terms": 20_000, "columns": 20, "test_rows": 5000}
        )


def main() -> None:
    problem = data()
    hostile = {"workers": 20, "byzantine": 0.1, "attack": "flipped-labels"}
    runs = {
        "everybody honest": optiframe.solve(problem, "newton.comrade", workers=20, patience=PATIENCE),
        "hostile, plain mean": optiframe.solve(
            problem, "newton.comrade", **hostile, filter="mean", patience=PATIENCE
        ),
        "hostile, default filter": optiframe.solve(problem, "newton.comrade", **hostile, patience=PATIENCE),
        "hostile, polished": optiframe.solve(
            problem, "newton.polished", **hostile, budget={"tolerance": 1e-6}
        ),
    }
    print(f"{'':23} test accuracy       gap  rounds  bytes up")
    for name, run in runs.items():
        last = {column: values[-1] for column, values in curves(run).items()}
        print(
            f"{name:23} {last['test_accuracy']:13.4f} {last['gap']:9.1e} "
            f"{last['rounds']:7d} {last['bytes_up']:9d}"
        )

    book = runs["hostile, default filter"].detail
    found = book.workers()
    ranked = sorted(range(20), key=lambda worker: -found["left_out"][worker])
    print("\nLeft out most often (the hostile ones are worker 0 and worker 1):")
    for worker in ranked[:5]:
        print(f"  {found['worker'][worker]}: {found['left_out'][worker]:.0%} of the rounds")


if __name__ == "__main__":
    main()
