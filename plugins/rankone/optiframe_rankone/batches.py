"""A further batch of labels beside those learnt from: joined by codes, and where a solver may begin."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from optiframe.records.fields import Array
from optiframe.solving.result import Result
from optiframe.tables.columns import Columns
from optiframe.tables.ids import Ids, locked
from optiframe.tables.read import read_table
from optiframe_rankone.answer import Aggregation
from optiframe_rankone.data import LabelTable
from optiframe_rankone.ids import Codes, exact_positions, union
from optiframe_rankone.problem import LabelAggregation
from optiframe_rankone.read.id_checks import ids_alike


def joined(earlier: LabelTable, batch: LabelTable) -> LabelTable | None:
    """The labels of both, as if they had been read together; None where that takes their rows.

    It does where a task and worker have several rows, or ids cannot be sorted. A few passes over the
    codes; the earlier ids are looked at only where the batch brings new ones.
    """
    if batch.repeats is not None:
        return None
    tables, before, after = {}, {}, {}
    for name in ("task", "worker", "label"):
        ids = getattr(earlier, f"{name}_ids")
        tables[name], mine, theirs = _one_table(ids, getattr(batch, f"{name}_ids"))
        if (mine[1:] < mine[:-1]).any():
            return None
        codes: Codes = getattr(earlier, name)
        before[name] = codes if tables[name] is ids else mine[codes]
        after[name] = theirs[getattr(batch, name)]
    workers = len(tables["worker"])
    old = before["task"].astype(np.int64) * workers + before["worker"]
    new = after["task"] * workers + after["worker"]
    order = np.argsort(new)
    at = np.searchsorted(old, new[order])
    if (old[np.minimum(at, len(old) - 1)] == new[order]).any():
        return None
    task, worker, label = (np.insert(before[name], at, after[name][order]) for name in before)
    weight = None
    if earlier.weight is not None or batch.weight is not None:
        counted, added = (table.weighted(np.ones(len(table))) for table in (earlier, batch))
        weight = np.insert(counted, at, added[order])
    alike = {name: ids_alike(ids) for name, ids in tables.items()}
    return LabelTable(
        task=task,
        worker=worker,
        label=label,
        task_ids=tables["task"],
        worker_ids=tables["worker"],
        label_ids=tables["label"],
        weight=weight,
        backend=batch.backend,
        look_alike={name: ids for name, ids in alike.items() if ids},
    )


def _one_table(first: Ids, second: Ids) -> tuple[Ids, NDArray[np.int64], NDArray[np.int64]]:
    """All ids of both, and where those of each are among them; the first table where it has all."""
    if first.dtype == second.dtype:
        place = exact_positions(first, second)
        if (place >= 0).all():
            return first, np.arange(len(first)), place
    ids = locked(union(first, second))
    return ids, exact_positions(ids, first), exact_positions(ids, second)


def as_rows(labels: LabelTable) -> Columns:
    """Labels as columns of ids: task, worker, label; and weight, where they have one."""
    rows: Columns = {
        "task": labels.task_ids[labels.task],
        "worker": labels.worker_ids[labels.worker],
        "label": labels.label_ids[labels.label],
    }
    return rows if labels.weight is None else {**rows, "weight": labels.weight}


def all_rows(earlier: LabelTable, batch: Any, columns: dict[str, str]) -> tuple[Columns, str | None]:
    """The rows of both, in the columns that the batch's reader expects, and the kind of the batch's frame."""
    first = as_rows(earlier)
    later = read_table(batch, ("task", "worker", "label"), ("weight",), title="labels", rename=columns)
    second = later.columns
    if "weight" in first or "weight" in second:
        first, second = ({"weight": np.ones(len(rows["task"])), **rows} for rows in (first, second))
    rows = {columns.get(name, name): _one_after_the_other(ids, second[name]) for name, ids in first.items()}
    return rows, later.backend


def _one_after_the_other(first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
    """One column after the other; values of two kinds stay what they are."""
    if first.dtype != second.dtype:
        first, second = first.astype(object), second.astype(object)
    return np.concatenate([first, second])


def warm_start(problem: LabelAggregation, before: Result[Any, Any]) -> Aggregation | None:
    """A start for a problem that adds labels to an earlier one: its skills, one half for new workers.

    A worker of skill 0 counts as new: 0 is what is given where nothing was known. None when
    nothing is carried over: skills were not fitted to correlations (EM from another start may end
    at another answer, and a worse one), or workers of groups whose signs were settled apart are
    now in one group, where these signs may contradict each other.
    """
    earlier: Any = before.problem
    solution: Aggregation = before.solution
    if not solution.fitted or solution.skills is None or not solution.skills.any():
        return None
    ids = problem.labels.worker_ids
    place = exact_positions(ids, earlier.labels.worker_ids)
    compared = ~earlier.worker_graph.isolated
    groups = np.stack(
        [earlier.worker_graph.component[compared], problem.worker_graph.component[place[compared]]]
    )
    together = np.unique(groups, axis=1)[1]
    if len(np.unique(together)) < len(together):
        return None
    skills: Array = np.full(len(ids), 0.5)
    learnt = solution.skills != 0
    skills[place[learnt]] = solution.skills[learnt]
    return problem.weighted_vote(np.clip(skills, *problem.box))
