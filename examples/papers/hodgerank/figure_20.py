"""Which 5% of the comparisons of 30 faces are taken for outliers by LASSO+L2 and by LBI.

As Figure 10, with ties as in Table 3. The paper counts four disagreements. Negative controls as there.
"""

from __future__ import annotations

from harness.claims import Line
from harness.runs import Runs
from hodgerank.flagged import outlier_lines, scatter
from hodgerank.table_3 import SWAP

TITLE = "Figure 20: outliers among faces"
CLAIM = "On the faces LASSO+L2 and LBI disagree on four outliers only."
QUICK = ("solver.1.step=0.1",)
INSIDE = True


def judge(runs: Runs) -> list[Line]:
    return outlier_lines(
        runs,
        "4",
        lambda differ: len(differ) == 4,
        rule="four statements",
        why="the exact path of Huber-LASSO flags what LBI flags. The authors' were others: their column "
        f"LASSO+L2 of Table 3 is met when {len(SWAP.dropped) + len(SWAP.kept)} statements change "
        f"sides: {SWAP}",
    )


draw = scatter
