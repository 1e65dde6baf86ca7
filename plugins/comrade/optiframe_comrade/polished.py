"""COMRADE down to its error floor, then steps without one."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field, PositiveFloat, PositiveInt

from optiframe.objectives import FiniteSum
from optiframe.values import Array
from optiframe_comrade.comrade import Comrade
from optiframe_comrade.giant import averaged_step, searched
from optiframe_comrade.messages import NEWTON_STEP
from optiframe_comrade.round import Centre, Combined


class Polished(Comrade):
    """COMRADE until its error floor, then steps with the averaged gradient, under the same filter.

    The floor is where the workers' updates no longer agree on a direction: their average is no
    longer than `floor` times its own standard error. From there a step takes two rounds, as in
    GIANT, with the filter on the gradients, and has no floor of its own: without trimming it
    goes on to the minimum. Where b of m workers are left out, it settles at the minimum of
    those left in, which differs from the whole's by what their data say.
    """

    name = "newton.polished"
    reference = "Ghosh et al., Algorithm 1, then GIANT's step under the filter (here first)"
    residual = "length of the averaged update"

    floor: PositiveFloat = Field(
        default=1.0, description="average over standard error at which the second phase begins"
    )
    rough: PositiveInt = Field(default=50, description="rounds of the first phase at most")

    def steps(self, centre: Centre, x: Array, f: FiniteSum) -> Iterator[tuple[Array, Combined]]:
        for _ in range(self.rough):
            update = centre.newton_step(NEWTON_STEP, x)
            if float((update.vector**2).sum()) <= (self.floor * update.noise) ** 2:
                break
            x = x - self.step * update.vector
            yield x, update
        while True:
            gradient, update = averaged_step(centre, x)
            x = x - searched(centre, x, gradient, update) * update.vector
            yield x, update
