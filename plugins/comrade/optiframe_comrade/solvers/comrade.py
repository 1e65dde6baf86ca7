"""COMRADE: one round a step."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field, PositiveFloat

from optiframe.problems.objective import FiniteSum
from optiframe.records.fields import Array
from optiframe_comrade.messages import NEWTON_STEP
from optiframe_comrade.protocol.coordinator import Combined, Coordinator
from optiframe_comrade.solvers.distributed import NEWTON, Distributed


class Comrade(Distributed):
    """Averages the workers' own Newton updates, without those farthest from their median.

    One round a step: every worker sends H_i^-1 g_i of its own terms. The paper leaves out the
    updates of greatest norm; ``filter = "norm"`` does so, and fails from 30% hostile workers on. What it
    settles at is not the minimum but its error floor, about as far from it as one worker's data
    allow; see `newton.polished`. With a compressor the filter sees what arrived.

    A worker's step costs s d^2 operations and 8 d^2 bytes (or products alone, see `local`),
    the coordinator m d.
    """

    name = "newton.comrade"
    reference = "Ghosh et al., Algorithm 1; with a compressor, Sec. 5"
    operations = NEWTON
    residual_meaning = "length of the averaged update; it vanishes at the error floor, not at the minimum"

    step: PositiveFloat = Field(default=1.0, description="gamma; 1 is Newton's step")

    def steps(self, coordinator: Coordinator, x: Array, f: FiniteSum) -> Iterator[tuple[Array, Combined]]:
        while True:
            update = coordinator.newton_step(NEWTON_STEP, x)
            x = x - self.step * update.vector
            yield x, update
