"""How pairs of workers are weighted: all alike, by the number of shared tasks, or by its square.

T = 300 tasks, 10 runs, skills between .8 and -.3. Either spammers (skills nearest to 0) or skilled workers
are given most tasks. How many workers there are, how many label a task, and what "most" means is not said;
here 11 workers on the paper's grid of skills. So the numbers cannot be compared; what can is which weights
do well where. "The same" in the paper's table is taken as within its larger printed spread. Every claim is
judged with 2, 3, 5 and 7 labels a task, the i-th busiest worker being drawn in proportion to 1/i or to
1/i^2, and has a verdict where these eight agree. The table and the figures beside the claims have 3 labels
and 1/i. (The panel was added when the verdicts with 3 labels and 1/i were known.)

Negative controls: for what busy spammers or skilled workers do to the weights, workers who are all equally
busy; for weights that do the same, the third ones; for all weights alike, the runs in which the pairs share
unequal numbers of tasks.

The text also says that all weights do the same where all pairs share as many tasks: checked on a clique,
where every worker labels every task.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from harness.answers import kept, solved
from harness.claims import Line, against, cannot, holds, level, mean, order, throughout
from harness.runs import Runs
from numpy.typing import NDArray

import optiframe

TITLE = "Table 3: weights of the pairs"
CLAIM = "Weights by shared tasks help when skilled workers are busiest; squared ones hurt with spammers."
INSIDE = True
QUICK = ("seeds=3",)

_WEIGHTS = {"binary": "all alike", "count": "counts", "count-squared": "squared counts"}
_PRINTED = {
    "spammers": {"binary": "0.33 ± 0.03", "count": "0.33 ± 0.03", "count-squared": "0.55 ± 0.17"},
    "skilled": {"binary": "0.17 ± 0.06", "count": "0.09 ± 0.02", "count-squared": "0.09 ± 0.02"},
}
# Who is busiest, the better weights, and the worse ones; and those that do the same, with the spread that
# counts as the same.
_BETTER = (("spammers", "count", "count-squared"), ("skilled", "count", "binary"))
_NOBODY = "nobody"
_SAME = (("spammers", "count", "binary", 0.03), ("skilled", "count", "count-squared", 0.02))
# Labels a task, and the exponent of activity; those of the comparison file come last.
_SETTINGS = [(labels, skew) for skew in (2.0, 1.0) for labels in (2, 5, 7, 3)]
_OPEN = "labels a task and activity"


def judge(runs: Runs) -> list[Line]:
    panel = {
        f"{labels} and 1/i{'' if skew == 1 else '^2'}": _panel(runs, labels, skew)
        for labels, skew in _SETTINGS
    }
    lines = []
    for busiest, good, bad in _BETTER:
        what, printed = f"{busiest} busiest: {_WEIGHTS[good]} better than {_WEIGHTS[bad]}", _PRINTED[busiest]
        readings = {}
        for setting, errors in panel.items():
            line, control = (
                order(what, f"{printed[good]} against {printed[bad]}", errors[who][good], errors[who][bad])
                for who in (busiest, _NOBODY)
            )
            readings[setting] = against(line, "all workers equally busy", control)
        lines.append(throughout(readings, _OPEN))
    for busiest, one, other, spread in _SAME:
        (third,) = set(_WEIGHTS) - {one, other}
        what, printed = (
            f"{busiest} busiest: {_WEIGHTS[one]} and {_WEIGHTS[other]} do the same",
            _PRINTED[busiest],
        )
        readings = {}
        for setting, errors in panel.items():
            line, control = (
                level(what, printed[one], errors[busiest][one], errors[busiest][each], within=spread)
                for each in (other, third)
            )
            readings[setting] = against(line, f"{_WEIGHTS[third]} in the place of {_WEIGHTS[other]}", control)
        lines.append(throughout(readings, _OPEN))
    lines.append(_equal_counts(runs))
    missing = "how many workers there are, how many label a task, how busy the busy are"
    for busiest, row in _PRINTED.items():
        for weights, numbers in row.items():
            ours = str(mean(_errors(runs, busiest, weights)))
            lines.append(cannot(f"{busiest} busiest, {_WEIGHTS[weights]}", numbers, missing, ours))
    return lines


def _panel(runs: Runs, labels: int, skew: float) -> dict[str, dict[str, list[float]]]:
    """Errors by who is busiest and by weights, with so many labels a task and such activity."""
    seeds = sorted({run.seed for run in runs})

    def compute() -> dict[str, dict[str, list[float]]]:
        busy = {who: {"busiest": who, "activity_skew": skew} for who in _PRINTED}
        return {
            who: {
                weights: [_error(weights, seed, labels_per_task=labels, **how) for seed in seeds]
                for weights in _WEIGHTS
            }
            for who, how in {**busy, _NOBODY: {}}.items()
        }

    errors: dict[str, dict[str, list[float]]] = kept(runs, "panel", [labels, skew, seeds], compute)
    return errors


def _equal_counts(runs: Runs) -> Line:
    seeds = sorted({run.seed for run in runs})
    equal = [[_error(weights, seed, graph="clique") for seed in seeds] for weights in _WEIGHTS]
    unequal = [list(_errors(runs, "skilled", weights)) for weights in _WEIGHTS]
    line, control = (_identical(each, len(seeds)) for each in (equal, unequal))
    return against(line, "pairs that share unequal numbers of tasks", control)


def _identical(errors: list[list[float]], draws: int) -> Line:
    apart = max(float(np.ptp(each)) for each in zip(*errors, strict=True))
    return holds(
        "every pair shares as many tasks: all weights do the same",
        "identical results",
        f"errors at most {apart:.2g} apart in {draws} draws",
        found=apart == 0,
        rule="the same number of errors in every draw",
        why="not explained",
    )


def _errors(runs: Runs, busiest: str, weights: str) -> NDArray[np.float64]:
    return runs.values("error", dataset__busiest=busiest, weights=weights)


def _error(weights: str, seed: int, **data: Any) -> float:
    dataset = {"name": "synthetic.single-coin", "workers": 11, "tasks": 300, "seed": seed, **data}
    problem = optiframe.problem(dataset=dataset, weights=weights, orientation="workers")
    return float(solved(problem, "rankone.pgd", seed).metrics["error"])
