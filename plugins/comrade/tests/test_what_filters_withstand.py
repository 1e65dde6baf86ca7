"""The default filter holds where the norm fails, and a run warns where its filter can fail."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from optiframe_comrade.parts.filters import CoordinateMedian

import optiframe
from optiframe import Budget, Result

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
}
START = 0.2  # the gap of the origin


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


@pytest.mark.parametrize("name", ["newton.comrade", "newton.polished"])
@pytest.mark.parametrize("share", [0.3, 0.4])
@pytest.mark.parametrize("attack", ATTACKS)
def test_the_default_filter_stays_near_the_minimum(attack: str, share: float, name: str) -> None:
    assert last_gap(run(name, byzantine=share, attack=ATTACKS[attack])) < START / 5


@pytest.mark.parametrize(
    ("attack", "share"), [("collusion", 0.3), ("collusion", 0.4), ("inner product", 0.4), ("negative", 0.4)]
)
def test_the_norm_fails_there(attack: str, share: float) -> None:
    assert last_gap(run(byzantine=share, attack=ATTACKS[attack], filter="norm")) > START


@pytest.mark.parametrize(
    ("filtering", "holds", "fails"),
    [
        ("mean", 0.0, 0.05),
        ("krum", 0.15, 0.2),
        ("norm", 0.25, 0.3),
        ("distance-to-median", 0.3, 0.35),
        ("geometric-median", 0.3, 0.35),
        ("coordinate-median", 0.35, 0.4),
        ("trimmed-mean", 0.35, 0.4),
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
    assert not said(run(rounds=1, trim=0.25, filter="norm"), "warning", "can fail")
    (text,) = said(run(rounds=1, trim=0.3, filter="norm"), "warning", "can fail")
    assert "6 of 20 workers (30%) may be hostile, as `trim` says" in text
    assert text.endswith("use filter.distance-to-median")
    assert not said(run(rounds=1), "warning", "can fail")
    # A filter that takes no notice of the trim: faults alone use it up.
    assert not said(run(rounds=1, trim=0.45, filter="coordinate-median"), "warning", "can fail")


def test_a_filter_of_which_nothing_is_known_brings_no_warning() -> None:
    class Unknown(CoordinateMedian):
        """Says nothing of what it stands."""

        name = "filter.unknown"
        fails_from = None

    assert not said(run(rounds=1, byzantine=0.45, filter=Unknown()), "warning", "unknown")
