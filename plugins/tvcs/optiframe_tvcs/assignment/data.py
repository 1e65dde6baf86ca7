"""Who answers which task how well: the data of an assignment."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from optiframe.findings import Finding
from optiframe.records.fields import Array
from optiframe.tables.ids import Ids


@dataclass(frozen=True, eq=False)
class QualityTable:
    """The chance that a worker answers a task rightly, for each pair.

    Parameters
    ----------
    quality
        Shape (workers, tasks), between 0 and 1; 0.5 where the pair is not known.
    known
        Which pairs were given, and so may be assigned; same shape.
    worker_ids, task_ids
        What rows and columns stand for.
    backend
        The data-frame library of the table, for the way out. Not content.
    remarks
        What may be wrong with the table. Not content.
    """

    quality: Array
    known: NDArray[np.bool_]
    worker_ids: Ids
    task_ids: Ids
    backend: str | None = field(default=None, compare=False)
    remarks: tuple[Finding, ...] = field(default=(), compare=False)

    def __repr__(self) -> str:
        return f"<qualities of {len(self.worker_ids)} workers for {len(self.task_ids)} tasks>"
