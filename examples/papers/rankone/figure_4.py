"""Gradient descent and Eq. 4, the exponentiated gradient, step for step; no noise.

25 workers with skills uniform in [.4, .6], known products all of weight 1, both methods from .6 with step
.01. The graphs are a ring, a 5 x 5 grid with one extra edge (the paper does not say which; here the
diagonal of the first square), and an Erdos-Renyi graph (no chance is given; here twice log(25)/25, drawn
again until it is connected with an odd cycle).

The paper shows one realization of each and says that all look so; there are ten here. How many iterations
its plots have cannot be read from the text; here 10,000, on a logarithmic axis. "Extremely similar" is
taken as: the two errors are never further apart than a twentieth of the first one, the height of the plot.
That is a finer eye than most readers have. The negative control has the descent with half the step in the
place of Eq. 4.
"""

from __future__ import annotations

from typing import Any

from harness.claims import Line
from harness.runs import Runs
from rankone.descents import alike, figure

TITLE = "Figure 4: descent against Eq. 4, without noise"
CLAIM = "Gradient descent and the exponentiated gradient of Eq. 4 behave extremely similarly, step for step."
INSIDE = True
QUICK = ("seeds=1", "budget.iterations=300")


def judge(runs: Runs) -> list[Line]:
    return [alike(runs, graph) for graph in runs.distinct("problem")]


def draw(runs: Runs) -> Any:
    return figure(runs, runs.distinct("problem"))
