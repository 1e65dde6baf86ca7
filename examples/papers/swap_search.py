"""Find which statements the printed column LASSO+L2 of Tables 1 to 3 leaves out, by search.

    python examples/papers/swap_search.py [--near 12] [--most 4]

The column is least squares without outliers. Ours differs from it where the authors took other comparisons
for outliers than the exact path of Huber-LASSO does. Looked for are the fewest statements ("A over B", with
all votes that say so) that have to change sides: of the last ones that entered the path, and the next ones
that would, so many of each (--near). It prints the fewest changes that meet every printed score within
1e-4, and how many sets of changes were tried. The items name what it finds as the reason for a difference
(`SWAP` in the tables' modules).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from harness.answers import solved
from harness.items import items
from hodgerank.columns import Printed, Swap
from hodgerank.flagged import said
from numpy.typing import NDArray

import optiframe
from optiframe.comparison.plan.plan import read_plan

TABLES = ("hodgerank/table_1", "hodgerank/table_2", "hodgerank/table_3")
_WITHIN = 1.0001e-4  # a unit of the last printed digit

Statement = tuple[int, int]  # winner, loser


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--near", type=int, default=12, help="statements on either side of the border")
    parser.add_argument("--most", type=int, default=4, help="changes at most")
    asked = parser.parse_args()
    for table in TABLES:
        swap, gap, tried = search(table, near=asked.near, most=asked.most)
        print(f"{table}: {swap}; largest difference {gap:.1e}; {tried:,} sets of changes tried")
    return 0


def search(table: str, *, near: int = 12, most: int = 4) -> tuple[Swap, float, int]:
    """The fewest changes that meet the printed column, else the best; their difference; how many tried."""
    (item,) = items([table])
    printed: Printed = item.judge.__globals__["PRINTED"]
    problem, solver = _lasso(item)
    votes = _Votes(problem, printed)
    flagged, later = _around_the_border(problem, solver)
    changes = [*flagged[-near:], *later[:near]]
    best: tuple[float, Sequence[Statement]] = (votes.off(set(flagged)), ())
    tried = 1
    for number in range(1, most + 1):
        for chosen in combinations(changes, number):
            tried += 1
            gap = votes.off(set(flagged) ^ set(chosen))
            if gap < best[0]:
                best = (gap, chosen)
        if best[0] <= _WITHIN:
            break
    out = set(flagged)
    dropped = tuple(each for each in best[1] if each not in out)
    kept = tuple(each for each in best[1] if each in out)
    return Swap(dropped=dropped, kept=kept), best[0], tried


def _lasso(item: Any) -> tuple[Any, dict[str, Any]]:
    cell = next(cell for cell in read_plan(item.file).cells if cell.solver.title == "LASSO+L2")
    return optiframe.problem(**cell.problem.table), dict(cell.solver.table)


def _around_the_border(problem: Any, solver: dict[str, Any]) -> tuple[list[Statement], list[Statement]]:
    """Statements in the order in which they enter the path: those taken for outliers, and the next ones."""
    farther = solved(problem, {**solver, "share": 3 * solver["share"]})
    winner, loser = said(problem)
    pairs = list(zip(winner.tolist(), loser.tolist(), strict=True))
    entered = np.flatnonzero(farther.solution.entry >= 0)
    order = entered[np.argsort(farther.solution.entry[entered], kind="stable")]
    every = list(dict.fromkeys(pairs[row] for row in order))
    out = {pairs[row] for row in solved(problem, solver).solution.flagged}
    return [each for each in every if each in out], [each for each in every if each not in out]


class _Votes:
    """How often each statement was made, for least squares without some of them."""

    def __init__(self, problem: Any, printed: Printed) -> None:
        self._wanted = printed.scores["LASSO+L2"]
        self._place = {item: at for at, item in enumerate(printed.items)}
        winner, loser = said(problem)
        size = len(printed.items)
        self._count = np.zeros((size, size))  # winner x loser
        rows, columns = ([self._place[item] for item in each.tolist()] for each in (winner, loser))
        np.add.at(self._count, (rows, columns), 1.0)

    def off(self, without: set[Statement]) -> float:
        """The largest difference to the printed column."""
        return float(np.abs(self._scores(without) - self._wanted).max())

    def _scores(self, without: set[Statement]) -> NDArray[np.float64]:
        count = self._count.copy()
        for winner, loser in without:
            count[self._place[winner], self._place[loser]] = 0.0
        pairs = count + count.T
        laplacian = np.diag(pairs.sum(axis=1)) - pairs
        divergence = count.sum(axis=1) - count.sum(axis=0)
        # Scores sum to zero: the matrix of ones fills the kernel.
        return np.linalg.solve(laplacian + 1.0, divergence)


if __name__ == "__main__":
    sys.exit(main())
