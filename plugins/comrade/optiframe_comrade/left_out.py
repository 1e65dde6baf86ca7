"""How suspicious a worker is: left out more often than chance, over the rounds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtrc

from optiframe.errors import InvalidInput
from optiframe.values import Array


@dataclass(frozen=True)
class Suspicion:
    """For each worker, how often it was left out, and how unlikely that is.

    Attributes
    ----------
    left_out, rounds
        Rounds in which the worker was left out, and rounds in all.
    share
        `left_out` over `rounds`.
    expected
        The share if those left out were drawn by lot.
    chance
        Chance of being left out at least as often by lot (a binomial tail). Small is suspicious,
        but rounds are not independent: an honest worker with unusual data is left out again and
        again. It ranks workers; it is no proof.
    """

    left_out: NDArray[np.int64]
    rounds: int
    share: Array
    expected: float
    chance: Array

    @property
    def score(self) -> Array:
        """Left out more often than by lot, as a part of the most possible: 1 always, 0 as by lot, or less."""
        room = 1 - self.expected
        return (self.share - self.expected) / room if room > 0.0 else np.zeros(len(self.share))

    def ranked(self) -> list[int]:
        """Workers from the most to the least suspicious; of equal ones the first."""
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
    # bdtrc(k, n, p) is the chance of more than k.
    tail = (
        bdtrc(np.maximum(count - 1, 0).astype(np.float64), rounds, expected) if rounds else np.ones(workers)
    )
    chance = np.where(count > 0, tail, 1.0)
    return Suspicion(count, rounds, count / max(rounds, 1), expected, chance)
