"""Which 5% of the comparisons of PC-VQA, reference 1, are taken for outliers by LASSO+L2 and by LBI.

A point says who was preferred to whom; a cross was taken for an outlier, its colour says how early.
Equal comparisons enter a path together, so what is counted is statements, "A over B". Figure 11
draws the same outliers as arrows. (The printed column LASSO+L2 of Table 1 is met only when two statements
change sides, so that the sets may not have been quite the same there.)
"""

from __future__ import annotations

from harness.claims import Line
from harness.runs import Runs
from hodgerank.flagged import outlier_lines, scatter

TITLE = "Figures 10 and 11: outliers of PC-VQA"
QUICK = ("solver.1.step=0.1",)
INSIDE = True


def judge(runs: Runs) -> list[Line]:
    return outlier_lines(
        runs, "none: exactly the same", lambda differ: not differ, rule="the two sets are equal"
    )


draw = scatter
