"""The contract of attacks, as plain functions: one for each thing they must keep."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from optiframe.errors import Unsuited
from optiframe.problems.objectives.losses import Logistic
from optiframe.problems.objectives.objective import FiniteSum
from optiframe.records.fields import Array
from optiframe.testing import NotApplicable, Subject
from optiframe_comrade.messages import (
    GRADIENT,
    NEWTON_STEP,
    OBJECTIVE,
    STEP_WITH_GRADIENT,
    STEP_WITH_VALUE,
    Reply,
)
from optiframe_comrade.parts.filters import DistanceToMedian
from optiframe_comrade.parts.kinds import Attack, NoReply, Situation

_WIDTH, _TERMS, _HONEST = 5, 40, 12
_BYZANTINE = (1, 4, 9)
_STEPS = 7  # numbers in a reply that has another size than the point
_ROUNDS = (1, 2, 3)
_COMPARED = 1000  # entries of a payload, which may claim a gigabyte


def _width(subject: Subject) -> int:
    return _WIDTH if subject.shape is None else math.prod(subject.shape)


def _shard(subject: Subject) -> Logistic:
    """A worker's data, the same at each call."""
    rng = np.random.default_rng(subject.seed)
    matrix = rng.standard_normal((_TERMS, _width(subject)))
    return Logistic(matrix=matrix, target=np.where(np.arange(_TERMS) % 2, 1.0, -1.0), l2=0.1)


def _rounds(subject: Subject) -> Iterator[tuple[Callable[[], Situation], Array]]:
    """For each kind of broadcast how to make the situation, the same each time, and the worker's vector."""
    for round, kind in enumerate(
        (NEWTON_STEP, STEP_WITH_VALUE, GRADIENT, STEP_WITH_GRADIENT, OBJECTIVE), start=1
    ):
        width = _STEPS if kind == OBJECTIVE else _width(subject)

        def situation(round: int = round, kind: str = kind, width: int = width) -> Situation:
            rng = np.random.default_rng(subject.seed)
            honest = 2.0 + rng.standard_normal((_HONEST, width))
            return Situation(
                worker=_BYZANTINE[1],
                round=round,
                kind=kind,
                byzantine=_BYZANTINE,
                trim=len(_BYZANTINE),
                honest=honest,
                point=rng.standard_normal(_width(subject)),
                rng=rng,
                rule=DistanceToMedian(),
                shard=_shard(subject),
            )

        yield situation, np.random.default_rng(subject.seed + 1).standard_normal(width) + 2.0


def _known(situation: Situation) -> Array:
    """The honest workers' vectors, which are there in the situations of `_rounds`."""
    assert situation.honest is not None
    return situation.honest


def _needs(subject: Subject, name: str) -> None:
    if getattr(type(subject.part), name) is getattr(Attack, name):
        raise NotApplicable(f"it leaves `{name}` as it is")


def _vector(subject: Subject, lie: Any, shape: tuple[int, ...], what: str) -> Array:
    """A lie as numbers; fails unless they are finite and of that shape."""
    found = np.asarray(lie, dtype=np.float64)
    if found.shape != shape:
        subject.fail(f"{what} gives the shape {found.shape}; it must be {shape}")
    if not np.isfinite(found).all():
        subject.fail(
            f"{what} gives a number that is not finite; what is no vector is sent by `tamper`, as faults are"
        )
    return found


def check_a_lie_is_a_vector_of_the_size_asked_for(subject: Subject) -> None:
    """The vector sent has as many numbers as the one computed, all finite, for each kind of broadcast."""
    for situation, vector in _rounds(subject):
        lie = subject.part.falsify(vector.copy(), situation())
        _vector(subject, lie, vector.shape, f"falsify, in a round of kind {situation().kind!r},")


def check_the_same_stream_gives_the_same_lies(subject: Subject) -> None:
    """It draws its random numbers from the situation's stream, and keeps nothing between calls."""
    for situation, vector in _rounds(subject):
        one, other = (subject.part.falsify(vector.copy(), situation()) for _ in range(2))
        if not np.array_equal(one, other):
            subject.fail(
                "falsify gives another vector in the same situation with the same stream; draw from "
                "`situation.rng` only"
            )
        values = [subject.part.claim(1.0, situation()) for _ in range(2)]
        if values[0] != values[1]:
            subject.fail("claim gives another number in the same situation with the same stream")


def check_it_writes_into_nobodys_vectors(subject: Subject) -> None:
    """The worker's own vector, the honest ones and the point stay as they were."""
    for make, vector in _rounds(subject):
        situation, mine = make(), vector.copy()
        subject.part.conspire(situation)
        subject.part.falsify(mine, situation)
        subject.unchanged("falsify", mine, vector)
        if not np.array_equal(_known(situation), _known(make())):
            subject.fail("it changes the honest workers' vectors; hostile workers change only what they send")
        if not np.array_equal(situation.point, make().point):
            subject.fail("it changes the point, which all workers share")


def check_without_colluding_it_knows_only_its_own(subject: Subject) -> None:
    """Unless it says that it colludes, it lies without the honest workers' vectors, as on a real network."""
    if subject.part.colludes:
        raise NotApplicable("it says that it needs the honest workers' vectors (`colludes = True`)")
    for make, vector in _rounds(subject):
        situation = make()
        blind = replace(situation, honest=None, rule=None)
        try:
            subject.part.falsify(vector.copy(), blind)
        except Exception as error:
            subject.fail(
                f"without the honest workers' vectors falsify raises {type(error).__name__}: {error!s:.80}; "
                "set colludes = True"
            )


def check_a_plan_has_one_row_for_each_hostile_worker(subject: Subject) -> None:
    """What hostile workers agree on is a vector for each of them, and each sends its own."""
    _needs(subject, "conspire")
    for make, vector in _rounds(subject):
        plan = subject.part.conspire(make())
        if plan is not None:
            _vector(subject, plan, (len(_BYZANTINE), len(vector)), "conspire")


def check_a_claimed_objective_is_a_number(subject: Subject) -> None:
    """What it reports as its objective is one finite number."""
    _needs(subject, "claim")
    for make, _ in _rounds(subject):
        claimed = subject.part.claim(1.0, make())
        if not isinstance(claimed, float | int | np.floating) or not math.isfinite(claimed):
            subject.fail(f"claim gives {claimed!r:.60}; it must be one finite number")


def check_poisoned_data_are_data(subject: Subject) -> None:
    """A worker can compute with the data it poisoned, the same each time; the true data stay as they were."""
    _needs(subject, "poison")
    point = np.ones(_width(subject))
    found = []
    for _ in range(2):
        shard = _shard(subject)
        before = shard.gradient(point)
        try:
            poisoned = subject.part.poison(shard, np.random.default_rng(subject.seed))
        except Unsuited as reason:
            raise NotApplicable(str(reason)) from None
        if not isinstance(poisoned, FiniteSum):
            subject.fail(f"poison gives a {type(poisoned).__name__}; it must be a FiniteSum")
        if not np.array_equal(shard.gradient(point), before):
            subject.fail("poison changes the data it was given; work on a copy")
        found.append(poisoned.gradient(point))
        _vector(subject, found[-1], point.shape, "the gradient of poisoned data")
    if not np.array_equal(*found):
        subject.fail("poison gives other data with the same stream; draw from `rng` only")


def check_a_fault_is_a_reply_or_silence(subject: Subject) -> None:
    """What leaves a worker is a `Reply`, or none with its reason; the true reply stays as it was."""
    _needs(subject, "tamper")
    make, vector = next(_rounds(subject))
    for payload in (vector, vector.tobytes()):
        for round in _ROUNDS:
            first, second = (_sent(subject, make(), payload, round) for _ in range(2))
            if isinstance(first, Reply) and isinstance(second, Reply):
                same = first.round == second.round and _alike(first.payload, second.payload)
            else:
                same = first == second
            if not same:
                subject.fail("tamper sends another reply in the same situation with the same stream")


def _sent(subject: Subject, situation: Situation, payload: Any, round: int) -> Reply | str:
    """The reply that leaves in a round, or why none does."""
    past = tuple(Reply(situation.worker, at, payload) for at in range(1, round + 1))
    reply = Reply(situation.worker, round, payload.copy() if isinstance(payload, np.ndarray) else payload)
    mine = replace(situation, round=round, past=past)
    try:
        sent = subject.part.tamper(reply, mine)
    except NoReply as silence:
        if silence.kind not in ("crashed", "late"):
            subject.fail(f'NoReply has the kind {silence.kind!r}; it must be "crashed" or "late"')
        return silence.kind
    if not isinstance(sent, Reply):
        subject.fail(f"tamper gives a {type(sent).__name__}; it must be a Reply, or raise NoReply")
    if not _alike(reply.payload, payload):
        subject.fail("tamper changes the reply it was given; make another one")
    return sent


def _alike(one: Any, other: Any) -> bool:
    """Whether two payloads begin alike; a message that claims a gigabyte is not read to its end."""
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.shape == other.shape and np.array_equal(
            one[:_COMPARED], other[:_COMPARED], equal_nan=np.issubdtype(one.dtype, np.floating)
        )
    return type(one) is type(other) and bool(one == other)


ATTACK_CHECKS = (
    check_a_lie_is_a_vector_of_the_size_asked_for,
    check_the_same_stream_gives_the_same_lies,
    check_it_writes_into_nobodys_vectors,
    check_without_colluding_it_knows_only_its_own,
    check_a_plan_has_one_row_for_each_hostile_worker,
    check_a_claimed_objective_is_a_number,
    check_poisoned_data_are_data,
    check_a_fault_is_a_reply_or_silence,
)
