"""One rank-one completion by two plugins: `rankone.pgd` and `manifold.trust-region`.

Products of 40 skills along a random graph, with a little noise, each to its own residual of 1e-8.
Both minimize the same objective: the first descends along the gradient of x, the second
takes x for the matrix x x' and uses second derivatives. Prints steps, time and what they reach.
"""

from __future__ import annotations

import warnings

import numpy as np

import optiframe

GRAPH = optiframe.dataset("rank-one.erdos-renyi", workers=40, noise=0.01, seed=1)
SOLVERS = ("rankone.pgd", "manifold.trust-region")


def main() -> None:
    problem = optiframe.problem("rank-one-completion", **GRAPH.inputs())
    print(f"{'solver':<24} {'steps':>6} {'seconds':>8} {'objective':>13} {'gradient':>9} {'distance':>9}")
    for name in SOLVERS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optiframe.NotConverged)  # the table says how far each came
            found = optiframe.solve(problem, name, budget={"tolerance": 1e-8, "iterations": 20_000})
        slope = np.linalg.norm(problem.least_squares.gradient(found.solution))
        print(
            f"{name:<24} {found.iterations:>6} {found.time:>8.3f} {found.objective:>13.6e} {slope:>9.1e} "
            f"{found.metrics['distance']:>9.5f}"
        )


if __name__ == "__main__":
    main()
