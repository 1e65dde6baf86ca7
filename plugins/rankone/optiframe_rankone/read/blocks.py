"""Labels of Parquet files, whole tasks at a time, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from optiframe.errors import InvalidInput, require
from optiframe.records.fields import resolve
from optiframe.tables.arrow_arrays import numbers_of
from optiframe.tables.column_names import column_names
from optiframe.tables.read import read_table
from optiframe_rankone.data import LabelTable
from optiframe_rankone.read import text
from optiframe_rankone.read.duplicates import Rows, one_row_each
from optiframe_rankone.read.tables import encoded_column

COLUMNS = ("task", "worker", "label")
ROWS = 2**20
"""Labels at a time: reading and counting them takes some 300 bytes each."""


@dataclass(frozen=True)
class Span:
    """The first and last task of some labels, and the file they come from."""

    first: Any
    last: Any
    title: str


def label_files(source: Any) -> list[Path]:
    """The Parquet file itself, or those of a folder by name.

    Raises
    ------
    InvalidInput
        When there is none.
    """
    path = resolve(source)
    if path.is_dir():
        # Spark and others put files beside them that begin with a dot or an underscore.
        found = sorted(each for each in path.glob("*.parquet") if each.name[0] not in "._")
        if not found:
            raise InvalidInput(f"the folder {path} holds no Parquet file (*.parquet)")
        return found
    if path.suffix.lower() != ".parquet":
        raise InvalidInput(f"{path.name}: labels are streamed from Parquet, a file or a folder of files")
    if not path.is_file():
        raise InvalidInput(f"no file {path}")
    return [path]


def label_blocks(
    files: Iterable[Path], columns: Mapping[str, str] | None = None, rows: int = ROWS
) -> Iterator[tuple[LabelTable, Span]]:
    """The labels of files in blocks of whole tasks, each with its own codes, and the tasks they span.

    Parameters
    ----------
    files
        Parquet files in order of tasks, no two of which share a task.
    columns
        Our column name -> the files'.
    rows
        Labels of a block, if no task has more; memory is about 300 bytes each.

    Raises
    ------
    InvalidInput
        For whatever `read_table` finds, for a worker who labels a task twice, for tasks out of order, naming
        the rows (from 0), and for files that may share a task.
    """
    rename = column_names(columns or {}, (*COLUMNS, "weight"))
    spans: tuple[Span, ...] = ()
    for path in files:
        before: Span | None = None
        for frame, start in _whole_tasks(path, rename, rows):
            labels = _labels(frame, rename, path.name, start, before)
            span = Span(labels.task_ids[0], labels.task_ids[-1], str(path))
            before = Span((before or span).first, span.last, span.title)
            yield labels, span
        spans += (before,) if before else ()
        refuse_overlap(spans)
    if not spans:
        raise InvalidInput("there are no labels: the file has no rows")


def _labels(frame: Any, rename: Mapping[str, str], title: str, start: int, before: Span | None) -> LabelTable:
    """Whole tasks as codes, after the tasks of the blocks before."""
    table = read_table(frame, COLUMNS, title=title, rename=rename, coder=text.coded, start=start)
    coded = [encoded_column(table, name) for name in COLUMNS]
    (task, task_ids), (worker, worker_ids), (label, label_ids) = coded
    falls = np.flatnonzero(task[1:] < task[:-1])
    if len(falls) or (before and task_ids[0] <= before.last):
        row = int(falls[0]) + 1 if len(falls) else 0
        last = task_ids[task[row - 1]] if len(falls) else before and before.last
        raise InvalidInput(
            f"{title} {table.place(row)}: task {task_ids[task[row]]} comes after task {last}; labels "
            "that are streamed must be in order of tasks: sort them by task first"
        )
    rows, _ = one_row_each(table, Rows(task, worker, label, None), "error")
    return LabelTable(rows.task, rows.worker, rows.label, task_ids, worker_ids, label_ids)


def refuse_overlap(spans: tuple[Span, ...]) -> None:
    """Raise `InvalidInput` where two files may share a task, as their spans overlap."""
    try:
        ordered = sorted(spans, key=lambda span: span.first)
        wrong = next((pair for pair in pairwise(ordered) if pair[1].first <= pair[0].last), None)
    except TypeError:
        raise InvalidInput(
            "the tasks are numbers in some files and text in others; write them alike"
        ) from None
    if wrong is not None:
        one, other = wrong
        raise InvalidInput(
            f"{one.title} has the tasks {one.first} to {one.last}, and {other.title} begins with "
            f"{other.first}: all labels of a task must be in one file; sort the labels by task before they "
            "are divided into files"
        )


def _whole_tasks(path: Path, rename: Mapping[str, str], rows: int) -> Iterator[tuple[Any, int]]:
    """Tables of Arrow, each of some tasks that are consecutive and whole, and the row each begins with."""
    arrow, parquet = require("pyarrow", "frames"), require("pyarrow.parquet", "frames")
    wanted = [rename.get(name, name) for name in COLUMNS]
    weight = rename.get("weight", "weight")
    try:
        with parquet.ParquetFile(path, buffer_size=2**20) as file:
            schema = file.schema_arrow
            if not set(wanted) <= set(schema.names):
                read_table(schema.empty_table(), COLUMNS, title=path.name, rename=rename)  # says so
            if weight and weight in schema.names:
                raise InvalidInput(
                    f"{path.name}: the column {weight!r} has weights of labels, and labels that are streamed "
                    'count once each; to leave it out, give columns={"weight": ""}'
                )
            start, held = 0, []
            for batch in file.iter_batches(batch_size=min(rows, 2**20), columns=wanted):
                held.append(batch)
                if sum(map(len, held)) < rows:
                    continue
                table = arrow.Table.from_batches(held)
                whole = _last_task(table[wanted[0]])
                if whole:
                    yield table[:whole], start
                    start += whole
                held = table[whole:].combine_chunks().to_batches()
            if held:
                yield arrow.Table.from_batches(held), start
    except (arrow.ArrowException, OSError) as error:
        raise InvalidInput(f"{path.name} is not a readable Parquet file ({error})") from None


def _last_task(task: Any) -> int:
    """The row with which the last task begins."""
    compute = require("pyarrow.compute", "frames")
    same = compute.equal(task, task[len(task) - 1]).fill_null(False)
    others = np.flatnonzero(numbers_of(same.cast("int8").combine_chunks()) == 0)
    return int(others[-1]) + 1 if len(others) else 0
