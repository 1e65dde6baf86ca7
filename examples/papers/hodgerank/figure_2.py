"""The pull that Huber-LASSO leaves on every outlier, and linearized Bregman iteration hardly does.

10 items with scores uniform on (0, 1), 100 comparisons with noise of 0.1 and kappa = 100, as in the
paper. It does not say which outliers there are: here they are +-1 on 10 of the comparisons. Both methods
stop when a tenth of the comparisons are outliers. The oracle is least squares without the true outliers.
100 draws; the paper shows one. The bias is the mean of what the estimated outlier lacks of the oracle's;
"much smaller" is taken as less than half.

The negative control has least squares (L2), which knows no outliers, in LBI's place.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from harness.answers import again
from harness.claims import Line, against, order
from harness.runs import Run, Runs
from hodgerank.paths import path_panel
from matplotlib.figure import Figure

TITLE = "Figure 2: bias"
CLAIM = "The outliers that LBI estimates have a much smaller bias than those of Huber-LASSO."
QUICK = ("seeds=1",)
INSIDE = True


def judge(runs: Runs) -> list[Line]:
    names = ("LASSO", "LBI", "L2")
    errors = {name: runs.values("score_mse", solver=name) for name in names}
    found = {name: [_against_oracle(run) for run in runs.where(solver=name).by_seed()] for name in names}
    oracle = np.array([error for _, error in found["LBI"]])
    bias = {name: np.array([gap for gap, _ in each]) for name, each in found.items()}
    both = [_lines(errors, bias, oracle, mine) for mine in ("LBI", "L2")]
    return [against(line, "L2 in LBI's place", control) for line, control in zip(*both, strict=True)]


def _lines(errors: dict[str, Any], bias: dict[str, Any], oracle: Any, mine: str) -> list[Line]:
    return [
        order(
            "bias of the outliers: LASSO's over twice LBI's",
            "LBI's is much smaller",
            2 * np.abs(bias[mine]),
            np.abs(bias["LASSO"]),
            told=f"LASSO {bias['LASSO'].mean():.3f}, {mine} {bias[mine].mean():.3f}",
        ),
        order(
            "squared error of the scores: LASSO's over LBI's",
            "LBI's is smaller",
            errors[mine],
            errors["LASSO"],
            told=f"LASSO {errors['LASSO'].mean():.2g}, {mine} {errors[mine].mean():.2g}",
        ),
        order(
            "squared error of the scores: the oracle's over half of LBI's",
            "LBI's error is mainly that of the noise, which the oracle has too",
            0.5 * errors[mine],
            oracle,
            told=f"oracle {oracle.mean():.2g}, {mine} {errors[mine].mean():.2g}",
        ),
    ]


def _against_oracle(run: Run) -> tuple[float, float]:
    """What the estimated outliers lack of the oracle's, in the mean, and the oracle's error of scores."""
    result = again(run)
    problem, wrong = result.problem, result.problem.outlier_truth
    table, truth = problem.comparisons, problem.truth.score
    design = np.zeros((problem.rows, len(truth)))
    at = np.arange(problem.rows)
    design[at, table.left], design[at, table.right] = 1.0, -1.0
    scores = np.linalg.lstsq(design[~wrong], table.margin[~wrong])[0]
    best = (table.margin - design @ scores)[wrong]
    outliers = np.zeros(problem.rows) if run.solver_title == "L2" else result.solution.outliers
    lacking = (best - outliers[wrong]) * np.sign(best)
    error = np.mean((scores - scores.mean() - truth + truth.mean()) ** 2)
    return float(lacking.mean()), float(error)


def draw(runs: Runs) -> Any:
    figure = Figure(figsize=(10, 4), layout="constrained")
    for axes, name in zip(figure.subplots(1, 2, sharey=True), ("LASSO", "LBI"), strict=True):
        first = min(runs.where(solver=name), key=lambda run: run.seed)
        path_panel(axes, again(first, share=0.6))
        for level in (-1, 1):
            axes.axhline(level, color="0.5", linestyle=":", linewidth=1)
        axes.set_title(f"{name}, first draw (dotted: true outliers)", loc="left")
    figure.axes[0].set_ylabel("outlier")
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
    return figure
