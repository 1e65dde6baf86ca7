"""Thinned label sets, generated and of one's own, and workers whose activity goes with their skill."""

from __future__ import annotations

import pickle
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optiframe_rankone.datasets.single_coin import SingleCoin
from optiframe_rankone.datasets.sparsified import Sparsified, sparsify

import optiframe
from optiframe import InvalidInput
from optiframe.files.solve_file import SolveFile

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


MOST = 3


@pytest.fixture
def tables() -> dict[str, Any]:
    whole = optiframe.dataset("synthetic.single-coin", workers=12, tasks=80, labels_per_task=4)
    return {key: whole.inputs()[key] for key in ("labels", "truth")}


def write(path: Path, columns: dict[str, Any]) -> None:
    pd.DataFrame(columns).to_csv(path, index=False)


def thinned(of: Any) -> dict[str, Any]:
    return Sparsified(of=of, max_degree=MOST, removes="one").inputs()


def most(labels: Any) -> int:
    """The most others that any worker meets."""
    codes = (np.unique(np.asarray(labels[key]), return_inverse=True)[1] for key in ("task", "worker"))
    return int(degrees(*codes).max())


@pytest.mark.parametrize("library", [pd, pl])
def test_a_frame_is_thinned_and_stays_a_frame_of_its_kind(library: Any, tables: dict[str, Any]) -> None:
    frame = library.DataFrame(tables["labels"])
    labels = thinned(frame)["labels"]
    assert isinstance(labels, library.DataFrame)
    assert most(labels) <= MOST < most(frame)
    assert len(np.unique(labels["task"])) == 80


def test_columns_frames_and_files_of_the_same_labels_are_thinned_alike(
    tables: dict[str, Any], tmp_path: Path
) -> None:
    labels = tables["labels"]
    write(tmp_path / "labels.csv", labels)
    given = [labels, pd.DataFrame(labels), tmp_path / "labels.csv", str(tmp_path / "labels.csv")]
    found = [thinned(each)["labels"] for each in given]
    for key in ("task", "worker", "label"):
        assert all(list(map(int, each[key])) == list(found[0][key]) for each in found)


def test_truth_gold_and_other_column_names_go_with_the_labels(tables: dict[str, Any]) -> None:
    labels = pd.DataFrame(tables["labels"]).rename(columns={"task": "question"})
    truth = {"question": tables["truth"]["task"], "label": tables["truth"]["label"]}
    gold = {key: values[:2] for key, values in truth.items()}
    of = {"labels": labels, "truth": truth, "gold": gold, "columns": {"task": "question"}}
    problem = optiframe.problem("label-aggregation", **thinned(of))
    assert "error" in optiframe.solve(problem, "rankone.pgd").metrics
    assert (problem.gold_codes >= 0).sum() == 2


def test_a_configuration_file_thins_the_files_beside_it(tables: dict[str, Any], tmp_path: Path) -> None:
    write(tmp_path / "own.csv", tables["labels"])
    write(tmp_path / "known.csv", tables["truth"])
    (tmp_path / "thin.toml").write_text(
        '[problem.dataset]\nname = "labels.sparsified"\nmax_degree = 3\nremoves = "one"\n'
        'of = { labels = "own.csv", truth = "known.csv" }\n'
    )
    problem = SolveFile.read(tmp_path / "thin.toml").problem
    assert len(problem.labels.task_ids) == 80
    assert (problem.truth_codes >= 0).all()
    (tmp_path / "thin.toml").write_text(
        '[problem.dataset]\nname = "labels.sparsified"\nmax_degree = 3\nof = "own.csv"\n'
    )
    assert most(vars(SolveFile.read(tmp_path / "thin.toml").problem.labels)) <= MOST


def test_own_labels_have_a_fingerprint_and_can_be_pickled(tables: dict[str, Any]) -> None:
    frame = pd.DataFrame(tables["labels"])
    first, second = Sparsified(of=frame, max_degree=MOST), Sparsified(of=tables["labels"], max_degree=MOST)
    assert first.fingerprint() == second.fingerprint()
    assert pickle.loads(pickle.dumps(first)) == first
    assert Sparsified(of=frame.head(100), max_degree=MOST).fingerprint() != first.fingerprint()


def test_a_name_that_moved_to_the_paper_says_where_it_is() -> None:
    with pytest.raises(optiframe.UnknownName, match=r"use --import examples/papers/rankone/noisy_star\.py"):
        optiframe.dataset("synthetic.noisy-star")


@pytest.mark.parametrize(
    ("of", "message"),
    [
        ("none.csv", "of.labels: no file"),
        ({"labels": "none.csv", "trut": "x.csv"}, "trut: is no part of a label set.*did you mean 'truth'"),
        ({"nam": "labels.rte"}, "did you mean 'name'"),
        ({"task": [1], "worker": [2]}, "no column 'label'"),
        (3, "is not a table"),
        # The name of a data set comes first: its own parameters are meant, of which these are none.
        ({"name": "synthetic.single-coin", "labels": 50}, r"of.labels: unknown key \(valid keys: workers, "),
        ({"name": "rte", "labels": 50}, "of.name: no data set named 'rte'; did you mean 'labels.rte'"),
    ],
)
def test_what_is_no_label_set_is_refused_in_words(of: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Sparsified(of=of, max_degree=3)
