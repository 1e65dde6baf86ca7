"""The answer to a label-aggregation problem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from optiframe.errors import InvalidInput
from optiframe.notebook import InNotebook
from optiframe.records.fields import Array
from optiframe.tables.columns import Columns
from optiframe.tables.frames import to_frame
from optiframe.tables.ids import Ids

_FEW = 16  # classes, up to which columns are faster than rows
_SAME = 1e-12
"""Two scores of a task within this much, relative to its largest score (or to 1), are a tie.

Above the rounding of a sum of a few thousand votes (1e3 * 1e-16 = 1e-13), far below any
difference that means something: 1e-12 in log-odds changes a posterior in its twelfth digit.
"""


@dataclass(frozen=True, eq=False)
class Aggregation(InNotebook):
    """Scores of every class for every task, and the workers' skills where a method gives them.

    Ties stay ties: `winners` marks every class with the highest score. They are resolved,
    with a seed, only by `predicted`.

    Parameters
    ----------
    task_ids, worker_ids, classes
        The ids of tasks (shape (tasks,)), workers (shape (workers,)) and labels (shape (classes,)).
    scores
        Shape (tasks, classes); the highest wins.
    scale
        "votes": scores are numbers of votes; "log-odds": they are log posteriors up to a
        constant for each task.
    skills
        Shape (workers,): (M p - 1)/(M - 1) for accuracy p and M classes, so 1 is always
        right, 0 guesses and negative is worse than guessing. None: the method has none.
    backend
        The data-frame library `frame` answers in.
    fitted
        Whether the skills were fitted to the correlations between workers. Only then has
        label-aggregation an objective for this answer: the skills of other methods may lie
        outside the box and would seem better than the best point inside.
    oriented
        Whether the method knows skills up to sign only, so that gold or the problem's
        `orientation` settled who is right. Findings about signs are for these answers.
    signed
        Skills with their signs settled, each of shape (workers,), where `skills` are not these: in each
        binary problem of a method that solves several, or before `skills` were clipped to the box.
    unsettled
        Whether the skills are known up to sign only and nothing settled who is right. Findings then
        call nobody wrong.
    reverses
        Whether labels count by the skill of their worker, so that those of a skill below 0 count
        in reverse. Findings about reversed votes are for these answers.
    confusion
        Chance of each label of each worker where the task has each class, shape (workers, classes,
        labels), the labels in the order of the classes; rows sum to 1. None: the method has none.
    prior
        With `confusion`: the chance of each class before any label is seen, shape (classes,). None: equal.
    cooling
        With `confusion`: the log-odds of a task with c labels are divided by 1 + cooling (c - 1).
    """

    task_ids: Ids
    worker_ids: Ids
    classes: Ids
    scores: Array
    scale: Literal["votes", "log-odds"]
    skills: Array | None = None
    backend: str | None = None
    fitted: bool = False
    oriented: bool = False
    signed: tuple[Array, ...] = ()
    unsettled: bool = False
    reverses: bool = False
    confusion: Array | None = None
    prior: Array | None = None
    cooling: float = 0.0

    def __repr__(self) -> str:
        skills = "without skills" if self.skills is None else "with skills"
        return f"<labels of {len(self.task_ids)} tasks by {len(self.worker_ids)} workers, {skills}>"

    def check_numbers(self) -> None:
        """Raise `InvalidInput` unless there is a finite score for each task and class, and skills alike."""
        as_finite("scores", self.scores, self.task_ids, self.classes)
        if self.skills is not None:
            as_finite("skills", self.skills, self.worker_ids)
        if self.confusion is not None:
            classes = len(self.classes)
            wanted = len(self.worker_ids), classes, classes
            if self.confusion.shape != wanted or not np.isfinite(self.confusion).all():
                raise InvalidInput(f"confusion must be finite numbers of shape {wanted}")

    @cached_property
    def winners(self) -> NDArray[np.bool_]:
        """Whether a class has the highest score of its task, shape (tasks, classes)."""
        # Column by column: NumPy takes ten times as long over the two or three entries of each row.
        highest, lowest = reduce(np.maximum, self.scores.T), reduce(np.minimum, self.scores.T)
        largest = np.maximum(np.maximum(highest, -lowest), 1.0)
        return np.asarray(self.scores >= (highest - _SAME * largest)[:, None])

    @cached_property
    def _winning(self) -> NDArray[np.int64]:
        """Number of winners of each task, shape (tasks,)."""
        return np.asarray(reduce(np.add, self.winners.T.astype(np.int64)))

    @property
    def _first_winner(self) -> NDArray[np.int64]:
        """The first class with the highest score of each task, shape (tasks,)."""
        if len(self.classes) > _FEW:
            return np.asarray(self.winners.argmax(axis=1))
        first = np.zeros(len(self.scores), dtype=np.int64)
        for k in range(len(self.classes) - 1, 0, -1):  # as `winners`, column by column
            first[self.winners[:, k]] = k
        first[self.winners[:, 0]] = 0
        return first

    @property
    def tied(self) -> NDArray[np.bool_]:
        """Tasks with more than one winner, shape (tasks,)."""
        return np.asarray(self._winning > 1)

    @cached_property
    def probabilities(self) -> Array:
        """Share of the votes, or posterior, of each class, shape (tasks, classes); rows sum to 1."""
        if self.scale == "log-odds":
            return softmax(self.scores)
        return np.asarray(self.scores / self.scores.sum(axis=1, keepdims=True))

    @property
    def class_shares(self) -> Array:
        """Expected share of the tasks in each class, shape (classes,); sums to 1."""
        return np.asarray(self.probabilities.mean(axis=0))

    @property
    def confidence(self) -> Array:
        """Share or posterior of the winner, of one of them where there is a tie, shape (tasks,)."""
        return over_classes(np.maximum, self.probabilities)

    @property
    def settled(self) -> tuple[Array, ...]:
        """Skills whose signs gold or a convention settled: what findings about signs look at."""
        return self.signed or ((self.skills,) if self.oriented and self.skills is not None else ())

    @property
    def accuracies(self) -> Array | None:
        """Chance that a worker's label is right, from the skill, shape (workers,)."""
        return None if self.skills is None else accuracy(self.skills, len(self.classes))

    def predicted_codes(self, seed: int = 0) -> NDArray[np.int64]:
        """Index of one winner for each task; ties drawn with equal chance.

        One number is drawn for each task, so that resolving one tie does not depend on
        whether another task is tied.
        """
        chance = np.random.default_rng(seed).random(len(self.task_ids))
        chosen = self._first_winner
        tied = np.flatnonzero(self.tied)
        if len(tied):
            count = self._winning[tied]
            which = np.minimum((chance[tied] * count).astype(np.int64), count - 1)
            chosen[tied] = (np.cumsum(self.winners[tied], axis=1) > which[:, None]).argmax(axis=1)
        return np.asarray(chosen)

    def predicted(self, seed: int = 0) -> Ids:
        """One label for each task, ties resolved by the seed, shape (tasks,)."""
        return np.asarray(self.classes[self.predicted_codes(seed)])

    def medians(self, order: Sequence[Any] | None = None) -> Ids:
        """For ordered classes: one class for each task, the median of its probabilities, shape (tasks,).

        No class is expected to be fewer places from the truth: where `predicted` counts every
        error alike, this counts by how many classes it is off. Of two medians it is the lower one.

        Parameters
        ----------
        order
            The classes from lowest to highest. None: classes that are numbers, in their order.

        Raises
        ------
        InvalidInput
            When `order` is not the classes, each once, or is needed and not given.
        """
        if order is None:
            if self.classes.dtype.kind not in "iuf":
                raise InvalidInput(
                    "these classes are not numbers; give their order from lowest to highest, as in "
                    f"medians(order={self.classes.tolist()!r})"
                )
            place = np.argsort(self.classes)
        else:
            at = {value: code for code, value in enumerate(self.classes.tolist())}
            place = np.array([at.get(value, -1) for value in order], dtype=np.int64)
            if sorted(place.tolist()) != list(range(len(at))):
                raise InvalidInput(
                    f"order must have each of the classes {list(at)!r} once, got {list(order)!r}"
                )
        below = np.cumsum(self.probabilities[:, place], axis=1)
        return np.asarray(self.classes[place[(below >= 0.5 - _SAME).argmax(axis=1)]])

    def columns(self) -> Columns:
        """Columns `task, label, confidence, tied`.

        A tied task has no label (None); `tied` then names the tied labels, joined by "|".
        """
        tied = self.tied
        label = self.classes[self._first_winner]
        if tied.any():
            label = label.astype(object)
            label[tied] = None
        names = np.full(len(tied), "", dtype=object)
        for task in np.flatnonzero(tied):
            names[task] = "|".join(str(value) for value in self.classes[self.winners[task]].tolist())
        return {"task": self.task_ids, "label": label, "confidence": self.confidence, "tied": names}

    def frame(self) -> Any:
        """`columns()` as the kind of data frame the labels came in; a dict of arrays for files."""
        return to_frame(self.columns(), self.backend)


def as_finite(name: str, values: Any, ids: Ids, classes: Ids | None = None) -> None:
    """Raise `InvalidInput` unless these are finite numbers, shape (ids,) or (ids, classes)."""
    shape = (len(ids),) if classes is None else (len(ids), len(classes))
    each = "worker" if classes is None else "task and class"
    wanted = f"{name} must be finite numbers, one for each {each}, shape {shape}"
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "fiub":
        raise InvalidInput(f"{wanted}, got {type(values).__name__}")
    if values.shape != shape:
        raise InvalidInput(f"{wanted}, got shape {values.shape}")
    wrong = np.argwhere(~np.isfinite(values))
    if len(wrong):
        raise InvalidInput(f"{wanted}, got {values[tuple(wrong[0])]} for {ids[wrong[0][0]]}")


def accuracy(skills: Array, classes: int) -> Array:
    """p = (1 + (M - 1) s)/M, the inverse of s = (M p - 1)/(M - 1) (Lemma 7)."""
    return np.asarray((1.0 + (classes - 1) * skills) / classes)


def log_odds(skills: Array, classes: int) -> Array:
    """Weight of a vote, log((M - 1) p/(1 - p)) (Sec. 4.2; Eq. 1 for two classes).

    A skill of exactly 0 has weight exactly 0. Accuracies are kept one rounding error
    away from 0 and 1, so that weights are finite: at most about 36.
    """
    tiny = float(np.finfo(np.float64).eps)
    p = np.clip(accuracy(skills, classes), tiny, 1.0 - tiny)
    return np.where(skills == 0.0, 0.0, np.log((classes - 1) * p / (1.0 - p)))


def temperature(cooling: float, count: Array) -> Array:
    """What the log-odds of tasks are divided by, `Aggregation.cooling`, for so many labels of each."""
    return np.asarray(1.0 + cooling * np.maximum(count - 1.0, 0.0))


def softmax(scores: Array) -> Array:
    """Probabilities proportional to exp(scores), by rows."""
    powers: Array = np.exp(scores - over_classes(np.maximum, scores)[:, None])
    powers /= over_classes(np.add, powers)[:, None]
    return powers


def over_classes(operation: np.ufunc, scores: NDArray[Any]) -> NDArray[Any]:
    """An operation such as the sum or maximum over the classes of each task, shape (tasks,)."""
    # Column by column: NumPy takes ten times as long over the few entries of each row.
    columns = reduce(operation, scores.T) if scores.shape[1] <= _FEW else operation.reduce(scores, axis=1)
    return np.asarray(columns)
