"""The default filter holds where others fail, a run warns where its filter can fail, and the last point's
gap stands beside the best one's."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from optiframe_comrade.parts.filters import CoordinateMedian

import optiframe
from optiframe import Budget, Result
from optiframe.numbers import number

pytestmark = pytest.mark.filterwarnings("ignore::optiframe.NotConverged")

ATTACKS: dict[str, Any] = {
    "negative": {"name": "negative", "c": 0.9},
    "flipped labels": "flipped-labels",
    "random labels": "random-labels",
    "gaussian": {"name": "gaussian", "sigma": 1.0},
    "collusion": "collusion",
    "alie": "alie",
    "alie z=1": {"name": "alie", "z": 1.0},
    "inner product": "inner-product",
    "mimic": "mimic",
    "steep": "steep",
    "steep by metric": "steep-by-metric",
    "greedy": "greedy",
}
START = 0.2  # the gap of the origin


@cache
def problem() -> Any:
    return optiframe.problem(dataset={"name": "synthetic.covtype-shape", "terms": 4000, "columns": 10})


def run(name: str = "newton.comrade", rounds: int = 12, on: Any = None, **given: Any) -> Result[Any, Any]:
    budget = Budget(iterations=rounds, tolerance=0.0)
    return optiframe.solve(on or problem(), name, budget=budget, workers=20, **given)


def last_gap(result: Result[Any, Any]) -> float:
    return float(problem().function.value(result.detail.points[-1]) - problem().lowest)


def said(result: Result[Any, Any], level: str, words: str) -> list[str]:
    return [found.text for found in result.findings if found.level == level and words in found.text]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("attack", "share"),
    [  # the greedy attack takes twenty seconds, others half a second
        pytest.param(name, share, marks=[pytest.mark.thorough] * (name == "greedy"))
        for name in ATTACKS
        for share in (0.3, 0.4)
    ],
)
def test_the_default_filter_stays_near_the_minimum(attack: str, share: float) -> None:
    assert last_gap(run(byzantine=share, attack=ATTACKS[attack])) < START / 5


@pytest.mark.slow
@pytest.mark.parametrize("attack", ["negative", "collusion", "alie z=1"])
def test_so_does_polishing(attack: str) -> None:
    assert last_gap(run("newton.polished", byzantine=0.4, attack=ATTACKS[attack])) < START / 5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("attack", "share"), [("collusion", 0.3), ("collusion", 0.4), ("inner product", 0.4), ("negative", 0.4)]
)
def test_the_norm_fails_there(attack: str, share: float) -> None:
    assert last_gap(run(byzantine=share, attack=ATTACKS[attack], filter="norm")) > START


@pytest.mark.slow
@pytest.mark.parametrize(
    ("filtering", "holds", "fails"),
    [
        ("mean", 0.0, 0.05),
        ("krum", 0.0, 0.05),
        ("norm", 0.05, 0.1),
        ("distance-to-median", 0.05, 0.1),
        ("nnm", 0.05, 0.1),
        ("geometric-median", 0.15, 0.2),
        ("coordinate-median", 0.15, 0.2),
        ("trimmed-mean", 0.15, 0.2),
        ("meamed", 0.25, 0.3),
    ],
)
def test_a_run_warns_from_the_share_that_its_filter_can_stand(
    filtering: str, holds: float, fails: float
) -> None:
    given = {"filter": filtering, "trim": 0.3, "rounds": 1}
    assert not said(run(byzantine=holds, **given), "warning", "can fail from")
    found = said(run(byzantine=fails, **given), "warning", f"filter.{filtering} ")
    words = "fails with a single one" if filtering == "mean" else f"can fail from {fails:.0%} on"
    assert len(found) == 1
    assert f"{round(20 * fails)} of 20 workers ({fails:.0%}) are hostile" in found[0]
    assert words in found[0]


def test_where_nobody_is_declared_hostile_the_trim_counts() -> None:
    assert not said(run(rounds=1, trim=0.05, filter="norm"), "warning", "can fail")
    (text,) = said(run(rounds=1, trim=0.3, filter="norm"), "warning", "can fail")
    assert "6 of 20 workers (30%) may be hostile, as `trim` says" in text
    assert text.endswith("use filter.hessian-metric")
    assert not said(run(rounds=1), "warning", "can fail")
    # What nobody has declared is no promise of the default filter's.
    assert not said(run(rounds=1, byzantine=0.45), "warning", "can fail")
    # A filter that takes no notice of the trim: faults alone use it up.
    assert not said(run(rounds=1, trim=0.45, filter="coordinate-median"), "warning", "can fail")


def test_a_filter_of_which_nothing_is_known_brings_no_warning() -> None:
    class Unknown(CoordinateMedian):
        """Says nothing of what it stands."""

        name = "filter.unknown"
        fails_from = None

    assert not said(run(rounds=1, byzantine=0.45, filter=Unknown()), "warning", "unknown")


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.3, 0.4])
def test_the_gap_of_the_last_point_is_reported_beside_the_best(share: float) -> None:
    result = run(byzantine=share, attack="collusion", filter="norm", trace=False)
    assert result.metrics["gap"] < 0.5 < 2 * last_gap(result)
    (text,) = [found.text for found in result.findings if "last point" in found.text]
    assert f"gap {number(result.metrics['gap'])}; the last point has gap {number(last_gap(result))}" in text


def test_a_last_point_far_above_the_best_is_a_warning_and_one_at_the_floor_a_note() -> None:
    astray = run(byzantine=0.4, attack="collusion", filter="norm")
    assert said(astray, "warning", "the last point has gap")
    floor = run(byzantine=0.1, attack="flipped-labels", filter="distance-to-median")
    assert said(floor, "note", "the last point has gap")
    assert not said(floor, "warning", "last point")


def test_without_a_gap_the_objectives_are_reported() -> None:
    on = optiframe.Minimize(problem().function)
    result = run(on=on, byzantine=0.4, attack="collusion", filter="norm")
    assert said(result, "warning", f"with objective {result.objective:.3g}; the last point has objective")
    # An answer that is the last point needs no comparison.
    assert not [found for found in run(rounds=1).findings if "last point" in found.text]
