"""Find which statements the printed column LASSO+L2 of Tables 1 to 3 leaves out, by search.

    python examples/papers/swap_search.py [--near 30] [--most 4]

The column is least squares without outliers. Ours differs from it where the authors took other comparisons
for outliers than the exact path of Huber-LASSO does. Looked for are the fewest statements ("A over B", with
all votes that say so) that have to change sides: of the last ones that entered the path, and the next ones
that would, so many of each (--near). It prints the fewest changes that meet every printed score within
1e-4, and of how many sets of changes; those that come nearest when their effects add up are computed
exactly. The items name what it finds as the reason for a difference (`SWAP` in the tables' modules).
"""

from __future__ import annotations

import argparse
import math
import sys
from itertools import combinations, islice
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
_CHECKED = 200  # sets of changes of each size that are computed exactly
_CHUNK = 50_000  # looked at at once

Statement = tuple[int, int]  # winner, loser


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--near", type=int, default=30, help="statements on either side of the border")
    parser.add_argument("--most", type=int, default=4, help="changes at most")
    asked = parser.parse_args()
    for table in TABLES:
        swap, gap, tried = search(table, near=asked.near, most=asked.most)
        print(f"{table}: {swap}; largest difference {gap:.1e}; {tried:,} sets of changes")
    return 0


def search(table: str, *, near: int = 30, most: int = 4) -> tuple[Swap, float, int]:
    """The fewest changes that meet the printed column, else the best; their difference; how many tried."""
    (item,) = items([table])
    printed: Printed = item.judge.__globals__["PRINTED"]
    problem, solver = _lasso(item)
    votes = _Votes(problem, printed)
    flagged, later = _around_the_border(problem, solver)
    changes = [*flagged[-near:], *later[:near]]
    start = votes.off(set(flagged))
    effects = np.array([votes.off(set(flagged) ^ {each}) - start for each in changes])
    best: tuple[float, tuple[Statement, ...]] = (_largest(start), ())
    tried = 1
    for number in range(1, most + 1):
        for chosen in _likely(start, effects, number):
            statements = tuple(changes[at] for at in chosen)
            gap = _largest(votes.off(set(flagged) ^ set(statements)))
            if gap < best[0]:
                best = (gap, statements)
        tried += math.comb(len(changes), number)
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


def _likely(start: NDArray[np.float64], effects: NDArray[np.float64], number: int) -> list[tuple[int, ...]]:
    """The sets of so many changes that come nearest when their effects add up, which they nearly do."""
    found: list[tuple[float, tuple[int, ...]]] = []
    sets = combinations(range(len(effects)), number)
    while chunk := list(islice(sets, _CHUNK)):
        gaps = np.abs(start + effects[np.array(chunk)].sum(axis=1)).max(axis=1)
        nearest = np.argsort(gaps, kind="stable")[:_CHECKED]
        found = sorted([*found, *((float(gaps[at]), chunk[at]) for at in nearest)])[:_CHECKED]
    return [each for _, each in found]


def _largest(differences: NDArray[np.float64]) -> float:
    return float(np.abs(differences).max())


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

    def off(self, without: set[Statement]) -> NDArray[np.float64]:
        """The differences to the printed column."""
        return self._scores(without) - self._wanted

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
