"""An answer beside the optimum that somebody has stated for its problem."""

from __future__ import annotations

import math
from typing import Any

from optiframe.findings import Finding
from optiframe.numbers import number
from optiframe.problems.problem import Problem

_APART = 1e-3  # relative, above 1: stated optima are rounded, often to four digits
_FEASIBLE = 1e-6  # as everywhere: an answer outside of the constraints may well be lower


def beside_optimum(problem: Problem[Any], solution: Any) -> tuple[Finding, ...]:
    """A note where the objective is well above the known optimum, or below it; else nothing.

    Neither proves a fault: a solver of local minima may be above, and a statement may be wrong.
    """
    optimum = problem.known_optimum()
    if optimum is None or not problem.violation(solution) <= _FEASIBLE:
        return ()
    found = problem.objective(solution)
    apart = (found - optimum) / max(1.0, abs(optimum))
    if not math.isfinite(found) or abs(apart) <= _APART:
        return ()
    if apart > 0:
        text = (
            f"The objective {number(found)} is above the known optimum {number(optimum)}: the answer is a "
            "local minimum, the solver ended early, or the stated optimum is wrong. Try other starts."
        )
        return (Finding("note", text, identifier="objective.above-optimum"),)
    text = (
        f"The objective {number(found)} is below the stated optimum {number(optimum)}, which is "
        "therefore wrong. Comparisons use the lower value."
    )
    return (Finding("note", text, identifier="objective.below-optimum"),)
