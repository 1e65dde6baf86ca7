"""Which 5% of the comparisons of PC-VQA, reference 1, are taken for outliers by LASSO+L2 and by LBI.

A point says who was preferred to whom; a cross was taken for an outlier, its colour says how early.
Equal comparisons enter a path together, so what is counted is statements, "A over B". Figure 11
draws the same outliers as arrows. (The printed column LASSO+L2 of Table 1 is met only when two statements
change sides, so that the sets may not have been quite the same there.)

Negative controls: the comparisons of largest misfit to plain least squares in LBI's place; as many
statements at random.
"""

from __future__ import annotations

from harness.claims import Line
from harness.runs import Runs
from hodgerank.flagged import outlier_lines, scatter

TITLE = "Figures 10 and 11: outliers of PC-VQA"
CLAIM = (
    "LASSO+L2 and LBI take exactly the same comparisons of PC-VQA for outliers, all against the order of L2."
)
QUICK = ("solver.1.step=0.1",)
INSIDE = True


def judge(runs: Runs) -> list[Line]:
    return outlier_lines(
        runs, "none: exactly the same", lambda differ: not differ, rule="the two sets are equal"
    )


draw = scatter
