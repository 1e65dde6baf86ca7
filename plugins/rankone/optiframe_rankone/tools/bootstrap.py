"""How well the skills are known by any method: the bootstrap over tasks."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from optiframe.errors import InvalidInput
from optiframe.records.fields import Array
from optiframe.solving.solve import NotConverged, solve
from optiframe.solving.sources import SolverChoice, Source, solver_of
from optiframe_rankone.data import LabelTable, TruthTable
from optiframe_rankone.ids import without_unused
from optiframe_rankone.problem import LabelAggregation, problem_of


def bootstrap_errors(
    problem: Source,
    solver: SolverChoice = None,
    *,
    draws: int = 100,
    seed: int = 0,
) -> Array:
    """Standard error of each worker's skill by the bootstrap over tasks, shape (workers,).

    The errors are those of one method: `solver`, a name, a table with `name` and parameters, or a solver.
    None takes the solver of the result, with its parameters; a problem alone has none, so name one.

    Draws as many tasks with replacement, with all their labels, solves again, and gives the
    standard deviation of the skills over the draws in which the labels tell the worker's skill;
    inf where those are fewer than two. They do not tell that of a worker who shares no task with another:
    such a skill stays where the solver started, or repeats what the worker said. Gold on a task of
    theirs does. For any method that gives skills, at the price of `draws` solutions. What clipping to the
    box does is in it, as well as a bias that differs between draws, so it is often a little wider than
    `standard_errors`.

    Raises
    ------
    InvalidInput
        When there is neither a solver nor a result, the solver gives no skills, or fewer than 2 draws are
        asked for.
    """
    if isinstance(draws, bool) or not isinstance(draws, int | np.integer) or draws < 2:
        raise InvalidInput(f"a bootstrap needs a whole number of at least 2 draws, got {draws!r}")
    method = solver_of(problem, solver=solver, example="rankone.pgd")
    problem = problem_of(problem)
    rng = np.random.default_rng(seed)
    drawn = np.full((draws, len(problem.labels.worker_ids)), np.nan)
    unfinished = 0
    for row in drawn:
        again, here = _resampled(problem, rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotConverged)  # counted, and said once below
            result = solve(again, method, seed=int(rng.integers(2**31)), trace=False)
        if result.solution is None or result.solution.skills is None:
            raise InvalidInput(f"{method.name} gives no skills; use a method that does, such as rankone.pgd")
        unfinished += not result.status.complete
        told = _compared(again) | again.crowd.asked_gold
        row[here] = np.where(told, result.solution.skills, np.nan)
    if unfinished:
        warnings.warn(
            f"{unfinished} of {draws} bootstrap draws reached a limit before they converged, and are "
            "still counted; for intervals from converged draws only, raise the method's iterations",
            NotConverged,
            stacklevel=2,
        )
    seen = (~np.isnan(drawn)).sum(axis=0)
    errors = np.full(drawn.shape[1], np.inf)
    errors[seen > 1] = np.nanstd(drawn[:, seen > 1], axis=0, ddof=1)
    return errors


def _compared(problem: LabelAggregation) -> NDArray[np.bool_]:
    """Workers who share a task with another."""
    labels = problem.labels
    return np.bincount(labels.worker, weights=labels.per_task[labels.task] > 1) > 0


def _resampled(
    problem: LabelAggregation, rng: np.random.Generator
) -> tuple[LabelAggregation, NDArray[np.int64]]:
    """The problem with tasks drawn with replacement, and the workers who are left in it."""
    labels, tasks = problem.labels, len(problem.labels.task_ids)
    chosen = rng.integers(tasks, size=tasks)
    start = np.searchsorted(labels.task, np.arange(tasks + 1))
    size = np.diff(start)[chosen]
    task = np.repeat(np.arange(tasks), size)
    rows = np.arange(len(task)) + np.repeat(start[chosen] - np.cumsum(size) + size, size)
    everyone = np.arange(len(labels.worker_ids))
    worker, here, _ = without_unused(labels.worker[rows].astype(np.int64), everyone)
    table = LabelTable(
        task=task,
        worker=worker,
        label=problem.label_codes[rows],
        task_ids=np.arange(tasks),
        worker_ids=here,
        weight=None if labels.weight is None else labels.weight[rows],
        label_ids=problem.classes,  # all of them: the number of classes is part of the model
    )
    # The fields that make the model; the tables belong to the tasks that were drawn.
    gold = None if problem.gold is None else TruthTable(problem.gold_codes[chosen], problem.classes, here[:0])
    again = problem.model_copy(
        update={"columns": {}, "labels": table, "truth": None, "gold": gold, "skills": None}
    )
    return again, here
