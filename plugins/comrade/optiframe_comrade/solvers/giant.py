"""GIANT and its robust variant: two rounds a step, a third for the line search."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from optiframe.problems.objectives.objective import FiniteSum
from optiframe.records.fields import Array
from optiframe.registry.by_name import ByName
from optiframe_comrade.messages import GRADIENT, STEP_WITH_GRADIENT
from optiframe_comrade.parts.filters import Mean, Norm
from optiframe_comrade.parts.kinds import Filter
from optiframe_comrade.protocol.coordinator import Combined, Coordinator
from optiframe_comrade.solvers.distributed import NEWTON, Distributed

# Step lengths tried at once in the one round of a line search: 1, 1/2, ..., 1/512. Below that
# a Newton step is no Newton step.
_LENGTHS = 0.5 ** np.arange(10)
_ENOUGH = 1e-4  # Armijo's constant, the usual one: nearly any decrease will do


def averaged_step(coordinator: Coordinator, x: Array) -> tuple[Combined, Combined]:
    """The averaged gradient, and the average of H_i^-1 times it, by two rounds.

    The filter chooses among the gradients; the second round asks those that are in their average.
    """
    gradient = coordinator.combine(coordinator.weigh(coordinator.ask(GRADIENT, x)))
    replies = coordinator.ask(STEP_WITH_GRADIENT, x, gradient.kept, gradient=gradient.vector)
    return gradient, coordinator.average(replies)


@dataclass(frozen=True)
class Searched:
    """A step's length, and the objectives of the workers before and after it, as they report them."""

    length: float
    senders: tuple[int, ...]
    before: Array
    after: Array


def searched(coordinator: Coordinator, x: Array, gradient: Combined, update: Combined) -> Searched:
    """The longest step that decreases the workers' averaged objective enough (Armijo); one round."""
    replies = coordinator.objectives(x, update.vector, np.concatenate([[0.0], _LENGTHS]), gradient.kept)
    values = replies.vectors.mean(axis=0)
    slope = float(gradient.vector @ update.vector)
    enough = values[1:] <= values[0] - _ENOUGH * _LENGTHS * slope
    at = int(np.argmax(enough)) if enough.any() else len(_LENGTHS) - 1
    return Searched(float(_LENGTHS[at]), replies.senders, replies.vectors[:, 0], replies.vectors[:, 1 + at])


class _TwoRounds(Distributed):
    """The loop of GIANT and of its robust variant."""

    operations = NEWTON

    search: Literal["none", "armijo"] = Field(
        default="armijo", description="armijo: a line search, one round more; none: full steps"
    )

    def steps(self, coordinator: Coordinator, x: Array, f: FiniteSum) -> Iterator[tuple[Array, Combined]]:
        while True:
            gradient, update = averaged_step(coordinator, x)
            length = searched(coordinator, x, gradient, update).length if self.search == "armijo" else 1.0
            x = x - length * update.vector
            yield x, update


class Giant(_TwoRounds):
    """Averages H_i^-1 g with the averaged gradient g: two rounds a step, and no error floor.

    Without `search` it takes full steps and may diverge from far away, without any attack; with
    it, a third round finds a step length. Its filter is the plain mean: it trusts everybody.
    """

    name = "newton.giant"
    reference = "Wang et al. 2018 (GIANT), the rival of Ghosh et al., Sec. 6"

    filter: Annotated[Filter, ByName()] = Field(
        default=Mean(), description="how gradients become one; GIANT's own is the mean"
    )


class RobustGiant(_TwoRounds):
    """GIANT that leaves out the workers of greatest gradient: two rounds a step, three with `search`.

    The first round chooses by the norm of the local gradients, the second averages the steps of
    those chosen. Steps are H_i^-1 times the averaged gradient, as in GIANT; the paper's text
    says the local one, with which the first round would only choose.
    """

    name = "newton.robust-giant"
    reference = "Ghosh et al., Sec. 6"

    filter: Annotated[Filter, ByName()] = Field(
        default=Norm(), description="how gradients become one; Robust GIANT's own is by norm"
    )
