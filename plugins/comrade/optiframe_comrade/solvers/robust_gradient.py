"""Gradient descent with robust averages: the first-order yardstick."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from pydantic import Field, PositiveFloat

from optiframe.problems.minimize import Minimize
from optiframe.problems.objectives.objective import FiniteSum, Objective
from optiframe.records.fields import Array
from optiframe_comrade.messages import GRADIENT
from optiframe_comrade.protocol.coordinator import Combined, Coordinator
from optiframe_comrade.solvers.distributed import Distributed
from optiframe_comrade.unused_parameters import Unused


class RobustGradient(Distributed):
    """Gradient descent on the filtered average of the workers' gradients: one round a step.

    Take a filter such as `coordinate-median`, `trimmed-mean`, `krum`, or `mean` for none. It needs
    many more rounds than a Newton method, each of s d operations a worker.
    """

    name = "gradient.robust"
    reference = "Yin et al. 2018 for median and trimmed mean, Blanchard et al. 2017 for Krum"
    residual_meaning = "length of the filtered gradient"

    step: PositiveFloat | None = Field(
        default=None, description="step length; none: 1 / curvature of the objective"
    )

    def unsuited(self, problem: Minimize) -> str | None:
        if self.step is None and not problem.function.offers(Objective.curvature):
            return "the objective has no curvature bound; give a step"
        return super().unsuited(problem)

    def unused_parameters(self, f: FiniteSum) -> Iterator[Unused]:
        newton = {"local", "hessian_terms"}
        yield from (each for each in super().unused_parameters(f) if each[0] not in newton)
        yield from ((name, f"{self.name} takes no Newton steps") for name in sorted(newton))

    def steps(self, coordinator: Coordinator, x: Array, f: FiniteSum) -> Iterator[tuple[Array, Combined]]:
        length = self.step
        if length is None:
            bound = float(f.curvature())
            length = 1 / bound if bound > 0.0 else 1.0  # where nothing is curved any step will do
        while True:
            gradient = coordinator.combine(coordinator.weigh(coordinator.ask(GRADIENT, x)))
            x = x - np.float64(length) * gradient.vector
            yield x, gradient
