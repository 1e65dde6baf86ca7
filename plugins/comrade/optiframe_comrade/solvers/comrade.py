"""COMRADE: one round a step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import numpy as np
from pydantic import Field, PositiveFloat

from optiframe.problems.objectives.objective import FiniteSum
from optiframe.records.fields import Array
from optiframe.registry.by_name import ByName
from optiframe_comrade.messages import NEWTON_STEP
from optiframe_comrade.parts.hessian_metric import HessianMetric
from optiframe_comrade.parts.kinds import Filter
from optiframe_comrade.parts.metric import AnyMetric
from optiframe_comrade.protocol.coordinator import Combined, Coordinator, Replies
from optiframe_comrade.protocol.sketch import refined_metric
from optiframe_comrade.solvers.distributed import NEWTON, Distributed

_REFINED = 5  # steps after which the metric is refined: Newton's method is near the floor by then
_DOUBTED = 3  # steps after which the first that is rejected has the metric refined
_DIRECTIONS = 2  # of scatter for each column of the first sketch
_LEAST = 0.5  # of a step, however far steps seem to lead beyond the minimum
_AGAIN = 3  # updates in a row that take back nothing, after which steps are whole again
_SHORTER = 3  # times a step is shortened to a quarter before the floor is reached
ROUNDING = 1e-15  # relative error of a mean of losses


class Comrade(Distributed):
    """Averages the workers' own Newton updates, without outliers.

    One round a step: every worker sends H_i^-1 g_i of its own terms. The paper leaves out the
    updates of greatest norm; ``filter = "norm"`` does so, and fails from 10% hostile workers on. The
    default filter measures distances by a sketch of the Hessian, for which it asks in three rounds
    before the first step, and accepts a step only if the workers' objectives fall. What it
    settles at is not the minimum but its error floor, about as far from it as one worker's data
    allow; see `newton.polished`. With a compressor the filter sees what arrived.

    A worker's step costs s d^2 operations and 8 d^2 bytes (or products alone, see `local`),
    the coordinator m d.
    """

    name = "newton.comrade"
    reference = "Ghosh et al., Algorithm 1; with a compressor, Sec. 5"
    operations = NEWTON
    residual_meaning = "length of the averaged update; it vanishes at the error floor, not at the minimum"

    filter: Annotated[Filter, ByName()] = Field(default=HessianMetric(), description="how replies become one")
    step: PositiveFloat = Field(default=1.0, description="gamma; 1 is Newton's step")

    def steps(self, coordinator: Coordinator, x: Array, f: FiniteSum) -> Iterator[tuple[Array, Combined]]:
        if self.filter.in_metric:
            for point, update, _ in checked_steps(coordinator, x, self.step):
                yield point, update
            return
        while True:
            update = coordinator.newton_step(NEWTON_STEP, x)
            x = x - self.step * update.vector
            yield x, update


def checked_steps(
    coordinator: Coordinator, x: Array, step: float
) -> Iterator[tuple[Array, Combined, Replies]]:
    """Points whose objective fell, each with the update that led to it and the replies it is of.

    The check costs no round: with its update at the next point, which is asked for in any case, each worker
    sends its objective there. If the median of the workers' changes does not fall, the step is taken
    again at a quarter of its length, three times; then the floor is reached and the points end. Once a run
    the metric is refined, with the replies that are there: after five steps, or three and one that is
    rejected, or before the end.

    Where shards are small their own minima are far off, and the average of their updates may change by more
    than the point does. Whole steps then lead beyond the minimum, and multiply what lies have added before.
    So where an update takes back a part of the one before, steps are shorter from then on, down to half,
    until three updates in a row take back nothing: a first step that led too far, because the objective is
    far from quadratic there, slows the steps after it only for a while.
    """
    replies, values = coordinator.ask_step(x)
    taken, refined = 0, coordinator.metric is None
    part, before = 1.0, None  # of the update; the update before and the part of it that was taken
    calm = 0  # updates in a row that took back nothing
    while True:
        if taken == _REFINED and not refined:
            refined, before = _refine(coordinator, x, replies), None
        update = coordinator.combine(replies)
        if before is not None and coordinator.metric is not None:
            wanted = part_for(coordinator.metric, *before, update.vector)
            calm = calm + 1 if wanted == 1.0 else 0
            part = 1.0 if calm >= _AGAIN else min(part, wanted)
        length, ahead = part, x
        for _ in range(1 + _SHORTER):
            ahead = x - length * step * update.vector
            next_replies, next_values = coordinator.ask_step(ahead)
            if accepted := _falls(replies.senders, values, next_replies.senders, next_values):
                break
            coordinator.ledger.rejected.append(coordinator.ledger.rounds)
            if not refined and taken >= _DOUBTED:
                break
            length /= 4
        if not accepted:
            if not refined:
                refined, before = _refine(coordinator, x, replies), None
                continue
            if not taken:  # the start is the answer
                yield x, update, replies
            return
        x, taken, before = ahead, taken + 1, (update.vector, length)
        yield x, update, replies
        replies, values = next_replies, next_values


def part_for(metric: AnyMetric, before: Array, length: float, update: Array) -> float:
    """The part of an update that leads to where updates vanish, from half to 1, by two of them.

    If updates fall linearly along the way, it is `length` over the part of the update `before` by which
    taking that much of it has shortened the next one. Lies can do no more than halve steps.
    """
    one, two = metric.updates(np.array([before, update]))
    square = float(one @ one)
    gone = square - float(one @ two)
    return 1.0 if gone <= length * square else max(_LEAST, length * square / gone)


def _refine(coordinator: Coordinator, x: Array, replies: Replies) -> bool:
    """Give the coordinator the refined metric at x; True, for done."""
    assert coordinator.metric is not None  # `checked_steps` has looked
    assert isinstance(coordinator.filter, HessianMetric)
    directions = _DIRECTIONS * coordinator.filter.columns
    coordinator.metric = refined_metric(coordinator, x, coordinator.metric, replies.vectors, directions)
    return True


def _falls(before: tuple[int, ...], values: Array, after: tuple[int, ...], ahead: Array) -> bool:
    """Whether the median change of the objective is negative, or lost in its rounding."""
    known = dict(zip(before, values, strict=True))
    with np.errstate(over="ignore"):
        changes = np.array([new - known[who] for who, new in zip(after, ahead, strict=True) if who in known])
    return len(changes) > 0 and float(np.median(changes)) <= ROUNDING * float(np.median(np.abs(values)))
