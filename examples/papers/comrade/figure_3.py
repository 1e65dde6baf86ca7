"""COMRADE with 10, 15 and 20% hostile workers: Gaussian noise and random labels, without and with
compression.

The supplement shows the accuracies as evidence of the robustness of COMRADE, without numbers. Taken as in
Figure 2, by accuracy and by gap, against the run without attack and compression.

Where we depart. The noise is not given: mean 0 and deviation 1 in every entry of an update, which is more
than most entries of an honest one have. l2, QSGD, steps, beta and the five shardings of the rows as in
Figure 2. The figure shows the gap to the least objective.
"""

from __future__ import annotations

from typing import Any

from comrade.steps import all_withstood, under_attack
from harness.claims import Line
from harness.runs import Runs

TITLE = "Figure 3: COMRADE under noise and random labels"
CLAIM = "COMRADE is robust against Gaussian noise and random labels, with and without compression."
INSIDE = True  # cells of seconds, and no claim about time
QUICK = (
    "seeds=1",
    'problem.0.dataset={name="synthetic.covtype-shape", terms=2000, columns=8}',
    "solver.1.byzantine=0.1",
    'solver.1.attack={name="random-labels"}',
    'solver.1.compressor={name="qsgd", levels=127, norm="l2"}',
    "budget.iterations=4",
)


def judge(runs: Runs) -> list[Line]:
    return all_withstood(runs)


def draw(runs: Runs) -> Any:
    return under_attack(runs, "gap")
