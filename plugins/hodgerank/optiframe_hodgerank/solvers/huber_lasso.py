"""Huber-LASSO: least squares with an outlier variable for every comparison, penalized."""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple, Self

import numpy as np
from pydantic import Field, PositiveFloat, PositiveInt, model_validator

from optiframe.findings import Finding
from optiframe.numbers import number, percent
from optiframe.records.fields import Array
from optiframe.solving.solver import Iterate, Iterates, Run
from optiframe_hodgerank.answer import Ranking
from optiframe_hodgerank.huber.grid import HuberGrid
from optiframe_hodgerank.huber.grid_states import State
from optiframe_hodgerank.huber.newton import EXACT
from optiframe_hodgerank.path.path import Path, shrink
from optiframe_hodgerank.problem import PairwiseRanking
from optiframe_hodgerank.solvers.homotopy import Homotopy
from optiframe_hodgerank.stopping.stop_rule import (
    SHARE,
    StopsByRule,
    knot_by_knot_is_long,
    only_with,
    say_if_not_reached,
    why_so_many,
)
from optiframe_hodgerank.trust.ambiguity import say_loose

_HOMOTOPY_ITEMS = 200
"""Items up to which the exact path is followed: an event costs items^2, so that beyond, the first
5% of 100,000 comparisons take longer than a grid of them."""
_BALANCED = 1e-8  # a grid's forces out of balance by more are reported


class HuberLasso(StopsByRule):
    """Huber-LASSO: outliers are what a misfit has beyond lambda, along the whole path of lambda.

    Minimizes sum w (y - X theta - gamma)^2/2 + lambda sum w |gamma|, which in theta is Huber's
    regression with threshold lambda. As lambda falls, comparisons become outliers one after
    another; that order is part of the answer (`Result.detail`, a `Path`).

    The answer is that at `lambda_`, chosen by `stop_rule` unless given, or, by either method, where at most
    the share `share` of the comparisons are outliers (Sec. 3.3.1: "a certain percentage, say 5%"): the state
    in which the next comparison enters that would exceed it, as for `hodge.lbi`. Comparisons that enter
    together are outliers all or none; a warning says where fewer are flagged for that reason. For +-1 data
    ``lambda_ = 1`` is natural.

    Up to 200 items the path is exact (`optiframe_hodgerank.solvers.homotopy`; an event costs
    O(rows + items^2)), unless its events, one for a comparison that becomes an outlier, would pass
    over more than 1e8 merged rows in all: the first 5% of 45,000 different margins. Beyond, it is a
    grid of `per_decade` values for each factor of ten, each solved by Newton steps from the one before
    (`optiframe_hodgerank.huber.grid`), in which rows that entered between two values enter
    together, the larger misfit being the stronger. The end that `share` asks for is found between
    them, and is that of the exact path to some 8 digits; a `per_decade` of 1 goes straight to a given
    `lambda_`, which is the quick way to flag tens of millions of comparisons, and quicker at a looser
    `accuracy`: rows within that of lambda may then be flagged or not.

    Where only comparisons exactly at lambda hold two parts of the items together, the minimizer
    is no longer unique. A path to a `share` ends there if only these would make up the share; else it goes
    on, with the parts staying, against each other, where they were (on a grid, about there). A warning says
    from where, and which items are in doubt.
    """

    name = "hodge.hlasso"
    solves = PairwiseRanking
    residual_meaning = (
        "share of the comparisons still to be flagged, or lambda over the one asked for, less 1"
    )
    reference = "Xu et al., Eq. 7 and Algorithm 1"

    share: Annotated[float, Field(gt=0, le=1)] | None = Field(
        default=None,
        description="at most this share of the comparisons are outliers; none: 0.05, lambda_ or stop_rule",
    )
    lambda_: PositiveFloat | None = Field(
        default=None, description="stop at this lambda instead: a comparison off by more is an outlier"
    )
    method: Literal["auto", "homotopy", "grid"] = Field(
        default="auto",
        description="homotopy: exact knots; grid: values of lambda; auto: the first, unless long",
    )
    per_decade: PositiveInt = Field(
        default=25, description="values of lambda for each factor of ten of the grid"
    )
    accuracy: Annotated[float, Field(ge=EXACT, le=1e-2)] = Field(
        default=EXACT,
        description=(
            "of the grid at a given lambda: largest residual of an item, as a share of its comparisons' pull"
        ),
    )

    @model_validator(mode="after")
    def _nothing_ignored(self) -> Self:
        only_with(self, "per_decade", self.method != "homotopy", "method = grid")
        to_lambda = self.lambda_ is not None or self.stop_rule not in (None, "given")
        on_grid = self.method != "homotopy" and to_lambda
        only_with(self, "accuracy", on_grid, "method = grid and lambda_ or stop_rule")
        return self

    def iterates(self, problem: PairwiseRanking, run: Run) -> Iterates:
        if self.rule_for(problem) != "given":
            chosen = self.ending_at(lambda_=self.chosen_lambda(problem, run))
            # By class: a subclass has called this from its own `iterates`, which goes on with what comes.
            yield from HuberLasso.iterates(chosen, problem, run)
            return
        graph, follow = problem.graph, self._follow(problem)
        exact = isinstance(follow, Homotopy)
        path = Path(graph, problem.merged.count, "lambda", exact=exact, items=problem.item_ids)
        knot, residual = Knot(0.0, np.zeros(graph.items), path), 1.0
        for level, scores, last in follow.run(path, self.lambda_ or 0.0):
            knot, residual = Knot(level, scores, path), 0.0 if last else self._residual(level, path)
            if residual <= run.budget.tolerance:  # this is the last
                self._say(problem, follow, knot, run)
            path.record(level, scores)
            yield Iterate(knot, residual, detail=path)
        if residual > run.budget.tolerance:
            self._say(problem, follow, knot, run)

    def _follow(self, problem: PairwiseRanking) -> HuberGrid | Homotopy:
        """How the path is followed."""
        share = None if self.lambda_ else self._share
        if self.by_grid(problem):
            return HuberGrid(problem.graph, self.per_decade, share, self.accuracy)
        return Homotopy(problem.graph, share)

    def _residual(self, level: float, path: Path) -> float:
        if self.lambda_ is not None:
            return max(0.0, level / self.lambda_ - 1)
        return self._share - path.share

    @property
    def _share(self) -> float:
        return SHARE if self.share is None else self.share

    def by_grid(self, problem: PairwiseRanking) -> bool:
        """Whether the path is followed by values of lambda, not from knot to knot."""
        if self.method != "auto":
            return self.method == "grid"
        return problem.graph.items > _HOMOTOPY_ITEMS or knot_by_knot_is_long(problem, self._share)

    def _say(self, problem: PairwiseRanking, follow: HuberGrid | Homotopy, end: Knot, run: Run) -> None:
        """How a grid was solved, where that is not by the diagonal; where the scores are not unique; and
        whether fewer comparisons were flagged than asked for.
        """
        graph = problem.graph
        say_if_not_reached(self, end.path, run)
        if isinstance(follow, Homotopy):
            if follow.loose is not None:
                below = f"below lambda = {number(follow.loose.level, 6)}"
                say_loose(problem.comparisons, run, below, follow.loose.parts, stopped=follow.loose.stopped)
            return
        if (method := follow.newton.systems.method) != "diagonal":
            how = f"{method} before conjugate gradients"
            text = f"the Laplacian of {graph.items} items was solved by {how}"
            run.findings.append(Finding("note", text, identifier="ranking.laplacian-method"))
        if (off := follow.newton.off) > max(self.accuracy, _BALANCED):
            run.warn(
                f"the scores do not minimize the loss: Newton's method gave up at lambda = "
                f"{number(end.level, 6)}, where forces on items are out of balance by {percent(off, 3)} of "
                "the largest; set method = homotopy",
                identifier="ranking.loss-not-minimized",
            )
        if follow.stopped is not None:
            inner = follow.loose_parts(follow.stopped, 1)
            say_loose(problem.comparisons, run, f"below lambda = {number(end.level, 6)}", inner, stopped=True)
        elif end.level > 0 and follow.newton.parts(end.level, end.scores) > graph.components.max() + 1:
            inner = follow.loose_parts(State.of(graph, end.level, end.scores), -1)
            say_loose(problem.comparisons, run, f"at lambda = {number(end.level, 6)}", inner, stopped=False)

    def finish(self, problem: PairwiseRanking, iterate: Iterate) -> Ranking:
        knot: Knot = iterate.x
        misfit = problem.graph.margin - problem.graph.differences(knot.scores)
        path = knot.path
        return problem.ranking(
            knot.scores,
            outliers=np.where(path.flagged, shrink(misfit, knot.level), 0.0),
            entry=path.entries(),
            strength=path.strength(np.minimum(np.abs(misfit), knot.level)),
            why=why_so_many(self, problem, path, self._share, knot.level),
        )


class Knot(NamedTuple):
    """A point of a path while it is being followed."""

    level: float
    scores: Array
    path: Path
