"""Which 5% of the comparisons of PC-IQA, reference 10, are taken for outliers by LASSO+L2 and by LBI.

As Figure 10; Figure 15 draws the same outliers as arrows. The paper finds one disagreement, on V3 and V5,
and says that it lies at the border between the top 5% and 10%, and that the outliers are "much sparser" than
those of PC-VQA: strictly read, at most half as many statements, of as many items; weakly, fewer.

Negative controls as there; for the share at the border, the opposite statement, 3 over 5; for the
sparseness, as many comparisons at random.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from harness.answers import again, solved
from harness.claims import Line, against, holds, throughout
from harness.runs import Runs
from hodgerank.flagged import outlier_lines, said, scatter, statements
from hodgerank.table_2 import SWAP

import optiframe

TITLE = "Figures 13 and 15: outliers of PC-IQA"
CLAIM = "On PC-IQA LASSO+L2 and LBI disagree on one pair only, at the border of the top 5%."
QUICK = ("solver.1.step=0.1",)
INSIDE = True


def judge(runs: Runs) -> list[Line]:
    line, control = (_border(runs, *statement) for statement in ((5, 3), (3, 5)))
    return [
        *outlier_lines(
            runs,
            "one, on V3 and V5",
            lambda differ: [set(pair) for pair in differ] == [{3, 5}],
            rule="one statement, of these two items",
            why="the exact path of Huber-LASSO flags what LBI flags. The authors' were others: their column "
            f"LASSO+L2 of Table 2 is met {SWAP}",
        ),
        against(line, "3 over 5", control),
        _sparser(runs),
    ]


def _border(runs: Runs, better: int, worse: int) -> Line:
    border = _share_at(runs, better, worse)
    return holds(
        "share of the comparisons that enter before 5 over 3",
        "about 5% to 10%",
        f"{border:.1%}" if not np.isnan(border) else "it never enters",
        found=0.05 <= border <= 0.1,
        rule="within 5% and 10% on the path of LASSO+L2",
    )


def _sparser(runs: Runs) -> Line:
    run = runs.where(solver="LASSO+L2")[0]
    videos = solved(optiframe.problem(dataset={"name": "pairwise.pc-vqa", "ref": 1}), dict(run.solver))
    both = [again(run), videos]
    flagged = [len(statements(result)) for result in both]
    drawn = [_distinct(result) for result in both]
    readings = {}
    for reading, times in (("weakly", 1), ("strictly", 2)):
        line, control = (
            holds(
                "statements taken for outliers, beside PC-VQA",
                "much sparser",
                f"{ours}, of PC-VQA {theirs}",
                found=times * ours < theirs if times == 1 else times * ours <= theirs,
                rule=f"fewer statements (strictly: at most half as many); read {reading}",
            )
            for ours, theirs in (flagged, drawn)
        )
        readings[reading] = against(line, "as many comparisons at random", control)
    return throughout(readings, "how much is much, read")


def _distinct(result: Any) -> int:
    """How many different statements as many comparisons at random make."""
    winner, loser = said(result.problem)
    rows = np.random.default_rng(0).choice(len(winner), len(result.solution.flagged), replace=False)
    return len(set(zip(winner[rows].tolist(), loser[rows].tolist(), strict=True)))


def _share_at(runs: Runs, better: int, worse: int) -> float:
    """Share of the comparisons that enter the path of LASSO+L2 before this statement does."""
    result = again(runs.where(solver="LASSO+L2")[0], share=0.15)
    winner, loser = said(result.problem)
    entry = result.solution.entry
    mine = entry[(winner == better) & (loser == worse)]
    return float(np.mean((entry >= 0) & (entry < mine[0]))) if mine[0] >= 0 else float("nan")


draw = scatter
