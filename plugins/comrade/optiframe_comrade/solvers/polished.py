"""COMRADE down to its error floor, then steps without one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, PositiveFloat, PositiveInt
from scipy.stats import t

from optiframe.problems.objectives.objective import FiniteSum
from optiframe.records.fields import Array
from optiframe_comrade.messages import GRADIENT, NEWTON_STEP, STEP_WITH_GRADIENT
from optiframe_comrade.parts import robust_means
from optiframe_comrade.protocol.coordinator import Combined, Coordinator, Replies
from optiframe_comrade.solvers.comrade import ROUNDING, Comrade, checked_steps
from optiframe_comrade.solvers.giant import averaged_step, searched
from optiframe_comrade.unused_parameters import Unused

_LEVEL, _DEGREES = 0.005, 8.0  # of the test whether objectives rose
_DEVIATION = 1.4826  # standard deviation of a normal variable over its median absolute deviation


class Polished(Comrade):
    """COMRADE until its error floor, then steps with the averaged gradient, and no floor.

    The floor is where the workers' updates no longer agree on a direction: their average is no
    longer than `floor` times its own standard error. From there a step takes two rounds, as in
    GIANT, and a third for its length. If these steps make the median of the workers' objectives rise by more
    than chance, somebody lies without standing out: then the run goes back to the floor, and ends as
    `newton.comrade` does.

    Leaving out a fixed number of workers would now be the error: with the terms of b of m honest
    workers missing, the minimum moves by a gap of about d/(2n) b/(m - b). So, by default, only
    those are left out, and at most as many as `trim` allows, that once were `outlier_limit` times as far
    from the coordinate-wise median as the middle worker. While all agree, a negated update is;
    at the floor, where updates are noise, it is not, so what was seen earlier counts. Without any,
    the steps go on to the minimum; else to that of the terms of the workers left in.
    ``screen = "filter"`` applies `filter` to the gradients of each step in place of that.
    """

    name = "newton.polished"
    reference = "Ghosh et al., Algorithm 1, then GIANT's step; the way of leaving out is this project's"
    residual_meaning = "length of the averaged update"

    floor: PositiveFloat = Field(
        default=1.0, description="average over standard error at which the second phase begins"
    )
    rough: PositiveInt = Field(default=50, description="rounds of the first phase at most")
    screen: Literal["outliers", "filter"] = Field(
        default="outliers", description="who is left out in the second phase: outliers, or whom `filter` says"
    )
    outlier_limit: Annotated[float, Field(gt=1)] | None = Field(
        default=None,
        description="outlier score (distance from the median, over the middle one) of an outlier; "
        "none: 3, more for d < 4",
    )

    def unused_parameters(self, f: FiniteSum) -> Iterator[Unused]:
        yield from super().unused_parameters(f)
        if self.screen == "filter":
            yield "outlier_limit", 'it is for screen = "outliers"'
        elif not self.left_out:
            yield "outlier_limit", "nobody is left out, since the trim is 0; set `trim` or `byzantine`"

    def steps(self, coordinator: Coordinator, x: Array, f: FiniteSum) -> Iterator[tuple[Array, Combined]]:
        # The length of a Gaussian vector of d entries deviates by 1/sqrt(2d) of itself, which for
        # d = 3 makes 3 a matter of luck; but real updates vary along few directions, so that 3 it
        # is for any d. Among twenty honest workers of a9a updates and gradients exceed 2, not 3.
        limit = max(3.0, 1 + 4 / math.sqrt(len(x))) if self.outlier_limit is None else self.outlier_limit
        highest = np.zeros(len(coordinator.workers))
        first_phase, reached = self._first_phase(coordinator, x), None
        for point, update, replies in islice(first_phase, self.rough):
            senders = list(replies.senders)
            highest[senders] = np.maximum(highest[senders], outlier_score(replies.vectors))
            reached = point, update
            if update.signal <= self.floor:
                break
            x = point
            yield x, update
        trusted = self._trusted(coordinator, highest, limit)
        at_floor: dict[int, float] = {}  # objectives there, as the workers report them
        while True:
            if self.screen == "filter":
                gradient, update = averaged_step(coordinator, x)
            else:
                gradient = _screened(
                    coordinator, coordinator.weigh(coordinator.ask(GRADIENT, x, trusted)), limit
                )
                replies = coordinator.ask(STEP_WITH_GRADIENT, x, gradient.kept, gradient=gradient.vector)
                update = coordinator.average(replies)
            step = searched(coordinator, x, gradient, update)
            at_floor = at_floor or dict(zip(step.senders, step.before, strict=True))
            if risen(at_floor, dict(zip(step.senders, step.after, strict=True))):
                break
            x = x - step.length * update.vector
            yield x, update
        # Somebody is trusted who lies: back to the floor, and on as `newton.comrade` would.
        coordinator.ledger.unpolished = True
        if reached is not None:
            yield reached
        for point, update, _ in first_phase:
            yield point, update

    def _first_phase(self, coordinator: Coordinator, x: Array) -> Iterator[tuple[Array, Combined, Replies]]:
        if self.filter.in_metric:
            yield from checked_steps(coordinator, x, self.step)
            return
        while True:
            replies = coordinator.ask(NEWTON_STEP, x)
            update = coordinator.combine(replies)
            x = x - self.step * update.vector
            yield x, update, replies

    def _trusted(self, coordinator: Coordinator, highest: Array, limit: float) -> Sequence[int]:
        """Everybody but the outliers of the first phase, the highest score first, within the trim budget."""
        if self.screen == "filter":
            return range(len(highest))
        ranked = np.argsort(-highest, kind="stable")[: coordinator.trim]
        exiled = [int(worker) for worker in ranked if highest[worker] > limit]
        coordinator.ledger.exiled = {coordinator.workers.names[w]: float(highest[w]) for w in sorted(exiled)}
        return [worker for worker in range(len(highest)) if worker not in exiled]


def _screened(coordinator: Coordinator, replies: Replies, limit: float) -> Combined:
    """The mean without this round's outliers, within what is left of the trim budget."""
    left = max(0, coordinator.trim - (len(coordinator.workers) - len(replies.senders)))
    scores = outlier_score(replies.vectors)
    out = {int(row) for row in np.argsort(-scores, kind="stable")[:left] if scores[row] > limit}
    return coordinator.average(replies, [row for row in range(len(scores)) if row not in out])


def outlier_score(vectors: Array) -> Array:
    """Each row's distance from the coordinate-wise median, over the median of these distances."""
    distances = robust_means.distances(vectors, robust_means.coordinate_median(vectors))
    middle = float(np.median(distances))
    # Rows that mostly agree to the last bit: whoever differs at all is an outlier.
    if middle == 0.0:
        return np.where(distances > 0, np.inf, 0.0)
    with np.errstate(over="ignore"):
        return np.asarray(distances / middle)


def risen(before: Mapping[int, float], after: Mapping[int, float]) -> bool:
    """Whether the workers' objectives rose: on average, or by more than chance makes of honest data.

    They rise on average where no step of a line search helps. Of lies, which may hide that: the median
    change, which fewer than half of the workers cannot carry away, over its standard error is compared with
    Student's t of (m - 1)/2 degrees of freedom, at most 8. The error is that of the half, above or below the
    median, which scatters less: liars who report a fall, or a huge rise, widen one of them only.
    """
    changes = np.sort([after[who] - before[who] for who in after if who in before])
    count = len(changes)
    if not count:
        return False
    rounding = ROUNDING * float(np.median(np.abs(list(after.values()))))
    with np.errstate(over="ignore"):
        if float(changes.mean()) > rounding or count == 1:
            return float(changes.mean()) > rounding
    middle = float(np.median(changes))
    above, below = changes[(count + 1) // 2 :] - middle, middle - changes[: count // 2]
    spread = _DEVIATION * min(float(np.median(above)), float(np.median(below)))
    chance = float(t.isf(_LEVEL, min((count - 1) / 2, _DEGREES)))
    return middle > chance * math.sqrt(math.pi / 2 / count) * spread + rounding
