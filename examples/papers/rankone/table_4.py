"""Sizes of the five public label sets, and how many other workers a worker meets.

Nothing is estimated: everything is counted from the labels. "Sparsity level" is taken as labels over tasks
times workers, cut off or rounded to four digits. The introduction says of RTE and Web how many other
workers a worker meets on average ("interacting with"), with the standard deviation, and how many workers
label a task. To meet someone is taken as sharing at least one task; a mean agrees when it can be printed
so, cut off or rounded.

The negative control is the next data set in the place of the one that is named.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from harness.answers import problem_of
from harness.claims import Line, against, holds, printable
from harness.figures import panels
from harness.runs import Runs
from numpy.typing import NDArray

TITLE = "Table 4: the label sets"
CLAIM = (
    "The sets have between 34 and 177 workers, who on RTE and Web meet fewer than three others on average."
)
INSIDE = True
QUICK = ('problem=[{title="RTE", dataset="labels.rte"}, {title="WSD", dataset="labels.wsd"}]',)

_SIZES = {
    "RTE": (800, 164, 8000, 2),
    "Temp": (462, 76, 4620, 2),
    "Dogs": (807, 109, 8070, 4),
    "WSD": (177, 34, 1770, 3),
    "Web": (2665, 177, 15567, 5),
}
_SPARSITY = {"RTE": "0.0610", "Temp": "0.1316", "Dogs": "0.0917", "WSD": "0.2947", "Web": "0.0033"}
_MET = {"RTE": ("2.5", "20"), "Web": ("2.7", "15")}  # other workers met, mean and standard deviation
_PER_TASK = {"RTE": (10, 10), "Web": (3, 20)}  # fewest and most workers of a task; RTE on average


def judge(runs: Runs) -> list[Line]:
    sets = runs.distinct("problem")
    crowds = {name: problem_of(runs.where(problem=name)[0]).crowd for name in sets}
    after = dict(zip(sets, [*sets[1:], sets[0]], strict=True))
    lines = []
    for name in sets:
        for judged in (_sizes, _sparsity, *((_met, _spread_met, _per_task) if name in _MET else ())):
            line, control = (judged(name, crowds[each]) for each in (name, after[name]))
            lines.append(against(line, after[name], control))
    return lines


def _sizes(name: str, crowd: Any) -> Line:
    ours = (len(crowd.labels.task_ids), len(crowd.labels.worker_ids), len(crowd.labels), len(crowd.classes))
    return holds(
        f"{name}: tasks, workers, labels, classes",
        ", ".join(str(each) for each in _SIZES[name]),
        ", ".join(str(each) for each in ours),
        found=ours == _SIZES[name],
        rule="all four counts are the same",
        why="not explained",
    )


def _sparsity(name: str, crowd: Any) -> Line:
    labels = crowd.labels
    share = len(labels) / (len(labels.task_ids) * len(labels.worker_ids))
    return holds(
        f"{name}: sparsity level",
        _SPARSITY[name],
        f"{share:.5f}",
        found=printable(_SPARSITY[name], share),
        rule="rounded or cut off to the digits of the paper's number it is that number",
        why="its own counts give .0330: the print has a digit too many" if name == "Web" else "not explained",
    )


def _met(name: str, crowd: Any) -> Line:
    degree = degrees(crowd)
    return holds(
        f"{name}: mean number of other workers met",
        _MET[name][0],
        f"{degree.mean():.2f} (median {np.median(degree):g})",
        found=printable(_MET[name][0], float(degree.mean())),
        rule="rounded or cut off to the digits of the paper's number it is that number",
        why=f"whoever labels a task meets its others, {crowd.labels.per_task.mean() - 1:.1f} on average: "
        "a mean this small is not the number of workers met",
    )


def _spread_met(name: str, crowd: Any) -> Line:
    degree = degrees(crowd)
    return holds(
        f"{name}: standard deviation of the number of other workers met",
        _MET[name][1],
        f"{degree.std():.1f}",
        found=printable(_MET[name][1], float(degree.std())),
        rule="rounded or cut off to the digits of the paper's number it is that number",
        why="not explained",
    )


def _per_task(name: str, crowd: Any) -> Line:
    per = crowd.labels.per_task
    low, high = _PER_TASK[name]
    average = low == high
    return holds(
        f"{name}: workers of a task",
        f"{low} on average" if average else f"{low} to {high}",
        f"{per.min()} to {per.max()}, {per.mean():.2f} on average",
        found=bool(round(float(per.mean())) == low if average else (per.min(), per.max()) == (low, high)),
        rule="the mean rounds to it; of a range both ends are the same",
        why="not explained",
    )


def degrees(crowd: Any) -> NDArray[np.int64]:
    """How many other workers each worker shares a task with."""
    labels = crowd.labels
    on = np.zeros((len(labels.worker_ids), len(labels.task_ids)), dtype=np.float32)
    on[labels.worker, labels.task] = 1.0
    shared = on @ on.T > 0
    np.fill_diagonal(shared, val=False)
    return np.asarray(shared.sum(axis=1))


def draw(runs: Runs) -> Any:
    figure, axes = panels(len(_MET), width=8.0, height=2.8)
    for axis, name in zip(axes, _MET, strict=True):
        mine = runs.where(problem=name)
        if not len(mine):
            continue
        axis.hist(degrees(problem_of(mine[0]).crowd), bins=30, color="#0072B2")
        axis.axvline(float(_MET[name][0]), color="#D55E00", label=f"the paper's mean, {_MET[name][0]}")
        axis.set(title=name, xlabel="other workers met")
        axis.legend(frameon=False, fontsize=8)
    axes[0].set_ylabel("workers")
    return figure
