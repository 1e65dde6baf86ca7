"""Which 5% of the comparisons of PC-IQA, reference 10, are taken for outliers by LASSO+L2 and by LBI.

As Figure 10; Figure 15 draws the same outliers as arrows. The paper finds one disagreement, on V3 and V5,
and says that it lies at the border between the top 5% and 10%.
"""

from __future__ import annotations

import numpy as np
from harness.answers import again
from harness.claims import Line, holds
from harness.runs import Runs
from hodgerank.flagged import disagreements, reversal_lines, said, scatter, shown

TITLE = "Figures 13 and 15: outliers of PC-IQA"
QUICK = ("solver.1.step=0.1",)
INSIDE = True


def judge(runs: Runs) -> list[Line]:
    differ = disagreements(runs)
    border = _share_at(runs, 5, 3)
    return [
        holds(
            "statements taken for outliers by one of the two only",
            "one, on V3 and V5",
            shown(differ),
            found=len(differ) == 1 and {3, 5} == set(*differ),
            rule="one statement, of these two items",
            why="the exact path of Huber-LASSO flags what LBI flags. The authors' were others: their "
            "column LASSO+L2 of Table 2 is met without the votes for 5 over 3 and 5 over 14, but with those "
            "for 15 over 2",
        ),
        holds(
            "share of the comparisons that enter before 5 over 3",
            "about 5% to 10%",
            f"{border:.1%}",
            found=0.05 <= border <= 0.1,
            rule="within 5% and 10% on the path of LASSO+L2",
        ),
        *reversal_lines(runs),
    ]


def _share_at(runs: Runs, better: int, worse: int) -> float:
    """Share of the comparisons that enter the path of LASSO+L2 before this statement does."""
    result = again(runs.where(solver="LASSO+L2")[0], share=0.15)
    winner, loser = said(result.problem)
    entry = result.solution.entry
    mine = entry[(winner == better) & (loser == worse)]
    return float(np.mean((entry >= 0) & (entry < mine[0]))) if mine[0] >= 0 else float("nan")


draw = scatter
