"""The five published label sets, as tidied and as published, and the single-coin generator."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optiframe_rankone.datasets import sampling
from optiframe_rankone.datasets.published import Dogs, LabelSet, Rte, Temp, Web, Wsd
from optiframe_rankone.datasets.sampling import sample_distinct
from optiframe_rankone.datasets.single_coin import SingleCoin

from optiframe.errors import InvalidInput
from optiframe.problems.datasets import MissingData

if TYPE_CHECKING:
    from conftest import FolderServer

# Tasks, workers, labels, classes (Table 4 of the paper), tasks with a known truth.
TABLE_4 = {
    Rte: (800, 164, 8000, 2, 800),
    Temp: (462, 76, 4620, 2, 462),
    Dogs: (807, 109, 8070, 4, 807),
    Wsd: (177, 34, 1770, 3, 177),
    Web: (2665, 177, 15567, 5, 2653),
}
PUBLISHED = (Rte, Dogs, Web)


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and no data folder unless the test names one."""
    monkeypatch.delenv("OPTIFRAME_DATA", raising=False)
    monkeypatch.delenv("OPTIFRAME_OFFLINE", raising=False)
    monkeypatch.setenv("OPTIFRAME_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


# -- the published sets (what can go wrong on the way: tests/test_datasets.py)


@pytest.fixture
def tidy(data_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[type[LabelSet]], dict[str, Any]]:
    """The inputs from the tidy tables."""

    def inputs(kind: type[LabelSet]) -> dict[str, Any]:
        with monkeypatch.context() as patch:
            patch.setenv("OPTIFRAME_DATA", str(data_folder))
            assert kind.where() == str(data_folder / "crowd" / kind.folder)
            return kind().inputs()

    return inputs


@pytest.mark.slow
@pytest.mark.parametrize("kind", TABLE_4)
def test_counts_are_those_of_the_papers_table(
    kind: type[LabelSet], tidy: Callable[[type[LabelSet]], dict[str, Any]]
) -> None:
    inputs = tidy(kind)
    labels, truth = inputs["labels"], inputs["truth"]
    distinct = [len(np.unique(labels[name])) for name in ("task", "worker", "label")]
    assert (*distinct[:2], len(labels["task"]), distinct[2], len(truth["task"])) == TABLE_4[kind]
    pairs = labels["task"] * 1000 + labels["worker"]  # fewer than 1000 workers
    assert len(np.unique(pairs)) == len(pairs)
    assert len(np.unique(truth["task"])) == len(truth["task"])


@pytest.mark.slow
@pytest.mark.parametrize("kind", PUBLISHED)
def test_the_files_as_published_give_the_tidy_tables(
    kind: type[LabelSet],
    data_folder: Path,
    tidy: Callable[[type[LabelSet]], dict[str, Any]],
    serve: Callable[[Path], FolderServer],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server, expected = serve(data_folder / "crowd" / "upstream"), tidy(kind)
    monkeypatch.setattr(kind, "base_url", server.url)
    assert kind.where().startswith("not here; from github.com/zhangyuc/SpectralMethodsMeetEM")
    found = kind().inputs()
    assert kind.where().endswith("/cache/crowd/upstream")
    assert list(kind().checksums()) == [f"crowd/upstream/{name}" for name in server.asked]
    assert list(found) == list(expected) == ["labels", "truth"]
    for table, columns in expected.items():
        assert list(found[table]) == list(columns)
        for name, values in columns.items():
            assert found[table][name].dtype == values.dtype == np.int64
            np.testing.assert_array_equal(found[table][name], values)


@pytest.mark.parametrize("kind", [Temp, Wsd])
def test_a_set_that_cannot_be_downloaded_says_where_it_comes_from(kind: type[LabelSet]) -> None:
    with pytest.raises(MissingData) as caught:
        kind().inputs()
    message = str(caught.value)
    for part in (f"crowd/{kind.folder}/labels.csv", "case-studies", f"{kind.folder}.standardized.tsv"):
        assert part in message
    assert "OPTIFRAME_DATA" in message


# -- who labels what


def assignment(**fields: Any) -> list[tuple[int, ...]]:
    """The workers of each task."""
    labels = SingleCoin(**fields).inputs()["labels"]
    tasks = fields["tasks"]
    found = [tuple(labels["worker"][labels["task"] == task].tolist()) for task in range(tasks)]
    assert sum(map(len, found)) == len(labels["task"])
    return found


@settings(max_examples=30)
@given(data=st.data())
def test_each_task_of_a_random_graph_has_that_many_distinct_workers(data: st.DataObject) -> None:
    workers = data.draw(st.integers(2, 12))
    each = data.draw(st.integers(1, workers - 1))
    skew = data.draw(st.floats(0, 10))
    found = assignment(workers=workers, tasks=20, labels_per_task=each, activity_skew=skew)
    for members in found:
        assert len(set(members)) == len(members) == each
        assert set(members) <= set(range(workers))


@pytest.mark.parametrize("fields", [{"graph": "clique"}, {"graph": "random"}, {"labels_per_task": 6}])
def test_every_worker_labels_every_task_of_a_clique(fields: dict[str, Any]) -> None:
    assert assignment(workers=6, tasks=5, **fields) == [tuple(range(6))] * 5


@pytest.mark.parametrize(
    ("graph", "edges"),
    [
        ("star", {(0, 1), (0, 2), (0, 3), (0, 4), (1, 2)}),
        ("ring", {(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)}),
    ],
)
def test_the_edges_of_a_graph_are_all_covered_alike(graph: str, edges: set[tuple[int, int]]) -> None:
    found = assignment(workers=5, tasks=13, graph=graph)
    assert set(found) == edges
    assert {found.count(edge) for edge in edges} == {2, 3}


def test_activity_follows_the_power_law_where_workers_are_drawn_once() -> None:
    workers, tasks = 8, 20_000
    data = SingleCoin(workers=workers, tasks=tasks, labels_per_task=1, activity_skew=1.5)
    counts = np.bincount(data.inputs()["labels"]["worker"], minlength=workers)
    share = np.arange(1, workers + 1) ** -1.5
    share /= share.sum()
    deviation = np.sqrt(tasks * share * (1 - share))
    assert np.all(np.abs(counts - tasks * share) <= 5 * deviation)


def exact_probability(weights: list[float], chosen: tuple[int, ...]) -> float:
    """The slow twin: the probability of a set, over all orders of drawing one after the other."""
    total = 0.0
    for order in itertools.permutations(chosen):
        left, probability = sum(weights), 1.0
        for worker in order:
            probability *= weights[worker] / left
            left -= weights[worker]
        total += probability
    return total


# With 3 of 4 the keys finish nearly every task; with 1 or 2 of 6 the rounds do.
@pytest.mark.slow
@pytest.mark.parametrize(("workers", "each"), [(4, 3), (4, 2), (6, 2), (6, 1), (3, 2)])
def test_sampling_agrees_with_drawing_one_after_the_other(workers: int, each: int) -> None:
    tasks = 5_000
    weights = [1 / (i + 1) for i in range(workers)]
    task, worker = sample_distinct(np.array(weights), tasks, each, np.random.default_rng(1))
    np.testing.assert_array_equal(task, np.repeat(np.arange(tasks), each))
    found = [tuple(row) for row in worker.reshape(tasks, each).tolist()]
    for chosen in itertools.combinations(range(workers), each):
        probability = exact_probability(weights, chosen)
        deviation = np.sqrt(tasks * probability * (1 - probability))
        assert abs(found.count(chosen) - tasks * probability) <= 5 * deviation


def test_finishing_in_blocks_gives_every_task_its_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "_CELLS", 50)  # five tasks at a time
    weights = np.arange(1.0, 11.0)
    task, worker = sample_distinct(weights, 203, 9, np.random.default_rng(0))
    np.testing.assert_array_equal(task, np.repeat(np.arange(203), 9))
    assert all(len(set(row)) == 9 for row in worker.reshape(203, 9).tolist())


# -- what they answer


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_each_worker_is_right_as_often_as_the_skill_says(classes: int) -> None:
    tasks = 20_000
    data = SingleCoin(workers=7, tasks=tasks, classes=classes, graph="clique", skill_low=-0.2)
    labels, truth = (data.inputs()[name] for name in ("labels", "truth"))
    right = (labels["label"] == truth["label"][labels["task"]]).reshape(tasks, 7)
    expected = data.accuracies_of_workers()
    skills = data.skills_of_workers()
    np.testing.assert_allclose(skills, (classes * expected - 1) / (classes - 1), atol=1e-15)
    assert np.all(np.abs(right.mean(axis=0) - expected) <= 5 * np.sqrt(expected * (1 - expected) / tasks))


def test_true_classes_and_wrong_answers_are_uniform() -> None:
    classes, tasks = 4, 60_000
    data = SingleCoin(workers=1, tasks=tasks, classes=classes, skills=[-1 / 3])  # always wrong
    inputs = data.inputs()
    distance = (inputs["labels"]["label"] - inputs["truth"]["label"]) % classes
    counts = np.bincount(inputs["truth"]["label"], minlength=classes)
    assert np.all(np.abs(counts - tasks / 4) <= 5 * np.sqrt(tasks * 3 / 16))
    counts = np.bincount(distance, minlength=classes)
    assert counts[0] == 0
    assert np.all(np.abs(counts[1:] - tasks / 3) <= 5 * np.sqrt(tasks * 2 / 9))


def test_skills_are_drawn_as_asked() -> None:
    # The paper's grid: between 0.8 and -0.3, in random order.
    grid = SingleCoin().skills_of_workers()
    np.testing.assert_allclose(np.sort(grid), np.linspace(-0.3, 0.8, 11), atol=1e-15)
    assert np.any(np.diff(grid) < 0)
    drawn = SingleCoin(workers=20_000, skills="uniform", skill_low=0.1, skill_high=0.5).skills_of_workers()
    assert drawn.min() >= 0.1
    assert drawn.max() <= 0.5
    assert abs(drawn.mean() - 0.3) <= 5 * 0.4 / np.sqrt(12 * 20_000)
    beta = SingleCoin(workers=20_000, skills="beta", alpha=2.0, beta=5.0)
    assert abs(beta.accuracies_of_workers().mean() - 2 / 7) <= 5 * np.sqrt(10 / 49 / 8 / 20_000)
    assert SingleCoin(workers=2, skills=(0.5, -0.5)).skills_of_workers().tolist() == [0.5, -0.5]
    assert SingleCoin(classes=9).skills_of_workers().min() == -1 / 8


# -- seeds, and fields that do not go together


@pytest.mark.parametrize("skills", ["grid", "uniform", "beta"])
@pytest.mark.parametrize("shape", [{"graph": "random", "labels_per_task": 3}, {"graph": "ring"}])
def test_same_seed_gives_the_same_labels(skills: str, shape: dict[str, Any]) -> None:
    first, again, other = (
        SingleCoin(skills=skills, seed=seed, **shape).inputs()["labels"]["label"].tolist()
        for seed in (3, 3, 4)
    )
    assert first == again
    assert first != other


@pytest.mark.parametrize("skills", ["beta", [0.5, 0.25, 1.0]])
def test_fields_round_trip_through_text(skills: Any) -> None:
    data = SingleCoin(workers=3, skills=skills, labels_per_task=2, activity_skew=1.0)
    assert SingleCoin(**json.loads(json.dumps(data.model_dump()))) == data
    assert SingleCoin.where() == "generated"
    assert data.checksums() == {}


REFUSED = {
    "more labels than workers": ({"workers": 3, "labels_per_task": 4}, "4 distinct workers cannot be drawn"),
    "small star": ({"workers": 2, "graph": "star"}, "workers: a star needs at least 3 workers, got 2"),
    "small ring": ({"workers": 2, "graph": "ring"}, "workers: a ring needs at least 3 workers, got 2"),
    "edges without a task": ({"graph": "star", "tasks": 10}, "tasks: a star of 11 workers has 11 edges"),
    "three on an edge": ({"graph": "ring", "labels_per_task": 3}, "has 2 labels a task; leave it out, got 3"),
    "part of a clique": ({"graph": "clique", "labels_per_task": 3}, "has 11 labels a task"),
    "skew without a choice": ({"activity_skew": 1.0}, "activity_skew: goes with graph"),
    "skew of a ring": ({"graph": "ring", "activity_skew": 1.0}, "activity_skew: goes with graph"),
    "busiest of equals": (
        {"busiest": "skilled", "labels_per_task": 3},
        "busiest: goes with activity_skew above 0",
    ),
    "steep skew": ({"labels_per_task": 3, "activity_skew": 11.0}, "activity_skew: must be at most 10"),
    "low skill": (
        {"classes": 5, "skill_low": -0.3},
        "skill_low: a skill lies between -1/(M-1) = -0.25 and 1",
    ),
    "high skill": ({"skill_high": 1.5}, "skill_high: a skill lies between -1/(M-1) = -1 and 1, got 1.5"),
    "bounds swapped": ({"skill_low": 0.5, "skill_high": 0.2}, "skill_low: is above skill_high"),
    "listed skill": ({"workers": 2, "skills": [0.5, -2.0]}, "skills: worker 1: a skill lies between"),
    "too few skills": ({"workers": 3, "skills": [0.5, 0.2]}, "skills: lists 2 skills for 3 workers"),
    "unknown skills": ({"skills": "beat"}, "or a list of skills, got 'beat'; did you mean 'beta'?"),
    "skills in words": ({"workers": 1, "skills": ["good"]}, "skills: must hold real numbers"),
    "alpha for a grid": ({"alpha": 2.0}, 'alpha: goes with skills = "beta" only; leave it out'),
    "bound for beta": ({"skills": "beta", "skill_low": 0.1}, "skill_low: goes with skills"),
    "one class": ({"classes": 1}, "classes: must be at least 2, got 1"),
    "no workers": ({"workers": 0}, "workers: must be greater than 0, got 0"),
    "half a task": ({"tasks": 1.5}, "tasks: must be a whole number, got 1.5"),
    "negative seed": ({"seed": -1}, "seed: must be at least 0, got -1"),
    "unknown graph": ({"graph": "rings"}, "graph: must be one of"),
    "unknown field": ({"worker": 3}, "unknown key; did you mean 'workers'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_fields_that_do_not_go_together_are_refused_by_name(case: str) -> None:
    fields, expected = REFUSED[case]
    with pytest.raises(InvalidInput) as caught:
        SingleCoin(**fields)
    assert expected in str(caught.value)
    assert {path[0] for path, _ in caught.value.problems} <= {*SingleCoin.model_fields, "worker"}
