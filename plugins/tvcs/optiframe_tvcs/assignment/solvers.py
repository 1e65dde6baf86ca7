"""Solvers for task assignment: iterative hard thresholding, by quality, at random (Sec. 5.2)."""

from __future__ import annotations

from abc import abstractmethod
from typing import Literal

import numpy as np
from pydantic import Field, PositiveFloat, PositiveInt

from optiframe.records.fields import Array
from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe_tvcs.assignment.answer import Assignment
from optiframe_tvcs.assignment.objective import drawn_gradient
from optiframe_tvcs.assignment.problem import TaskAssignment
from optiframe_tvcs.projection.selection import Selection

_TINY = 1e-300  # in place of a largest slope of 0


class AssignmentIHT(Solver[TaskAssignment, Assignment, None]):
    """Stochastic iterative hard thresholding on the smoothed expected accuracy.

    ::

        draw answers;  x <- P(x - step * gradient of the loss over these draws at x)

    P projects exactly onto matrices with entries in [0, 1] and a support within the caps
    (`BoxedThreeView`: by `support`, since a choice by squares would keep negative entries); the pairs
    with x > 0 are the assignment. Answers are drawn again in every iteration, as in the paper, but only
    those of pairs with x > 0: for all others the mean answer gives the same gradient without errors.

    It begins with the assignment of `tvcs.assignment-by-quality`, which is then its first iterate, with
    the empty one, or with a start that is given; the paper does not say. One iteration costs O(draws *
    assigned pairs + workers * tasks) and a projection. Steps above 1 let a task without workers take
    those that other tasks have in full; in the second half of the run they shrink to 1, at which this
    ends. Where every task has many workers all slopes are small, so that each step moves some pair by 1 at
    least. The loss is not convex, so the core keeps the best iterate it recorded, by draws of its own, and
    the accuracy reported comes from others again.
    """

    name = "tvcs.assignment-iht"
    solves = TaskAssignment
    accepts_start = True
    monotone = False
    residual_meaning = "none"
    reference = "Yang et al., Sec. 5.2 and supplement, Sec. 4"
    former_names = (("begin", "init"),)

    init: Literal["by-quality", "empty"] = Field(
        default="by-quality", description="by-quality: from that solver's assignment; empty: from none"
    )
    steps: PositiveInt = Field(default=120, description="gradient steps")
    draws: PositiveInt = Field(default=32, description="draws of answers an iteration")
    step: PositiveFloat = Field(
        default=3.5,
        description="how far the first steps move the most promising pair; at 1 it is fully assigned",
    )

    def iterates(self, problem: TaskAssignment, run: Run) -> Iterates:
        x = np.zeros(problem.over.shape) if run.start is None else run.start.chosen.astype(np.float64)
        if run.start is None and self.init == "by-quality":
            x = problem.choose(problem.quality.quality).support.reshape(x.shape).astype(np.float64)
            yield Iterate(x, info={"assigned": float(np.count_nonzero(x))})
        slope = problem.first_slope
        step = self.step / slope if slope > 0 else 1.0  # nobody knows anything: no step helps
        for done in range(self.steps):
            gradient = drawn_gradient(problem.log_odds, problem.priors, x, self.draws, run.rng)
            least = min(self.step, 1.0) / max(float(np.abs(gradient).max()), _TINY)
            x = problem.relaxed.project(x - max(step * self._share(done), least) * gradient)
            yield Iterate(x, info={"assigned": float(np.count_nonzero(x))})

    def _share(self, done: int) -> float:
        """Of the first step's length, that of the step after so many."""
        shrinking = max(2 * (done + 1) / self.steps - 1, 0.0)  # from 0 at half of the steps to 1 at the last
        return min(float(self.step**-shrinking), 1.0)

    def finish(self, problem: TaskAssignment, iterate: Iterate) -> Assignment:
        return problem.assignment(iterate.x > 0)


class _ByWorth(Solver[TaskAssignment, Assignment, Selection]):
    """What the solvers share that add up a worth for each pair."""

    solves = TaskAssignment
    residual_meaning = "how much worth is lost at most, by the certificate"

    @abstractmethod
    def worths(self, problem: TaskAssignment, run: Run) -> Array:
        """The worth of each pair, shape (workers, tasks)."""

    def iterates(self, problem: TaskAssignment, run: Run) -> Iterates:
        selection = problem.choose(self.worths(problem, run))
        chosen = selection.support.reshape(problem.over.shape)
        yield Iterate(chosen, selection.certificate.gap, detail=selection)

    def finish(self, problem: TaskAssignment, iterate: Iterate) -> Assignment:
        return problem.assignment(iterate.x)


class AssignmentByQuality(_ByWorth):
    """The assignment with the greatest sum of qualities: a linear program, solved exactly.

    `worth` says what is added up:

    - ``quality``: Q, the paper's "linear combination of Q";
    - ``excess``: |Q - 1/2|. Unlike with Q, nobody is assigned whose answers say nothing;
    - ``log-odds``: |log(Q / (1 - Q))|, the weight of the answer in Bayes' rule;
    - ``information``: (2 Q - 1)^2, as in Ho, Jabbari and Vaughan 2013.

    None of them knows that a second good worker adds less to a task than the first. Qualities
    below 1/2 count as answers to be turned round, but for ``quality``.

    `Result.detail` is the selection: prices of the caps in the units of the worth (`rows` are workers,
    `columns` tasks), and the proof that no other assignment has a greater sum. The residual is the
    proof's gap.
    """

    name = "tvcs.assignment-by-quality"
    reference = "Yang et al., Sec. 5.2 (Q-based linear programming, after Ho et al. 2013)"

    worth: Literal["quality", "excess", "log-odds", "information"] = Field(
        default="quality", description="what is added up: quality, excess, log-odds or information"
    )

    def worths(self, problem: TaskAssignment, run: Run) -> Array:
        quality = problem.quality.quality
        return {
            "quality": quality,
            "excess": np.abs(quality - 0.5),
            "log-odds": np.abs(problem.log_odds),
            "information": (2.0 * quality - 1.0) ** 2,
        }[self.worth]


class RandomAssignment(_ByWorth):
    """A random assignment that uses the caps as far as possible: the yardstick.

    The assignment with the greatest sum of uniform random worths. The residual is its proof's gap.
    """

    name = "tvcs.assignment-random"
    reference = "Yang et al., Sec. 5.2 (random assignment)"

    def worths(self, problem: TaskAssignment, run: Run) -> Array:
        return 1.0 - run.rng.random(problem.over.shape)  # above 0: a pair worth nothing is never chosen
