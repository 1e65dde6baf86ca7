"""The parts of examples/labels_to_decisions.py that its conclusions hang on."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import optiframe

sys.path.insert(0, str(Path(__file__).parent.parent / "examples"))
import labels_to_decisions as loop  # from the folder above

GIVEN = optiframe.dataset(
    "synthetic.single-coin", tasks=60, workers=12, labels_per_task=7, skill_low=0.1, seed=2
).inputs()
LABELS = {name: np.asarray(column) for name, column in GIVEN["labels"].items()}


def test_each_task_begins_with_as_many_labels() -> None:
    first = loop.first_labels(LABELS["task"], np.random.default_rng(0))
    np.testing.assert_array_equal(np.bincount(LABELS["task"][first]), loop.FIRST)
    assert (first != loop.first_labels(LABELS["task"], np.random.default_rng(1))).any()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::optiframe.NotConverged")
@pytest.mark.parametrize("way", loop.WAYS)
def test_only_hidden_labels_are_asked_for_and_the_caps_are_kept(way: str) -> None:
    shown = loop.first_labels(LABELS["task"], np.random.default_rng(0))
    result = loop.estimated(loop.chosen_rows(LABELS, shown), GIVEN["truth"])
    asked = loop.next_assignment(LABELS, np.flatnonzero(~shown), result, way, seed=0)
    assert not shown[asked].any()
    assert len(np.unique(asked)) == len(asked) > 0
    assert np.bincount(LABELS["task"][asked]).max() <= loop.CAPS["per_task"]
    assert np.bincount(LABELS["worker"][asked]).max() <= loop.CAPS["per_worker"]


def test_a_ranking_is_judged_by_the_winners_it_names() -> None:
    votes = {"left": ["a", "b", "a"], "right": ["b", "c", "c"], "label": ["a", "c", "c"]}
    ranking = optiframe.solve(optiframe.problem("pairwise-ranking", comparisons=votes), "hodge.l2").solution
    columns = {name: np.asarray(column) for name, column in votes.items()}
    # c beats both, a beats b: every vote is predicted.
    np.testing.assert_array_equal(loop.predicted_by_all(ranking, columns), 1.0)


def test_the_most_flagged_tenth_has_the_largest_shares() -> None:
    flagged = {worker: worker / 20 for worker in range(20)}
    tenth, others = loop.most_flagged(flagged, list(flagged))
    assert sorted(tenth) == [18, 19]
    assert sorted(others) == list(range(18))
