"""Any objective over matrices of a fixed rank: `manifold.trust-region` beside L-BFGS and pymanopt.

First a 120 x 90 matrix of rank 3 is completed from a fifth of its entries, known up to a
little noise; then a function of a small matrix, written in Python, is minimized over rank 1
with derivatives by autograd. Prints steps, objective and gradient norm.
"""

from __future__ import annotations

import warnings

import autograd.numpy as anp
import numpy as np
from optiframe_manifold import LowRank, Rank
from optiframe_manifold.objective.completion import KnownEntries
from optiframe_manifold.objective.dense_objective import OfMatrix

import optiframe

ROWS, COLUMNS, RANK = 120, 90, 3


def completion() -> tuple[optiframe.Minimize, LowRank]:
    """Known entries of a random matrix, and the whole of it."""
    rng = np.random.default_rng(0)
    truth = LowRank(rng.standard_normal((ROWS, RANK)), rng.standard_normal((COLUMNS, RANK)))
    row, column = np.nonzero(rng.random((ROWS, COLUMNS)) < 0.2)
    entry = truth.at(row, column) + 0.01 * rng.standard_normal(len(row))
    known = KnownEntries(rows=ROWS, columns=COLUMNS, row=row, column=column, entry=entry)
    return optiframe.Minimize(known, over=Rank(ROWS, COLUMNS, RANK)), truth


def robust_distance(x: anp.ndarray) -> float:
    """To a matrix of ones with one wild entry, which pulls no more than any other."""
    target = np.ones((6, 5))
    target[0, 0] = 100.0
    return anp.sum(anp.sqrt(0.01 + (x - target) ** 2))  # type: ignore[no-any-return]  # autograd has no types


def main() -> None:
    problem, truth = completion()
    print(f"{'solver':<24} {'steps':>6} {'objective':>12} {'gradient':>9} {'distance':>9}")
    for name in ("manifold.trust-region", "manifold.pymanopt", "manifold.lbfgs"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optiframe.NotConverged)  # the table says how far each came
            found = optiframe.solve(problem, name)
        far = problem.over.distance(found.solution, truth) / truth.norm()
        gradient = found.trace["residual"][-1]
        print(f"{name:<24} {found.iterations:>6} {found.objective:>12.6f} {gradient:>9.1e} {far:>9.5f}")

    objective = OfMatrix(objective=optiframe.from_function(robust_distance, (6, 5)))
    found = optiframe.solve(optiframe.Minimize(objective, over=Rank(6, 5, 1)), "manifold.trust-region")
    middle = np.median(found.solution.dense())
    print(f"\nby autograd: {found.status} after {found.iterations} steps, entries about {middle:.3f}")


if __name__ == "__main__":
    main()
