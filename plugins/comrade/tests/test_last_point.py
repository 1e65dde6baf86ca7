"""The last point's gap beside the best one's."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

import optiframe
from optiframe import Budget, Result

pytestmark = pytest.mark.filterwarnings("ignore::optiframe.NotConverged")


@cache
def problem() -> Any:
    return optiframe.problem(dataset={"name": "synthetic.covtype-shape", "terms": 4000, "columns": 10})


def run(name: str = "newton.comrade", rounds: int = 12, **parameters: Any) -> Result[Any, Any]:
    budget = Budget(iterations=rounds, tolerance=0.0)
    return optiframe.solve(problem(), name, budget=budget, **{"workers": 20, **parameters})


def last_gap(result: Result[Any, Any]) -> float:
    return float(problem().function.value(result.detail.points[-1]) - problem().lowest)


def said(result: Result[Any, Any], level: str, words: str) -> list[str]:
    return [found.text for found in result.findings if found.level == level and words in found.text]


@pytest.mark.parametrize("share", [0.3, 0.4])
def test_the_gap_of_the_last_point_is_reported_beside_the_best(share: float) -> None:
    result = run(byzantine=share, attack="collusion", filter="norm", trace=False)
    assert result.metrics["gap"] < 0.5 < 2 * last_gap(result)
    (text,) = [found.text for found in result.findings if "last point" in found.text]
    assert f"gap {result.metrics['gap']:.3g}; the last point has gap {last_gap(result):.3g}" in text


def test_a_last_point_far_above_the_best_is_a_warning_and_one_at_the_floor_a_note() -> None:
    astray = run(byzantine=0.4, attack="collusion", filter="norm")
    assert said(astray, "warning", "the last point has gap")
    floor = run(byzantine=0.1, attack="flipped-labels")
    assert said(floor, "note", "the last point has gap")
    assert not said(floor, "warning", "last point")


def test_without_a_gap_the_objectives_are_reported() -> None:
    on = optiframe.Minimize(problem().function)
    budget = Budget(iterations=12, tolerance=0.0)
    given = {"workers": 20, "byzantine": 0.4, "attack": "collusion", "filter": "norm"}
    result = optiframe.solve(on, "newton.comrade", budget=budget, **given)
    assert said(result, "warning", f"with objective {result.objective:.3g}; the last point has objective")
    # An answer that is the last point needs no comparison.
    assert not [found for found in run(rounds=1).findings if "last point" in found.text]
