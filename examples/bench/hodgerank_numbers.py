"""The image of Experiment II: errors of least squares and of linearized Bregman iteration.

Run: python examples/bench/hodgerank_numbers.py

346,737 differences of 29,322 pixels, a tenth of them wrong. The image is not the paper's photograph, which
is not published, but drawn; LBI stops at the share of outliers that there is. Asked for: an error near that
of least squares on the right differences alone. The paper's tables and figures, number by number, are in
`examples/papers/hodgerank`. Some seconds; OPTIFRAME_QUICK=1 for a small case.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from hodgerank_common import one_thread, quick, verdict

import optiframe

STEPS = {"iterations": 10**6}


def solve(problem: Any, name: str, **parameters: Any) -> Any:
    return optiframe.solve(problem, name, trace=False, progress=False, budget=STEPS, **parameters)


def image() -> bool:
    size = {"height": 30, "width": 30} if quick() else {}
    problem = optiframe.problem(dataset=optiframe.dataset("pairwise.image", **size))
    print(f"-- Experiment II: {len(problem.item_ids):,} pixels, {problem.rows:,} comparisons")
    table, clean = problem.comparisons, np.flatnonzero(~problem.outlier_truth)
    columns = {"left": table.left[clean], "right": table.right[clean], "margin": table.margin[clean]}
    oracle = optiframe.problem("pairwise-ranking", comparisons=columns).graph
    truth = problem.truth.score - problem.truth.score.mean()

    def error(scores: np.ndarray) -> float:
        return float(np.mean((scores - truth) ** 2))

    least = error(problem.graph.scores(problem.graph.margin))
    best = error(oracle.scores(oracle.margin))
    share = float(problem.outlier_truth.mean())
    found = error(solve(problem, "hodge.lbi", share=share, step=1.0).solution.scores)
    print(f"mean squared error: L2 {least:.3e}, LBI {found:.3e}, least squares on clean edges {best:.3e}")
    good = verdict("LBI over least squares on clean edges", found / best, 1.1, unit=" x")
    return verdict("L2 over LBI", least / found, 8.0, unit=" x", most=False) and good


def main() -> int:
    one_thread()
    return 0 if image() else 1


if __name__ == "__main__":
    sys.exit(main())
