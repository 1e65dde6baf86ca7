"""How well reversed votes are found, by the number of votes (SN) and the share reversed (OP); 16 items.

20 draws a point, as in the paper. LASSO is followed to its end, LBI until 60% of the votes entered. The
figure's numbers are not printed: what the text says of it is checked. "Close to 1" is taken as 0.99, "about
0.5" and "similar" as within 0.02 and 0.01, "rapidly" as a rise by a fifth from 50% to 45% reversed.

Negative controls: the order of the votes by their misfit to plain least squares; for chance, 45% reversed;
for the number of votes, every other draw of the fewest beside the rest; for the rapid rise, the fewest
votes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from harness.claims import Line, against, halves, level, number, order
from harness.runs import Runs
from hodgerank.broken import LBI_BY_MISFIT, MISFITS, areas
from matplotlib.figure import Figure

TITLE = "Figure 5: area under the curve"
CLAIM = "The area under the curve is close to 1 with many votes, few reversed, and 0.5 with half reversed."
QUICK = ("seeds=1", "problem.0.dataset.comparisons=1000", "problem.0.dataset.outlier_share=0.05")
INSIDE = True

_METHODS = ("LASSO", "LBI")
_PLAIN = "misfits to L2"


def judge(runs: Runs) -> list[Line]:
    votes, shares = runs.distinct("dataset.comparisons"), runs.distinct("dataset.outlier_share")
    most, least = max(votes), min(votes)
    sparse = min(shares)
    lines = []
    for name in _METHODS:
        what = f"{name}, {most:,} votes, {sparse:.0%} reversed"
        many, plain = (_areas(runs, each, comparisons=most, outlier_share=sparse) for each in (name, _PLAIN))
        line, control = (
            order(what, "close to 1", np.full(len(each), 0.99), each, told=f"mean {each.mean():.5f}")
            for each in (many, plain)
        )
        lines.append(against(line, MISFITS, control))
        if 0.5 in shares:
            line, control = (
                number(f"{name}, 50% reversed, all numbers of votes", 0.5, each, within=0.02)
                for each in (_over_votes(runs, name, votes, share) for share in (0.5, 0.45))
            )
            lines.append(against(line, "45% reversed", control))
        if {0.4, 0.45} <= set(shares) and most > least:
            lines += [_rises(runs, name, share, (least, most)) for share in (0.4, 0.45)]
            lines.append(_drops(runs, name, (least, most)))
    below = [share for share in shares if share < 0.5]
    lasso, lbi, plain = (
        np.concatenate([_over_votes(runs, name, votes, share) for share in below])
        for name in (*_METHODS, _PLAIN)
    )
    line, control = (
        level("LASSO and LBI, all points below 50%", "similar", lasso, each, within=0.01)
        for each in (lbi, plain)
    )
    return [*lines, against(line, LBI_BY_MISFIT, control)]


def _rises(runs: Runs, name: str, share: float, votes: tuple[int, int]) -> Line:
    """With the number of votes; the control has one number of votes on both sides."""
    few, lots = (_areas(runs, name, comparisons=sn, outlier_share=share) for sn in votes)
    what = f"{name}, {share:.0%} reversed, {votes[0]:,} and {votes[1]:,} votes"
    claim, told = "rises with the number of votes", f"{few.mean():.3f} and {lots.mean():.3f}"
    line, control = order(what, claim, few, lots, told=told), order(what, claim, *halves(few))
    return against(line, f"every other draw of {votes[0]:,} votes beside the rest", control)


def _drops(runs: Runs, name: str, votes: tuple[int, int]) -> Line:
    """By a fifth from 45% to 50% reversed; the control has the fewest votes."""
    lines = []
    for sn in votes:
        dense, below = (_areas(runs, name, comparisons=sn, outlier_share=share) for share in (0.5, 0.45))
        what = f"{name}, {votes[1]:,} votes, 50% and 45% reversed"
        told = f"{dense.mean():.3f} and {below.mean():.3f}"
        lines.append(order(what, "rises rapidly below 50%", dense, below, margin=0.2, told=told))
    control, line = lines
    return against(line, f"{votes[0]:,} votes", control)


def _over_votes(runs: Runs, name: str, votes: list[int], share: float) -> Any:
    return np.concatenate([_areas(runs, name, comparisons=sn, outlier_share=share) for sn in votes])


def _areas(runs: Runs, name: str, *, comparisons: int, outlier_share: float) -> Any:
    mine = runs.where(dataset__comparisons=comparisons, dataset__outlier_share=outlier_share)
    if name == _PLAIN:
        return areas(mine.where(solver=_METHODS[0]).by_seed(), f"{comparisons}-{outlier_share:g}")
    return mine.values("outlier_auc", solver=name)


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
