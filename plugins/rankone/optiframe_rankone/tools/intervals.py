"""How well each worker's skill is known, as a table."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from optiframe.errors import InvalidInput
from optiframe.solving.sources import SolverChoice, solver_of
from optiframe.tables.columns import Columns
from optiframe.tables.frames import to_frame
from optiframe_rankone.completion.skill_model import Source, model_of
from optiframe_rankone.problem import problem_of
from optiframe_rankone.tools.bootstrap import bootstrap_errors
from optiframe_rankone.trust.accuracy_intervals import posterior_errors, posterior_intervals
from optiframe_rankone.trust.intervals import skill_intervals, standard_errors
from optiframe_rankone.trust.model_fit import intervals_hold
from optiframe_rankone.vote import Given, with_skills


def intervals(
    problem: Source,
    solution: Given = None,
    *,
    level: float = 0.9,
    method: Literal["sandwich", "posterior", "bootstrap"] | None = None,
    solver: SolverChoice = None,
    draws: int = 100,
    seed: int = 0,
) -> Any:
    """Standard errors and intervals of the workers' skills: a frame `worker, skill, error, low, high, valid`.

    Parameters
    ----------
    problem, solution
        The problem and an answer to it with skills; or the result of a solver, or a fitted
        `LabelAggregator`, alone.
    level
        Coverage of the intervals.
    method
        "sandwich": `standard_errors`, from how pairs of workers agree; "posterior": from the answer's
        probabilities; "bootstrap": `bootstrap_errors`, which solves again and again. None: the sandwich where
        the vote counts labels by the skill of their worker, else the posterior, as in the answer's table.
    solver
        Of the bootstrap: the method whose answer it is, a solver's name, a table with `name` and
        parameters, or a solver. None: that of the result, with its parameters; an answer without its
        result needs a name.
    draws, seed
        Of the bootstrap: how many samples of the tasks, and what fixes them.

    Returns
    -------
    frame
        In the kind the labels came in. Where the labels do not tell a skill its error is inf and the
        interval everything from -1/(M-1) to 1. `valid` is the same for all workers: false where the vote
        counts labels by one skill a worker and that does not explain how workers agree.

    Raises
    ------
    InvalidInput
        When the answer has no skills or is for another problem, the level is not between 0 and 1, or the
        bootstrap does not know the method.
    """
    model, (answer, skills) = model_of(problem), with_skills(problem, solution)
    if method is None:
        method = "sandwich" if answer.reverses else "posterior"
    if method == "posterior":
        errors = posterior_errors(model.crowd, answer)
        low, high = posterior_intervals(model.crowd, answer, level)
    elif method == "sandwich":
        errors = standard_errors(model, answer)
        low, high = skill_intervals(model, answer, errors, level)
    elif method == "bootstrap":
        chosen = solver_of(problem, solution, solver, example="rankone.pgd")
        errors = bootstrap_errors(problem_of(problem), chosen, draws=draws, seed=seed)
        low, high = skill_intervals(model, answer, errors, level)
    else:
        raise InvalidInput(f"method must be 'sandwich', 'posterior' or 'bootstrap', got {method!r}")
    columns: Columns = {
        "worker": answer.worker_ids,
        "skill": skills,
        "error": errors,
        "low": low,
        "high": high,
        "valid": np.full(len(low), method == "posterior" or intervals_hold(model, answer)),
    }
    return to_frame(columns, model.crowd.labels.backend)
