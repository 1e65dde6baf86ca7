"""How often each worker was left out, over the rounds: counts, shares and ranks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optiframe.errors import InvalidInput
from optiframe.records.fields import Array


@dataclass(frozen=True)
class Suspicion:
    """For each worker, how often it was left out.

    This orders workers, and says of nobody that it lies: where b workers are left out every round,
    somebody comes first even if all are honest, and an honest worker with unusual data is left out
    again and again.

    Attributes
    ----------
    left_out, rounds
        Rounds in which the worker was left out, and rounds in all.
    share
        `left_out` over `rounds`.
    expected
        The mean share.
    """

    left_out: NDArray[np.int64]
    rounds: int
    share: Array
    expected: float

    @property
    def score(self) -> Array:
        """Share above the mean, as a part of the most possible: 1 for always, 0 for the mean, or less."""
        room = 1 - self.expected
        return (self.share - self.expected) / room if room > 0.0 else np.zeros(len(self.share))

    def ranked(self) -> list[int]:
        """Workers from the most to the least often left out; of equal ones the first."""
        return [int(worker) for worker in np.argsort(-self.share, kind="stable")]


def suspicion(left_out: Iterable[Sequence[int]], workers: int) -> Suspicion:
    """Who was left out, over the rounds.

    Parameters
    ----------
    left_out
        For each round the numbers of the workers left out, for whatever reason.
    workers
        How many workers there are.

    Raises
    ------
    InvalidInput
        When a number is not one of a worker.
    """
    count = np.zeros(workers, dtype=np.int64)
    rounds = 0
    for numbers in left_out:
        rounds += 1
        for worker in set(numbers):
            if not 0 <= worker < workers:
                raise InvalidInput(f"round {rounds} leaves out worker {worker}; there are {workers} workers")
            count[worker] += 1
    expected = float(count.sum() / (rounds * workers)) if rounds and workers else 0.0
    return Suspicion(count, rounds, count / max(rounds, 1), expected)
