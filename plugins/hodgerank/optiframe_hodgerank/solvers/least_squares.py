"""Least-squares scores (HodgeRank)."""

from __future__ import annotations

import math

import numpy as np
from pydantic import Field

from optiframe.findings import Finding
from optiframe.numbers import percent
from optiframe.records.fields import Array
from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe_hodgerank.answer import NORMAL_90, Ranking
from optiframe_hodgerank.problem import PairwiseRanking
from optiframe_hodgerank.trust.hodge_parts import HodgeSplit, NotSplit, hodge_split
from optiframe_hodgerank.trust.triplets import transitivity

_INTERVALS = 2000
"""Up to so many items all variances are computed by default: the diagonal of L^+ is at hand where
it is dense; beyond it takes a solve an item (a minute for the 29,322 pixels of Experiment II)."""


class LeastSquares(Solver[PairwiseRanking, Ranking, HodgeSplit | None]):
    """Least-squares scores by the graph Laplacian: L^+ X' W y, no comparison taken for wrong.

    Needs nothing; in a disconnected graph each component is ranked by itself. One solve, in the
    way `PairwiseRanking.graph.method` names (a finding says which, where it is not dense):
    a dense inverse up to 2,000 items, n^3 time and 8 n^2 bytes; beyond, a sparse factor or
    conjugate gradients by the shape of the graph.

    `strength` of a comparison is the size of its misfit |y - X theta|. With `split` the rest is taken
    apart too, into cycles of triangles and longer ones; a finding says the shares, and the table
    `hodge_split` names the pairs. That takes longer than the scores (see `hodge_split`).

    Notes
    -----
    The 90% intervals are theta_i -+ 1.645 sigma sqrt(L^+_ii), with sigma^2 = sum w (y - X theta)^2 / (rows
    - items + components): right for independent noise of one size (variance sigma^2/w), with rows the
    caller's. They are of a score against the mean of its component; the difference of two items has the
    variance sigma^2 times their effective resistance. With +-1 data, noise is neither equal nor small
    where one item nearly always wins, and outliers widen all of them: take them for a rough guide there.
    None where no comparison is left over to estimate sigma from.
    """

    name = "hodge.l2"
    reference = "Xu et al., Sec. 3.1; Jiang, Lim, Yao, Ye 2011"
    solves = PairwiseRanking
    residual_meaning = "0: one exact solve"

    split: bool = Field(
        default=False, description="also split the energy of the comparisons (Hodge), pair by pair"
    )

    def iterates(self, problem: PairwiseRanking, run: Run) -> Iterates:
        graph = problem.graph
        scores = graph.scores(graph.margin)
        misfit = np.abs(graph.margin - graph.differences(scores))
        if graph.method != "dense":
            run.findings.append(
                Finding(
                    "note",
                    f"the Laplacian of {graph.items} items was solved by {graph.method}",
                    identifier="ranking.laplacian-method",
                )
            )
        half = _half_widths(problem, scores, NORMAL_90) if graph.items <= _INTERVALS else None
        ends = None if half is None else (scores - half, scores + half)
        answer = problem.ranking(scores, strength=misfit, intervals=ends)
        yield Iterate(answer, residual=0.0, detail=_split(problem, run) if self.split else None)

    def standard_errors(self, problem: PairwiseRanking, solution: Ranking) -> Array | None:
        """Of the scores, shape (items,), as in the notes; None without a comparison to measure noise by.

        Beyond 2,000 items a Laplacian solve an item.
        """
        return _half_widths(problem, solution.scores, 1.0)


def _split(problem: PairwiseRanking, run: Run) -> HodgeSplit | None:
    """The Hodge split, told in a finding with the rate of transitive triplets; None where it fails."""
    try:
        found = hodge_split(problem)
    except NotSplit as error:
        run.warn(f"no Hodge split: {error}", identifier="ranking.no-hodge-split")
        return None
    shares = ", ".join(f"{name} {percent(share, 3)}" for name, share in found.shares.items())
    threes = transitivity(problem)
    rate = f"{percent(threes.rate, 3)} of {threes.triplets}" if threes.triplets else "none to count"
    run.findings.append(
        Finding(
            "note",
            f"Hodge split of sum w y^2: {shares}; transitive triplets, by majority: {rate}",
            identifier="ranking.hodge-split",
        )
    )
    return found


def _half_widths(problem: PairwiseRanking, scores: Array, normal: float) -> Array | None:
    """So many standard errors of each least-squares score; None without spare comparisons."""
    graph = problem.graph
    spare = problem.rows - graph.items + int(graph.components.max()) + 1
    if spare <= 0:
        return None
    misfit = graph.margin - graph.differences(scores)
    sigma = math.sqrt(float(graph.weight @ (misfit * misfit)) / spare)
    return np.asarray(normal * sigma * np.sqrt(np.maximum(graph.laplacian_inverse.diagonal(), 0.0)))
