"""Task assignment: expected accuracy against the ratio of the caps.

Qualities uniform in [.5, .9] and prior 1/2 as in the paper; the caps on the tasks of a worker and on the
workers of a task are the same ratio of all tasks and of all workers, the cap on the total is .8 of the
smaller sum. The expected accuracy of each assignment is enumerated over all patterns of answers, where the
paper samples it. As in the paper the rivals are held to the same caps by the exact projection: the linear
program maximises the sum of qualities within them, the random assignment uses them as far as possible.

Where we depart: 20 workers, 40 tasks, the ratios and 10 repeats are ours, the paper prints none of them.
Nor does it say where thresholding begins: it is shown from no assignment, and from that of the linear
program, where it keeps the best of all it meets.

Negative controls: for what the ratio does, repeats of the smallest ratio alone; for the random assignment,
every other draw of it beside the rest.

The text claims that the accuracy grows with the ratio, and that the random assignment needs more
assignments for the same accuracy than the other two. It does not say in words which of these two is better,
and the figure has no numbers: that is shown without a verdict.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from harness.claims import Line, against, cannot, halves, holds, mean, order
from harness.figures import curves, legend_below, panels
from harness.runs import Runs

TITLE = "Figure 4: task assignment"
CLAIM = "Expected accuracy grows with the caps, and a random assignment is worse than the other two."
INSIDE = True  # cells of well under a second each, and no claim about time
_SMALL = '{name="assignment.uniform", tasks=12, per_worker=0.1, per_task=0.1, seed={from="seed"}}'
QUICK = ("seeds=1", 'problem=[{title="ratio 0.1", dataset=' + _SMALL + "}]")

OURS, FROM_LP = "thresholding", "thresholding, from the linear program"
LP, RANDOM = "Q-based linear program", "random"
_AT = "dataset.per_task"


def judge(runs: Runs) -> list[Line]:
    ratios = sorted(runs.distinct(_AT))
    found = {
        solver: {r: runs.values("accuracy", solver=solver, **{_AT: r}) for r in ratios}
        for solver in (OURS, FROM_LP, LP, RANDOM)
    }
    lines = [_grows(solver, found[solver]) for solver in (OURS, LP, RANDOM)]
    for solver in (OURS, LP):
        for r in ratios:
            line, control = (
                order(
                    f"ratio {r:g}: random below {solver}",
                    "random needs more assignments for the same accuracy",
                    *pair,
                )
                for pair in ((found[RANDOM][r], found[solver][r]), halves(found[RANDOM][r]))
            )
            lines.append(against(line, "random in every other draw beside the rest", control))
    lines += [
        cannot(
            f"{solver}: above the linear program by",
            "not said in words",
            "the numbers of the figure",
            "; ".join(f"ratio {r:g}: {mean(found[solver][r] - found[LP][r])}" for r in ratios),
        )
        for solver in (OURS, FROM_LP)
    ]
    return lines


def _grows(solver: str, by_ratio: dict[float, Any]) -> Line:
    ratios = sorted(by_ratio)
    least = by_ratio[ratios[0]]
    groups = [float(least[at :: len(ratios)].mean()) for at in range(min(len(ratios), len(least)))]
    line, control = (_rises(solver, means) for means in ([mean(by_ratio[r]).value for r in ratios], groups))
    return against(line, f"repeats of ratio {ratios[0]:g} alone, in {len(groups)} groups", control)


def _rises(solver: str, means: list[float]) -> Line:
    return holds(
        f"{solver}: grows with the ratio",
        "the accuracy increases with larger ratio",
        ", ".join(f"{value:.4f}" for value in means),
        found=bool((np.diff(means) > 0).all()),
        rule="each mean above that of the smaller ratio",
    )


def draw(runs: Runs) -> Any:
    figure, (left, right) = panels(2)
    shown = (OURS, FROM_LP, LP, RANDOM)
    curves(left, runs, x=_AT, y="accuracy", only=shown)
    left.set(xlabel="ratio of the caps", ylabel="expected accuracy")
    baseline = {(run.problem_title, run.seed): run.value("accuracy") for run in runs.where(solver=LP)}
    curves(
        right,
        runs,
        x=_AT,
        y=lambda run: run.value("accuracy") - baseline[run.problem_title, run.seed],
        only=shown,
    )
    gains = [
        run.value("accuracy") - baseline[run.problem_title, run.seed]
        for solver in (OURS, FROM_LP)
        for run in runs.where(solver=solver)
    ]
    right.set(
        xlabel="ratio of the caps",
        ylabel="above the linear program by",
        ylim=(min(-0.01, *gains), 1.1 * max(0.01, *gains)),
    )
    legend_below(figure, left, columns=2)
    return figure
