"""The answer to a task assignment: who answers which task."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optiframe.notebook import InNotebook
from optiframe.records.fields import Array
from optiframe.tables.columns import Columns
from optiframe.tables.frames import to_frame
from optiframe.tables.ids import Ids
from optiframe_tvcs.assignment.objective import Estimate


@dataclass(frozen=True, eq=False)
class Assignment(InNotebook):
    """Who answers which task.

    Parameters
    ----------
    chosen
        Shape (workers, tasks).
    workers, tasks
        Ids of rows and columns.
    quality
        Chance of a right answer of each pair, as given.
    accuracy
        Expected share of right labels, over answers that no solver and no choice between
        iterates has seen.
    backend
        The data-frame library `frame` answers in.
    """

    chosen: NDArray[np.bool_] = field(repr=False)
    workers: Ids = field(repr=False)
    tasks: Ids = field(repr=False)
    quality: Array = field(repr=False)
    accuracy: Estimate
    backend: str | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return int(np.count_nonzero(self.chosen))

    def columns(self) -> Columns:
        """Columns `task, worker, quality`, by task."""
        task, worker = np.nonzero(self.chosen.T)
        return {
            "task": self.tasks[task],
            "worker": self.workers[worker],
            "quality": self.quality[worker, task],
        }

    def frame(self) -> Any:
        """`columns()` as the kind of data frame the qualities came in; a dict of arrays for files."""
        return to_frame(self.columns(), self.backend)
