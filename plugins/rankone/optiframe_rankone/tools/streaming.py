"""More labels than memory holds: counts and answers from Parquet files, whole tasks at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

import numpy as np

from optiframe.errors import InvalidInput, require
from optiframe.records.fields import Array
from optiframe_rankone.answer import Aggregation, log_odds
from optiframe_rankone.completion.label_counts import LabelCounts
from optiframe_rankone.data import LabelTable
from optiframe_rankone.ids import exact_positions, fixed_codes
from optiframe_rankone.kernels.labels import vote
from optiframe_rankone.read.blocks import ROWS, label_blocks, label_files


def count_labels(source: Any, *, columns: Mapping[str, str] | None = None, rows: int = ROWS) -> LabelCounts:
    """Counts of the labels of Parquet files, from which skills follow; one pass in bounded memory.

    Parameters
    ----------
    source
        A Parquet file with the columns task, worker, label, in order of tasks; or a folder of such files
        (`*.parquet`), no two of which share a task.
    columns
        Our column name -> yours, where they differ.
    rows
        Labels in memory at a time; a task with more is taken whole.

    Raises
    ------
    InvalidInput
        When a file cannot be read, misses a column or a value, has tasks out of order or a worker who labels
        a task twice, naming the row, from 0; when two files may share a task.

    Notes
    -----
    Memory is about 300 bytes for each of `rows`, and that of `LabelCounts`.
    """
    return reduce(
        add,
        (
            LabelCounts.of(labels, (span,))
            for labels, span in label_blocks(label_files(source), columns, rows)
        ),
    )


def write_answers(
    source: Any,
    path: str | os.PathLike[str],
    counts: LabelCounts | None = None,
    skills: Array | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    rows: int = ROWS,
) -> int:
    """Write the answer to each task to a Parquet file; one pass over the labels in bounded memory.

    Columns are those of a solution's frame: `task, label, confidence, tied`. The file is written
    under another name and renamed when it is whole.

    Parameters
    ----------
    source, columns, rows
        As for `count_labels`.
    path
        The file to write, ``.parquet``; it must not be there yet.
    counts, skills
        The counts of these labels and the skills that follow, shape (workers,), for the vote that weighs each
        label by its worker's skill. Without both: the majority.

    Returns
    -------
    int
        Number of tasks.

    Raises
    ------
    InvalidInput
        As `count_labels`; for a worker or label that is not among the counted ones.
    """
    arrow = require("pyarrow", "frames")
    files, path, tasks = label_files(source), Path(path), 0
    weight = _weights(counts, skills)
    with _new_parquet(path) as write:
        for labels, _ in label_blocks(files, columns, rows):
            write(_arrow_table(_vote(labels, counts, weight, skills), arrow))
            tasks += len(labels.task_ids)
    return tasks


@contextmanager
def _new_parquet(path: Path) -> Iterator[Callable[[Any], None]]:
    """What writes tables one after the other to a new file, which is there once all are written."""
    parquet = require("pyarrow.parquet", "frames")
    if path.suffix.lower() != ".parquet" or path.exists():
        raise InvalidInput(f"{path}: answers go to a new file that ends in .parquet")
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    writers: list[Any] = []

    def write(table: Any) -> None:
        if not writers:
            writers.append(parquet.ParquetWriter(unfinished, table.schema))
        writers[0].write_table(table)

    try:
        yield write
        writers[0].close()
        unfinished.replace(path)
    finally:
        for writer in writers:
            writer.close()  # once more changes nothing
        unfinished.unlink(missing_ok=True)


def _weights(counts: LabelCounts | None, skills: Array | None) -> Array | None:
    if (counts is None) != (skills is None):
        raise InvalidInput("give both counts and skills, or leave out both for the majority vote")
    if counts is None or skills is None:
        return None
    if np.shape(skills) != counts.worker_ids.shape or not np.isfinite(skills).all():
        raise InvalidInput(
            f"skills must be {len(counts.worker_ids)} finite numbers, one for each worker counted"
        )
    return log_odds(skills, len(counts.label_ids))


def _vote(
    labels: LabelTable, counts: LabelCounts | None, weight: Array | None, skills: Array | None
) -> Aggregation:
    """The answer to a block: the weighted vote over all classes, or the majority over those that occur."""
    if counts is None or weight is None:
        ones = np.ones(len(labels.worker_ids))
        scores = vote(labels.first, labels.worker, labels.label, ones, len(labels.label_ids))
        return Aggregation(labels.task_ids, labels.worker_ids, labels.label_ids, scores, "votes")
    workers = exact_positions(counts.worker_ids, labels.worker_ids)
    classes = exact_positions(counts.label_ids, labels.label_ids)
    for what, place, ids in (("worker", workers, labels.worker_ids), ("label", classes, labels.label_ids)):
        if (place < 0).any():
            raise InvalidInput(
                f"{what} {ids[place < 0][0]} is not among the counted ones; count these labels"
            )
    label = fixed_codes(classes.astype(np.int32)[labels.label])
    scores = vote(labels.first, labels.worker, label, weight[workers], len(counts.label_ids))
    return Aggregation(labels.task_ids, counts.worker_ids, counts.label_ids, scores, "log-odds", skills)


def _arrow_table(answer: Aggregation, arrow: Any) -> Any:
    """The table of an answer; a column has one type in all blocks, whatever is tied."""
    tied, names = answer.tied, np.full(len(answer.task_ids), "", dtype=object)
    if tied.any():  # few kinds of ties, even where many tasks are tied
        kinds, kind = np.unique(answer.winners[tied], axis=0, return_inverse=True)
        joined = ["|".join(map(str, answer.classes[each].tolist())) for each in kinds]
        names[tied] = np.array(joined, dtype=object)[kind.reshape(-1)]
    label = arrow.array(answer.winners.argmax(axis=1), mask=tied)
    return arrow.table(
        {
            "task": arrow.array(answer.task_ids),
            "label": arrow.array(answer.classes).take(label),
            "confidence": answer.confidence,
            "tied": arrow.array(names, type=arrow.string()),
        }
    )
