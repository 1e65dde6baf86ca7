"""Bootstrap intervals: how far the scores of any method would move if other comparisons were drawn."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import Field, PlainSerializer, PlainValidator, PositiveInt, model_validator

from optiframe.errors import InvalidInput, Unsuited
from optiframe.records.fields import Accepts
from optiframe.registry.registry import build
from optiframe.solving.budget import Budget
from optiframe.solving.chain import why_unsuited
from optiframe.solving.result import Result
from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe_hodgerank.answer import Ranking
from optiframe_hodgerank.graph.comparison_graph import Codes
from optiframe_hodgerank.problem import PairwiseRanking
from optiframe_hodgerank.solvers.lbi import LinearizedBregman
from optiframe_hodgerank.trust.bootstrap_answer import Bootstrap, fewest

AnySolver = Solver[Any, Any, Any]


def built(chosen: Any) -> AnySolver:
    """The solver of a name or of a table with `name` and parameters; a solver itself."""
    solver: AnySolver = chosen if isinstance(chosen, Solver) else build("solver", chosen)
    return solver


def written(solver: AnySolver) -> dict[str, Any]:
    """The table that `built` takes."""
    return {"name": solver.name, **solver.model_dump(by_alias=True)}


class BootstrapIntervals(Solver[PairwiseRanking, Ranking, Bootstrap]):
    """The scores of any method, with intervals from comparisons drawn again (the bootstrap).

    The method runs on all comparisons, which is the answer; then on as many comparisons drawn from
    them with repeats, `draws` times. The intervals are the quantiles of the draws' scores
    (percentile intervals, Efron): how far *that method's* answer would move, its bias included. Draws
    that fall apart into groups which the data hold together are left out, and so are draws that the
    method refuses or has no finite scores for (findings count both); when these are more than half of
    the draws, there are no intervals.

    An iteration is one run of the method. `rank_intervals` beside the answer has the intervals of the
    ranks; `detail` the scores of every draw. A time limit, or Ctrl-C, ends with the draws made so far,
    which give intervals from 20 on (of 90%; from 2/(1 - level) on). Time is `draws` + 1 runs, memory
    8 draws items bytes besides one run's.
    """

    name = "hodge.bootstrap"
    reference = "Efron 1979"
    solves = PairwiseRanking
    residual_meaning = "share of the draws still to come"

    of: Annotated[
        AnySolver,
        PlainValidator(built),
        PlainSerializer(written),
        Accepts("a solver's name, or a table with the name and its parameters"),
    ] = Field(default=LinearizedBregman(), description="the method whose scores get intervals")
    draws: PositiveInt = Field(default=200, description="how often to draw; 90% intervals need some 200")
    level: Annotated[float, Field(gt=0, lt=1)] = Field(
        default=0.9, description="share of intervals that are meant to hold the score"
    )
    by: Literal["comparison", "worker"] = Field(
        default="comparison",
        description="what is drawn; worker: whole workers, whose answers may depend on each other",
    )
    steps: PositiveInt = Field(default=10_000, description="iterations of each run of the method, at most")

    @model_validator(mode="after")
    def _enough_draws(self) -> Self:
        if self.draws < fewest(self.level):
            text = (
                f"must be at least {fewest(self.level)} for {100 * self.level:g}% intervals, got {self.draws}"
            )
            raise InvalidInput(f"draws: {text}", [(("draws",), text)])
        return self

    @property
    def uses_covariates(self) -> bool:
        """Whether the method does."""
        return bool(getattr(self.of, "uses_covariates", False))

    def unsuited(self, problem: PairwiseRanking) -> str | None:
        worker = problem.comparisons.worker
        if self.by == "worker" and (worker is None or bool((worker < 0).any())):
            return "by = worker draws workers, and not every comparison names its worker"
        reason = why_unsuited(problem, self.of)
        return None if reason is None else f"{self.of.name} cannot take it ({reason})"

    def iterates(self, problem: PairwiseRanking, run: Run) -> Iterates:
        whole = self._run(problem, run)
        if whole.solution is None:
            return whole.status, f"{self.of.name} on all comparisons: {whole.message}"
        run.findings.extend(whole.findings)
        if not whole.status.complete:
            text = f"{self.of.name} on all comparisons: {whole.message}"
            run.warn(text, identifier="ranking.bootstrap-method-unfinished")
        said = len(run.findings)
        groups = _by_worker(problem) if self.by == "worker" else None
        drawn = Bootstrap(whole.solution, (), self.level, detail=whole.detail)
        while True:
            # Reported again at each draw, since a limit may end the run at any.
            run.findings[said:] = drawn.findings(self.draws)
            left = self.draws - drawn.made
            done = left == 0 and not whole.status.complete  # and yet not what was asked for
            yield Iterate(drawn, residual=math.nan if done else left / self.draws, detail=drawn)
            if not left:
                return whole.status, f"{self.of.name} on all comparisons: {whole.message}"
            more = self._with_draw(drawn, problem, _drawn(problem, groups, run.rng), run)
            if not run.stopping and run.time_left() > 0:  # else it may have been cut short
                drawn = more

    def _run(self, problem: PairwiseRanking, run: Run) -> Result[Any, Any]:
        return run.solve(
            self.of, problem, budget=Budget(iterations=self.steps, tolerance=run.budget.tolerance)
        )

    def _with_draw(
        self, made: Bootstrap, problem: PairwiseRanking, drawn: PairwiseRanking, run: Run
    ) -> Bootstrap:
        """What was made, with the method's scores for drawn comparisons or with one more draw left out."""
        if not np.array_equal(drawn.graph.components, problem.graph.components):
            return replace(made, apart=made.apart + 1)
        solution: Ranking | None = None
        refusal = ""
        try:
            solution = self._run(drawn, run).solution
        except Unsuited as error:
            refusal = str(error)
        if solution is None or not np.isfinite(solution.scores).all():
            return replace(made, unanswered=made.unanswered + 1, refusal=made.refusal or refusal)
        return replace(made, drawn=(*made.drawn, solution.scores))

    def finish(self, problem: PairwiseRanking, iterate: Iterate) -> Ranking:
        drawn: Bootstrap = iterate.x
        return drawn.ranking


def _by_worker(problem: PairwiseRanking) -> list[Codes]:
    """The rows of each worker."""
    worker = problem.comparisons.worker
    assert worker is not None  # `unsuited` has looked
    order = np.argsort(worker, kind="stable")
    return np.split(order, np.searchsorted(worker[order], np.arange(1, worker.max() + 1)))


def _drawn(problem: PairwiseRanking, groups: list[Codes] | None, rng: np.random.Generator) -> PairwiseRanking:
    """The problem with as many rows (or workers), drawn with repeats; items keep their codes.

    A worker drawn twice is two workers.
    """
    table = problem.comparisons
    if groups is None:
        rows = rng.integers(problem.rows, size=problem.rows)
        worker, ids = None if table.worker is None else table.worker[rows], table.worker_ids
    else:
        who = rng.integers(len(groups), size=len(groups))
        rows = np.concatenate([groups[one] for one in who.tolist()])
        worker = np.repeat(np.arange(len(who)), [len(groups[one]) for one in who.tolist()])
        ids = table.worker_ids[who]
    taken = replace(
        table,
        left=table.left[rows],
        right=table.right[rows],
        margin=table.margin[rows],
        weight=None if table.weight is None else table.weight[rows],
        worker=worker,
        worker_ids=ids,
        covariates=None if table.covariates is None else table.covariates.taken(rows),
        lines=None,
    )
    return PairwiseRanking(comparisons=taken, outlier_price=problem.outlier_price)
