"""Errors with five populations of workers, beside the vote with the true skills ("Bayes").

Accuracies p are drawn from Beta(alpha, beta), T = 300 tasks, 10 runs. The paper takes the skills to sum to
something positive; where they do not, everything is reversed. How many workers there are, who labels what,
and whether skills are drawn anew in each run is not said: here 11 workers, as in the paper's graphs, drawn
anew. So the Bayes errors cannot be compared; what can is how far the descent is from them, and where it is
reversed. These claims are judged with 3, 5 and 11 labels a task, the workers of a task being drawn at random,
and have a verdict where these agree; the errors beside them are those with 11, where all label every task.
(3 and 5 labels were added when the verdicts with 11 were known.)

Beta(2, 2) and Beta(.5, .5) are symmetric about 1/2: whether the sum is positive is a coin toss in each run,
and the mean error says how the tosses fell. Ten tosses beside ten can hardly decide anything.
(The text names the last population by a slip as that of alpha = 5 and beta = 1; the table's alpha = 1 and
beta = 3 is meant.)

Negative controls: the majority vote in PGD's place; for what is reversed by chance, the better of an answer
and its reverse; for the printed spreads, a hundredth of the tasks.

The spreads of the Bayes column can be checked without any run, as far as they are standard deviations of the
share of errors on 300 tasks: such a share varies at least like a binomial one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.stats
from harness.claims import Line, against, cannot, holds, level, mean, sampled, throughout
from harness.runs import Runs

TITLE = "Table 1: populations of workers"
CLAIM = (
    "PGD comes close to Bayes when the skills sum to something positive, and is reversed when they do not."
)
INSIDE = True
QUICK = ("seeds=3",)

_TASKS, _RUNS = 300, 10
# Bayes error and its spread, error of the descent and its spread, as printed.
_PRINTED = {
    "adversaries and hammers": (0.0036, 0.0014, 0.5990, 0.4860),
    "more positive": (0.0038, 0.0014, 0.0041, 0.0013),
    "more negative": (0.0314, 0.0062, 0.9667, 0.0067),
    "hammers": (0.0615, 0.0083, 0.4162, 0.4273),
    "spammers": (0.0129, 0.0034, 0.9864, 0.0041),
}


def judge(runs: Runs) -> list[Line]:
    lines = []
    counts = sorted(runs.distinct("dataset.labels_per_task"))
    for workers, (bayes, *_) in _PRINTED.items():
        mine = runs.those(lambda run, of=workers: run.problem_title.partition(" (")[0] == of)
        readings = {
            str(labels): _line(workers, mine.where(dataset__labels_per_task=labels)) for labels in counts
        }
        lines.append(throughout(readings, "labels a task"))
        missing = "how many workers there are, and who labels what"
        best = _bayes(mine.where(dataset__labels_per_task=counts[-1]))
        lines.append(cannot(f"{workers}, Bayes error", f"{bayes}", missing, str(mean(best))))
    return [*lines, against(_spreads(_TASKS), "were it three tasks", _spreads(_TASKS // 100))]


def _line(workers: str, runs: Runs) -> Line:
    """What is claimed of one population, of the runs with one number of labels a task."""
    bayes, _, paper, spread = _PRINTED[workers]
    # Rounded so that equal shares are equal.
    ours, majority = (
        np.round(runs.values("error", solver=name), 12) for name in ("rankone.pgd", "labels.majority")
    )
    best = _bayes(runs)
    what = f"{workers}, error"
    if workers == "more positive":
        claim = f"{paper}, Bayes {bayes}"
        return _beside_majority(f"{what} beside Bayes", claim, best, (ours, majority), spread)
    if workers in ("more negative", "spammers"):
        claim = f"{paper}, one less Bayes is {1 - bayes:.4f}"
        reversed_ = np.round(1.0 - best, 12)
        return _beside_majority(
            f"{what}: all answers are reversed", claim, reversed_, (ours, majority), spread
        )
    line, control = (
        sampled(f"{what}: reversed by chance", paper, spread, _RUNS, each)
        for each in (ours, np.minimum(ours, 1 - ours))
    )
    return against(line, "never reversed", control)


def _bayes(runs: Runs) -> Any:
    """Errors of the vote with the true skills."""
    error, regret = (runs.values(name, solver="rankone.pgd") for name in ("error", "regret"))
    return np.round(error - regret, 12)


def _beside_majority(what: str, claim: str, wanted: Any, pair: tuple[Any, Any], spread: float) -> Line:
    """Of PGD's errors and the majority's, beside what they should be."""
    line, control = (level(what, claim, wanted, each, within=spread) for each in pair)
    return against(line, "the majority in PGD's place", control)


def _spreads(tasks: int) -> Line:
    """Whether the spreads of the Bayes column can be those of ten runs of so many tasks."""
    sum_of_squares, freedom = 0.0, 0
    for error, spread, _, _ in _PRINTED.values():
        sum_of_squares += (_RUNS - 1) * spread**2 / (error * (1 - error) / tasks)
        freedom += _RUNS - 1
    chance = float(scipy.stats.chi2.cdf(sum_of_squares, freedom))
    least = ", ".join(f"{np.sqrt(p * (1 - p) / tasks):.4f}" for p, _, _, _ in _PRINTED.values())
    return holds(
        f"spread of the Bayes errors over ten runs of {_TASKS} tasks",
        ", ".join(f"{spread}" for _, spread, _, _ in _PRINTED.values()),
        f"at least {least}; so little by chance: {chance:.1g}",
        found=chance >= 0.01,
        rule="chi-square of all five spreads against the binomial ones, chance of so little at least 1%",
        why="so they are of something else, which is not said: of more tasks, of the chance of an error "
        "rather than its share, or standard errors of a mean",
    )
