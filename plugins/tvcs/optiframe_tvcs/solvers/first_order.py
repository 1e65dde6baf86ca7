"""The paper's own method: projected gradient on the squared violations of primal and dual together."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, NonNegativeFloat, PositiveInt

from optiframe.problems.projection import Projection
from optiframe.records.fields import Array
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterates, Run, Solver
from optiframe_tvcs.program.feasible import fill
from optiframe_tvcs.program.support_program import SupportProgram, perturbed, why_not
from optiframe_tvcs.projection.selection import Selection


class FirstOrderProjection(Solver[Projection, Array, Selection]):
    """The paper's projected gradient on Eq. 7; good for p up to 400.

    Minimises ``(<s, y> + sum(z) - <c, x>)^2 + |[c - A'y - z]_+|^2 + |[A x - s]_+|^2``, halved,
    over x in [0, 1], y, z >= 0, with c the point squared, from zero. An iteration is
    O(p + groups), as the paper says; their number is the matter, and grows with p and with how near
    the best support is to the second best. See docs/methods/tvcs.md for the counts; `tvcs.exact` is the
    projection to use, and `tvcs.pdhg` the first-order method.

    ``form="printed"`` takes c as it is and the step 1/L for all unknowns. It depends on the unit of the
    point, since Eq. 7 adds squares of worths to squares of counts. ``form="balanced"``, the default,
    minimises the same function with c in the unit in which the gap changes as fast with x as with y and z,
    with a step for each unknown from a diagonal bound on the Hessian, and with Nesterov's extrapolation,
    restarted wherever it climbs. The unit of the point then changes nothing.

    Every `check` iterations the largest shares are the support, wherever there is room; as printed, of those
    above one half alone, and there may be none where entries tie. The best support so far is the iterate,
    judged by the exact projection; the run ends when it is as good, and until then a finding says what it
    loses.
    """

    name = "tvcs.first-order"
    reference = "Yang et al., Eq. 7, Theorem 3 and footnote 1; restarts as in O'Donoghue and Candes 2015"
    solves = Projection
    residual_meaning = (
        "what the best rounded support loses, relative to its worth; nan where that is next to nothing"
    )

    form: Literal["balanced", "printed"] = Field(
        default="balanced",
        description="steps that the unit of the point does not change, or those of the paper",
    )
    check: PositiveInt = Field(default=100, description="iterations between two roundings")
    perturbation: NonNegativeFloat = Field(
        default=1e-6, description="random change of the worths, relative to the largest, against ties"
    )

    def unsuited(self, problem: Projection) -> str | None:
        return why_not(problem)

    def iterates(self, problem: Projection, run: Run) -> Iterates:
        program = SupportProgram.of(problem)
        steps, unit = (
            (balanced, balance(program)) if self.form == "balanced" else (printed, largest_square(program))
        )
        if program.whole.any() and not 1e-100 < unit < 1e100:  # beyond, squares are inf or 0
            size = "large" if unit > 1 else "small"
            advice = 'divide it by its largest entry, or leave out form="printed"'
            return Status.DIVERGED, f"the point is too {size} for Eq. 7 as printed; {advice}"
        worth = perturbed(program.relative, self.perturbation, run.rng) * unit
        points = steps(program, worth)
        best = program.selection(np.zeros(len(worth), dtype=np.bool_))
        while True:
            count = int(min(self.check, max(run.steps_left(), 1)))
            x = next(islice(points, count - 1, None))
            tried = program.selection(rounded(program, x, at_half=self.form == "printed"))
            best = min(best, tried, key=_lost)
            yield program.iterate(best, steps=count)


def _lost(selection: Selection) -> tuple[float, float]:
    """What a support loses, for comparison; gaps beyond float64 are told apart by the loss."""
    return selection.certificate.gap, selection.certificate.loss


def rounded(program: SupportProgram, x: Array, *, at_half: bool) -> NDArray[np.bool_]:
    """Largest shares first, wherever there is room; of those above one half, or of all."""
    may = program.whole > 0
    chosen = np.flatnonzero(may & (x > 0.5) if at_half else may)
    return fill(program, chosen[np.argsort(-x[chosen], kind="stable")])


def printed(program: SupportProgram, worth: Array) -> Iterator[Array]:
    """The shares x after each projected gradient step on Eq. 7, of one length 1/L."""
    down = program.matrix.tocsr()
    up = down.T.tocsr()
    bounds = program.bounds
    step = 1.0 / lipschitz(program, worth)
    x, y, z = np.zeros(len(worth)), np.zeros(len(bounds)), np.zeros(len(worth))
    while True:
        gap = float(bounds @ y) + float(z.sum()) - float(worth @ x)
        short = np.maximum(worth - up @ y - z, 0.0)
        over = np.maximum(down @ x - bounds, 0.0)
        x = np.clip(x - step * (up @ over - gap * worth), 0.0, 1.0)
        y = np.maximum(y - step * (gap * bounds - down @ short), 0.0)
        z = np.maximum(z - step * (gap - short), 0.0)
        yield x


def lipschitz(program: SupportProgram, worth: Array) -> float:
    """A bound L on the curvature of Eq. 7: the squared norms of its three linear maps together.

    ``|(c, s, 1)|^2`` of the gap, and the larger of those of the two blocks, which share no
    unknown: ``|A|^2 + 1``, with ``|A|^2`` at most p plus the sizes of the largest groups.
    """
    p = len(worth)
    labels = (program.rows.labels, program.columns.labels)
    largest = sum(int(np.bincount(each[each >= 0], minlength=1).max()) for each in labels)
    return float(worth @ worth) + float(program.bounds @ program.bounds) + p + (p + largest + 1)


def largest_square(program: SupportProgram) -> float:
    """The largest worth; 0 or inf where it is beyond float64."""
    entries = program.point.reshape(-1)[program.whole > 0]
    with np.errstate(over="ignore"):
        return float(np.square(np.abs(entries).max(initial=0.0)))


def balance(program: SupportProgram) -> float:
    """The size of the largest worth with which ``|c| = |(s, 1)|``: the gap's two halves curve alike."""
    worth, bounds = program.relative, program.bounds
    squared = float(worth @ worth)
    return math.sqrt((float(bounds @ bounds) + len(worth)) / squared) if squared else 1.0


def steps_of(program: SupportProgram, worth: Array) -> Array:
    """A step for each of x, y, z: one over a diagonal matrix that the Hessian of Eq. 7 nowhere exceeds.

    The Hessian is at most B'B, with B the three linear maps one above the other, and B'B at most the
    diagonal matrix with the row sums of |B|'|B| (Gershgorin).
    """
    a, p = program.matrix, len(worth)
    gap = np.abs(np.concatenate([worth, program.bounds, np.ones(p)]))
    in_over, in_short = a @ np.ones(p), a.T @ np.ones(len(program.bounds)) + 1.0  # row sums of the other two
    blocks = np.concatenate([a.T @ in_over, a @ in_short, in_short])
    steps: Array = 1.0 / np.maximum(gap * gap.sum() + blocks, 1.0)
    return steps


def balanced(program: SupportProgram, worth: Array) -> Iterator[Array]:
    """The shares x after each extrapolated step on Eq. 7, of a length for each unknown.

    Such steps keep the guarantees of 1/L, and a box is projected onto entry by entry in any diagonal metric.
    """
    down = program.matrix.tocsr()
    up = down.T.tocsr()
    p, groups, bounds = len(worth), len(program.bounds), program.bounds
    gap, step = np.concatenate([-worth, bounds, np.ones(p)]), steps_of(program, worth)
    highest = np.concatenate([np.ones(p), np.full(groups + p, np.inf)])
    point = ahead = np.zeros(p + groups + p)
    weight = 1.0
    while True:
        x, y, z = np.split(ahead, (p, p + groups))
        short = np.maximum(worth - up @ y - z, 0.0)
        over = np.maximum(down @ x - bounds, 0.0)
        gradient = float(gap @ ahead) * gap + np.concatenate([up @ over, -(down @ short), -short])
        moved = np.clip(ahead - step * gradient, 0.0, highest)
        if float((ahead - moved) @ ((moved - point) / step)) > 0:  # it climbs: restart from here
            weight, ahead = 1.0, moved
        else:
            next_weight = (1 + math.sqrt(1 + 4 * weight * weight)) / 2
            ahead = moved + (weight - 1) / next_weight * (moved - point)
            weight = next_weight
        point = moved
        yield point[:p]
