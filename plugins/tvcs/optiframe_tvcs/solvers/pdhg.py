"""Projection onto a three-view set by a restarted primal-dual method: linear time, first order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, NonNegativeFloat, PositiveInt

from optiframe.problems.projection import Projection
from optiframe.records.fields import Array
from optiframe.solving.solver import Iterates, Run, Solver
from optiframe_tvcs.program.feasible import completed, fill
from optiframe_tvcs.program.rounding import to_vertex
from optiframe_tvcs.program.support_program import SupportProgram, perturbed, why_not
from optiframe_tvcs.projection.selection import Selection

_DECREASE = 0.2  # restart when the error fell to this share of that at the last restart (PDLP's beta)
_STAGNATE = 0.8  # or to this share, and rises again
_SMOOTHING = 0.5  # weight of the newest estimate in the log of the primal weight (PDLP's theta)
_ARRIVED = 1e-6  # relative error from which the point is taken for a best one, and shares that tie for final
_RETRY = 0.01  # where that was too early: share of the error to wait for


class PrimalDualProjection(Solver[Projection, Array, Selection]):
    """Projection onto a three-view set by diagonally preconditioned, restarted primal-dual steps.

    The fair linear-time first-order method for the program that `tvcs.first-order` attacks
    with a plain gradient: each bound has its own step, one over its number of elements, so
    that the large bound on the whole vector does not slow the small groups. An iteration
    costs O(p + groups). Every `check` iterations the current point is rounded to a support, which
    is judged by the exact projection; the run ends when it is as good.

    Supports that tie leave the steps inside the face of all best answers. Once they have
    arrived there, flow is shifted along cycles of fractional shares until it is whole.
    """

    name = "tvcs.pdhg"
    reference = "Pock, Chambolle 2011, Lemma 2; restarts as in Applegate et al. 2021 (PDLP), Sec. 3"
    solves = Projection
    monotone = False
    residual_meaning = "what the support loses, relative to its worth; nan where that is next to nothing"

    check: PositiveInt = Field(default=10, description="iterations between two roundings")
    perturbation: NonNegativeFloat = Field(
        default=0.0, description="random change of the worths, relative to the largest, against ties"
    )

    def unsuited(self, problem: Projection) -> str | None:
        return why_not(problem)

    def iterates(self, problem: Projection, run: Run) -> Iterates:
        program = SupportProgram.of(problem)
        steps = _Steps(program, perturbed(program.relative, self.perturbation, run.rng))
        last, selection = np.zeros(0, dtype=np.bool_), None
        threshold = _ARRIVED
        while True:
            count = int(min(self.check, max(run.steps_left(), 1)))
            for _ in range(count):
                steps.advance()
            steps.restart_if_due()
            x, y = steps.best()
            support = _rounded(program, x, y, steps.worth)
            same, last = np.array_equal(support, last), support
            if not same or selection is None:
                selection = program.selection(support)
            if not selection.certificate.holds and (error := steps.relative_error(x, y)) <= threshold:
                # The steps have arrived, and rounding gives no best support: supports tie.
                threshold = error * _RETRY
                vertex = to_vertex(program, x)
                if not program.over.excess(vertex):
                    selection = program.selection(completed(program, vertex))
            yield program.iterate(selection, steps=count)


def _rounded(program: SupportProgram, x: Array, y: Array, worth: Array) -> NDArray[np.bool_]:
    """Largest shares first (by reduced worth where they are equal), wherever there is room."""
    reduced = worth - program.matrix.T @ y
    shares = np.round(x, 3)  # what is nearer differs by where the steps have got to
    order = np.lexsort((-reduced, -shares))
    return fill(program, order[program.whole[order] > 0])


class _Steps:
    """The primal-dual iteration with averages, restarts and a primal weight."""

    def __init__(self, program: SupportProgram, worth: Array) -> None:
        self.worth, self.bounds = worth, program.bounds
        self.down = program.matrix.tocsr()
        self.up = self.down.T.tocsr()
        # One over the sums of the matrix's columns and rows: steps whose product is stable.
        self.primal_step = 1.0 / np.maximum(self.up.sum(axis=1), 1.0)
        self.dual_step = 1.0 / np.maximum(self.down.sum(axis=1), 1.0)
        self.weight = 1.0
        self.x, self.y = np.zeros(len(worth)), np.zeros(len(program.bounds))
        self.reset()

    def reset(self) -> None:
        """Begin new averages at the current point."""
        self.x_sum, self.y_sum, self.count = np.zeros_like(self.x), np.zeros_like(self.y), 0
        self.x_start, self.y_start = self.x.copy(), self.y.copy()
        self.error_start = self.last_error = self.error(self.x, self.y)

    def advance(self) -> None:
        """One iteration of Chambolle and Pock's method."""
        x = np.clip(self.x + self.primal_step / self.weight * (self.worth - self.up @ self.y), 0.0, 1.0)
        pushed = self.y + self.dual_step * self.weight * (self.down @ (2 * x - self.x) - self.bounds)
        self.x, self.y = x, np.maximum(pushed, 0.0)
        self.x_sum += self.x
        self.y_sum += self.y
        self.count += 1

    def error(self, x: Array, y: Array) -> float:
        """Primal infeasibility and duality gap together, in worths and elements."""
        over = np.maximum(self.down @ x - self.bounds, 0.0)
        dual = float(self.bounds @ y) + float(np.maximum(self.worth - self.up @ y, 0.0).sum())
        return float(np.linalg.norm(over)) + abs(dual - float(self.worth @ x))

    def relative_error(self, x: Array, y: Array) -> float:
        """The same as a share of the worth kept, which is at least 1 where anything fits."""
        return self.error(x, y) / max(float(self.worth @ x), 1.0)

    def best(self) -> tuple[Array, Array]:
        """The current point or the average since the last restart, whichever has the smaller error."""
        if not self.count:
            return self.x, self.y
        average = self.x_sum / self.count, self.y_sum / self.count
        return average if self.error(*average) < self.error(self.x, self.y) else (self.x, self.y)

    def restart_if_due(self) -> None:
        """Go to the better point where its error fell enough, and balance how far x and y move."""
        x, y = self.best()
        error = self.error(x, y)
        falling = error <= _DECREASE * self.error_start
        turning = error <= _STAGNATE * self.error_start and error > self.last_error
        self.last_error = error
        if not (falling or turning):
            return
        moved_x = float(np.linalg.norm((x - self.x_start) / np.sqrt(self.primal_step)))
        moved_y = float(np.linalg.norm((y - self.y_start) / np.sqrt(self.dual_step)))
        if moved_x > 0 and moved_y > 0:
            log = _SMOOTHING * np.log(moved_y / moved_x) + (1 - _SMOOTHING) * np.log(self.weight)
            self.weight = float(np.exp(log))
        self.x, self.y = x, y
        self.reset()
