"""newton.exact on sparse rows against every Newton and quasi-Newton solver of scikit-learn, one thread.

Run: python examples/bench/comrade_sparse.py

a9a and w5a (real; folder in OPTIFRAME_DATA), logistic loss, l2 = 1/n, no intercept. Runs alternate; times are
processor seconds of whole calls, from arrays in memory to an answer with an objective gap of at most 1e-9,
and each figure is the median of the ratios within rounds.

OPTIFRAME_QUICK=1 runs one round of w5a, to see that the script works.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Callable
from statistics import median
from time import process_time
from typing import Any

import numpy as np
from rankone_common import one_thread, verdict
from threadpoolctl import threadpool_limits

import optiframe
from optiframe import Budget, Minimize
from optiframe.problems.objectives.losses import Logistic

THEIRS = ("newton-cholesky", "newton-cg", "lbfgs")
GAP = 1e-9


def contenders(matrix: Any, target: np.ndarray) -> dict[str, Callable[[], np.ndarray]]:
    from sklearn.linear_model import LogisticRegression

    rows = len(target)

    def ours() -> np.ndarray:
        problem = Minimize(Logistic(matrix=matrix, target=target, l2=1 / rows))
        budget = Budget(tolerance=1e-8)
        return optiframe.solve(problem, "newton.exact", budget=budget, trace=False).solution

    def theirs(name: str) -> np.ndarray:
        # Its objective is n/(n l2) times ours, C being 1/(n l2) = 1.
        fit = LogisticRegression(solver=name, C=1.0, fit_intercept=False, max_iter=1000, tol=1e-8)
        return fit.fit(matrix, target).coef_[0]

    return {"newton.exact": ours} | {name: lambda name=name: theirs(name) for name in THEIRS}


def compare(name: str, repeats: int) -> None:
    data = optiframe.dataset(f"libsvm.{name}").inputs()
    matrix, target = data["matrix"], data["target"]
    runs = contenders(matrix, target)
    times: dict[str, list[float]] = {each: [] for each in runs}
    answers = {each: run() for each, run in runs.items()}  # imports
    for _ in range(repeats):
        for each, run in runs.items():
            began = process_time()
            answers[each] = run()
            times[each].append(process_time() - began)
    model = Logistic(matrix=matrix, target=target, l2=1 / len(target))
    values = {each: model.value(answer) for each, answer in answers.items()}
    least = min(values.values())
    print(f"{name}, {matrix.shape[0]} x {matrix.shape[1]}, {matrix.nnz / np.prod(matrix.shape):.1%} nonzeros")
    for each in runs:
        print(f"   {each:16} {1e3 * median(times[each]):7.1f} ms, gap {values[each] - least:.1e}")
    for each in THEIRS:
        faster = median(one / other for one, other in zip(times[each], times["newton.exact"], strict=True))
        verdict(f"newton.exact on {name}, times faster than {each}", faster, 1, most=False)
    verdict(f"{name}: gap of newton.exact", values["newton.exact"] - least, GAP)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--repeats", type=int, default=7)
    chosen = parser.parse_args()
    one_thread()
    quick = bool(os.environ.get("OPTIFRAME_QUICK"))
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        for name in ("w5a",) if quick else ("a9a", "w5a"):
            compare(name, 1 if quick else chosen.repeats)
    return 0


if __name__ == "__main__":
    sys.exit(main())
