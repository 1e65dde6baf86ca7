"""How sure a score is: standard errors by the curvature of the objective, or by drawing again.

All take the model at its word (Bradley-Terry-Luce, this sigma, this rank) and the penalty for
what was believed before: they are spreads around a shrunk score. What they leave out, and how
often intervals hold the truth in simulations, is in docs/methods/manifold-users.md.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from scipy.special import ndtri

from optiframe.errors import InvalidInput
from optiframe.records.fields import Array
from optiframe.solving.result import Result
from optiframe.solving.solve import NotConverged, solve
from optiframe.solving.solver import Solver
from optiframe.solving.sources import SolverChoice, Source, solver_of
from optiframe.tables.columns import Columns
from optiframe.tables.frames import to_frame
from optiframe.tables.ids import locked
from optiframe_manifold.answer import Rankings, chances
from optiframe_manifold.problem import CollaborativeRanking, answered
from optiframe_manifold.trust.curvature import Blocks, Joint, information_of

Method = Literal["joint", "blocks", "bootstrap"]


def intervals(
    problem: Source,
    solution: Rankings | Result[Any, Any] | None = None,
    *,
    user: Hashable,
    level: float = 0.9,
    method: Method = "joint",
    solver: SolverChoice = None,
    draws: int = 50,
    seed: int = 0,
) -> Any:
    """Standard errors and intervals of one user's scores: a frame `item, score, error, low, high`.

    Scores are relative to the user's average item, and so are the errors.

    Parameters
    ----------
    problem, solution
        The comparisons, and an answer near a minimum; or the result of a solver, or a fitted
        `CollaborativeRanker`, alone.
    user
        Whose.
    level
        Coverage that the intervals, score +- a multiple of the error, aim at.
    method
        "joint": the inverse of the whole Hessian on the factors, as if scores were normal around the
        answer (Laplace's approximation); whole up to 1,500 numbers in the factors, beyond by conjugate
        gradients, one solution an item. "blocks": the user's factors given the items', plus each
        item's given the users', as if these were independent; O(comparisons r^2) once. "bootstrap":
        the spread of answers to new comparisons drawn from the answer, each solved from there.
    solver
        Of the bootstrap: the method whose answer it is, a solver's name, a table with `name` and
        parameters, or a solver. None: that of the result, with its parameters; an answer without its
        result needs a name.
    draws, seed
        Of the bootstrap: how many drawings, and what fixes them.

    Returns
    -------
    frame
        In the kind the comparisons came in; `error` is nan for a user without a comparison (their scores
        are the population's) and for items never compared.

    Raises
    ------
    InvalidInput
        For a user there is not, a level outside (0, 1), fewer than 2 draws, or a bootstrap that does not
        know the method.
    """
    if not 0 < level < 1:
        raise InvalidInput(f"level must be between 0 and 1, got {level}")
    known, answer = answered(problem, solution)
    code, scores = answer.code(user), answer.scores(user)
    x = known.to_factors(answer)
    curved = information_of(known.likelihood, x, answer.prior, answer.reliability)
    if method == "joint":
        errors = Joint(*curved).errors(code)
    elif method == "blocks":
        errors = Blocks.of(*curved).errors(code)
    elif method == "bootstrap":
        again = solver_of(problem, solution, solver, example="manifold.trust-region")
        errors = bootstrap_errors(known, answer, again, draws, seed)[code]
    else:
        raise InvalidInput(f"method must be 'joint', 'blocks' or 'bootstrap', got {method!r}")
    if known.population is not None:
        errors = np.where(known.population.unseen | known.population.silent[code], np.nan, errors)
    half = float(ndtri((1 + level) / 2)) * errors
    table: Columns = {
        "item": answer.items,
        "score": scores,
        "error": errors,
        "low": scores - half,
        "high": scores + half,
    }
    return to_frame(table, known.comparisons.backend)


def bootstrap_errors(
    problem: CollaborativeRanking,
    solution: Rankings,
    solver: Solver[Any, Any, Any],
    draws: int,
    seed: int,
) -> Array:
    """Standard deviations of scores when all choices are drawn again from the answer's chances.

    The pairs stay, ties become choices, and each drawing is solved by `solver`, which begins at the answer
    where it takes a start. The spread
    of the estimator, shrunk as it is: it does not contain how far the penalty pulls. Shape (users, items).
    Memory: 24 bytes for each user and item; time: that of `draws` runs.
    """
    if isinstance(draws, bool) or draws < 2:
        raise InvalidInput(f"draws must be at least 2, got {draws}")
    rng, table = np.random.default_rng(seed), problem.comparisons
    x = problem.to_factors(solution)
    gap = x.at(table.user, table.left) - x.at(table.user, table.right)
    reliability = None if solution.reliability is None else solution.reliability[table.user]
    chance = chances(gap / problem.sigma, reliability)
    mean, squares = np.zeros(problem.shape), np.zeros(problem.shape)
    for draw in range(draws):
        outcome = np.where(rng.random(len(table)) < chance, 1.0, -1.0)
        again = problem.like(replace(table, outcome=locked(outcome)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotConverged)  # the spread needs no last digit
            found = solve(
                again,
                solver,
                start=again.from_factors(x) if solver.accepts_start else None,
                budget={"tolerance": 1e-3},
                trace=False,
                progress=False,
            )
        scores = found.solution.served.dense()
        step = scores - mean
        mean += step / (draw + 1)
        squares += step * (scores - mean)
    return np.sqrt(squares / (draws - 1))
