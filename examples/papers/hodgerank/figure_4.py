"""Reversed votes are told from right ones by when they enter the path: 16 items, 2,000 votes, 5% reversed.

LASSO is followed to its end, LBI (with our default kappa dt, as the paper gives none here) until 60% of the
votes entered; those that never do are ordered by their dual variable. 20 draws; the paper shows one.
Figure 6 says that the true outliers "mostly lie outside the majority of paths": here, that more than
half of them are larger at the end of the path than nine in ten of the right votes. "Close to 1" is taken as
0.99, "comparable" as within 0.01.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from harness.answers import again
from harness.claims import Line, holds, level, mean, order
from harness.runs import Run, Runs
from hodgerank.paths import path_panel
from matplotlib.figure import Figure
from optiframe_hodgerank.plots.methods import roc

TITLE = "Figures 4 and 6: ROC and paths of (2000, 5%)"
QUICK = ("seeds=1",)
INSIDE = True

_METHODS = ("LASSO", "LBI")


def judge(runs: Runs) -> list[Line]:
    areas = {name: runs.values("outlier_auc", solver=name) for name in _METHODS}
    lines = [
        holds(
            f"area under the curve, {name}",
            "close to 1",
            str(mean(areas[name])),
            found=bool(areas[name].mean() >= 0.99),
            rule="the mean is at least 0.99",
        )
        for name in _METHODS
    ]
    lines.append(level("areas of LASSO and LBI", "comparable", areas["LASSO"], areas["LBI"], within=0.01))
    for name in _METHODS:
        outside = [_outside(run) for run in runs.where(solver=name)]
        lines.append(
            order(
                f"{name}: over half of the true outliers outside nine in ten of the right votes' paths",
                "mostly outside the majority of paths",
                np.full(len(outside), 0.5),
                outside,
                told=f"{np.mean(outside):.3f} of them",
            )
        )
    return lines


def _outside(run: Run) -> float:
    result = again(run)
    size, wrong = np.abs(result.solution.outliers), result.problem.outlier_truth
    return float(np.mean(size[wrong] > np.quantile(size[~wrong], 0.9)))


def draw(runs: Runs) -> Any:
    figure = Figure(figsize=(12, 3.9), layout="constrained")
    curves, *panels = figure.subplots(1, 3)
    for name, style, panel in zip(_METHODS, ("-", "--"), panels, strict=True):
        result = again(min(runs.where(solver=name), key=lambda run: run.seed))
        false, true = roc(result.solution.strength, result.problem.outlier_truth)
        curves.plot(false, true, style, label=f"{name} (area {result.metrics['outlier_auc']:.4f})")
        path_panel(panel, result)
        panel.set_title(f"path of {name}", loc="left")
        panel.set_ylabel("outlier")
    panels[0].legend(frameon=False, fontsize=8)
    curves.plot([0, 1], [0, 1], color="0.8", linewidth=0.8)
    curves.set_xlabel("share of right votes taken for wrong")
    curves.set_ylabel("share of wrong votes found")
    curves.set_title("ROC curve, first draw", loc="left")
    curves.legend(frameon=False, loc="lower right")
    return figure
