"""COMRADE with compressed updates and 10, 15 and 20% hostile workers, on w5a (i, j) and a9a (k, l).

The text claims that COMRADE "works even when" a compressor is applied to the updates, and takes QSGD. It
prints no numbers; taken as in panels a to h, by accuracy and by gap, against the run without attack and
compression.

Where we depart. The levels of QSGD are not given: 127 of the norm. The rest as in panels a to h. The
figure shows the gap to the least objective, where accuracy shows nothing: "no attack" is without
compression.
"""

from __future__ import annotations

from typing import Any

from comrade.steps import all_withstood, under_attack
from harness.claims import Line
from harness.runs import Runs

TITLE = "Figure 2 (i-l): COMRADE with compressed updates"
CLAIM = "COMRADE works even when the updates are compressed."
INSIDE = True  # cells of seconds, and no claim about time
QUICK = (
    "seeds=1",
    'problem.0.dataset={name="synthetic.covtype-shape", terms=2000, columns=8}',
    "solver.1.byzantine=0.1",
    'solver.1.attack={name="negative", c=0.9}',
    "budget.iterations=4",
)


def judge(runs: Runs) -> list[Line]:
    return all_withstood(runs)


def draw(runs: Runs) -> Any:
    return under_attack(runs, "gap")
