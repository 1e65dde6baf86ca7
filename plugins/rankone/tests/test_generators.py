"""Thinned label sets, and workers whose activity goes with their skill."""

from __future__ import annotations

import pickle
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optiframe_rankone.datasets.single_coin import SingleCoin
from optiframe_rankone.datasets.sparsified import Sparsified, sparsify

import optiframe
from optiframe.errors import InvalidInput

# Table 3: who gets most tasks


def labels_of(busiest: str, **more: Any) -> tuple[np.ndarray, np.ndarray]:
    """Number of labels and skill of each worker."""
    data = SingleCoin(
        workers=20, tasks=400, labels_per_task=3, activity_skew=1.0, busiest=busiest, seed=1, **more
    )
    return np.bincount(data.inputs()["labels"]["worker"], minlength=20), data.skills_of_workers()


@pytest.mark.parametrize(
    ("busiest", "first"),
    [("skilled", lambda s: -s), ("spammers", np.abs), ("adversaries", lambda s: s)],
)
def test_the_busiest_workers_are_those_asked_for(busiest: str, first: Any) -> None:
    counts, skills = labels_of(busiest)
    order = np.argsort(first(skills))
    assert counts[order[:5]].sum() > counts.sum() / 2
    assert counts[order[0]] == counts.max()
    assert counts[order[-5:]].sum() < counts.sum() / 6


def test_without_asking_activity_has_nothing_to_do_with_skill() -> None:
    counts, _ = labels_of("any")
    assert counts[0] == counts.max()


def test_who_is_busiest_goes_with_a_skew_only() -> None:
    with pytest.raises(InvalidInput, match="busiest: goes with activity_skew above 0"):
        SingleCoin(busiest="skilled", labels_per_task=3)


# Figure 3: fewer meetings


def degrees(task: np.ndarray, worker: np.ndarray) -> np.ndarray:
    """Number of other workers each worker shares a task with, by looking at every pair of labels."""
    met: set[tuple[int, int]] = set()
    for t in np.unique(task):
        met |= {(a, b) for a, b in combinations(sorted(worker[task == t].tolist()), 2)}
    return np.bincount([w for pair in met for w in pair], minlength=int(worker.max(initial=0)) + 1)


@settings(max_examples=30)
@given(seed=st.integers(0, 10**6), most=st.integers(1, 6), both=st.booleans())
def test_no_worker_meets_more_than_wanted_and_nothing_is_added(seed: int, most: int, both: bool) -> None:
    rng = np.random.default_rng(seed)
    cells = rng.choice(12 * 9, size=40, replace=False)
    task, worker = cells // 9, cells % 9
    keep = sparsify(task, worker, most, both=both, rng=np.random.default_rng(seed))
    assert keep.shape == task.shape
    assert degrees(task[keep], worker[keep]).max(initial=0) <= most
    if not both:
        assert set(task[keep]) == set(task)


def test_graphs_sparse_enough_stay_as_they_are() -> None:
    task, worker = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 2])
    assert sparsify(task, worker, 2, both=True, rng=np.random.default_rng(0)).all()


def test_the_busiest_worker_loses_an_edge_with_its_labels() -> None:
    # Worker 1 shares task 0 with worker 0 and task 1 with worker 2; one of the edges goes.
    task, worker = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 2])
    seen = {
        both: {
            tuple(sparsify(task, worker, 1, both=both, rng=np.random.default_rng(seed)).tolist())
            for seed in range(10)
        }
        for both in (False, True)
    }
    assert seen[False] == {(True, False, True, True), (True, True, False, True)}
    assert seen[True] == {(False, False, True, True), (True, True, False, False)}


def test_lower_degrees_continue_where_higher_ones_stopped() -> None:
    inputs = SingleCoin(workers=20, tasks=150, labels_per_task=3, seed=2).inputs()["labels"]
    kept = [
        sparsify(inputs["task"], inputs["worker"], most, both=True, rng=np.random.default_rng(5))
        for most in (8, 4)
    ]
    assert kept[1].sum() < kept[0].sum() < len(kept[0])
    assert (kept[0] | ~kept[1]).all()


def test_a_thinned_set_is_chosen_by_name_and_keeps_truth_and_skills() -> None:
    whole = {"name": "synthetic.single-coin", "workers": 12, "tasks": 80, "labels_per_task": 4}
    problem = optiframe.problem(
        dataset={"name": "labels.sparsified", "of": whole, "max_degree": 3, "removes": "one"}
    )
    assert len(problem.labels.task_ids) == 80
    assert degrees(problem.labels.task, problem.labels.worker).max() <= 3
    result = optiframe.solve(problem, "labels.majority")
    assert {"error", "regret"} <= set(result.metrics)


@pytest.mark.usefixtures("data_folder")
def test_a_thinned_set_of_files_has_their_checksums() -> None:
    thinned = Sparsified(of="labels.temp", max_degree=10)
    assert thinned.checksums() == optiframe.dataset("labels.temp").checksums() != {}
    labels = thinned.inputs()["labels"]
    assert degrees(labels["task"], np.unique(labels["worker"], return_inverse=True)[1]).max() == 10
    assert Sparsified(of="labels.temp", max_degree=10, seed=1).fingerprint() != thinned.fingerprint()
    assert pickle.loads(pickle.dumps(thinned)) == thinned


def test_only_label_sets_can_be_thinned() -> None:
    with pytest.raises(InvalidInput, match="of: data set 'rank-one"):
        Sparsified(of="rank-one.ring", max_degree=3)
    with pytest.raises(InvalidInput, match="did you mean 'labels"):
        Sparsified(of="labels.rt", max_degree=3)
