"""Reversed votes are told from right ones by when they enter the path: 16 items, 2,000 votes, 5% reversed.

LASSO is followed to its end, LBI (with our default kappa dt, as the paper gives none here) until 60% of the
votes entered; those that never do are ordered by their dual variable. 20 draws; the paper shows one.
Figure 6 says that the true outliers "mostly lie outside the majority of paths": here, that more than
half of them are larger at the end of the path than nine in ten of the right votes. "Close to 1" is taken as
0.99, "comparable" as within 0.01.

The negative control is the order of the votes by their misfit to plain least squares, which knows no
outliers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from harness.answers import again
from harness.claims import Line, against, level, order
from harness.runs import Run, Runs
from hodgerank.broken import LBI_BY_MISFIT, MISFITS, areas, misfit
from hodgerank.paths import path_panel
from matplotlib.figure import Figure
from optiframe_hodgerank.plots.methods import roc

TITLE = "Figures 4 and 6: ROC and paths of (2000, 5%)"
CLAIM = "LASSO and LBI find reversed votes with an area under the ROC curve close to 1."
QUICK = ("seeds=1",)
INSIDE = True

_METHODS = ("LASSO", "LBI")
_CLOSE, _COMPARABLE = 0.99, 0.01


def judge(runs: Runs) -> list[Line]:
    found = {name: runs.values("outlier_auc", solver=name) for name in _METHODS}
    plain = areas(runs.where(solver=_METHODS[0]).by_seed(), "all")
    lines = []
    for name in _METHODS:
        what, claim = f"area under the curve, {name}", "close to 1"
        line, control = (_close(what, claim, each) for each in (found[name], plain))
        lines.append(against(line, MISFITS, control))
    line, control = (
        level("areas of LASSO and LBI", "comparable", found["LASSO"], each, within=_COMPARABLE)
        for each in (found["LBI"], plain)
    )
    lines.append(against(line, LBI_BY_MISFIT, control))
    for name in _METHODS:
        mine = runs.where(solver=name).by_seed()
        sizes = [_outside(run, np.abs(again(run).solution.outliers)) for run in mine]
        misfits = [_outside(run, misfit(again(run).problem)) for run in mine]
        line, control = (
            order(
                f"{name}: over half of the true outliers outside nine in ten of the right votes' paths",
                "mostly outside the majority of paths",
                np.full(len(each), 0.5),
                each,
                told=f"{np.mean(each):.3f} of them",
            )
            for each in (sizes, misfits)
        )
        lines.append(against(line, MISFITS, control))
    return lines


def _close(what: str, claim: str, values: Any) -> Line:
    return order(what, claim, np.full(len(values), _CLOSE), values, told=f"mean {np.mean(values):.5f}")


def _outside(run: Run, size: Any) -> float:
    wrong = again(run).problem.outlier_truth
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
