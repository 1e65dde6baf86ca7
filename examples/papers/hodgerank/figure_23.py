"""Bipartite ranking as on Shoes: 20 shoes that are brown and 20 that are not.

Nothing of the paper's photographs enters: the votes are drawn. Each pair of a good and a bad item has 5
to 100 votes, a tenth of all votes flipped. The text does not say which share was taken for outliers:
here it is the true tenth. 10 draws; the paper shows one. "The same score" is the spread within the groups
over the distance between them; that two methods differ in two pairs agrees within three, twice the noise
of so small a count.
"""

from __future__ import annotations

from harness.claims import Line
from harness.runs import Runs
from hodgerank.bipartite import outlier_lines, panels, spread_lines

TITLE = "Figures 23 and 24: bipartite ranking as on Shoes"
_FEW = (
    'solver=[{name="hodge.l2",title="L2"},'
    '{name="hodge.hlasso-l2",title="LASSO+L2",share=0.1},{name="hodge.lbi",title="LBI",share=0.1}]'
)
QUICK = (_FEW, "seeds=1", "problem.0.dataset.positive=8", "problem.0.dataset.negative=8")
INSIDE = True

_GOOD = ("LBI", "LASSO+L2")
_POOR = ("L2", "XGB_Linear", "PCLASSO", "HLASSO", "iLTS", "iHT")


def judge(runs: Runs) -> list[Line]:
    here = runs.distinct("solver")
    good, poor = ([name for name in names if name in here] for names in (_GOOD, _POOR))
    return [*spread_lines(runs, good, poor), *outlier_lines(runs)]


draw = panels
