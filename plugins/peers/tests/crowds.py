"""Small label sets drawn from the one-coin model."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def single_coin(
    seed: int, skills: NDArray[np.float64], tasks: int, per_task: int, classes: int = 2
) -> dict[str, Any]:
    """Labels and truth, as inputs of `label-aggregation`; a skill of 1 is always right, 0 guesses."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(classes, size=tasks)
    worker = np.array([rng.choice(len(skills), per_task, replace=False) for _ in range(tasks)]).ravel()
    task = np.repeat(np.arange(tasks), per_task)
    right = rng.random(len(task)) < (1 + (classes - 1) * skills[worker]) / classes
    label = np.where(right, truth[task], (truth[task] + rng.integers(1, classes, len(task))) % classes)
    return {
        "labels": {"task": task, "worker": worker, "label": label},
        "truth": {"task": np.arange(tasks), "label": truth},
    }


def passing_through(classes: int, accuracy: float) -> dict[str, Any]:
    """Six good workers (accuracy .85) on each of 300 tasks, and 20 with this accuracy on 15 tasks each."""
    rng = np.random.default_rng(0)
    truth = rng.integers(classes, size=300)
    mine = [np.arange(300) if who < 6 else rng.choice(300, 15, replace=False) for who in range(26)]
    worker, task = np.repeat(np.arange(26), [len(own) for own in mine]), np.concatenate(mine)
    right = rng.random(len(task)) < np.where(worker < 6, 0.85, accuracy)
    label = np.where(right, truth[task], (truth[task] + rng.integers(1, classes, len(task))) % classes)
    return {
        "labels": {"task": task, "worker": worker, "label": label},
        "truth": {"task": np.arange(300), "label": truth},
    }
