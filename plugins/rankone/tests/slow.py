"""Slow, obvious twins of the kernels, small label sets, and what the tests ask of findings."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from optiframe_rankone.problem import LabelAggregation

import optiframe
from optiframe import NotConverged, Result
from optiframe.findings import Finding

SMALL: dict[str, Any] = {"task": [1, 1, 1, 2, 2, 3], "worker": list("abcaba"), "label": list("xxyyxx")}
"""Six labels: task 2 is tied."""


def single_coin(
    seed: int, skills: NDArray[np.float64], tasks: int, per_task: int, classes: int = 2
) -> dict[str, Any]:
    """Labels and truth of the one-coin model, as inputs of the problem."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(classes, size=tasks)
    given = []
    for task in range(tasks):
        for worker in rng.choice(len(skills), per_task, replace=False):
            right = rng.random() < (1 + (classes - 1) * skills[worker]) / classes
            label = truth[task] if right else (truth[task] + rng.integers(1, classes)) % classes
            given.append((task, worker, label))
    task, worker, label = np.array(given).T
    return {
        "labels": {"task": task, "worker": worker, "label": label},
        "truth": {"task": np.arange(tasks), "label": truth},
    }


def coin(
    seed: int, skills: Any, /, tasks: int, per_task: int, classes: int = 2, **more: Any
) -> LabelAggregation:
    """The problem of these labels."""
    return LabelAggregation(**single_coin(seed, np.asarray(skills), tasks, per_task, classes), **more)


def quietly(problem: LabelAggregation, solver: Any, **limits: Any) -> Result[Any, Any]:
    """A run of at most 300 iterations that may end at a limit. Of `labels.m3v` one price, not nine."""
    price = {"c": 0.1} if solver == "labels.m3v" else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        budget = {"iterations": 300, **limits}
        return optiframe.solve(problem, solver, seed=1, budget=budget, **price)


def rows(*labels: tuple[Any, Any, Any]) -> dict[str, Any]:
    """A table of labels from rows of task, worker, label."""
    return dict(zip(("task", "worker", "label"), map(list, zip(*labels, strict=True)), strict=True))


def texts(told: Any, level: str | None = None) -> str:
    """The words of findings, or of those of a result."""
    return "\n".join(f.text for f in getattr(told, "findings", told) if level in (None, f.level))


def said(told: Any, words: str) -> Finding:
    """The first finding with these words."""
    return next(finding for finding in getattr(told, "findings", told) if words in finding.text)


def co_occurrence(problem: LabelAggregation) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Shared tasks and agreements of each pair of workers, by loops over all pairs of labels."""
    workers = len(problem.labels.worker_ids)
    shared, agreed = np.zeros((workers, workers)), np.zeros((workers, workers))
    codes = (problem.labels.task, problem.labels.worker, problem.label_codes)
    given = list(zip(*(each.tolist() for each in codes), strict=True))
    for task, i, label in given:
        for other_task, j, other in given:
            if task == other_task and i != j:
                shared[i, j] += 1
                agreed[i, j] += label == other
    return shared, agreed


def vote(problem: LabelAggregation, weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weighted votes, one label at a time."""
    scores = np.zeros((len(problem.labels.task_ids), len(problem.classes)))
    labels = problem.labels
    for task, worker, label in zip(labels.task, labels.worker, problem.label_codes, strict=True):
        scores[task, label] += weight[worker]
    return scores


def components(edges: NDArray[np.bool_]) -> list[set[int]]:
    """Connected components, by breadth-first search."""
    left, found = set(range(len(edges))), []
    while left:
        reached, queue = set(), [min(left)]
        while queue:
            node = queue.pop()
            if node not in reached:
                reached.add(node)
                queue.extend(np.flatnonzero(edges[node]).tolist())
        found.append(reached)
        left -= reached
    return found


def two_colourable(edges: NDArray[np.bool_], members: set[int]) -> bool:
    """Whether a component is bipartite, by colouring it."""
    first = min(members)
    colour, queue = {first: 0}, [first]
    while queue:
        node = queue.pop()
        for other in np.flatnonzero(edges[node]).tolist():
            if other not in colour:
                colour[other] = 1 - colour[node]
                queue.append(other)
            elif colour[other] == colour[node]:
                return False
    return True


def cost(weights: Any, values: Any, x: NDArray[np.float64]) -> float:
    """Half the weighted sum over unordered pairs, by loops."""
    total = 0.0
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            total += weights[i, j] * (values[i, j] - x[i] * x[j]) ** 2 / 2
    return total
