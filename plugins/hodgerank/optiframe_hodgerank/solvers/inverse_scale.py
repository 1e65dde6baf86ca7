"""Inverse scale space: the exact limit of linearized Bregman iteration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, PositiveFloat

from optiframe.numbers import number
from optiframe.records.fields import Array
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterate, Iterates, Run
from optiframe_hodgerank.answer import Ranking
from optiframe_hodgerank.graph.comparison_graph import ComparisonGraph
from optiframe_hodgerank.path.inlier_graph import InlierGraph
from optiframe_hodgerank.path.path import Path
from optiframe_hodgerank.problem import PairwiseRanking
from optiframe_hodgerank.solvers.lbi import Moment, default_kappa, ranking_at
from optiframe_hodgerank.stopping.stop_rule import (
    SHARE,
    StopsByRule,
    knot_by_knot_is_long,
    say_if_not_reached,
)

_NEAR = 1e-10  # dual variables within this of 1 are there; a hundred times the rounding of a fit
_MANY = 0.25  # of the comparisons: outliers to be ready for where a rule finds out how many there are
_ITEMS = 2000  # beyond, the inverse that is updated takes more than 32 MB and seconds to begin with


class InverseScaleSpace(StopsByRule):
    """Inverse scale space: the limit of `hodge.lbi` as kappa grows and dt falls, knot by knot.

    Every comparison's p grows by its misfit, dp/dt = y - X theta - gamma, within [-1, 1]; where it
    is +-1 the comparison may be an outlier of that sign, and theta, gamma are the least squares
    over those (18). So scores are constant between knots: the least-squares fit to the comparisons
    that are not outliers, and outliers are the whole of their misfit, without bias.

    The answer is that at the time `t`, chosen by `stop_rule` unless given, or at the last knot up to which at
    most the share `share` of the comparisons are outliers. Comparisons that enter together are outliers all
    or none; a warning says where fewer are flagged for that reason. Where the comparisons that are left no
    longer hold the items together, the limit is not unique any more: the path stops there and says so.

    A knot costs O(rows + items^2) and memory is 8 items^2 + O(rows), so up to 2,000 items,
    and up to 1e8 merged rows passed over in all: the first 5% of 45,000 different margins, or where a rule
    finds out how many, 20,000.
    """

    name = "hodge.iss"
    solves = PairwiseRanking
    residual_meaning = "share of the comparisons still to be flagged, or of the time t still to go"
    reference = "Xu et al., Eq. 18"

    share: Annotated[float, Field(gt=0, le=1)] | None = Field(
        default=None,
        description="at most this share of the comparisons are outliers; none: 0.05, t or stop_rule",
    )
    t: PositiveFloat | None = Field(default=None, description="stop at this time instead; about 1/lambda")

    def unsuited(self, problem: PairwiseRanking) -> str | None:
        if problem.graph.items > _ITEMS:
            return f"it keeps an inverse of items x items, for at most {_ITEMS:,} items; take hodge.hlasso-l2"
        likely = SHARE if self.rule_for(problem) == "given" else _MANY
        if knot_by_knot_is_long(problem, self.share or likely):
            return (
                f"it goes from knot to knot over {problem.graph.rows:,} different comparisons, which would "
                "take too long; take hodge.hlasso-l2, or a smaller share"
            )
        return None

    def iterates(self, problem: PairwiseRanking, run: Run) -> Iterates:
        if self.rule_for(problem) != "given":
            t = self.chosen_time(problem, run, default_kappa(problem.graph))
            return (yield from self.ending_at(t=t).iterates(problem, run))
        graph = problem.graph
        path = Path(graph, problem.merged.count, "t", between="constant", items=problem.item_ids)
        share = None if self.t is not None else SHARE if self.share is None else self.share
        dynamics = Dynamics(graph, share)
        for t, scores, outliers, last in dynamics.run(path, np.inf if self.t is None else self.t):
            path.record(t, scores, outliers)
            left = 1 - t / self.t if self.t is not None else 0.0 if share is None else share - path.share
            if last:
                left = 0.0
                say_if_not_reached(self, path, run)
            yield Iterate(Moment(t, scores, outliers, dynamics.dual, path), left, detail=path)
        if dynamics.parts is not None:
            say_if_not_reached(self, path, run, "beyond, the comparisons left no longer connect the items")
            return Status.STALLED, (
                f"at t = {number(path.knots[-1], 6)} the comparisons that are not outliers no longer connect "
                f"{dynamics.parts.max() + 1} parts of the items, and the path is not unique beyond"
            )
        return None

    def finish(self, problem: PairwiseRanking, iterate: Iterate) -> Ranking:
        return ranking_at(self, problem, iterate.x)


class Dynamics:
    """Follows (18) from knot to knot.

    Among the comparisons with p = +-1 those are outliers whose misfit has the sign of p; which
    ones is settled one at a time, least index first (Murty's rule).
    """

    def __init__(self, graph: ComparisonGraph, share: float | None = None) -> None:
        self.graph = graph
        self._share = share
        self.dual = np.zeros(graph.rows)
        self.parts: NDArray[np.int64] | None = None
        """The parts the items fell into when the path had to stop; None: it did not."""
        self._inliers = InlierGraph(graph)
        self._fit = graph.divergence(graph.weight * graph.margin)
        self._near = _NEAR * float(np.abs(graph.margin).max(initial=0.0))

    def run(self, path: Path, until: float) -> Iterator[tuple[float, Array, Array, bool]]:
        """Yield t, scores and outliers on arriving at each knot, and whether it is the last.

        Rows that arrive enter on resuming. Once nothing is left to explain the last knot is at infinity, or
        at `until`. With a `share`, the last is the first at which so many are flagged, or where more would
        be; `path.more` then says how many.
        """
        t = 0.0
        while True:
            scores, misfit = self._least_squares()
            flagged = self._inliers.flagged
            t, arriving = self._advance(t, misfit, until)
            outliers = np.where(flagged, misfit, 0.0)
            last = t >= until or not arriving or (self._share is not None and path.reached(self._share))
            if not last:
                self._settle()
                if self._share is not None and path.stands_for(flagged) > path.most(self._share):
                    path.more, last = path.stands_for(flagged), True
            yield t, scores, outliers, last
            if last or self.parts is not None:
                return
            self._enter(t, path)

    def _least_squares(self) -> tuple[Array, Array]:
        scores = self._inliers.solve(self._fit)
        return scores, self.graph.margin - self.graph.differences(scores)

    def _advance(self, t: float, misfit: Array, until: float) -> tuple[float, bool]:
        """Let p grow until the next arrives at +-1, or until the end; the time, and whether one did."""
        moving = ~self._inliers.flagged & (np.abs(misfit) > self._near)
        to_go = np.full(len(misfit), np.inf)
        to_go[moving] = (np.sign(misfit) - self.dual)[moving] / misfit[moving]
        wait = float(to_go.min(initial=np.inf))
        if t + wait > until or not np.isfinite(wait):
            if np.isfinite(until):
                self.dual[moving] += (until - t) * misfit[moving]
            return until, False
        self.dual[moving] += wait * misfit[moving]
        there = np.abs(self.dual) >= 1 - _NEAR
        self.dual[there] = np.sign(self.dual[there])
        return t + wait, True

    def _enter(self, t: float, path: Path) -> None:
        """Note in the path what has become of the rows at +-1."""
        flagged = self._inliers.flagged
        for row in np.flatnonzero(flagged != path.flagged).tolist():
            if flagged[row]:
                path.flag(row, float(self.dual[row]), 1 / t)
            else:
                path.unflag(row)

    def _settle(self) -> None:
        """Among rows at +-1, flag those whose misfit has that sign, and believe the others."""
        inliers, graph = self._inliers, self.graph
        there = np.abs(self.dual) == 1
        while True:
            outward = self._least_squares()[1] * self.dual
            wrong = there & np.where(inliers.flagged, outward < -self._near, outward > self._near)
            if not wrong.any():
                break
            row = int(np.argmax(wrong))
            if not inliers.flagged[row] and inliers.holds_together(row):
                break  # cannot be: its misfit is then zero; rounding said otherwise
            pull = graph.weight[row] * graph.margin[row]
            pull = pull if inliers.flagged[row] else -pull
            self._fit[graph.left[row]] += pull
            self._fit[graph.right[row]] -= pull
            if inliers.flagged[row]:
                inliers.unflag(row)
            else:
                inliers.flag(row)
        idle = there & ~inliers.flagged & (np.abs(outward) <= self._near)
        if idle.any():
            self.parts = inliers.parts_without(idle)
