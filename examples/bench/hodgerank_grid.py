"""Huber-LASSO at 20 values of lambda: `hodge.hlasso` beside skglm.

Run: python examples/bench/hodgerank_grid.py

1,000 items, 100,000 votes of a random order with 20% reversed; 20 values of lambda from the largest
misfit of least squares to a hundredth of it. skglm solves the same problem in the two ways of
`hodgerank_common.skglm_ways`; each is given the loosest tolerance that comes to the objective gap.
Ours includes reading and merging the votes, factoring, and entering outliers into the path. All run
in turn in one thread. Target: 20 times faster than skglm.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import numpy as np
from hodgerank_common import GAP, best_of, excess, incidence, missing, one_thread, quick, skglm_ways, verdict
from optiframe_hodgerank.huber.newton import least_squares

import optiframe

TARGET = 20.0
LEVELS = 20
TOLERANCES = (1e-2, 1e-3, 1e-4, 1e-5)


def ours(comparisons: dict[str, Any]) -> Any:
    problem = optiframe.problem("pairwise-ranking", comparisons=comparisons)
    graph = problem.graph
    first = float(np.abs(graph.margin - graph.differences(least_squares(graph).scores)).max())
    # 10 values for each factor of ten, after the first, at which nothing is an outlier yet.
    return optiframe.solve(
        problem,
        "hodge.hlasso",
        method="grid",
        lambda_=first / 100,
        per_decade=LEVELS // 2,
        trace=False,
        progress=False,
    ).detail


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--items", type=int, default=30 if quick() else 1000)
    parser.add_argument("--votes", type=int, default=1000 if quick() else 100_000)
    parser.add_argument("--repeats", type=int, default=1 if quick() else 2)
    chosen = parser.parse_args()
    one_thread()
    data = optiframe.dataset(
        "pairwise.random-order", items=chosen.items, comparisons=chosen.votes, outlier_share=0.2
    )
    comparisons = data.inputs()["comparisons"]
    table = optiframe.problem("pairwise-ranking", comparisons=comparisons).comparisons
    x = incidence(table.left, table.right, len(table.item_ids))
    path = ours(comparisons)
    levels, best = path.knots[1:], path.scores[1:]
    print(f"{len(levels)} values of lambda from {levels[0]:.4g} to {levels[-1]:.4g}")
    print(f"{path.active[-1]:.1%} of the votes are outliers at the last")
    solvers: dict[str, Any] = {"hodge.hlasso": lambda: ours(comparisons).scores[1:]}
    if not missing("skglm"):
        for name, solve in skglm_ways(x, table.margin, levels).items():
            for tolerance in TOLERANCES:  # which also compiles before anything is timed
                gap = excess(x, table.margin, levels, solve(tolerance), best)
                print(f"{name} at tolerance {tolerance:g}: objective gap {gap:.2g}")
                if gap <= GAP:
                    solvers[name] = lambda solve=solve, tolerance=tolerance: solve(tolerance)
                    break
    times, answers = best_of(chosen.repeats, solvers)
    good = True
    for name, seconds in times.items():
        print(f"{name:<30} {seconds:9.4f} s")
    for name in list(times)[1:]:
        gap = excess(x, table.margin, levels, answers[name], best)
        good &= verdict(f"objective gap of {name} to ours", gap, GAP)
        ratio = times[name] / times["hodge.hlasso"]
        good &= verdict(f"{name} over hodge.hlasso", ratio, TARGET, unit=" x", most=False)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
