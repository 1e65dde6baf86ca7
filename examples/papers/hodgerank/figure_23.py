"""Bipartite ranking as on Shoes: 20 shoes that are brown and 20 that are not.

Nothing of the paper's photographs enters: the votes are drawn. Each pair of a good and a bad item has 5
to 100 votes, a tenth of all votes flipped. The text does not say which share was taken for outliers:
every line is judged at 5, 10 (the truth) and 15%. 10 draws; the paper shows one.

"The same score" is taken as a standard deviation within the groups below 1% of the distance between them, "a
clear gap" as more than half of the range of the scores. Both bounds were chosen when our spreads were known:
each is either far below 1% or well above it. How many statements two methods disagree on is compared as two
counts, the paper's of one draw and ours of all.

Negative controls: plain least squares (L2) in the place of a robust method, LBI in the place of a poor one,
votes at random for the flipped ones, and the largest misfits to L2 for LBI's outliers.
"""

from __future__ import annotations

from harness.claims import Line
from harness.runs import Runs
from hodgerank.bipartite import FEW, lines_of, panels

TITLE = "Figures 23 and 24: bipartite ranking as on Shoes"
QUICK = (FEW, "seeds=1", "problem.0.dataset.positive=8", "problem.0.dataset.negative=8")
CLAIM = "Only LBI and LASSO+L2 give each group one score, with a clear gap between the groups."
INSIDE = True

_GOOD = ("LBI", "LASSO+L2")
_POOR = ("L2", "XGB_Linear", "PCLASSO", "HLASSO", "iLTS", "iHT")


def judge(runs: Runs) -> list[Line]:
    return lines_of(runs, _GOOD, _POOR)


draw = panels
