"""How large the noise of margins is, by the median misfit, which outliers hardly move."""

from __future__ import annotations

import numpy as np

from optiframe.records.fields import Array
from optiframe_hodgerank.graph.comparison_graph import ComparisonGraph
from optiframe_hodgerank.huber.newton import HuberNewton

CUT = 2.5
"""Standard deviations beyond which a comparison is an outlier, Rousseeuw and Leroy's; 1.2% of clean normal
margins are."""
_NORMAL = 1.4826  # standard deviation of a normal variable over the median of its size
_CLOSE = 0.5  # of the noise: threshold of the Huber regression, near to least absolute deviations
_FALLS = 0.99  # a scale above this share of the one before falls no further
_NOTHING = 1e-9  # a scale below this share of the largest margin is 0 but for rounding


def outlier_level(graph: ComparisonGraph, rows: int) -> tuple[float, float]:
    """The misfit beyond which a comparison is an outlier, and the standard deviation of the noise.

    Scores come from Huber regressions with thresholds ever nearer to half of the noise, which is 1.4826
    times the median misfit there, for as long as it falls. Least squares gives the first. Of the misfits so
    many are left out as were fitted, items less components, the smallest ones: robust scores make about so
    many 0. Weights count comparisons. Where most comparisons are explained exactly, the noise is 0 and
    whatever is not explained an outlier.

    Costs some ten Huber regressions, each from the one before.

    Parameters
    ----------
    graph
        Merged comparisons.
    rows
        Number of the caller's rows.
    """
    scores = graph.scores(graph.margin)
    nothing = _NOTHING * graph.largest_margin
    misfit = np.abs(graph.margin - graph.differences(scores))
    fitted = min((graph.items - int(graph.components.max()) - 1) / rows, 1.0)
    noise = _NORMAL * _median_beyond(misfit, graph.weight, fitted)
    newton = HuberNewton(graph)
    while noise > nothing:
        scores = newton.scores(_CLOSE * noise, scores)
        misfit = np.abs(graph.margin - graph.differences(scores))
        before, noise = noise, _NORMAL * _median_beyond(misfit, graph.weight, fitted)
        if noise > _FALLS * before:
            return CUT * noise, noise
    unexplained = misfit[misfit > nothing]
    return float(unexplained.min() if len(unexplained) else graph.largest_margin or 1.0) / 2, 0.0


def _median_beyond(size: Array, weight: Array, share: float) -> float:
    """The weighted median of these sizes without the smallest ones, which are this share of the weight."""
    order = np.argsort(size)
    reached = np.cumsum(weight[order])
    return float(size[order][np.searchsorted(reached, (1 + share) / 2 * reached[-1])])
