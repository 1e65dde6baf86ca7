"""Thinning labels of one's own: frames, columns and files, from Python and from a configuration file."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from optiframe_rankone.datasets.sparsified import Sparsified

import optiframe
from optiframe import InvalidInput
from optiframe.files.solve_file import SolveFile

from .test_generators import degrees

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
