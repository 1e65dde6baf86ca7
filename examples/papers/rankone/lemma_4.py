"""The two bounds from skills to votes: how much worse the vote gets when the skills are only estimated.

Lemma 4: for every margin e, the share of tasks that the vote with estimated weights gets wrong is at most
the share on which the true weights win by no more than e, plus the chance that the weights are off by e or
more in sum. Both sides are means over draws of 110 tasks on a clique of 11 workers, skills a grid from .8
to -.3, weights v(s) = log((1 + s)/(1 - s)) of PGD's skills and of the true ones; margins from .01 to 100.
The control asks for the same without the margin: at most the share that the true weights get wrong.

Lemma 5: if (1 + s')/(1 + s) and (1 - s')/(1 - s) are within d of 1, the weights are at most 2 d apart.
Checked on a grid of skills s from -.99 to .99 and of d from .01 to .9, for the s' farthest from s that is
allowed. The control has 1.9 d in the place of 2 d.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from harness.answers import again
from harness.claims import Line, against, holds
from harness.figures import panels
from harness.runs import Run, Runs
from numpy.typing import NDArray

TITLE = "Lemmas 4 and 5: from skills to votes"
CLAIM = "The error of a vote with estimated skills is bounded by the margins of the true ones."
INSIDE = True
QUICK = ("seeds=2",)

_MARGINS = np.geomspace(0.01, 100.0, 41)
_SKILLS = np.linspace(-0.99, 0.99, 199)  # 0 among them
_DELTAS = np.linspace(0.01, 0.9, 90)
_SLACK = 1e-12


def judge(runs: Runs) -> list[Line]:
    wrong, within, off = _sides(runs)
    bound = within + off
    line, control = (
        holds(
            "Lemma 4, margins from 0.01 to 100",
            "at most the bound for every margin",
            f"error {wrong:.4f}, {told} {least:.4f}",
            found=bool(wrong <= least + _SLACK),
            rule="the mean error is at most the bound, whatever the margin",
        )
        for told, least in (("least bound", float(bound.min())), ("errors of the true weights", _bayes(runs)))
    )
    lines = [against(line, "without the margin", control)]
    line, control = (_lemma_5(factor) for factor in (2.0, 1.9))
    return [*lines, against(line, "1.9 d in the place of 2 d", control)]


def _sides(runs: Runs) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
    """The mean error; the share of tasks within each margin; the chance of weights that far off."""
    wrong, within, off = [], [], []
    for run in runs:
        estimated, true, distance = _scores(run)
        wrong.append(np.mean(estimated <= 0))
        within.append([np.mean(true <= margin) for margin in _MARGINS])
        off.append(distance >= _MARGINS)
    return float(np.mean(wrong)), np.mean(within, axis=0), np.mean(off, axis=0)


def _bayes(runs: Runs) -> float:
    return float(np.mean([np.mean(_scores(run)[1] <= 0) for run in runs]))


def _scores(run: Run) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """By both weights the lead of the true class in each task, and how far the weights are apart."""
    result = again(run)
    problem = result.problem
    skills = (np.clip(result.solution.skills, -1 + 1e-12, 1 - 1e-12), problem.true_skills)
    weights = [np.log((1 + each) / (1 - each)) for each in skills]
    labels = problem.crowd.labels
    right = np.where(problem.label_codes == problem.truth_codes[labels.task], 1.0, -1.0)
    estimated, true = (
        np.bincount(labels.task, right * each[labels.worker], len(labels.task_ids)) for each in weights
    )
    return estimated, true, float(np.abs(weights[0] - weights[1]).sum())


def _lemma_5(factor: float) -> Line:
    worst, where = _farthest()
    return holds(
        "Lemma 5, largest difference of the weights over d",
        "2",
        f"{worst:.4g}, at s = {where[0]:.2g} and d = {where[1]:.2g}; {_at_most(0.1):.4g} for d up to 0.1",
        found=bool(worst <= factor + _SLACK),
        rule="at most that for every skill and every d",
        why="at s = 0 both ratios may be off by d in the two directions at once, and the weights by "
        "log((1 + d)/(1 - d)), which is 2 d + 2 d^3/3 and more: the lemma holds to second order in d only",
    )


def _farthest(most: float = 1.0) -> tuple[float, tuple[float, float]]:
    """The largest difference of weights over d, with its skill and d; d at most `most`."""
    found = (0.0, (0.0, 0.0))
    for delta in _DELTAS[most >= _DELTAS]:
        # Allowed are skills for which both ratios are within d of 1.
        low = np.maximum((1 - delta) * (1 + _SKILLS) - 1, 1 - (1 + delta) * (1 - _SKILLS))
        high = np.minimum((1 + delta) * (1 + _SKILLS) - 1, 1 - (1 - delta) * (1 - _SKILLS))
        for end in (low, high):
            gap = np.abs(_weight(end) - _weight(_SKILLS)) / delta
            at = int(gap.argmax())
            if gap[at] > found[0]:
                found = (float(gap[at]), (float(_SKILLS[at]), float(delta)))
    return found


def _at_most(most: float) -> float:
    return _farthest(most)[0]


def _weight(skill: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.log((1 + skill) / (1 - skill))


def draw(runs: Runs) -> Any:
    wrong, within, off = _sides(runs)
    figure, (axis,) = panels(1, width=5.0)
    axis.plot(_MARGINS, within + off, color="#0072B2", label="bound")
    axis.plot(_MARGINS, within, color="#0072B2", linestyle=":", label="within the margin by the true weights")
    axis.axhline(wrong, color="#D55E00", label="error with estimated weights")
    axis.axhline(_bayes(runs), color="black", linewidth=0.8, label="error with true weights")
    axis.set(xscale="log", xlabel="margin", ylabel="share of tasks", title="Lemma 4")
    axis.legend(frameon=False, fontsize=8)
    return figure
