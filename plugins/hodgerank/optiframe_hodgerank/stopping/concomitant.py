"""Huber's concomitant scale: how large the noise is, and so what misfit is too large for it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from optiframe.errors import InvalidInput
from optiframe.records.fields import Array
from optiframe_hodgerank.graph.comparison_graph import ComparisonGraph
from optiframe_hodgerank.huber.newton import HuberNewton

M = 1.35
"""Huber's constant, as the paper has it (Sec. 3.3.1): a comparison off by more than M standard
deviations is an outlier; 95% efficient where the noise is normal and nothing is wrong."""
_EXACT = 1e-10  # of lambda, relative; the Huber scores are good to about 1e-12
_ASIDE = 1e-8  # so far beyond both ends the root is looked for: at the root itself rounding decides the sign
_NOTHING = 1e-9  # a scale below this share of the largest margin is 0 but for rounding


@dataclass(frozen=True)
class Scale:
    """Noise of standard deviation `sigma`, the threshold `level` = M sigma, and the scores there."""

    sigma: float
    level: float
    scores: Array


def concomitant_scale(graph: ComparisonGraph, rows: int, m: float = M) -> Scale:
    """Scores and scale together: minimize sum w rho_M((y - X theta)/sigma) sigma + a sigma, jointly convex.

    rho_M is the quadratic x^2/2 up to M and linear beyond (Eq. 3); for fixed sigma this is
    Huber-LASSO with lambda = M sigma. At the minimum

        sum w min(r^2, lambda^2) = 2 a sigma^2,     r = y - X theta.

    The left side over sigma^2 falls as sigma grows, so that the root is bracketed and found to a
    relative 1e-10 by Huber regressions at some 15 values of lambda, each from the one before.

    Parameters
    ----------
    graph
        Merged comparisons.
    rows
        Number of the caller's rows, from which items - components is taken for what was fitted.
    m
        M, without unit.

    Raises
    ------
    InvalidInput
        When no comparisons are left over to measure noise by, or the scores explain so many of
        them exactly that the scale is zero.

    Notes
    -----
    **The constant a.** Eq. 12 prints a = (number of comparisons). With rho as in Eq. 3 the condition
    is then mean(min((r/sigma)^2, M^2)) = 2, which nothing meets for M = 1.35, as M^2 = 1.82: the
    objective rises with sigma everywhere, and its minimizer is sigma = 0, least absolute deviations.
    With rho twice as large (x^2, as scikit-learn's `HuberRegressor` has it) the condition is mean =
    1, which normal noise of standard deviation s meets at sigma = 0.68 s: lambda is then 0.92 s,
    beyond which 36% of clean comparisons are. In scikit-learn's terms Eq. 12 as printed is
    epsilon = M/sqrt(2) = 0.95, which it refuses. Here a is Huber's own (his Proposal 2): half of
    E[min(Z^2, M^2)] for Z normal, times the number of comparisons less what was fitted, by which
    sigma is the standard deviation of clean normal noise and lambda = 1.35 of it.

    Weights are taken to count comparisons: their mean is made 1 before rows are counted.
    """
    spare = rows - graph.items + int(graph.components.max()) + 1
    scores = graph.scores(graph.margin)
    misfit = np.abs(graph.margin - graph.differences(scores))
    largest = float(misfit.max(initial=0.0))
    if spare <= 0:
        raise InvalidInput(
            f"{rows} comparisons are no more than it takes to connect the items, so the size of the noise "
            "cannot be measured; give a share or lambda_ instead of stop_rule = huber"
        )
    weight = graph.weight * (rows / float(graph.weight.sum()))
    search = _Excess(graph, weight, clipped_variance(m) * spare, m, scores)
    # Here no row is beyond lambda, and least squares says the scale is too large for what it leaves.
    # From here down by factors of two until it is too small.
    high = max(largest, m * math.sqrt(float(weight @ (misfit * misfit)) / search.wanted))
    nothing = _NOTHING * float(np.abs(graph.margin).max(initial=0.0))
    low = high
    while low <= nothing or search(low) <= 0:
        low /= 2
        if low <= nothing:
            raise InvalidInput(
                "scores explain most comparisons exactly, so there is no noise to measure; give a share "
                "or lambda_ instead of stop_rule = huber"
            )
    level = high
    if low < high:  # else least squares is the answer, to the last digit
        ends = math.log(low) - _ASIDE, math.log(2 * low) + _ASIDE
        level = math.exp(brentq(lambda x: search(math.exp(x)), *ends, xtol=_EXACT))
    return Scale(level / m, level, search.newton.scores(level, search.scores))


class _Excess:
    """sum w min(r^2/sigma^2, M^2) less what it should be, by lambda: above 0 where that is too small."""

    def __init__(self, graph: ComparisonGraph, weight: Array, wanted: float, m: float, scores: Array) -> None:
        self.newton = HuberNewton(graph)
        self.graph, self.weight, self.wanted, self.m, self.scores = graph, weight, wanted, m, scores

    def __call__(self, level: float) -> float:
        graph = self.graph
        self.scores = self.newton.scores(level, self.scores)
        ratio = np.minimum(np.abs(graph.margin - graph.differences(self.scores)) / level, 1.0) * self.m
        return float(self.weight @ (ratio * ratio)) - self.wanted


def clipped_variance(m: float) -> float:
    """E[min(Z^2, m^2)] for a standard normal Z."""
    density = math.exp(-m * m / 2) / math.sqrt(2 * math.pi)
    tail = math.erfc(m / math.sqrt(2))  # both sides
    return (1 - tail) - 2 * m * density + m * m * tail
