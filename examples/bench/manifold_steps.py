"""What the Gram preconditioner and the spectral start save: outer steps and Hessian products.

Run: python examples/bench/manifold_steps.py

The simulations of Dong et al., Sec. VI, rank 10, d = 5, log-sum-exp penalty, `manifold.trust-region` to a
gradient norm of 1e-6. Counts, so that a busy machine does not matter. Targets: at least 20% fewer
products by the preconditioner in every case, and at most half the outer steps by the spectral start.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from rankone_common import one_thread, verdict

import optiframe

QUICK = bool(os.environ.get("OPTIFRAME_QUICK"))
SIZES = [30] if QUICK else [100, 200]
SEEDS = range(1 if QUICK else 2)


def counts(problem: Any, init: str, precondition: bool) -> tuple[int, int]:
    """Outer steps and Hessian products until the gradient norm is 1e-6."""
    solver = "manifold.trust-region"
    budget = {"tolerance": 1e-6}
    result = optiframe.solve(
        problem, solver, init=init, precondition=precondition, budget=budget, progress=False
    )
    assert result.status is optiframe.Status.CONVERGED, result.message
    return result.iterations, round(float(sum(result.trace["products"])))


def main() -> int:
    one_thread()
    saved, share = [], []
    print(f"{'K, seed':<10} {'start':<9} {'steps':>11} {'products':>13}   (with and without preconditioner)")
    for size in SIZES:
        for seed in SEEDS:
            data = {
                "name": "collaborative.low-rank",
                "users": size,
                "items": size,
                "density": 5.0,
                "seed": seed,
            }
            problem = optiframe.problem(dataset=data).formulation.problem
            steps = {}
            for init in ("spectral", "random"):
                (steps[init], with_it), (plain, without) = (
                    counts(problem, init, precondition) for precondition in (True, False)
                )
                saved.append(1 - with_it / without)
                case = f"{size}, {seed}"
                row = f"{case:<10} {init:<9} {steps[init]:>5} {plain:>5} {with_it:>6} {without:>6}"
                print(f"{row}   {saved[-1]:.0%} fewer")
            share.append(steps["spectral"] / steps["random"])
    good = verdict("products saved by the preconditioner, least", min(saved), 0.2, most=False)
    return 0 if good & verdict("outer steps, spectral over random start, most", max(share), 0.5) else 1


if __name__ == "__main__":
    sys.exit(main())
