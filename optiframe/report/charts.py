"""The curves of the page as plain data; the page's script draws them."""

from __future__ import annotations

import json
import math
from typing import Any, Literal

from optiframe.comparison.records import Records
from optiframe.comparison.stats import convergence, profiles
from optiframe.comparison.stats.distances import distances, targets
from optiframe.comparison.stats.evaluation_profiles import ACCURACIES, evaluation_profile
from optiframe.comparison.stats.loss_table import measures
from optiframe.comparison.stats.profiles import Cost, Curve
from optiframe.numbers import rounded
from optiframe.report.looks import looks

COSTS: tuple[Cost, ...] = ("time", "iterations", "evaluations")
MERIT = "decrease by evaluations"
AXES = {
    "time": "time inside the solver (s)",
    "iterations": "iterations",
    "evaluations": "evaluations",
    MERIT: "evaluations / (variables + 1)",
}
# Curves have a few hundred points at most; profiles have a step for each run, of which a chart of
# some 600 pixels shows no more than these.
_STEPS = 600


def chart_data(records: Records) -> dict[str, Any]:
    """Everything the page draws: the looks of the solvers, convergence curves and profiles."""
    order = {title: place for place, title in enumerate(records.solvers)}
    return {
        "solvers": [
            {"title": title, "light": look.light, "dark": look.dark, "dash": look.dash, "symbol": look.symbol}
            for title, look in looks(records.solvers).items()
        ],
        "convergence": _groups(records, order) + _metric_groups(records, order),
        "profiles": _profiles(records, order),
    }


def _groups(records: Records, order: dict[str, int]) -> list[dict[str, Any]]:
    """One group for each problem actually solved: different formulations never share a chart."""
    groups: dict[tuple[str, str], dict[str, Any]] = {}
    sides: tuple[Literal["time", "iterations"], ...] = ("time", "iterations")
    for against in sides:
        for curve in convergence.convergence(records, against=against):
            group = groups.setdefault((curve.problem, curve.solved), _group(curve.problem, "suboptimality"))
            group[against].append(_curve(curve, order))
    found = list(groups.values())
    for group in found:
        same = [other for other in found if other["problem"] == group["problem"]]
        place = next(n for n, other in enumerate(same, start=1) if other is group)
        several = f", formulation {place} of {len(same)}" if len(same) > 1 else ""
        group["title"] = f"{group['problem']}{several}"
    return found


def _metric_groups(records: Records, order: dict[str, int]) -> list[dict[str, Any]]:
    """A group for each problem and metric with a known direction that traces have."""
    groups: dict[tuple[str, str], dict[str, Any]] = {}
    sides: tuple[Literal["time", "iterations"], ...] = ("time", "iterations")
    for metric in (name for name in measures(records) if name != "suboptimality"):
        for against in sides:
            for curve in convergence.metric_progress(records, metric, against=against):
                group = groups.setdefault((curve.problem, metric), _group(curve.problem, metric))
                group[against].append(_curve(curve, order))
    return list(groups.values())


def _group(problem: str, measure: str) -> dict[str, Any]:
    return {"problem": problem, "title": problem, "measure": measure, "time": [], "iterations": []}


def _curve(curve: convergence.Convergence, order: dict[str, int]) -> dict[str, Any]:
    return {
        "solver": order[curve.solver],
        "seeds": int(curve.seeds),
        "x": rounded(curve.x),
        "y": rounded(curve.median),
        "low": rounded(curve.low),
        "high": rounded(curve.high),
    }


def _profiles(records: Records, order: dict[str, int]) -> list[dict[str, Any]]:
    """Both profiles by suboptimality for each measured cost, then by each metric, where anybody got there."""
    counted = any(outcome.evaluations for _, outcome in records.outcomes)
    asked: list[tuple[str, Cost, float, dict[str, Any]]] = [
        ("suboptimality", cost, gap, {"gap": gap, "cost": cost})
        for cost in (COSTS if counted else COSTS[:2])
        for gap in sorted(records.gaps, reverse=True)
    ]
    for measure in measures(records) if len(records.solvers) > 1 else ():
        if measure != "suboptimality":
            apart = targets(distances(records, measure))
            asked += [(measure, "time", within, {"measure": measure, "within": within}) for within in apart]
    found = _by_evaluations(records, order)
    for measure, cost, within, how in asked:
        data = profiles.data_profile(records, **how)
        if any(max(curve.y, default=0) > 0 for curve in data):
            found.append(
                {
                    "measure": measure,
                    "cost": cost,
                    "axis": AXES[cost],
                    "gap": within,
                    "performance": _steps(profiles.performance_profile(records, **how), order),
                    "data": _steps(data, order),
                }
            )
    return found


def _by_evaluations(records: Records, order: dict[str, int]) -> list[dict[str, Any]]:
    """Profiles on histories of evaluations, where the budget limited these."""
    found = []
    for accuracy in ACCURACIES:
        if data := evaluation_profile(records, "data", accuracy=accuracy):
            performance = evaluation_profile(records, "performance", accuracy=accuracy)
            found.append(
                {
                    "measure": MERIT,
                    "cost": "evaluations",
                    "axis": AXES[MERIT],
                    "gap": accuracy,
                    "performance": _steps(performance, order),
                    "data": _steps(data, order),
                }
            )
    return found


def _steps(curves: list[Curve], order: dict[str, int]) -> list[dict[str, Any]]:
    drawn = []
    for curve in curves:
        stride = max(1, math.ceil(len(curve.x) / _STEPS))
        kept = [*range(0, len(curve.x) - 1, stride), len(curve.x) - 1]
        drawn.append(
            {
                "solver": order[curve.solver],
                "x": rounded([curve.x[place] for place in kept]),
                "y": rounded([curve.y[place] for place in kept]),
            }
        )
    return drawn


def embedded(data: dict[str, Any]) -> str:
    """JSON that may stand inside a script element: no character in it can end the element."""
    text = json.dumps(data, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
