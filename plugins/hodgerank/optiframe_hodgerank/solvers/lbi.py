"""Linearized Bregman iteration: outliers enter one after another, with little bias."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass
from typing import Annotated, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, PositiveFloat, PositiveInt, model_validator

from optiframe.numbers import number
from optiframe.records.fields import Array
from optiframe.solving.solver import Iterate, Iterates, Run
from optiframe_hodgerank.answer import Ranking
from optiframe_hodgerank.graph.comparison_graph import ComparisonGraph
from optiframe_hodgerank.path.path import Path, shrink
from optiframe_hodgerank.problem import PairwiseRanking
from optiframe_hodgerank.solvers.lbi_gradient import gradient_step, largest_eigenvalue
from optiframe_hodgerank.solvers.lbi_parallel import ParallelStep
from optiframe_hodgerank.stopping.stop_rule import (
    SHARE,
    StopsByRule,
    only_with,
    say_if_not_reached,
    why_so_many,
)

_DAMPING = 50.0  # the paper's kappa, for votes of +-1
_EXPLAINED = 1e-10
"""When no residual is larger than this share of the largest margin, nothing is left to enter for:
the time until it would is 1e10 in the units in which outliers enter at about 1."""
_TOGETHER = 1e-9  # rows whose times of entry differ by this share of them enter together, but for rounding


@dataclass(frozen=True)
class Moment:
    """A point of the path while it is being followed."""

    t: float
    scores: Array | None  # None: the least-squares scores that go with the outliers
    outliers: Array
    dual: Array
    path: Path


class LinearizedBregman(StopsByRule):
    """Linearized Bregman iteration: a path of outliers by damped dynamics, with early stopping.

    ::

        z <- z + dt (y - X theta - gamma)        gamma <- kappa shrink(z, 1)

    from z = gamma = 0 and least-squares theta. Each comparison's z grows by its misfit; when it
    reaches 1 the comparison becomes an outlier, and takes over the misfit at the rate kappa. The
    time t = steps dt plays the part of 1/lambda; as kappa grows and dt falls the path becomes
    that of `hodge.iss`, whose outliers are not biased. kappa has the unit of y, and t that of 1/y:
    by default kappa is 50 times the largest |y|, so that the unit of the margins does not matter,
    and 50, the paper's, for votes of +-1.

    The answer is that at the time `t`, chosen by `stop_rule` unless given, or where at most the share `share`
    of the comparisons are outliers: the state in which the next comparison enters that would exceed it, so
    that those before it have had their time to grow. Comparisons that enter together, such as equal votes,
    are outliers all or none; a warning says where fewer are flagged for that reason. `Result.detail` is the
    `Path`, whose states between two knots are interpolated.

    Variants:

    - ``eliminated`` (Algorithm 3, the default): theta is the least-squares fit to y - gamma in
      every step, by a Laplacian factored once; stable for ``step`` < 2, and 0.5 to 1 is right.
      Smaller steps resolve the order of entries no better, since the time of crossing is read off
      the step, but follow the path more closely.
    - ``gradient`` (Algorithm 2): theta moves by one gradient step. Needs ``step`` (lambda_max + 1)
      < 2 for the largest eigenvalue lambda_max of the Laplacian, so many more steps.
    - ``parallel`` (Algorithm 4): the same steps, by blocks of comparisons over `threads` threads,
      with the same bits for any number of them.

    All use the updated z, as (13c) has it; with z of the step before, which Algorithms 2 to 4
    print, Algorithm 3 fails from a step of 1.1. All start at least squares, also Algorithm 4, which
    prints 0. Until the first entry steps are made at once.

    A step costs a pass over the merged rows and, eliminated, a Laplacian solve; memory is 32 bytes
    a merged row besides the problem, and the path's.
    """

    name = "hodge.lbi"
    solves = PairwiseRanking
    residual_meaning = "share of the comparisons still to be flagged, or of the time t still to go"
    reference = "Xu et al., Algorithms 2, 3 and 4"

    kappa: PositiveFloat | None = Field(
        default=None,
        description="damping, in the unit of the margins; larger is less biased, and slower; "
        "none: 50 times the largest margin, so 50 for votes",
    )
    step: Annotated[float, Field(gt=0, lt=2)] | None = Field(
        default=None,
        description="kappa dt; none: 0.5 where scores are eliminated, else half of the largest stable step",
    )
    share: Annotated[float, Field(gt=0, le=1)] | None = Field(
        default=None,
        description="at most this share of the comparisons are outliers; none: 0.05, t or stop_rule",
    )
    t: PositiveFloat | None = Field(default=None, description="stop at this time instead; about 1/lambda")
    variant: Literal["eliminated", "gradient", "parallel"] = Field(
        default="eliminated", description="Algorithm 3, 2 or 4 of the paper"
    )
    threads: PositiveInt = Field(
        default=1, description="threads of the parallel variant; the answer is the same"
    )

    @model_validator(mode="after")
    def _nothing_ignored(self) -> Self:
        only_with(self, "threads", self.variant == "parallel", "variant = parallel")
        return self

    def unsuited(self, problem: PairwiseRanking) -> str | None:
        if self.step is None or self.variant == "eliminated":
            return None
        largest = largest_eigenvalue(problem.graph)
        if self.step * (largest + 1) < 2:
            return None
        return (
            f"step = {self.step:g} is unstable: the {self.variant} variant needs a step below "
            f"2/(lambda_max + 1) = {number(2 / (largest + 1), 6)}; give a smaller one, or none"
        )

    def step_for(self, graph: ComparisonGraph) -> float:
        """kappa dt, given or chosen."""
        if self.step is not None:
            return self.step
        return 0.5 if self.variant == "eliminated" else 1 / (largest_eigenvalue(graph) + 1)

    def kappa_for(self, graph: ComparisonGraph) -> float:
        """kappa, given or by the size of the margins."""
        if self.kappa is not None:
            return self.kappa
        return default_kappa(graph)

    def iterates(self, problem: PairwiseRanking, run: Run) -> Iterates:
        if self.rule_for(problem) != "given":
            t = self.chosen_time(problem, run, self.kappa_for(problem.graph))
            yield from self.ending_at(t=t).iterates(problem, run)
            return
        graph, kappa = problem.graph, self.kappa_for(problem.graph)
        dt = self.step_for(graph) / kappa
        last = np.inf if self.t is None else max(1, round(self.t / dt))
        share = None if self.t is not None else SHARE if self.share is None else self.share
        path = Path(graph, problem.merged.count, "t", exact=False, items=problem.item_ids)
        scores = graph.scores(graph.margin)
        misfit = graph.margin - graph.differences(scores)
        explained = _EXPLAINED * float(np.abs(graph.margin).max(initial=0.0))
        # Until the first entry z grows by the same misfit; its steps are made at once.
        step = int(min(first_entry(misfit, dt), last - 1, max(run.steps_left() - 1, 0)))
        if np.abs(misfit).max(initial=0.0) <= explained:
            step = 0  # none will ever enter; the first step says so
        dual, made = (step * dt) * misfit, step + 1
        with closing(self._steps(graph, scores, dual, dt)) as states:
            for scores, before, after, largest in states:
                step += 1
                changed = (after != 0) != path.flagged
                if changed.any() or step >= last:
                    here = Moment(step * dt, scores, before, dual, path)
                    ends = step >= last
                    if share is not None:
                        ends |= path.reached(share) or path.stands_for(after != 0) > path.most(share)
                        fresh = np.flatnonzero(changed & ~path.flagged)
                        if ends and len(fresh):
                            here = _border(here, scores, fresh, share, kappa=kappa, dt=dt)
                    path.record(here.t, scores if here.scores is None else here.scores, here.outliers)
                    if ends:
                        say_if_not_reached(self, path, run)
                        yield Iterate(here, 0.0, made, detail=path)
                        return
                    _enter(path, np.flatnonzero(changed), scores, dual, t=step * dt, dt=dt)
                left = 1 - step / last if share is None else _left(path, share)
                yield Iterate(Moment(step * dt, None, after, dual, path), left, made, detail=path)
                made = 1
                if largest <= explained:  # nothing is left that could enter
                    path.record(step * dt, graph.scores(graph.margin - after), after)
                    say_if_not_reached(self, path, run)
                    return

    def _steps(
        self, graph: ComparisonGraph, scores: Array, dual: Array, dt: float
    ) -> Generator[tuple[Array, Array, Array, float], None, None]:
        """For each step: scores and outliers before it, outliers after it, and the largest residual."""
        kappa, outliers = self.kappa_for(graph), np.zeros(graph.rows)
        if self.variant == "eliminated":
            while True:
                scores, rest = eliminated_step(graph, dual, outliers, dt)
                after = outliers_of(dual, kappa)
                yield scores, outliers, after, float(np.abs(rest).max(initial=0.0))
                outliers = after
        elif self.variant == "gradient":
            while True:
                moved, rest = gradient_step(graph, scores, dual, outliers, dt=dt, h=kappa * dt)
                after = outliers_of(dual, kappa)
                yield scores, outliers, after, float(np.abs(rest).max(initial=0.0))
                scores, outliers = moved, after
        with closing(ParallelStep(graph, self.threads)) as parallel_step:
            after = np.zeros(graph.rows)
            while True:
                moved, largest = parallel_step(scores, dual, outliers, after, dt=dt, kappa=kappa)
                yield scores, outliers, after, largest
                scores, outliers, after = moved, after, outliers

    def finish(self, problem: PairwiseRanking, iterate: Iterate) -> Ranking:
        return ranking_at(self, problem, iterate.x)


def default_kappa(graph: ComparisonGraph) -> float:
    """kappa by the size of the margins."""
    return _DAMPING * (graph.largest_margin or 1.0)


def ranking_at(solver: StopsByRule, problem: PairwiseRanking, moment: Moment) -> Ranking:
    """The answer at a point of a path in t, whose solver may have a `share`."""
    scores, outliers, path = moment.scores, moment.outliers, moment.path
    if scores is None:
        scores = problem.graph.scores(problem.graph.margin - outliers)
    share: float | None = getattr(solver, "share", None)
    return problem.ranking(
        scores,
        outliers=outliers,
        entry=path.entries(),
        strength=path.strength(np.minimum(np.abs(moment.dual), 1.0) / moment.t),
        why=why_so_many(solver, problem, path, SHARE if share is None else share, moment.t),
    )


def _left(path: Path, share: float) -> float:
    """Share still to be flagged; nan once it is reached, while those flagged have their time."""
    return float("nan") if path.reached(share) else share - path.share


def _enter(path: Path, rows: NDArray[np.int64], scores: Array, dual: Array, *, t: float, dt: float) -> None:
    """Of the rows that changed in the step to t, note which became outliers, and which are none any more."""
    graph = path.graph
    for row in rows[path.flagged[rows]].tolist():
        path.unflag(row)
    fresh = rows[np.abs(dual[rows]) > 1]
    at = _crossing(graph, fresh, scores, dual, t=t, dt=dt)
    for k in np.lexsort((fresh, at)).tolist():
        path.flag(int(fresh[k]), float(dual[fresh[k]]), 1 / float(at[k]))


def _crossing(
    graph: ComparisonGraph, rows: NDArray[np.int64], scores: Array, dual: Array, *, t: float, dt: float
) -> Array:
    """When in the step to t each of these rows, without an outlier before it, became one.

    z is a straight line within a step, and its slope the misfit of a row without an outlier.
    """
    misfit = graph.margin[rows] - scores[graph.left[rows]] + scores[graph.right[rows]]
    size = np.maximum(np.abs(misfit), 1e-300)
    at = t - np.clip((np.abs(dual[rows]) - 1) / size, 0.0, dt)
    return np.where(at > 0, at, 1 / size)  # in the first step, where 1/size is too small to be left of t


def _border(
    here: Moment, scores: Array, fresh: NDArray[np.int64], share: float, *, kappa: float, dt: float
) -> Moment:
    """The end of a path in the midst of the step to `here`, in which these rows enter, too many of them.

    A shorter step ends where the first row enters that is too many, with those that enter together with
    it. Rows that enter before are flagged.
    """
    path, graph = here.path, here.path.graph
    at = _crossing(graph, fresh, scores, here.dual, t=here.t, dt=dt)
    order = np.lexsort((fresh, at))
    fresh, at = fresh[order], at[order]
    first = path.first_over(fresh, share)
    first = int(np.searchsorted(at, at[first] * (1 - _TOGETHER)))
    end = float(at[first])
    together = int(np.searchsorted(at, end * (1 + _TOGETHER), side="right"))
    path.more = path.flagged_rows + path.stands_for(fresh[:together])
    slope = graph.margin - here.outliers - graph.differences(scores)
    # Before the first outlier z is t times the misfit, which rounds less.
    dual = here.dual - (here.t - end) * slope if here.outliers.any() else end * slope
    if first == 0:
        return Moment(end, scores, here.outliers, dual, path)
    outliers = np.where(path.flagged, here.outliers + kappa * (end - (here.t - dt)) * slope, 0.0)
    gone = path.flagged & (np.sign(outliers) != np.sign(here.outliers))
    outliers[gone] = 0.0
    path.unflag(np.flatnonzero(gone))
    entered = fresh[:first]
    outliers[entered] = kappa * (end - at[:first]) * slope[entered]
    path.flag_all(entered, here.dual[entered], 1 / at[:first], ahead=True)
    return Moment(end, graph.scores(graph.margin - outliers), outliers, dual, path)


def eliminated_step(graph: ComparisonGraph, dual: Array, outliers: Array, dt: float) -> tuple[Array, Array]:
    """Algorithm 3, (15a): z += dt (I - X L^+ X'W)(y - gamma), in place.

    Gives the least-squares scores of y - gamma and what they leave.
    """
    rest = graph.margin - outliers
    scores = graph.scores(rest)
    rest -= graph.differences(scores)
    dual += dt * rest
    return scores, rest


def outliers_of(dual: Array, kappa: float) -> Array:
    """(13c): gamma = kappa shrink(z, 1), with the updated z."""
    return kappa * shrink(dual, 1.0)


def first_entry(misfit: Array, dt: float) -> int:
    """Steps that can be made at once from z = 0: before them no row enters, and z = steps dt misfit."""
    largest = float(np.abs(misfit).max(initial=0.0))
    if largest == 0:
        return 0
    # One less than rounding might claim, so that the entry itself is an ordinary step.
    return max(0, int(min(1 / (dt * largest), 2.0**53)) - 1)
