"""What more labels would bring: accuracy when only some labels of each task are used."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from optiframe.errors import InvalidInput
from optiframe.solving.solve import NotConverged, solve
from optiframe.solving.solver import Solver
from optiframe.solving.sources import Source
from optiframe.tables.columns import Columns
from optiframe_rankone.ids import without_unused
from optiframe_rankone.problem import LabelAggregation, problem_of


def accuracy_by_labels(
    problem: Source,
    solvers: Sequence[str | Solver[Any, Any, Any]] = ("labels.majority", "rankone.pgd"),
    *,
    labels_per_task: Sequence[int] | None = None,
    repeats: int = 5,
    seed: int = 0,
) -> Columns:
    """Accuracy of solvers when only some labels of each task are used.

    For every number k, k labels of each task (all, where it has fewer) are drawn without
    repeats and every solver answers from the same draw; this is done `repeats` times.

    Parameters
    ----------
    problem
        With a truth; or the result of a solver, or a fitted `LabelAggregator`.
    solvers
        Names or solvers.
    labels_per_task
        The numbers k; by default up to ten between 1 and the most labels of a task.
    repeats
        Draws for each k; only one where k is the number of all labels, which leaves no choice.
    seed
        Fixes the draws and whatever solvers draw.

    Returns
    -------
    Columns
        solver, labels_per_task, accuracy (share of right labels, a tie counting in part),
        deviation (standard deviation over the draws) and draws; a row for each solver and k.

    Raises
    ------
    InvalidInput
        Without a truth, or for a k below 1.
    """
    problem = problem_of(problem)
    if not (problem.truth_codes >= 0).any():
        raise InvalidInput("accuracy needs a truth; give the problem one")
    largest = int(np.bincount(problem.labels.task).max())
    if labels_per_task is None:
        labels_per_task = np.unique(np.linspace(1, largest, min(largest, 10)).round().astype(int)).tolist()
    if min(labels_per_task) < 1:
        raise InvalidInput(f"labels_per_task must be at least 1, got {min(labels_per_task)}")
    rng = np.random.default_rng(seed)
    rows: list[tuple[str, int, float, float, int]] = []
    unfinished = 0
    for k in labels_per_task:
        draws = [_with_at_most(problem, k, rng) for _ in range(repeats if k < largest else 1)]
        for solver in solvers:
            accuracies = []
            for drawn in draws:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", NotConverged)  # counted, and said once below
                    result = solve(drawn, solver, seed=seed, trace=False)
                unfinished += not result.status.complete
                accuracies.append(1.0 - result.metrics["error"])
            name = solver if isinstance(solver, str) else solver.name
            rows.append((name, k, float(np.mean(accuracies)), float(np.std(accuracies)), len(draws)))
    if unfinished:
        warnings.warn(
            f"{unfinished} runs ended at a limit, before they converged; their accuracies are averaged, too",
            NotConverged,
            stacklevel=2,
        )
    names = ("solver", "labels_per_task", "accuracy", "deviation", "draws")
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


def _with_at_most(problem: LabelAggregation, k: int, rng: np.random.Generator) -> LabelAggregation:
    """The same problem with at most k labels of each task, drawn without repeats."""
    labels = problem.labels
    order = np.lexsort([rng.random(len(labels)), labels.task])
    first = np.searchsorted(labels.task, np.arange(len(labels.task_ids)))
    keep = np.sort(order[np.arange(len(labels)) - first[labels.task] < k])
    worker, worker_ids, _ = without_unused(labels.worker[keep].astype(np.int64), labels.worker_ids)
    drawn = replace(
        labels,
        task=labels.task[keep],
        worker=worker,
        label=problem.label_codes[keep],
        weight=None if labels.weight is None else labels.weight[keep],
        worker_ids=worker_ids,
        label_ids=problem.classes,  # all of them: the number of classes is part of the model
        repeats=None,
        look_alike={},
    )
    # Every task keeps a label, so truth and gold stay; the table of skills may have lost workers.
    return problem.model_copy(update={"labels": drawn, "columns": {}, "skills": None})
