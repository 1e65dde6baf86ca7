"""The paper's own method: projected gradient on the squared violations of primal and dual together."""

from __future__ import annotations

import math

import numpy as np
from pydantic import Field, NonNegativeFloat, PositiveInt

from optiframe.problems import Projection
from optiframe.results import Status
from optiframe.solvers import Iterates, Run, Solver
from optiframe.values import Array
from optiframe_tvcs.linear_program import SupportProgram, perturbed, relative_gap, why_not
from optiframe_tvcs.proving import exact_prices, feasible
from optiframe_tvcs.selection import Selection

_PROOF_ROUNDS = 64  # as in `tvcs.pdhg`


class FirstOrderProjection(Solver[Projection, Array, Selection]):
    """The paper's projected gradient on Eq. 7: step 1/L, rounding at one half; usable up to p = 100.

    Minimises ``(<s, y> + sum(z) - <c, x>)^2 + |[c - A'y - z]_+|^2 + |[A x - s]_+|^2``, halved,
    over x in [0, 1], y, z >= 0, with c the point squared, from zero. An iteration is
    O(p + groups), as the paper says; their number is the matter: L grows with the square of
    the bounds and hence of p, and the rate with the Hoffman constant besides. See docs/methods/tvcs.md
    for the counts; `tvcs.pdhg` is the linear-time method to use.

    Rounding may give an infeasible support while the method is on its way; such a point is
    yielded as it is, and its residual is not computed.
    """

    name = "tvcs.first-order"
    reference = "Yang et al., Eq. 7, Theorem 3 and footnote 1"
    solves = Projection
    monotone = False
    residual = "gap between prices and rounded support, relative to the support's worth; nan if infeasible"

    check: PositiveInt = Field(default=1000, description="iterations between two roundings")
    perturbation: NonNegativeFloat = Field(
        default=1e-6, description="random change of the worths, relative to the largest, against ties"
    )

    def unsuited(self, problem: Projection) -> str | None:
        return why_not(problem)

    def iterates(self, problem: Projection, run: Run) -> Iterates:
        program = SupportProgram.of(problem)
        largest = float(program.whole.max(initial=0.0)) / program.scale * program.unit
        if program.whole.any() and not 1e-100 < largest < 1e100:  # beyond, squares are inf or 0
            size = "large" if largest > 1 else "small"
            return Status.DIVERGED, f"the point is too {size} for Eq. 7; divide it by its largest entry"
        worth = perturbed(program.relative, self.perturbation, run.rng) * largest
        down = program.matrix.tocsr()
        up = down.T.tocsr()
        bounds = program.bounds
        step = 1.0 / lipschitz(program, worth)
        x, y, z = np.zeros(len(worth)), np.zeros(len(bounds)), np.zeros(len(worth))
        while True:
            count = int(min(self.check, max(run.steps_left(), 1)))
            for _ in range(count):
                gap = float(bounds @ y) + float(z.sum()) - float(worth @ x)
                short = np.maximum(worth - up @ y - z, 0.0)
                over = np.maximum(down @ x - bounds, 0.0)
                x = np.clip(x - step * (up @ over - gap * worth), 0.0, 1.0)
                y = np.maximum(y - step * (gap * bounds - down @ short), 0.0)
                z = np.maximum(z - step * (gap - short), 0.0)
            support = (x > 0.5) & (program.whole > 0)
            near = program.prices(y, per_unit=program.scale / program.unit)
            within = feasible(program, support)
            prices = exact_prices(program, support, near, _PROOF_ROUNDS) if within else None
            selection = program.selection(support, near if prices is None else prices)
            residual = relative_gap(selection) if within else math.nan
            yield program.iterate(selection, residual, steps=count)
            if selection.certificate.holds:
                return


def lipschitz(program: SupportProgram, worth: Array) -> float:
    """A bound L on the curvature of Eq. 7: the squared norms of its three linear maps together.

    ``|(c, s, 1)|^2`` of the gap, and the larger of those of the two blocks, which share no
    unknown: ``|A|^2 + 1``, with ``|A|^2`` at most p plus the sizes of the largest groups.
    """
    p = len(worth)
    labels = (program.rows.labels, program.columns.labels)
    largest = sum(int(np.bincount(each[each >= 0], minlength=1).max()) for each in labels)
    return float(worth @ worth) + float(program.bounds @ program.bounds) + p + (p + largest + 1)
