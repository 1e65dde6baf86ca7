"""Labels streamed from Parquet files: the same skills and answers as in memory, a few tasks at a time."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from functools import reduce
from itertools import pairwise, permutations
from operator import add
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from optiframe_rankone import LabelCounts, count_labels, write_answers
from optiframe_rankone.read.blocks import label_blocks
from optiframe_rankone.tools import streaming

import optiframe
from optiframe import InvalidInput

from .slow import single_coin

Columns = dict[str, list[Any]]
KINDS: dict[str, Callable[[Columns], Columns]] = {
    "numbers": lambda columns: columns,
    "text": lambda columns: {name: [f"{name}-{id:04}" for id in ids] for name, ids in columns.items()},
    "decimals": lambda columns: {name: [id + 0.5 for id in ids] for name, ids in columns.items()},
}


def labels(seed: int, tasks: int = 80, classes: int = 3) -> Columns:
    """In order of tasks, the workers of a task in any order."""
    skills = np.random.default_rng(seed).uniform(0.2, 0.9, 12)
    table = single_coin(seed, skills, tasks=tasks, per_task=5, classes=classes)["labels"]
    order = np.lexsort([np.random.default_rng(seed).random(len(table["task"])), table["task"]])
    return {name: np.asarray(table[name])[order].tolist() for name in ("task", "worker", "label")}


def written(columns: Columns, path: Path, *cuts: int) -> Path:
    """A Parquet file; with cuts, a folder of files that begin with these rows."""
    if not cuts:
        pq.write_table(pa.table(columns), path, row_group_size=13)
        return path
    path.mkdir()
    bounds = [0, *cuts, len(columns["task"])]
    # Names in another order than tasks: nothing may depend on it.
    for number, (begin, end) in enumerate(pairwise(bounds)):
        part = {name: values[begin:end] for name, values in columns.items()}
        pq.write_table(pa.table(part), path / f"part-{9 - number}.parquet", row_group_size=13)
    (path / "_SUCCESS").touch()
    return path


def in_memory(columns: Columns, solver: str = "rankone.pgd") -> Any:
    return optiframe.solve(optiframe.problem("label-aggregation", labels=columns), solver).solution


def read_answers(path: Path) -> Columns:
    found: Columns = pq.read_table(path).to_pydict()
    order = sorted(range(len(found["task"])), key=found["task"].__getitem__)
    return {name: [values[at] for at in order] for name, values in found.items()}


def as_lists(answer: Any) -> Columns:
    return {name: np.asarray(values).tolist() for name, values in answer.columns().items()}


# The same as in memory


@pytest.mark.slow
@pytest.mark.parametrize("cuts", [(), (100, 250)], ids=["file", "folder"])
@pytest.mark.parametrize("kind", KINDS)
def test_streamed_skills_and_answers_are_those_in_memory_bit_for_bit(
    tmp_path: Path, kind: str, cuts: tuple[int, ...]
) -> None:
    columns = KINDS[kind](labels(1))
    source, target = written(columns, tmp_path / "in.parquet", *cuts), tmp_path / "out.parquet"
    counts = count_labels(source, rows=17)
    found = optiframe.solve(counts.completion(), "rankone.pgd").solution
    answer = in_memory(columns)
    skills = counts.settled(found)
    assert np.array_equal(skills, answer.skills)
    assert counts.worker_ids.tolist() == answer.worker_ids.tolist()
    assert write_answers(source, target, counts, skills, rows=17) == 80
    assert read_answers(target) == as_lists(answer)


@pytest.mark.parametrize("solver", ["rankone.coordinate", "rankone.exponentiated", "scipy.lbfgs"])
def test_other_solvers_take_the_counts_as_they_take_labels(tmp_path: Path, solver: str) -> None:
    columns = labels(2)
    counts = count_labels(written(columns, tmp_path / "in.parquet"), rows=50)
    skills = counts.settled(optiframe.solve(counts.completion(), solver).solution)
    assert np.allclose(skills, in_memory(columns, solver).skills, atol=1e-12)


def test_groups_that_share_no_task_are_oriented_apart_as_in_memory(tmp_path: Path) -> None:
    good, bad = labels(3, classes=2), labels(4, classes=2)
    flip = [
        1 - label if worker < 9 else label for worker, label in zip(bad["worker"], bad["label"], strict=True)
    ]
    columns = {
        "task": good["task"] + [task + 1000 for task in bad["task"]],
        "worker": good["worker"] + [worker + 1000 for worker in bad["worker"]],
        "label": good["label"] + flip,
    }
    counts = count_labels(written(columns, tmp_path / "in.parquet"), rows=40)
    for orientation in ("labels", "workers"):
        found = optiframe.solve(counts.completion(orientation=orientation), "rankone.pgd").solution
        problem = optiframe.problem("label-aggregation", labels=columns, orientation=orientation)
        expected: Any = optiframe.solve(problem, "rankone.pgd").solution
        assert np.array_equal(counts.settled(found, orientation=orientation), expected.skills)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_streamed_majority_is_that_in_memory_ties_included(tmp_path: Path, kind: str) -> None:
    columns = KINDS[kind](labels(5, classes=2))
    keep = [at for at in range(len(columns["task"])) if at % 5]  # four labels a task: some tie
    columns = {name: [values[at] for at in keep] for name, values in columns.items()}
    source = written(columns, tmp_path / "in", 100)
    write_answers(source, tmp_path / "out.parquet", rows=20)
    found, expected = read_answers(tmp_path / "out.parquet"), as_lists(in_memory(columns, "labels.majority"))
    assert found == expected
    assert None in found["label"]


def test_columns_can_be_mapped(tmp_path: Path) -> None:
    columns = labels(6)
    source = written(
        {"item": columns["task"], "by": columns["worker"], "label": columns["label"]}, tmp_path / "in.parquet"
    )
    mapped = {"task": "item", "worker": "by"}
    counts = count_labels(source, columns=mapped)
    assert len(counts) == 400
    assert write_answers(source, tmp_path / "out.parquet", columns=mapped) == 80


# Counts


def slow_counts(columns: Columns) -> tuple[Counter[Any], Counter[Any], Counter[Any]]:
    """Labels of each worker, and tasks that each ordered pair shares and agrees on, one by one."""
    given: dict[Any, list[tuple[Any, Any]]] = {}
    for task, worker, label in zip(*columns.values(), strict=True):
        given.setdefault(task, []).append((worker, label))
    pairs = [pair for each in given.values() for pair in permutations(each, 2)]
    shared = Counter((i, j) for (i, _), (j, _) in pairs)
    agreed = Counter((i, j) for (i, a), (j, b) in pairs if a == b)
    return Counter(columns["worker"]), shared, agreed


def as_counters(counts: LabelCounts) -> tuple[Counter[Any], Counter[Any], Counter[Any]]:
    ids, pairs = counts.worker_ids.tolist(), counts.pairs.tocoo()
    at = [(ids[i], ids[j]) for i, j in zip(pairs.row.tolist(), pairs.col.tolist(), strict=True)]
    each = Counter(dict(zip(ids, counts.per_worker.tolist(), strict=True)))
    shared = Counter(dict(zip(at, pairs.data.real.astype(int).tolist(), strict=True)))
    agreed = Counter(dict(zip(at, pairs.data.imag.astype(int).tolist(), strict=True)))
    return each, shared, +agreed


@pytest.mark.parametrize("seed", range(6))
def test_counts_are_those_of_a_slow_twin(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    columns: Columns = {"task": [], "worker": [], "label": []}
    for task in range(rng.randint(1, 40)):
        for worker in rng.sample(range(rng.choice([4, 30])), rng.randint(1, 4)):
            for name, value in zip(columns, (task * 3, worker, rng.choice("xyz")), strict=True):
                columns[name].append(value)
    counts = count_labels(written(columns, tmp_path / "in.parquet"), rows=rng.randint(1, 30))
    assert as_counters(counts) == slow_counts(columns)
    assert counts.tasks == len(set(columns["task"]))
    assert counts.per_label.tolist() == [columns["label"].count(label) for label in counts.label_ids]


def test_counts_of_files_add_up_in_any_order(tmp_path: Path) -> None:
    columns = KINDS["text"](labels(7))
    folder = written(columns, tmp_path / "in", 55, 200, 340)
    whole, parts = (
        count_labels(folder),
        [count_labels(path, rows=9) for path in sorted(folder.glob("*.parquet"))],
    )
    for order in permutations(parts):
        together = reduce(add, order)
        assert as_counters(together) == as_counters(whole) == slow_counts(columns)
        assert (together.completion().weights != whole.completion().weights).nnz == 0
        assert together.tasks == 80


def test_blocks_hold_whole_tasks_and_no_more_rows_than_asked_for(tmp_path: Path) -> None:
    columns = labels(8)
    path = written(columns, tmp_path / "in.parquet")
    sizes = [len(block) for block, _ in label_blocks([path], rows=23)]
    assert sum(sizes) == 400
    assert max(sizes) <= 23 + 4  # what was left over of one task comes on top
    assert all(size % 5 == 0 for size in sizes)


def test_a_task_with_more_labels_than_a_block_is_taken_whole(tmp_path: Path) -> None:
    columns = {"task": [1] * 50 + [2] * 2, "worker": [*range(50), 3, 4], "label": [0, 1] * 26}
    counts = count_labels(written(columns, tmp_path / "in.parquet"), rows=5)
    assert as_counters(counts) == slow_counts(columns)


# What is refused


@pytest.mark.parametrize("rows", [3, 1000])
def test_tasks_out_of_order_are_refused_with_the_row(tmp_path: Path, rows: int) -> None:
    columns = {"task": [1, 1, 1, 2, 2, 2, 1], "worker": [1, 2, 3, 1, 2, 3, 4], "label": [0, 1, 0, 1, 1, 0, 1]}
    path = written(columns, tmp_path / "in.parquet")
    with pytest.raises(
        InvalidInput, match=r"in\.parquet row 6: task 1 comes after task 2; labels that are streamed"
    ):
        count_labels(path, rows=rows)


def test_a_task_in_two_files_is_refused_wherever_counts_are_added(tmp_path: Path) -> None:
    folder = written(labels(9), tmp_path / "in", 102)
    with pytest.raises(InvalidInput, match="all labels of a task must be in one file"):
        count_labels(folder)
    with pytest.raises(InvalidInput, match="all labels of a task must be in one file"):
        write_answers(folder, tmp_path / "out.parquet")
    one, other = (count_labels(path) for path in folder.glob("*.parquet"))
    with pytest.raises(InvalidInput, match="all labels of a task must be in one file"):
        one + other
    assert not (tmp_path / "out.parquet").exists()


def test_files_whose_tasks_are_of_two_kinds_are_refused(tmp_path: Path) -> None:
    one = count_labels(written(labels(1), tmp_path / "one.parquet"))
    other = count_labels(written(KINDS["text"](labels(1)), tmp_path / "other.parquet"))
    with pytest.raises(InvalidInput, match="numbers in some files and text in others"):
        one + other


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        ({"worker": [1, 2, 1, 2, 1, 1]}, r"row 5: worker 1 labels task 3 again, first in row 4"),
        ({"worker": [1, 2, 1, None, 1, 2]}, r"row 3: worker is empty"),
        ({"label": ["x", "y", "x", "y", "NA", "x"]}, r"row 4: label is empty \(NA counts as that\)"),
        ({"task": [1, 1, 2, 2, None, 3]}, r"row 4: task is empty"),
        ({"worker": None}, r"no column 'worker'"),
        ({"label": [1, 1, 1, 1, 1, 1]}, r"only one label value occurs \(1\)"),
        ({"task": [], "worker": [], "label": []}, r"the file has no rows"),
    ],
)
def test_bad_labels_are_refused_with_the_row_of_the_file(tmp_path: Path, spoil: Any, message: str) -> None:
    columns = {"task": [1, 1, 2, 2, 3, 3], "worker": [1, 2] * 3, "label": list("xyxyxy"), **spoil}
    path = written(
        {name: values for name, values in columns.items() if values is not None}, tmp_path / "in.parquet"
    )
    with pytest.raises(InvalidInput, match=message):
        count_labels(path, rows=4).completion()


def test_sources_that_hold_no_parquet_are_refused(tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text("task,worker,label\n")
    (tmp_path / "bad.parquet").write_text("not Parquet")
    with pytest.raises(InvalidInput, match="labels are streamed from Parquet"):
        count_labels(tmp_path / "labels.csv")
    with pytest.raises(InvalidInput, match="no file"):
        count_labels(tmp_path / "none.parquet")
    with pytest.raises(InvalidInput, match=r"bad\.parquet is not a readable Parquet file"):
        count_labels(tmp_path / "bad.parquet")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InvalidInput, match="holds no Parquet file"):
        count_labels(tmp_path / "empty")


def test_answers_need_counts_and_skills_that_fit(tmp_path: Path) -> None:
    source, target = written(labels(1), tmp_path / "in.parquet"), tmp_path / "out.parquet"
    counts = count_labels(source)
    with pytest.raises(InvalidInput, match="give both counts and skills"):
        write_answers(source, target, counts)
    with pytest.raises(InvalidInput, match="skills must be 12 finite numbers"):
        write_answers(source, target, counts, np.full(12, np.nan))
    columns = labels(1)
    other = written(
        {**columns, "worker": [worker + 1 for worker in columns["worker"]]}, tmp_path / "more.parquet"
    )
    with pytest.raises(InvalidInput, match="worker 12 is not among the counted ones"):
        write_answers(other, target, counts, np.full(12, 0.5))
    assert not target.exists()


# The file of answers is whole or not there


def test_a_file_of_answers_is_never_replaced_and_is_parquet(tmp_path: Path) -> None:
    source, target = written(labels(1), tmp_path / "in.parquet"), tmp_path / "out.parquet"
    target.write_text("mine")
    for path in (target, tmp_path / "out.csv"):
        with pytest.raises(InvalidInput, match=r"answers go to a new file that ends in \.parquet"):
            write_answers(source, path)
    assert target.read_text() == "mine"


def test_a_failure_midway_leaves_no_file_and_nothing_is_seen_before_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, folder = written(labels(1), tmp_path / "in.parquet"), tmp_path / "out"
    folder.mkdir()
    blocks, seen = streaming.label_blocks, []

    def failing(*arguments: Any) -> Any:
        for number, block in enumerate(blocks(*arguments)):
            seen.append([path.name for path in folder.iterdir() if not path.name.startswith(".")])
            if number == 3:
                raise KeyboardInterrupt
            yield block

    monkeypatch.setattr(streaming, "label_blocks", failing)
    with pytest.raises(KeyboardInterrupt):
        write_answers(source, folder / "answers.parquet", rows=20)
    assert seen == [[]] * 4
    assert not list(folder.iterdir())
