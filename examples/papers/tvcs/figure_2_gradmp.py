"""Regression with a planted matrix, as in Figure 2, by gradient matching pursuit (GradMP).

The paper has two frameworks and does not say which of them its figure shows: Figure 2 is judged with
iterative hard thresholding, and here with GradMP in all methods but the exclusive LASSO; where the total
alone is known that is CoSaMP. 30 iterations at most, 10 repeats; rules and negative controls are those of
Figure 2.
"""

from __future__ import annotations

from tvcs.figure_2 import draw, judge

__all__ = ["draw", "judge"]

TITLE = "Figure 2 by gradient matching pursuit"
CLAIM = "Knowing all three views always finds the planted support best, by GradMP as well."
INSIDE = True  # cells of seconds, and no claim about time
QUICK = ("seeds=1", "problem.0.dataset.samples=50", "problem.0.dataset.side=8", "budget.iterations=10")
