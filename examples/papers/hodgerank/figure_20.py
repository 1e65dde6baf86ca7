"""Which 5% of the comparisons of 30 faces are taken for outliers by LASSO+L2 and by LBI.

As Figure 10, with ties as in Table 3. The paper counts four disagreements.
"""

from __future__ import annotations

from harness.claims import Line, holds
from harness.runs import Runs
from hodgerank.flagged import disagreements, reversal_lines, scatter, shown

TITLE = "Figure 20: outliers among faces"
QUICK = ("solver.1.step=0.1",)
INSIDE = True


def judge(runs: Runs) -> list[Line]:
    differ = disagreements(runs)
    return [
        holds(
            "statements taken for outliers by one of the two only",
            "4",
            f"{len(differ)}: {shown(differ)}",
            found=len(differ) == 4,
            rule="counted",
            why="the exact path of Huber-LASSO flags what LBI flags. The authors' were others: their "
            "column LASSO+L2 of Table 3 is met when four statements change sides, as many as they count "
            "(without the votes for 1 over 13 and 1 over 15, with those for 19 over 13 and 2 over 22)",
        ),
        *reversal_lines(runs),
    ]


draw = scatter
