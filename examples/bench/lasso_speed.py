"""Time of coordinate.lasso beside skglm's Lasso, to the same duality gap.

Run: python examples/bench/lasso_speed.py [--repeats 3] [--share 1.0]

Gaussian designs of 10,000 x 1,000 with independent columns and with correlations of .5 and .95 between
neighbours, and a sparse one of 100,000 x 20,000 with one entry in a thousand; 100 columns matter, and noise
has a third of the signal's deviation. Penalties are a tenth and a hundredth of the least one that leaves all
coefficients zero. Both must reach a duality gap of 1e-6 times the objective at zero: skglm stops by another
rule, so it gets the loosest of its tolerances (powers of ten) that reaches it. CPU time, one thread; skglm is
compiled before the clock starts; ours includes the checks and the report of `optiframe.solve`.

Targets: at most 3 times skglm's time on independent and sparse designs, 15 times on correlated ones.
"""

from __future__ import annotations

import argparse
import warnings
from importlib import import_module
from time import process_time
from typing import Any

import numpy as np
import scipy.sparse as sp
from rankone_common import one_thread, verdict

import optiframe

GAP = 1e-6  # of the objective at zero
TOLERANCES = 10.0 ** -np.arange(2, 13)  # skglm's, relative to the largest slope at zero
DESIGNS = {  # rows, columns, correlation of neighbours, and times skglm's time
    "independent": (10_000, 1_000, 0.0, 3.0),
    "correlated .5": (10_000, 1_000, 0.5, 15.0),
    "correlated .95": (10_000, 1_000, 0.95, 15.0),
    "sparse": (100_000, 20_000, None, 3.0),
}


def drawn(rows: int, columns: int, correlation: float | None) -> tuple[Any, Any]:
    """A design, sparse without a correlation, and a target."""
    rng = np.random.default_rng(0)
    if correlation is None:
        matrix = sp.random_array(
            (rows, columns), density=1e-3, format="csc", rng=rng, data_sampler=rng.standard_normal
        )
    else:
        matrix = np.asfortranarray(rng.standard_normal((rows, columns)))
        for j in range(1, columns if correlation else 1):
            matrix[:, j] = correlation * matrix[:, j - 1] + np.sqrt(1 - correlation**2) * matrix[:, j]
    truth = np.zeros(columns)
    truth[rng.choice(columns, min(100, columns // 2), replace=False)] = rng.standard_normal(
        min(100, columns // 2)
    )
    target = matrix @ truth
    return matrix, target + rng.standard_normal(rows) * target.std() / 3


def seconds_of(function: Any, repeats: int) -> float:
    """The least CPU time of several calls."""
    times = []
    for _ in range(repeats):
        began = process_time()
        function()
        times.append(process_time() - began)
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--share", type=float, default=1.0, help="of rows and columns: less is faster")
    given = parser.parse_args()
    lasso = import_module("skglm").Lasso
    warnings.simplefilter("ignore")  # skglm's, that it did not reach its own tolerance
    for name, (rows, columns, correlation, most) in DESIGNS.items():
        matrix, target = drawn(round(given.share * rows), round(given.share * columns), correlation)
        fit = optiframe.objective("least-squares", matrix=matrix, target=target)
        largest = float(np.abs(matrix.T @ target).max()) / len(target)
        for share in (10, 100):
            weight, gap = largest / share, GAP * float(target @ target) / len(target) / 2
            problem = optiframe.Composite(fit, plus={"name": "l1", "weight": weight})

            def ours(problem: Any = problem, gap: float = gap) -> Any:
                budget = {"tolerance": gap}
                return optiframe.solve(
                    problem, "coordinate.lasso", budget=budget, progress=False, trace=False
                )

            result = ours()
            if result.status != "converged":
                raise SystemExit(f"{name}: coordinate.lasso ended {result.status}: {result.message}")
            for tolerance in TOLERANCES * largest:
                model = lasso(alpha=weight, fit_intercept=False, tol=tolerance)
                model.fit(matrix, target)
                if problem.duality_gap(model.coef_) <= gap:
                    break
            times = [
                (seconds_of(lambda model=model: model.fit(matrix, target), 1), seconds_of(ours, 1))  # noqa: B023
                for _ in range(given.repeats)
            ]
            theirs, mine = (min(column) for column in zip(*times, strict=True))
            used = np.count_nonzero(result.solution)
            print(
                f"{name}, penalty 1/{share}: skglm {theirs:.3f} s, coordinate.lasso {mine:.3f} s, "
                f"{used} columns used"
            )
            verdict(f"{name}, penalty 1/{share}, coordinate.lasso over skglm", mine / theirs, most)


if __name__ == "__main__":
    one_thread()
    main()
