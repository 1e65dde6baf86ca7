"""A label set with fewer meetings of workers: the sparsification of Ma et al., Figure 3."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, NonNegativeInt, PlainValidator, PositiveInt

from optiframe.errors import InvalidInput
from optiframe.problems.datasets import DataSet
from optiframe.records.fields import Accepts
from optiframe.registry.registry import build
from optiframe.tables.frames import to_frame
from optiframe.tables.read import encode, read_table
from optiframe_rankone.datasets.own_labels import OwnLabels
from optiframe_rankone.ids import Codes

_PROBLEM = "label-aggregation"


def _label_set(value: Any) -> DataSet:
    data: DataSet
    if isinstance(value, DataSet):
        data = value
    else:
        data = OwnLabels.of(value) if OwnLabels.meant(value) else build("data set", value)
    if data.problem != _PROBLEM:
        raise InvalidInput(f"data set {data.name!r} is for {data.problem!r} problems; labels are needed here")
    return data


class Sparsified(DataSet):
    """Labels of another data set or of your own, thinned until no worker shares tasks with many others.

    Two workers are joined by an edge when they share a task. While some worker has more
    than `max_degree` edges, an edge of the worker with the most (of the first of them,
    where there are several) is drawn and deleted. To delete the edge between i and j is to
    take labels away from every task that both have labelled:

    - `removes` = "one": the label of the worker with more edges, i. Every task keeps at
      least one label, so all can still be answered.
    - `removes` = "both": the labels of both, as in the paper, where tasks labelled by two
      workers only disappear with their edge. Their truth stays in the table, and the
      problem says that it ignores it.

    A label that is taken away may delete further edges, never add one, so that the end is
    always reached. Tasks left with one label stay, and workers left without labels are gone.

    Takes time and memory in proportion to the sum over tasks of (labels of the task)^2.

    Raises
    ------
    InvalidInput
        When `of` is not a label set, or its labels are not as the problem needs them.

    Notes
    -----
    The paper deletes "edges starting with the highest degree node" and says only that this
    "has the implicit effect of deleting some of the tasks"; what happens to the labels is
    settled here. With the same fields the same labels remain. A lower `max_degree` with the
    same seed continues where the higher one stopped: its labels are among the other's.
    """

    name = "labels.sparsified"
    reference = "Ma et al., Sec. 6, Influence of Graph Sparsification, Figure 3"
    problem = _PROBLEM

    of: Annotated[
        DataSet,
        PlainValidator(_label_set),
        Accepts(
            "name of a label data set, or a table with its `name` and parameters; or own labels: a data "
            "frame, mapping of columns, or path of a CSV or Parquet file, or a table with these as `labels` "
            "(and `truth`, `gold`, `skills`, `columns`, `duplicates` as for label-aggregation)"
        ),
    ] = Field(description="the labels to thin")
    max_degree: PositiveInt = Field(description="most other workers that any worker may share tasks with")
    removes: Literal["both", "one"] = Field(
        default="both",
        description="whose labels go from the tasks of a deleted edge: both workers' or the busier one's",
    )
    seed: NonNegativeInt = Field(default=0, description="fixes which edges go")

    def inputs(self) -> dict[str, Any]:
        given = self.of.inputs()
        columns = given.get("columns", {})
        rename = {name: columns[name] for name in ("task", "worker", "label") if name in columns}
        table = read_table(given["labels"], ("task", "worker", "label"), title="labels", rename=rename)
        task, worker = encode(table["task"])[0], encode(table["worker"])[0]
        keep = sparsify(
            task, worker, self.max_degree, both=self.removes == "both", rng=np.random.default_rng(self.seed)
        )
        kept = {rename.get(name, name): table[name][keep] for name in ("task", "worker", "label")}
        return {**given, "labels": to_frame(kept, table.backend)}

    def checksums(self) -> dict[str, str]:
        return self.of.checksums()

    @classmethod
    def where(cls) -> str:
        return "made from another label set"


def sparsify(
    task: Codes, worker: Codes, max_degree: int, *, both: bool, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Which labels stay; see `Sparsified`.

    Parameters
    ----------
    task, worker
        Codes of each label, shape (labels,), in any order.
    max_degree
        Most neighbours of a worker in the end.
    both
        Whether both workers of a deleted edge lose their labels of the shared tasks.
    rng
        Draws the edges.

    Returns
    -------
    array of shape (labels,)
        True for labels that stay.
    """
    labels = _Labels(task, worker)
    while (degrees := labels.degrees()).size and degrees.max() > max_degree:
        busiest = int(degrees.argmax())
        neighbours = sorted(labels.meetings[busiest])
        other = neighbours[int(rng.integers(len(neighbours)))]
        shared = [t for t in labels.tasks_of[busiest] if t in labels.tasks_of[other]]
        labels.remove(busiest, shared)
        if both:
            labels.remove(other, shared)
    pairs = zip(task.tolist(), worker.tolist(), strict=True)
    return np.array([t in labels.tasks_of[w] for t, w in pairs], dtype=bool)


class _Labels:
    """Who labelled what, and how often each two workers met, while labels are taken away."""

    def __init__(self, task: Codes, worker: Codes) -> None:
        workers = int(worker.max()) + 1 if len(worker) else 0
        # Dicts as sets that keep their order, so that nothing depends on hashes.
        self.workers_on: Mapping[int, dict[int, None]] = defaultdict(dict)
        self.tasks_of: list[dict[int, None]] = [{} for _ in range(workers)]
        for t, w in zip(task.tolist(), worker.tolist(), strict=True):
            self.workers_on[t][w] = None
            self.tasks_of[w][t] = None
        self.meetings: list[dict[int, int]] = [
            _counted(v for t in tasks for v in self.workers_on[t] if v != w)
            for w, tasks in enumerate(self.tasks_of)
        ]

    def degrees(self) -> NDArray[np.int64]:
        """Number of other workers each worker meets, shape (workers,)."""
        return np.array([len(met) for met in self.meetings], dtype=np.int64)

    def remove(self, worker: int, tasks: Iterable[int]) -> None:
        """Take away this worker's labels of these tasks."""
        for t in tasks:
            del self.workers_on[t][worker]
            del self.tasks_of[worker][t]
            for other in self.workers_on[t]:
                for first, second in ((worker, other), (other, worker)):
                    self.meetings[first][second] -= 1
                    if self.meetings[first][second] == 0:
                        del self.meetings[first][second]


def _counted(values: Iterable[int]) -> dict[int, int]:
    counts: dict[int, int] = {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1
    return counts
