"""How well reversed votes are found, by the number of votes (SN) and the share reversed (OP); 16 items.

20 draws a point, as in the paper. LASSO is followed to its end, LBI until 60% of the votes entered. The
figure's numbers are not printed: what the text says of it is checked. "Close to 1" is taken as 0.99, "about
0.5" and "similar" as within 0.02 and 0.01, "rapidly" as a rise by a fifth from 50% to 45% reversed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from harness.claims import Line, holds, level, number, order
from harness.runs import Runs
from matplotlib.figure import Figure

TITLE = "Figure 5: area under the curve"
QUICK = ("seeds=1", "problem.0.dataset.comparisons=1000", "problem.0.dataset.outlier_share=0.05")
INSIDE = True

_METHODS = ("LASSO", "LBI")


def judge(runs: Runs) -> list[Line]:
    votes, shares = runs.distinct("dataset.comparisons"), runs.distinct("dataset.outlier_share")
    most, least = max(votes), min(votes)
    sparse = min(shares)
    lines = []
    for name in _METHODS:
        many = _areas(runs, name, comparisons=most, outlier_share=sparse)
        lines.append(
            holds(
                f"{name}, {most:,} votes, {sparse:.0%} reversed",
                "close to 1",
                f"{many.mean():.5f}",
                found=bool(many.mean() >= 0.99),
                rule="the mean is at least 0.99",
            )
        )
        if 0.5 in shares:
            half = np.concatenate([_areas(runs, name, comparisons=sn, outlier_share=0.5) for sn in votes])
            lines.append(number(f"{name}, 50% reversed, all numbers of votes", 0.5, half, within=0.02))
        if {0.4, 0.45} <= set(shares) and most > least:
            for share in (0.4, 0.45):
                few, lots = (_areas(runs, name, comparisons=sn, outlier_share=share) for sn in (least, most))
                what = f"{name}, {share:.0%} reversed, {least:,} and {most:,} votes"
                told = f"{few.mean():.3f} and {lots.mean():.3f}"
                lines.append(order(what, "rises with the number of votes", few, lots, told=told))
            dense, below = (
                _areas(runs, name, comparisons=most, outlier_share=share) for share in (0.5, 0.45)
            )
            what = f"{name}, {most:,} votes, 50% and 45% reversed"
            told = f"{dense.mean():.3f} and {below.mean():.3f}"
            lines.append(order(what, "rises rapidly below 50%", dense, below, margin=0.2, told=told))
    below = [share for share in shares if share < 0.5]
    pair = [
        np.concatenate([_areas(runs, name, comparisons=sn, outlier_share=op) for sn in votes for op in below])
        for name in _METHODS
    ]
    lines.append(level("LASSO and LBI, all points below 50%", "similar", *pair, within=0.01))
    return lines


def _areas(runs: Runs, name: str, *, comparisons: int, outlier_share: float) -> Any:
    return runs.values(
        "outlier_auc", solver=name, dataset__comparisons=comparisons, dataset__outlier_share=outlier_share
    )


def draw(runs: Runs) -> Any:
    figure = Figure(figsize=(10, 4), layout="constrained")
    shares = runs.distinct("dataset.outlier_share")
    for axes, name in zip(figure.subplots(1, 2, sharey=True), _METHODS, strict=True):
        for votes, mark in zip(runs.distinct("dataset.comparisons"), "osD^v", strict=False):
            means = [_areas(runs, name, comparisons=votes, outlier_share=share).mean() for share in shares]
            axes.plot(np.array(shares) * 100, means, marker=mark, label=f"SN = {votes:,}")
        axes.set_xlabel("OP: votes reversed, %")
        axes.set_title(name, loc="left")
        axes.grid(color="0.92")
    figure.axes[0].set_ylabel("area under the ROC curve")
    figure.axes[0].legend(frameon=False)
    return figure
