"""Drawn qualities of workers for tasks, as in Sec. 5.2."""

from __future__ import annotations

from typing import Annotated, Any, Self

import numpy as np
from pydantic import Field, NonNegativeInt, PositiveInt, model_validator

from optiframe.errors import InvalidInput
from optiframe.problems.datasets import DataSet

Chance = Annotated[float, Field(gt=0, lt=1)]
Ratio = Annotated[float, Field(gt=0, le=1)]


class UniformQualities(DataSet):
    """Qualities uniform between two numbers, prior 1/2, caps as ratios (Sec. 5.2).

    The paper gives the range .5 to .9 and the prior; the numbers of workers and tasks and the
    ratios, which it varies, are ours. `total` is the share of the smaller sum of the other caps,
    as in Sec. 5.1. Workers are w1, w2, ..., tasks t1, t2, ... with leading zeros, so that they sort.
    """

    name = "assignment.uniform"
    reference = "Yang et al., Sec. 5.2, Figure 4"
    problem = "task-assignment"

    workers: PositiveInt = Field(default=20, description="number of workers n")
    tasks: PositiveInt = Field(default=40, description="number of tasks m")
    low: Chance = Field(default=0.5, description="lowest quality of a worker for a task")
    high: Chance = Field(default=0.9, description="highest quality of a worker for a task")
    per_worker: Ratio = Field(default=0.1, description="most tasks of a worker, as a share of all tasks")
    per_task: Ratio = Field(default=0.1, description="most workers of a task, as a share of all workers")
    total: Ratio = Field(
        default=0.8, description="cap on all assignments, as a share of the smaller of the two sums of caps"
    )
    seed: NonNegativeInt = Field(default=0, description="fixes every draw")

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.low > self.high:
            raise InvalidInput(f"low: is above high ({self.low:g} > {self.high:g})")
        return self

    def inputs(self) -> dict[str, Any]:
        rng = np.random.default_rng(self.seed)
        quality = rng.uniform(self.low, self.high, (self.workers, self.tasks))
        worker, task = np.indices(quality.shape).reshape(2, -1)
        return {
            "quality": {
                "worker": _ids("w", self.workers)[worker],
                "task": _ids("t", self.tasks)[task],
                "quality": quality.ravel(),
            },
            "per_worker": self.per_worker,
            "per_task": self.per_task,
            "total": self.total,
        }


def _ids(letter: str, count: int) -> Any:
    width = len(str(count))
    return np.array([f"{letter}{i:0{width}}" for i in range(1, count + 1)], dtype=object)
