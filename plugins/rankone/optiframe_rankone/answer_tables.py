"""Tables of an answer beside its labels and workers: classes, probabilities, confusion matrices."""

from __future__ import annotations

import numpy as np

from optiframe.errors import InvalidInput
from optiframe.tables.columns import Columns
from optiframe_rankone.answer import Aggregation
from optiframe_rankone.data import Crowd

MOST_ROWS = 2_000_000
"""Rows of a table that comes with every answer, at most; beyond, the arrays say the same in less room."""


def class_table(crowd: Crowd, solution: Aggregation) -> Columns:
    """Columns `class`, `share` (expected share of the tasks) and `labels` (how often it was given)."""
    given = np.bincount(crowd.label_codes, minlength=len(solution.classes))
    return {"class": solution.classes, "share": solution.class_shares, "labels": given}


def probability_table(solution: Aggregation) -> Columns:
    """Columns `task`, `label` and `probability`: a row for each task and class."""
    tasks, classes = solution.probabilities.shape
    return {
        "task": np.repeat(solution.task_ids, classes),
        "label": np.tile(solution.classes, tasks),
        "probability": solution.probabilities.ravel(),
    }


def column_for_each_class(solution: Aggregation) -> Columns:
    """Column `task`, and under the name of each class its probability; `InvalidInput` if two share a name."""
    names = [str(value) for value in solution.classes.tolist()]
    if len({"task", *names}) <= len(names):
        raise InvalidInput(
            f"the classes {', '.join(map(repr, solution.classes.tolist()))} and the column 'task' cannot "
            "each name a column; use result_.solution.probabilities, an array in the order of classes_"
        )
    return {"task": solution.task_ids, **dict(zip(names, solution.probabilities.T, strict=True))}


def confusion_table(solution: Aggregation) -> Columns:
    """Columns `worker`, `class`, `label` and `probability`, a row for each of the first three.

    The probability is that of the worker's label on tasks of the class. No row without confusion matrices.
    """
    workers, classes = len(solution.worker_ids), len(solution.classes)
    matrices = np.empty((0, classes, classes)) if solution.confusion is None else solution.confusion
    workers = len(matrices)
    return {
        "worker": np.repeat(solution.worker_ids[:workers], classes * classes),
        "class": np.tile(np.repeat(solution.classes, classes), workers),
        "label": np.tile(solution.classes, workers * classes),
        "probability": matrices.ravel(),
    }


def further_tables(crowd: Crowd, solution: Aggregation) -> dict[str, Columns]:
    """Tables `classes`, `probabilities` and, where the method has it, `confusion`; up to `MOST_ROWS` rows."""
    tables = {"classes": class_table(crowd, solution)}
    if solution.scores.size <= MOST_ROWS:
        tables["probabilities"] = probability_table(solution)
    if solution.confusion is not None and solution.confusion.size <= MOST_ROWS:
        tables["confusion"] = confusion_table(solution)
    return tables
