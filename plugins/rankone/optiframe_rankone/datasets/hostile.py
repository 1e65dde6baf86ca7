"""Crowds whose structure misleads methods: workers who pass by, click, copy, invert or collude."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, NonNegativeInt

from optiframe.problems.datasets import DataSet
from optiframe.records.fields import Array
from optiframe_rankone.datasets.single_coin import Integers

Structure = Literal[
    "drive-by",
    "clickers",
    "copiers",
    "copiers-on-part",
    "sparse",
    "guessers",
    "adversaries",
    "colluders",
]
_NONE = -1  # in a table of labels: the worker did not label the task


class HostileCrowd(DataSet):
    """Labels of a crowd that is hostile in one way, with known truth and skills.

    Honest workers are right with one probability and else name another class at random. The true classes are
    equally likely, and in every structure most labels are right. M is the number of classes.

    - ``drive-by``: 6 workers of accuracy .85 label every task, 20 label 15 tasks each with accuracy .6/M;
    - ``clickers``: 20 honest workers of .75, 5 labels a task, and 3 who give the first class to 60% of
      the tasks;
    - ``copiers``: 15 honest workers of .75, 5 labels a task, and 3 who label every task with the same
      random labels;
    - ``copiers-on-part``: the same, but each copier leaves out half of the tasks;
    - ``sparse``: 100 honest workers of accuracy .6 to .9, 3 labels a task;
    - ``guessers``: 15 honest workers of .8 and 15 who guess, 6 labels a task;
    - ``adversaries``: 14 honest workers of .8 and 6 of .3/M, 7 labels a task;
    - ``colluders``: 15 honest workers of .75, 5 labels a task, and 3 who agree on one wrong label for
      30% of the tasks and are right with .75 on the others.

    Notes
    -----
    Same fields, same bits. A worker's skill is that of the accuracy over all tasks.
    """

    name = "synthetic.hostile-crowd"
    reference = "structures that open crowds produce; accuracies as in docs/methods/rankone.md"
    problem = "label-aggregation"

    structure: Structure = Field(default="drive-by", description="how the crowd is hostile")
    classes: Annotated[int, Field(ge=2)] = Field(default=2, description="number of classes, M")
    tasks: Annotated[int, Field(ge=50)] = Field(default=300, description="number of tasks")
    seed: NonNegativeInt = Field(default=0, description="of all that is drawn")

    def inputs(self) -> dict[str, Any]:
        crowd = _Crowd(np.random.default_rng(self.seed), self.tasks, self.classes)
        said, accuracy = _CROWDS[self.structure](crowd)
        task, worker = np.nonzero(said.T != _NONE)
        skill = (self.classes * accuracy - 1.0) / (self.classes - 1)
        return {
            "labels": {"task": task, "worker": worker, "label": said[worker, task]},
            "truth": {"task": np.arange(self.tasks), "label": crowd.truth},
            "skills": {"worker": np.arange(len(said)), "skill": skill},
        }


class _Crowd:
    """Draws tables of labels, shape (workers, tasks), for one truth."""

    def __init__(self, rng: np.random.Generator, tasks: int, classes: int) -> None:
        self.rng, self.tasks, self.classes = rng, tasks, classes
        self.truth = rng.integers(classes, size=tasks)

    def honest(self, accuracy: Array) -> Integers:
        """Labels of all tasks by workers of these accuracies."""
        shape = len(accuracy), self.tasks
        right = self.rng.random(shape) < accuracy[:, None]
        other = (self.truth + self.rng.integers(1, self.classes, size=shape)) % self.classes
        return np.where(right, self.truth, other)

    def thinned(self, said: Integers, each: int, axis: int) -> Integers:
        """The table with `each` labels a task (axis 0) or a worker (axis 1), drawn at random."""
        rank = self.rng.random(said.shape).argsort(axis=axis).argsort(axis=axis)
        return np.where(rank < each, said, _NONE)

    def few(self, accuracy: Array, each: int = 5) -> Integers:
        """Labels by honest workers, `each` a task."""
        return self.thinned(self.honest(accuracy), each, axis=0)


_Answer = tuple[Integers, Array]  # labels, shape (workers, tasks), and accuracies, shape (workers,)


def _drive_by(crowd: _Crowd) -> _Answer:
    accuracy = np.repeat([0.85, 0.6 / crowd.classes], [6, 20])
    said = crowd.honest(accuracy)
    said[6:] = crowd.thinned(said[6:], 15, axis=1)
    return said, accuracy


def _clickers(crowd: _Crowd) -> _Answer:
    accuracy = np.repeat([0.75, 1.0 / crowd.classes], [20, 3])
    clicks = crowd.thinned(np.zeros((3, crowd.tasks), dtype=np.int64), round(0.6 * crowd.tasks), axis=1)
    return np.vstack([crowd.few(accuracy[:20]), clicks]), accuracy


def _copiers(crowd: _Crowd) -> _Answer:
    accuracy = np.repeat([0.75, 1.0 / crowd.classes], [15, 3])
    source = crowd.rng.integers(crowd.classes, size=crowd.tasks)
    return np.vstack([crowd.few(accuracy[:15]), np.tile(source, (3, 1))]), accuracy


def _copiers_on_part(crowd: _Crowd) -> _Answer:
    said, accuracy = _copiers(crowd)
    said[15:] = crowd.thinned(said[15:], crowd.tasks // 2, axis=1)
    return said, accuracy


def _sparse(crowd: _Crowd) -> _Answer:
    accuracy = crowd.rng.uniform(0.6, 0.9, 100)
    return crowd.few(accuracy, 3), accuracy


def _guessers(crowd: _Crowd) -> _Answer:
    accuracy = np.repeat([0.8, 1.0 / crowd.classes], [15, 15])
    return crowd.few(accuracy, 6), accuracy


def _adversaries(crowd: _Crowd) -> _Answer:
    accuracy = np.repeat([0.8, 0.3 / crowd.classes], [14, 6])
    return crowd.few(accuracy, 7), accuracy


def _colluders(crowd: _Crowd) -> _Answer:
    said = np.vstack([crowd.few(np.full(15, 0.75)), crowd.honest(np.full(3, 0.75))])
    agreed = crowd.rng.permutation(crowd.tasks)[: round(0.3 * crowd.tasks)]
    said[15:, agreed] = crowd.honest(np.zeros(1))[0, agreed]
    accuracy = np.repeat([0.75, 0.75 * (1.0 - len(agreed) / crowd.tasks)], [15, 3])
    return said, accuracy


_CROWDS: dict[Structure, Callable[[_Crowd], _Answer]] = {
    "drive-by": _drive_by,
    "clickers": _clickers,
    "copiers": _copiers,
    "copiers-on-part": _copiers_on_part,
    "sparse": _sparse,
    "guessers": _guessers,
    "adversaries": _adversaries,
    "colluders": _colluders,
}
