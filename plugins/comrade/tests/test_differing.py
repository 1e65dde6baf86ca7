"""Who differs from the others: honest workers hardly ever, liars often."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from optiframe_comrade.trust.differing import differing, outlying
from scipy.stats import t

import optiframe
from optiframe import Budget

pytestmark = pytest.mark.filterwarnings("ignore::optiframe.NotConverged")


@pytest.mark.parametrize(("workers", "degrees"), [(10, 4.5), (17, 8.0), (50, 8.0)])
def test_the_chance_is_that_of_the_formula(workers: int, degrees: float) -> None:
    distances = np.random.default_rng(0).chisquare(8, workers)
    ratios, chances = outlying(distances)
    np.testing.assert_allclose(ratios, distances / np.median(distances))
    logs = np.log(ratios)
    z = logs / (1.4826022185056018 * np.median(np.abs(logs)))
    np.testing.assert_allclose(chances, t(degrees).sf(z), rtol=1e-10)


def test_only_who_is_improbable_and_far_is_named() -> None:
    even = np.exp(np.linspace(-0.1, 0.1, 19))
    assert differing([np.append(even, 5.0)]) == {}  # improbable, and near
    found = differing([np.append(even, 8.0)] * 4)
    assert list(found) == [19]
    assert found[19] == pytest.approx(8.0 / np.median(np.append(even, 8.0)))
    wide = np.exp(np.linspace(-3, 3, 19))
    assert differing([np.append(wide, 20.0)]) == {}  # far, and probable


def test_rounds_after_the_fourth_and_silent_workers_do_not_count() -> None:
    even = np.exp(np.linspace(-0.1, 0.1, 20))
    late = even.copy()
    late[3] = 100.0
    assert differing([even] * 4 + [late]) == {}
    silent = late.copy()
    silent[5] = np.nan
    assert list(differing([silent])) == [3]
    assert differing([np.full(20, np.nan)]) == {}


def test_of_workers_that_agree_to_the_last_bit_whoever_differs_is_named() -> None:
    assert list(differing([np.array([0.0, 0.0, 0.0, 0.0, 1e-9])])) == [4]


def solved(seed: int, **given: Any) -> Any:
    on = optiframe.problem(
        dataset={"name": "synthetic.covtype-shape", "terms": 4000, "columns": 10, "seed": seed}, gap=False
    )
    budget = Budget(iterations=4, tolerance=0.0)
    return optiframe.solve(on, "newton.comrade", workers=20, budget=budget, seed=seed, **given)


def named(result: Any) -> set[str]:
    found = [one for one in result.findings if one.identifier == "federation.worker-differs"]
    assert all("differ from the others" in one.text and "liar" not in one.text for one in found)
    return {who for one in found for who in one.about}


def test_flipped_labels_are_found_and_nobody_is_excluded_for_them() -> None:
    result = solved(0, byzantine=0.2, attack="flipped-labels")
    assert named(result) == {f"worker {number}" for number in range(4)}
    assert result.detail.exiled == {}
    assert all(len(each.asked) == 20 for each in result.detail.exchanges)


@pytest.mark.slow
def test_the_finding_comes_whatever_ends_the_run() -> None:
    on = optiframe.problem(dataset={"name": "synthetic.covtype-shape", "terms": 4000, "columns": 10})
    given = {"workers": 20, "byzantine": 0.2, "attack": "flipped-labels"}
    for budget in (Budget(iterations=4, tolerance=0.0), Budget(tolerance=1e-2), Budget(tolerance=0.0)):
        assert len(named(optiframe.solve(on, "newton.comrade", budget=budget, **given))) == 4


@pytest.mark.thorough
def test_of_200_runs_without_liars_few_name_anybody() -> None:
    wrong = sum(bool(named(solved(seed))) for seed in range(1000, 1200))
    assert wrong <= 6  # at a level of 1%, 2 are expected, and 7 or more have a chance of .5%
