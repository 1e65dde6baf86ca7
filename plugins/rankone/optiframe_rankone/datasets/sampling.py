"""Weighted sampling of several distinct workers for each of many tasks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from optiframe.records.fields import Array

Integers = NDArray[np.int64]

_CELLS = 2**22  # task-worker pairs handled at a time when finishing: 32 MB of random keys


def sample_distinct(
    weights: Array, tasks: int, each: int, rng: np.random.Generator
) -> tuple[Integers, Integers]:
    """Draw `each` distinct workers for every task, one after the other, in proportion to `weights`.

    Draws with replacement, refusing repeats: the first `each` distinct draws are a
    sequential sample without replacement. Tasks that still lack workers after some
    rounds are finished by random keys: of independent exponentials with rates `weights`,
    the smallest among the workers not yet drawn continue the same sample
    (Efraimidis and Spirakis 2006).

    Parameters
    ----------
    weights
        Shape (workers,), positive.
    tasks, each
        How many tasks, and how many workers for each; at most the number of workers.

    Returns
    -------
    task, worker
        Shape (tasks * each,), sorted by task and then worker.
    """
    workers = len(weights)
    cumulative = np.cumsum(weights)
    finished: list[Integers] = []
    pairs = np.empty(0, dtype=np.int64)  # of unfinished tasks: task * workers + worker, sorted, each once
    lacking = np.full(tasks, each)
    # A round costs each unfinished task about `each` numbers, random keys cost it `workers`: after
    # this many rounds they have cost what the keys would, so at most twice the cheaper way is paid.
    for _ in range(workers // each):
        task = np.repeat(np.arange(tasks), lacking)
        worker = np.searchsorted(cumulative, rng.random(len(task)) * cumulative[-1], side="right")
        # A product rounded up to the total would fall behind the last worker.
        drawn = task * workers + np.minimum(worker, workers - 1)
        pairs = _distinct(np.concatenate([pairs, drawn]))
        task = pairs // workers
        unfinished = lacking > 0
        lacking = np.where(unfinished, each - np.bincount(task, minlength=tasks), 0)
        done = lacking[task] == 0
        finished.append(pairs[done])
        pairs = pairs[~done]
        if len(pairs) == 0:
            break
    finished.extend(_continued(pairs, weights, lacking, rng))
    pairs = np.sort(np.concatenate(finished))
    return pairs // workers, pairs % workers


def _continued(
    pairs: Integers, weights: Array, lacking: Integers, rng: np.random.Generator
) -> list[Integers]:
    """The pairs so far and those that complete them, by random keys; blocks bound the memory."""
    workers, parts = len(weights), [pairs]
    unfinished = np.flatnonzero(lacking)
    step = max(1, _CELLS // workers)
    for start in range(0, len(unfinished), step):
        block = unfinished[start : start + step]
        keys = rng.standard_exponential((len(block), workers)) / weights
        first, last = np.searchsorted(pairs, [block[0] * workers, (block[-1] + 1) * workers])
        drawn = pairs[first:last]
        keys[np.searchsorted(block, drawn // workers), drawn % workers] = np.inf
        most = int(lacking[block].max())
        chosen = np.argpartition(keys, np.arange(most), axis=1)[:, :most]  # the smallest, in order
        row, rank = np.nonzero(np.arange(most) < lacking[block][:, None])
        parts.append(block[row] * workers + chosen[row, rank])
    return parts


def _distinct(values: Integers) -> Integers:
    """Sorted, each once."""
    values = np.sort(values)
    fresh = np.ones(len(values), dtype=bool)
    fresh[1:] = values[1:] != values[:-1]
    return values[fresh]
