"""How often condition C2 (irrepresentability) holds for uniformly drawn comparisons and outliers.

100 draws a point, as in the paper. Its axes are not printed: here comparisons go from 5 to 40 an item and
outliers from 2% to 25%. The condition is computed from graph and outliers alone (`conditions`), so
the comparison file gives the numbers of items only; the draws are made by the judge and kept. The text
says when C2 holds in words only. "Not too large" is taken as 5% of outliers, "sufficient" as 40
comparisons an item and "high probability" as 0.9. These were chosen when the chances were known, so that this
line can hardly fail, and the trends say more. With more items, and as many comparisons an item, C2 holds less
often.

Negative controls: for the number of comparisons and for the share of outliers, every other draw of one
setting beside the rest of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from harness.answers import kept
from harness.claims import Line, against, cannot, chosen, halves, holds, order
from harness.runs import Runs
from matplotlib.figure import Figure
from optiframe_hodgerank import conditions

import optiframe

TITLE = "Figure 3: probability of C2"
CLAIM = (
    "Condition C2 holds with high probability when there are enough comparisons and not too many outliers."
)
QUICK = ("problem.0.dataset.items=20",)
INSIDE = True

_SHARES = (0.02, 0.05, 0.10, 0.15, 0.20, 0.25)
_PER_ITEM = (5, 10, 20, 40)


def judge(runs: Runs) -> list[Line]:
    lines = []
    few, many = _PER_ITEM[0], _PER_ITEM[-1]
    for items, held in _all(runs).items():
        line, control = (
            holds(
                f"{items} items, {many} comparisons an item, 5% outliers",
                "C2 holds with high probability",
                f"{held[many, share].mean():.2f}",
                found=bool(held[many, share].mean() >= 0.9),
                rule="in at least nine of ten draws",
            )
            for share in (0.05, _SHARES[-1])
        )
        line = chosen(line, "the point")
        lines.append(against(line, f"{_SHARES[-1]:.0%} outliers", control))
        below, above = (_mean_over_shares(held, per) for per in (few, many))
        what = f"{items} items, mean over shares, {few} and {many} comparisons an item"
        told = f"{below.mean():.2f} and {above.mean():.2f}"
        claim = "rises with the number of comparisons"
        line, control = order(what, claim, below, above, told=told), order(what, claim, *halves(below))
        lines.append(against(line, f"every other draw of {few} an item beside the rest", control))
        dense, sparse = (held[many, share] for share in (_SHARES[-1], _SHARES[0]))
        what = f"{items} items, {many} an item, {_SHARES[0]:.0%} and {_SHARES[-1]:.0%} outliers"
        told = f"{sparse.mean():.2f} and {dense.mean():.2f}"
        claim = "falls with the share of outliers"
        line, control = order(what, claim, dense, sparse, told=told), order(what, claim, *halves(dense))
        lines.append(
            against(line, f"every other draw of {_SHARES[-1]:.0%} outliers beside the rest", control)
        )
    lines.append(cannot("the shades of the figure", "three images", "their axes and values in print"))
    return lines


def _mean_over_shares(held: dict[tuple[int, float], Any], per: int) -> Any:
    return np.mean([held[per, share] for share in _SHARES], axis=0)


def _all(runs: Runs) -> dict[int, dict[tuple[int, float], Any]]:
    """Whether C2 held, by items, then by comparisons an item and share of outliers: one for each draw."""
    draws = 100 if runs.size == "full" else 10
    found = {}
    for items in runs.distinct("dataset.items"):
        inputs = [items, draws, _PER_ITEM, _SHARES]
        values = kept(runs, f"c2-{items}", inputs, lambda n=items: _drawn(n, draws))
        points = [(per, share) for per in _PER_ITEM for share in _SHARES]
        found[items] = dict(zip(points, np.array(values), strict=True))
    return found


def _drawn(items: int, draws: int) -> list[list[int]]:
    return [
        [_holds(items, per * items, share, seed) for seed in range(draws)]
        for per in _PER_ITEM
        for share in _SHARES
    ]


def _holds(items: int, rows: int, share: float, seed: int) -> int:
    data = optiframe.dataset(
        "pairwise.random-order", items=items, comparisons=rows, outlier_share=share, seed=seed
    )
    problem = optiframe.problem(dataset=data)
    return int(conditions(problem, problem.outlier_truth, sigma=0.0).irrepresentable)


def draw(runs: Runs) -> Any:
    found = _all(runs)
    figure = Figure(figsize=(3.6 * len(found) + 1, 3.6), layout="constrained")
    image = None
    panels = figure.subplots(1, len(found), squeeze=False)[0]
    for axes, (items, held) in zip(panels, found.items(), strict=True):
        chance = np.array([[held[per, share].mean() for share in _SHARES] for per in _PER_ITEM])
        image = axes.imshow(chance, cmap="gray", vmin=0, vmax=1, origin="lower", aspect="auto")
        for (row, column), value in np.ndenumerate(chance):
            colour = "black" if value > 0.5 else "white"
            axes.text(column, row, f"{value:.2f}", ha="center", va="center", color=colour, fontsize=8)
        axes.set_xticks(range(len(_SHARES)), [f"{share:.0%}" for share in _SHARES])
        axes.set_yticks(range(len(_PER_ITEM)), [f"{per * items:,}" for per in _PER_ITEM])
        axes.set_title(f"{items} items", loc="left")
        axes.set_xlabel("share of outliers")
    figure.axes[0].set_ylabel("comparisons")
    figure.colorbar(image, ax=figure.axes, label="share of draws in which C2 holds")
    return figure
