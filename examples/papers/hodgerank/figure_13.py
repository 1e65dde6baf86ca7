"""Which 5% of the comparisons of PC-IQA, reference 10, are taken for outliers by LASSO+L2 and by LBI.

As Figure 10; Figure 15 draws the same outliers as arrows. The paper finds one disagreement, on V3 and V5,
and says that it lies at the border between the top 5% and 10%, and that the outliers are "much sparser" than
those of PC-VQA: here, fewer statements, of as many items.
"""

from __future__ import annotations

import numpy as np
from harness.answers import again, solved
from harness.claims import Line, holds
from harness.runs import Runs
from hodgerank.flagged import outlier_lines, said, scatter, statements
from hodgerank.table_2 import SWAP

import optiframe

TITLE = "Figures 13 and 15: outliers of PC-IQA"
QUICK = ("solver.1.step=0.1",)
INSIDE = True


def judge(runs: Runs) -> list[Line]:
    border = _share_at(runs, 5, 3)
    return [
        *outlier_lines(
            runs,
            "one, on V3 and V5",
            lambda differ: [set(pair) for pair in differ] == [{3, 5}],
            rule="one statement, of these two items",
            why="the exact path of Huber-LASSO flags what LBI flags. The authors' were others: their column "
            f"LASSO+L2 of Table 2 is met {SWAP}",
        ),
        holds(
            "share of the comparisons that enter before 5 over 3",
            "about 5% to 10%",
            f"{border:.1%}",
            found=0.05 <= border <= 0.1,
            rule="within 5% and 10% on the path of LASSO+L2",
        ),
        _sparser(runs),
    ]


def _sparser(runs: Runs) -> Line:
    run = runs.where(solver="LASSO+L2")[0]
    videos = solved(optiframe.problem(dataset={"name": "pairwise.pc-vqa", "ref": 1}), dict(run.solver))
    ours, theirs = len(statements(again(run))), len(statements(videos))
    return holds(
        "statements taken for outliers, beside PC-VQA",
        "much sparser",
        f"{ours}, of PC-VQA {theirs}",
        found=ours < theirs,
        rule="fewer statements",
    )


def _share_at(runs: Runs, better: int, worse: int) -> float:
    """Share of the comparisons that enter the path of LASSO+L2 before this statement does."""
    result = again(runs.where(solver="LASSO+L2")[0], share=0.15)
    winner, loser = said(result.problem)
    entry = result.solution.entry
    mine = entry[(winner == better) & (loser == worse)]
    return float(np.mean((entry >= 0) & (entry < mine[0]))) if mine[0] >= 0 else float("nan")


draw = scatter
