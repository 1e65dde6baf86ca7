"""The pull that Huber-LASSO leaves on every outlier, and linearized Bregman iteration hardly does.

10 items with scores uniform on (0, 1), 100 comparisons with noise of 0.1 and kappa = 100, as in the
paper. It does not say which outliers there are: here they are +-1 on 10 of the comparisons. Both methods
stop when a tenth of the comparisons are outliers. The oracle is least squares without the true outliers.
100 draws; the paper shows one. The bias is the mean of what the estimated outlier lacks of the oracle's;
"much smaller" is taken as less than half.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from harness.answers import again
from harness.claims import Line, order
from harness.runs import Run, Runs
from hodgerank.paths import path_panel
from matplotlib.figure import Figure

TITLE = "Figure 2: bias"
QUICK = ("seeds=1",)
INSIDE = True


def judge(runs: Runs) -> list[Line]:
    errors = {name: runs.values("score_mse", solver=name) for name in ("LASSO", "LBI")}
    known = [_against_oracle(run) for run in sorted(runs.where(solver="LBI"), key=lambda run: run.seed)]
    pulled = [_against_oracle(run) for run in sorted(runs.where(solver="LASSO"), key=lambda run: run.seed)]
    oracle = np.array([error for _, error in known])
    bias = {"LBI": np.array([gap for gap, _ in known]), "LASSO": np.array([gap for gap, _ in pulled])}
    return [
        order(
            "bias of the outliers: LASSO's over twice LBI's",
            "LBI's is much smaller",
            2 * np.abs(bias["LBI"]),
            np.abs(bias["LASSO"]),
            told=f"LASSO {bias['LASSO'].mean():.3f}, LBI {bias['LBI'].mean():.3f}",
        ),
        order(
            "squared error of the scores: LASSO's over LBI's",
            "LBI's is smaller",
            errors["LBI"],
            errors["LASSO"],
            told=f"LASSO {errors['LASSO'].mean():.2g}, LBI {errors['LBI'].mean():.2g}",
        ),
        order(
            "squared error of the scores: the oracle's over half of LBI's",
            "LBI's error is mainly that of the noise, which the oracle has too",
            0.5 * errors["LBI"],
            oracle,
            told=f"oracle {oracle.mean():.2g}, LBI {errors['LBI'].mean():.2g}",
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
    lacking = (best - result.solution.outliers[wrong]) * np.sign(best)
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
