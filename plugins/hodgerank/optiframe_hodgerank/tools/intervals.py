"""How sure the scores are: standard errors and intervals, as a table."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from scipy.special import ndtri

from optiframe.errors import InvalidInput
from optiframe.records.fields import Array
from optiframe.solving.result import Result
from optiframe.solving.solve import solve
from optiframe.solving.sources import SolverChoice, Source, solver_of
from optiframe.tables.columns import Columns
from optiframe.tables.frames import to_frame
from optiframe_hodgerank.answer import Ranking
from optiframe_hodgerank.problem import PairwiseRanking, answer_of, problem_of
from optiframe_hodgerank.solvers.bootstrap import AnySolver, BootstrapIntervals
from optiframe_hodgerank.trust.bootstrap_answer import Bootstrap

_EXAMPLE = "hodge.l2"


def intervals(
    problem: Source,
    solution: Ranking | Result[Any, Any] | None = None,
    *,
    level: float = 0.9,
    method: Literal["analytic", "bootstrap"] = "analytic",
    solver: SolverChoice = None,
    draws: int = 200,
    by: Literal["comparison", "worker"] = "comparison",
    seed: int = 0,
) -> Any:
    """Standard errors and intervals of the scores: a frame `item, rank, score, error, low, high`.

    Parameters
    ----------
    problem, solution
        The comparisons and an answer to them; or the result of a solver, or a fitted `RobustRanker`,
        alone. The bootstrap finds its own answer and needs none.
    level
        Coverage of the intervals.
    method
        "analytic": by the formula of the solver that gave the answer, which `hodge.l2`,
        `hodge.bradley-terry` and `ranking.crowd-bt` have; intervals are score -+ a multiple of the error.
        "bootstrap": for any solver, which runs on all comparisons and again on `draws` samples of them (see
        `hodge.bootstrap`); intervals are quantiles of the samples' scores, and the frame has
        `rank_low, rank_high` too, those of the ranks. A result of `hodge.bootstrap` is not drawn again.
    solver
        The method whose answer it is: a solver's name, a table with `name` and parameters, or a
        solver. None: that of the result.
    draws, by, seed
        Of the bootstrap: how many samples; what is drawn, single comparisons or whole workers, whose
        answers may depend on each other; and what fixes the draws.

    Returns
    -------
    frame
        In the kind the comparisons came in, best first; with `component` where no chain of comparisons
        joins all items. Errors and intervals are of a score against the mean of its component.

    Raises
    ------
    InvalidInput
        When the solver is not known or has no formula, the level is not between 0 and 1, there are too
        few comparisons or draws, or the answer is for another problem.
    Unsuited
        When the solver cannot take the comparisons, or workers are to be drawn that are not known.

    Notes
    -----
    The bootstrap says how far *that method's* answer would move, its bias included. Samples that fall
    apart or have no finite answer are left out; intervals are then too narrow. For the scores of every
    sample, findings that count those left out, or a limit of time, take the solver:
    ``optiframe.solve(problem, "hodge.bootstrap", of=...)``.
    """
    if not 0 < level < 1:
        raise InvalidInput(f"level must be between 0 and 1, got {level}")
    known, given = problem_of(problem), problem if solution is None else solution
    result: Any = getattr(given, "result_", given)
    if method == "analytic":
        answer, solved_by = (
            answer_of(problem, solution),
            solver_of(problem, solution, solver, example=_EXAMPLE),
        )
        columns = _analytic(known, answer, solved_by, level)
    elif method == "bootstrap":
        if solver is not None or not isinstance(getattr(result, "detail", None), Bootstrap):
            again = solver_of(problem, solution, solver, example=_EXAMPLE)
            around = BootstrapIntervals.load(of=again, draws=draws, level=level, by=by)
            result = solve(known, around, seed=seed, trace=False)
        columns = _of_draws(result, level)
    else:
        raise InvalidInput(f"method must be 'analytic' or 'bootstrap', got {method!r}")
    return to_frame(columns, known.comparisons.backend)


def _analytic(problem: PairwiseRanking, answer: Ranking, solver: AnySolver, level: float) -> Columns:
    """By the formula of the solver that gave the answer."""
    formula = getattr(solver, "standard_errors", None)
    if formula is None:
        raise InvalidInput(
            f"{solver.name} has no formula for intervals (hodge.l2, hodge.bradley-terry and "
            "ranking.crowd-bt have one); give method = 'bootstrap', which solves again and again"
        )
    errors: Array | None = formula(problem, answer)
    if errors is None:
        raise InvalidInput(
            f"{problem.rows} comparisons are no more than it takes to connect the items, so the size of the "
            "noise cannot be measured, and there are no intervals"
        )
    half = float(ndtri((1 + level) / 2)) * errors
    return _columns(replace(answer, low=answer.scores - half, high=answer.scores + half), errors)


def _of_draws(result: Result[Any, Bootstrap | None], level: float) -> Columns:
    """By the draws of a result of `hodge.bootstrap`."""
    if result.detail is None:
        raise InvalidInput(f"no intervals: {result.message}")
    drawn = replace(result.detail, level=level)
    if not drawn.enough:
        raise InvalidInput(f"no intervals: {drawn.why_none(drawn.made)}")
    low, high = (ends[drawn.answer.order] for ends in drawn.rank_intervals)
    return {**_columns(drawn.ranking, drawn.errors), "rank_low": low, "rank_high": high}


def _columns(answer: Ranking, errors: Array) -> Columns:
    """The answer's own columns, with the errors beside the scores."""
    table = answer.columns()
    best = {name: table[name] for name in ("item", "rank", "score")}
    return {**best, "error": errors[answer.order], **table}
