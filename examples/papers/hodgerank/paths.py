"""A regularization path in a panel: the outlier of each comparison as more of them enter."""

from __future__ import annotations

from typing import Any

import numpy as np

_POINTS = 200  # of a path that are drawn


def path_panel(axes: Any, result: Any) -> None:
    """Outliers against t, or 1/lambda, which is about the same; the truly wrong in colour."""
    path, problem = result.detail, result.problem
    knots = path.knots[np.isfinite(path.knots) & (path.knots > 0)]
    drawn = knots[np.unique(np.linspace(0, len(knots) - 1, _POINTS).astype(int))]
    outliers = np.array([path.outliers_at(float(knot)) for knot in drawn])
    merged = problem.merged
    wrong = np.bincount(merged.inverse, problem.outlier_truth, len(merged)) > merged.count / 2
    across = drawn if path.parameter == "t" else 1 / drawn
    for which, colour, label in ((~wrong, "#0072B2", "right"), (wrong, "#D55E00", "truly wrong")):
        alpha = float(np.clip(30 / max(which.sum(), 1), 0.25, 0.9))
        lines = axes.plot(
            across, outliers[:, which], color=colour, alpha=alpha, linewidth=0.9, rasterized=True
        )
        if lines:
            lines[0].set_label(label)
    if across[-1] > 20 * across[0]:  # several decades
        axes.set_xscale("log")
    axes.set_xlabel("time t" if path.parameter == "t" else "1/lambda")
    axes.grid(color="0.92")
    axes.set_axisbelow(True)
