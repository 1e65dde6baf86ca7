"""Stochastic iterative hard thresholding and gradient matching pursuit on finite sums."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import Field, NonNegativeInt, PositiveInt

from optiframe.problems.minimize import Minimize
from optiframe.problems.objectives.objective import FiniteSum, Objective
from optiframe.problems.sets.constraint_set import ConstraintSet
from optiframe.records.fields import Array
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe_tvcs.learning.gradmp import Lowest, Refit, doubled_projector, pursue
from optiframe_tvcs.learning.iht import descend
from optiframe_tvcs.learning.restricted import Inner, minimise_on, why_not_inner
from optiframe_tvcs.learning.steps import FAR, HALVINGS, ROUNDING, first_trial, into, nowhere
from optiframe_tvcs.sets.sparse_sets import (
    Projector,
    first_point,
    norm,
    not_of_supports,
    projector,
    support,
)

_VAIN = 5  # passes over the terms without a better point, after which none is expected


class Blocks:
    """The terms of a finite sum, divided at random into blocks of about `size` terms; one is drawn at a time.

    Each block is the mean of its terms plus the regularizer. It is drawn in proportion to its number of
    terms, so that the mean of gradients over draws is the full gradient.
    """

    def __init__(self, function: FiniteSum, size: int, rng: np.random.Generator) -> None:
        self.function, self.rng = function, rng
        order = rng.permutation(len(function))
        self.parts = np.array_split(order, max(1, round(len(function) / size)))
        self.chance = np.array([len(part) for part in self.parts]) / len(order)

    def draw(self) -> FiniteSum:
        """One block; memory of its terms."""
        return self.function.take(self.parts[int(self.rng.choice(len(self.parts), p=self.chance))])


class _Stochastic(Solver[Minimize, Array, None]):
    """What both have in common: the blocks, and the residual that costs a full gradient."""

    solves = Minimize
    uses = (ConstraintSet.project, Objective.gradient)
    accepts_start = True
    monotone = False
    residual_meaning = (
        "length of a full gradient step into the set over the step, where full_every asks for it; else nan"
    )

    block: PositiveInt = Field(default=64, description="terms of the sum in a block")
    full_every: NonNegativeInt = Field(
        default=0, description="iterations between residuals, each of a full gradient; 0: no residual"
    )

    def unsuited(self, problem: Minimize) -> str | None:
        if not isinstance(problem.function, FiniteSum):
            return (
                f"the objective {problem.function.known_as!r} is not a finite sum: an `optiframe.FiniteSum`, "
                "with len() and take()"
            )
        return None

    def _residual(self, problem: Minimize, onto: Projector, x: Array, step: float, iteration: int) -> float:
        if not self.full_every or iteration % self.full_every:
            return float("nan")
        return norm(onto.project(x - step * problem.function.gradient(x)) - x) / step


class StochasticIHT(_Stochastic):
    """Iterative hard thresholding with the gradient of a random block of terms.

    ::

        x <- P(x - step * gradient of one block at x)

    Needs a finite sum with a gradient. An iteration costs the gradient of one block and a
    projection; the blocks are a random partition, drawn from in proportion to their size.

    The step is a number, or "backtracking": it begins as one over the curvature of the first
    block and is halved, for good, whenever the block lies above the parabola of that step at
    the point it leads to. One more value of the block an iteration.

    Blocks of one size do not find the exact support: with fewer rows than nonzeros a block fits many
    points exactly, so its steps must be short, and short steps leave the first support in place. So
    the block grows: after each pass over the terms it is `growth` times as large. Once a block holds all
    terms, the steps are those of `tvcs.iht` with the same rule, with its residual. `growth = 1` keeps the
    size, as in the paper.

    Convergence: with `growth` above 1 that of `tvcs.iht`, from the point reached (Zhou, Yuan, Feng 2018 give
    rates for growing blocks). With `growth = 1`, under restricted isometry in expectation at a linear rate
    to a ball around the true point, whose radius grows with the noise and with what block gradients are at
    that point (Nguyen, Needell, Woolf 2014, Theorem 1). The core keeps the best point it recorded.

    While blocks are parts, the residual is nan unless `full_every` asks for one now and then. The step
    size enters it as in `tvcs.iht`.
    """

    name = "tvcs.stochastic-iht"
    reference = "Nguyen, Needell, Woolf 2014 (Yang et al., Sec. 3); Zhou, Yuan, Feng 2018 (growing blocks)"

    growth: Annotated[float, Field(ge=1)] = Field(
        default=2.0,
        description="factor by which blocks grow after a pass over the terms; 1: they keep their size",
    )
    step: Literal["backtracking"] | Annotated[float, Field(gt=0)] = Field(
        default="backtracking", description="backtracking on the block; or a fixed step"
    )

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        assert isinstance(problem.function, FiniteSum)
        function, onto, x = problem.function, projector(problem.over), first_point(problem, run)
        size = min(float(self.block), float(len(function)))
        blocks = Blocks(function, self.block, run.rng)
        step = None if self.step == "backtracking" else self.step
        iteration = in_pass = 0
        while self.growth == 1 or len(blocks.parts) > 1:
            iteration, in_pass = iteration + 1, in_pass + 1
            block = blocks.draw()
            gradient = block.gradient(x)
            if self.step == "backtracking":
                step = first_trial(block, x, gradient) if step is None else step
                moved, step = _below_the_parabola(block, onto, x, gradient, step)
            else:
                assert step is not None
                moved = into(onto, x - step * gradient)
            if moved is None:
                yield Iterate(x)
                return nowhere(gradient)
            if self.step != "backtracking" and norm(moved - x) > FAR * step:
                yield Iterate(x)
                return Status.DIVERGED, "the moves grow without end; take a shorter step"
            x = moved
            yield Iterate(x, self._residual(problem, onto, x, step, iteration), info={"step": step})
            if self.growth > 1 and in_pass >= len(blocks.parts):
                size, in_pass = size * self.growth, 0
                blocks = Blocks(function, min(int(size), len(function)), run.rng)
                step = None if self.step == "backtracking" else step  # larger blocks are flatter
        return (yield from descend(problem, onto, x, self.step))


class StochasticGradMP(_Stochastic):
    """Gradient matching pursuit that chooses the wide support by the gradient of a random block.

    ::

        wide <- supp(P_2s(gradient of one block at x)) or supp(x)
        z    <- argmin of the full objective over points with support in wide
        x    <- P_s(z)

    Needs a finite sum with a gradient and a set of supports (see `tvcs.gradmp`). An iteration costs
    the gradient of one block, two projections and a restricted minimisation of the full
    objective.

    Convergence: as `tvcs.gradmp`, in expectation (Nguyen, Needell, Woolf 2014, Theorem 2). A run ends when
    five passes over the terms have brought no better point (`finished`), and with `refit` goes to the best
    fit on the support of the best one. Where one block holds all terms, the steps are those of `tvcs.gradmp`,
    with its residual and its end.

    The residual is nan unless `full_every` asks for one now and then; its step is one over
    the curvature along the gradient.
    """

    name = "tvcs.stochastic-gradmp"
    reference = "Nguyen, Needell, Woolf 2014 (Yang et al., Sec. 3)"

    inner: Inner = "auto"
    refit: Refit = True

    def unsuited(self, problem: Minimize) -> str | None:
        return (
            super().unsuited(problem)
            or not_of_supports(problem)
            or why_not_inner(problem.function, self.inner)
        )

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        function = problem.function
        assert isinstance(function, FiniteSum)
        onto, doubled = projector(problem.over), doubled_projector(problem)
        x, blocks = first_point(problem, run), Blocks(function, self.block, run.rng)
        if len(blocks.parts) == 1:
            return (yield from pursue(problem, run, self.inner, self.refit))
        step = first_trial(function, x, function.gradient(x)) if self.full_every else float("nan")
        lowest = Lowest(function)
        iteration = since = 0
        while since < _VAIN * len(blocks.parts):
            iteration += 1
            gradient = blocks.draw().gradient(x)
            matched = into(doubled, gradient)
            if matched is None:
                yield Iterate(x)
                return nowhere(gradient)
            wide = support(matched) | support(x)
            z = minimise_on(function, wide, x, self.inner, run.time_left)
            x = np.asarray(onto.project(z))
            yield Iterate(x, self._residual(problem, onto, x, step, iteration))
            since = 0 if lowest.look_at(x) else since + 1
        if self.refit:
            yield lowest.fitted(self.inner, run)
        return Status.FINISHED, f"no better point in {_VAIN} passes over the samples"


def _below_the_parabola(
    block: FiniteSum, onto: Projector, x: Array, gradient: Array, step: float
) -> tuple[Array | None, float]:
    """The step into the set, halved until the block lies below its parabola there; and that step."""
    value = block.value(x)
    for _ in range(HALVINGS):
        if (moved := into(onto, x - step * gradient)) is not None:
            move = moved - x
            slope = float(np.vdot(np.where(move, gradient, 0.0), move))  # infinite entries may not move
            parabola = value + slope + float(np.sum(move**2)) / (2 * step)
            with np.errstate(over="ignore", invalid="ignore"):  # a trial may be far too long
                ahead = block.value(moved)
            if ahead <= parabola + ROUNDING * abs(value):
                break
        step /= 2
    return moved, step
