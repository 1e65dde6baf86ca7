"""Coordinate descent: one worker after the other, in closed form."""

from __future__ import annotations

import numpy as np

from optiframe.records.fields import Array
from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe_rankone.completion.fit import RankOneFit


class CoordinateDescent(Solver[RankOneFit, Array, None]):
    """Gauss-Seidel sweeps: each entry in turn takes the value that is best while the others stay.

    ::

        x_i <- clip(sum_j N_ij C_ij x_j / sum_j N_ij x_j^2)        for i = 1, ..., W

    In one coordinate the objective is a parabola, so the clipped quotient is its exact
    minimum within the bounds and the objective never rises. Needs no step and, unlike a
    simultaneous sweep, no damping. Signs are fitted along with the sizes. Entries without
    curvature (nobody to compare with) stay where they are; one that lost it in the run, since all
    its partners ended at 0, ends at 0 too (`RankOneFit.settled`).

    A sweep costs one pass over the known pairs, or three over the labels where pairs are not
    counted; memory besides the problem is a few vectors, from labels also 24 bytes a label and
    16 for each task and class. It needs fewer passes than descent; from labels it goes worker by
    worker in Python, so descent is faster there.
    """

    name = "rankone.coordinate"
    solves = RankOneFit
    accepts_start = True
    residual_meaning = "largest move of an entry in the last sweep"
    reference = "Ma et al., Lemma 6, minimized in one coordinate at a time"

    def iterates(self, problem: RankOneFit, run: Run) -> Iterates:
        sweep, (lower, upper) = problem.least_squares.pairs.sweep, problem.bounds
        x = problem.from_start(run.start)
        while True:
            x, largest = sweep(x, np.ascontiguousarray(lower), np.ascontiguousarray(upper))
            yield Iterate(x, residual=largest)

    def finish(self, problem: RankOneFit, iterate: Iterate) -> Array:
        return problem.settled(iterate.x)
