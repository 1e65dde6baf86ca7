"""COMRADE with 10, 15 and 20% hostile workers: Gaussian noise and random labels, without and with
compression.

The supplement shows the accuracies as evidence of the robustness of COMRADE, without numbers. Taken as in
Figure 2, by accuracy and by gap, against the run without attack and compression.

Where we depart. The noise is not given. Here its mean is 0, and its deviation .1, 1 and 10 in every entry of
an update, of which an honest one has mostly less than 1; a claim has a verdict where the three agree (.1 and
10 were added when the verdicts with 1 were known). l2, QSGD, steps, beta and the five shardings of the rows
as in Figure 2. The figure shows the gap to the least objective, with deviation 1.
"""

from __future__ import annotations

from typing import Any

from comrade.steps import data_sets, under_attack, withstood
from harness.claims import Line, throughout
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


_LEVELS = (0.1, 10.0, 1.0)  # of noise; the last is told in full, and drawn


def judge(runs: Runs) -> list[Line]:
    return [
        _line(runs, what, data, attack, compressor)
        for compressor in runs.distinct("compressor.name")
        for attack in runs.distinct("attack.name")
        for data in data_sets(runs)
        for what in ("accuracy", "gap")
    ]


def _line(runs: Runs, what: str, data: dict[str, Any], attack: str, compressor: str) -> Line:
    if attack != "gaussian":
        return withstood(runs, what, data, attack, compressor)
    levels = [level for level in _LEVELS if level in runs.distinct("attack.sigma")]
    readings = {
        f"{level:g}": withstood(_with_noise(runs, level), what, data, attack, compressor) for level in levels
    }
    return throughout(readings, "the deviation of the noise")


def _with_noise(runs: Runs, level: float) -> Runs:
    """Without the runs that have other noise."""
    return runs.those(lambda run: run.solver.get("attack", {}).get("sigma", level) == level)


def draw(runs: Runs) -> Any:
    return under_attack(_with_noise(runs, _LEVELS[-1]), "gap")
