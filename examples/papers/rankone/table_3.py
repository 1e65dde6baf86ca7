"""How pairs of workers are weighted: all alike, by the number of shared tasks, or by its square.

T = 300 tasks, 10 runs, skills between .8 and -.3. Either spammers (skills nearest to 0) or skilled workers
are given most tasks. How many workers there are, how many label a task, and what "most" means is not said;
here 11 workers on the paper's grid of skills, 3 labels a task, and the i-th busiest worker is drawn in
proportion to 1/i. So the numbers cannot be compared; what can is which weights do well where. "The same"
in the paper's table is taken as within its larger printed spread. Where a claim differs, the difference at 5
labels a task or activity 1/i^2 is said, too.

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
from harness.claims import Line, against, cannot, holds, level, mean, order
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
_SAME = (("spammers", "count", "binary", 0.03), ("skilled", "count", "count-squared", 0.02))
_OTHERS = ((5, 1.0), (3, 2.0), (5, 2.0))  # labels a task, exponent of activity


def judge(runs: Runs) -> list[Line]:
    lines = []
    for busiest, good, bad in _BETTER:
        printed = _PRINTED[busiest]
        seeds = sorted({run.seed for run in runs})
        equal = kept(
            runs, "equal", [good, bad, seeds], lambda g=good, b=bad, s=seeds: _equally_busy((g, b), s)
        )
        line, control = (
            order(
                f"{busiest} busiest: {_WEIGHTS[good]} better than {_WEIGHTS[bad]}",
                f"{printed[good]} against {printed[bad]}",
                *pair,
                why=_elsewhere(runs, busiest, good, bad),
            )
            for pair in ([_errors(runs, busiest, weights) for weights in (good, bad)], equal)
        )
        lines.append(against(line, "all workers equally busy", control))
    for busiest, one, other, spread in _SAME:
        (third,) = set(_WEIGHTS) - {one, other}
        line, control = (
            level(
                f"{busiest} busiest: {_WEIGHTS[one]} and {_WEIGHTS[other]} do the same",
                _PRINTED[busiest][one],
                _errors(runs, busiest, one),
                _errors(runs, busiest, each),
                within=spread,
                why=_elsewhere(runs, busiest, one, other),
            )
            for each in (other, third)
        )
        lines.append(against(line, f"{_WEIGHTS[third]} in the place of {_WEIGHTS[other]}", control))
    lines.append(_equal_counts(runs))
    missing = "how many workers there are, how many label a task, how busy the busy are"
    for busiest, row in _PRINTED.items():
        for weights, printed in row.items():
            ours = str(mean(_errors(runs, busiest, weights)))
            lines.append(cannot(f"{busiest} busiest, {_WEIGHTS[weights]}", printed, missing, ours))
    return lines


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


def _equally_busy(pair: tuple[str, str], seeds: list[int]) -> list[list[float]]:
    return [[_error(weights, seed, labels_per_task=3) for seed in seeds] for weights in pair]


def _errors(runs: Runs, busiest: str, weights: str) -> NDArray[np.float64]:
    return runs.values("error", dataset__busiest=busiest, weights=weights)


def _elsewhere(runs: Runs, busiest: str, one: str, other: str) -> str:
    """The mean difference in the other settings, in words."""
    seeds = sorted({run.seed for run in runs})
    gaps = kept(runs, "elsewhere", [busiest, one, other, seeds], lambda: _gaps(busiest, one, other, seeds))
    told = [
        f"{gap:+.3f} with {labels} labels a task and activity 1/i{'' if skew == 1 else '^2'}"
        for (labels, skew), gap in zip(_OTHERS, gaps, strict=True)
    ]
    return f"the settings are not given; the difference is {', '.join(told)}"


def _gaps(busiest: str, one: str, other: str, seeds: list[int]) -> list[float]:
    gaps = []
    for labels, skew in _OTHERS:
        how = {"busiest": busiest, "labels_per_task": labels, "activity_skew": skew}
        gaps.append([_error(other, seed, **how) - _error(one, seed, **how) for seed in seeds])
    return [float(np.mean(each)) for each in gaps]


def _error(weights: str, seed: int, **data: Any) -> float:
    dataset = {"name": "synthetic.single-coin", "workers": 11, "tasks": 300, "seed": seed, **data}
    problem = optiframe.problem(dataset=dataset, weights=weights, orientation="workers")
    return float(solved(problem, "rankone.pgd", seed).metrics["error"])
