"""The round: what is sent, what is believed, what is counted."""

from __future__ import annotations

import pickle
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from optiframe_comrade.backends.in_process import InProcess
from optiframe_comrade.messages import GRADIENT, NEWTON_STEP, OBJECTIVE, Broadcast, Fault, Reply
from optiframe_comrade.parts.attacks import Negative
from optiframe_comrade.parts.filters import Mean, Norm
from optiframe_comrade.parts.hessian_metric import HessianMetric
from optiframe_comrade.parts.kinds import Attack, Compressor, Filter, Nothing
from optiframe_comrade.parts.metric import Metric
from optiframe_comrade.protocol.coordinator import Coordinator, TooManyFaults
from optiframe_comrade.protocol.reply_checks import check_reply, open_reply
from optiframe_comrade.protocol.sharding import split
from optiframe_comrade.protocol.worker import Worker, WorkerConfig

from optiframe import InvalidInput, part
from optiframe.records.fields import Array

from .classification_twins import algorithm_1, planted

ASKED = Broadcast(7, NEWTON_STEP, np.zeros(3))
GOOD = Reply(0, 7, np.array([1.0, 2.0, 3.0]))
QSGD = part(Compressor, {"name": "qsgd", "levels": 4})


@pytest.mark.parametrize(
    ("reply", "kind", "text"),
    [
        (replace(GOOD, round=6), "old-round", "answers round 6, asked was round 7"),
        (replace(GOOD, round=True), "old-round", "answers round True"),
        (replace(GOOD, round="7"), "old-round", "answers round '7'"),
        (replace(GOOD, payload=[1.0, 2.0, 3.0]), "wrong-type", "sent a list where an array is due"),
        (replace(GOOD, payload=b"abc"), "wrong-type", "sent a bytes where an array is due"),
        (replace(GOOD, payload=np.ones(3, np.float32)), "wrong-type", "float32, due is float64"),
        (replace(GOOD, payload=np.ones(3, object)), "wrong-type", "object, due is float64"),
        (replace(GOOD, payload=np.ma.ones(3)), "wrong-type", "MaskedArray"),
        (replace(GOOD, payload=np.ones(4)), "too-large", "sent 32 bytes, 24 are due"),
        (replace(GOOD, payload=np.ones(2)), "wrong-shape", r"shape \(2,\), due is \(3,\)"),
        (replace(GOOD, payload=np.ones((3, 1))), "wrong-shape", r"shape \(3, 1\), due is \(3,\)"),
        (replace(GOOD, payload=np.array([1, np.nan, 2])), "not-finite", "entry 1 is nan"),
        (replace(GOOD, payload=np.array([1, 2, -np.inf])), "not-finite", "entry 2 is -inf"),
        (replace(GOOD, payload=np.full(3, 1e300)), "not-finite", "its norm overflows"),
    ],
)
def test_a_reply_that_is_not_what_was_asked_is_a_fault_with_a_name(
    reply: Reply, kind: str, text: str
) -> None:
    fault = open_reply(reply, ASKED, Nothing())
    assert isinstance(fault, Fault)
    assert fault.kind == kind
    assert re.search(text, fault.text)


def test_a_good_reply_is_opened() -> None:
    assert check_reply(GOOD, ASKED, Nothing()) is None
    np.testing.assert_array_equal(open_reply(GOOD, ASKED, Nothing()), [1.0, 2.0, 3.0])
    vector = np.array([1.0, -2.0, 3.0])
    payload = QSGD.encode(vector, np.random.default_rng(0))
    assert open_reply(replace(GOOD, payload=payload), ASKED, QSGD).shape == (3,)


def test_a_huge_payload_is_refused_before_it_is_decoded() -> None:
    class Trap(Nothing):
        """Must not be asked."""

        name = "compressor.trap"
        encodes = True

        def decode(self, payload: bytes, size: int) -> Any:
            raise MemoryError

    huge = open_reply(replace(GOOD, payload=bytes(1000)), ASKED, Trap())
    assert isinstance(huge, Fault)
    assert huge.kind == "too-large"
    wrong = open_reply(replace(GOOD, payload=bytes(24)), ASKED, Trap())
    assert isinstance(wrong, Fault)  # a decoder that raises anything is the sender's fault
    assert wrong.kind == "malformed"


def test_bytes_are_counted_exactly() -> None:
    f = planted(80, 3)
    coordinator = coordinating(InProcess([f.take(slice(0, 40)), f.take(slice(40, 80))]), trim=0)
    coordinator.combine(coordinator.ask(GRADIENT, np.zeros(3)))
    coordinator.objectives(np.zeros(3), np.ones(3), np.array([0.0, 1.0]), [1])
    first, second = coordinator.ledger.exchanges
    # A round number (8 bytes) and three numbers, each way, for two workers.
    assert (first.bytes_down, first.bytes_up) == (2 * (8 + 24), 2 * (8 + 24))
    # To one worker: the point, the direction and two step lengths; back two values.
    assert (second.bytes_down, second.bytes_up) == (8 + 24 + 24 + 16, 8 + 16)
    assert (coordinator.ledger.rounds, coordinator.ledger.bytes_up, coordinator.ledger.bytes_down) == (
        2,
        88,
        136,
    )


class Scripted:
    """Workers whose replies are written down beforehand."""

    def __init__(self, *payloads: Any) -> None:
        self.payloads = payloads
        self.names = [f"worker {i}" for i in range(len(payloads))]
        self.sizes = [1] * len(payloads)

    def __len__(self) -> int:
        return len(self.payloads)

    def ask(
        self, broadcast: Broadcast, deadline: float | None = None, to: Sequence[int] | None = None
    ) -> list[Reply | Fault]:
        chosen = range(len(self)) if to is None else to
        return [
            p if isinstance(p := self.payloads[i], Fault) else Reply(99, broadcast.round, np.array(p))
            for i in chosen
        ]

    def close(self) -> None:
        pass


def coordinating(workers: Any, trim: int, chosen: Any = None) -> Coordinator:
    return Coordinator(workers, filter=chosen or Norm(), trim=trim, compressor=Nothing())


def test_the_largest_norms_are_left_out_and_written_down() -> None:
    coordinator = coordinating(Scripted([3.0, 4.0], [1.0, 0.0], [0.0, 2.0], [0.0, -3.0]), trim=2)
    combined = coordinator.newton_step(NEWTON_STEP, np.zeros(2))
    np.testing.assert_array_equal(combined.vector, [0.5, 1.0])
    assert combined.kept == (1, 2)
    assert coordinator.ledger.exchanges[0].trimmed == (0, 3)
    np.testing.assert_array_equal(coordinator.ledger.suspicion(), [1, 0, 0, 1])
    assert coordinator.ledger.table()["trimmed"] == ["worker 0, worker 3"]


def test_faults_use_up_the_trim_budget_first() -> None:
    gone = Fault(1, 1, "crashed", "the worker is gone")
    coordinator = coordinating(Scripted([9.0], gone, [np.nan], [1.0], [3.0]), trim=3)
    combined = coordinator.newton_step(NEWTON_STEP, np.zeros(1))
    assert combined.kept == (3, 4)  # two faults, one left out by its norm
    assert [fault.worker for fault in coordinator.ledger.faults] == [1, 2]
    assert coordinator.ledger.workers()["faults"].tolist() == [0, 1, 1, 0, 0]
    assert coordinator.ledger.table()["faults"] == ["worker 1: crashed, worker 2: not-finite"]


def test_a_filter_that_returns_another_shape_is_named() -> None:
    class Columns(Filter):
        name = "filter.columns"

        def aggregate(self, vectors: Array, trim: int = 0) -> Array:
            return np.asarray(vectors[:, 0])

    coordinator = Coordinator(Scripted([1.0], [2.0]), filter=Columns(), trim=0, compressor=Nothing())
    with pytest.raises(InvalidInput, match=r"filter\.columns must return.*\(1,\), got one of shape \(2,\)"):
        coordinator.newton_step(NEWTON_STEP, np.zeros(1))


def test_more_faults_than_the_budget_end_the_run_and_name_the_workers() -> None:
    coordinator = coordinating(Scripted([1.0], [np.inf], [np.nan]), trim=1)
    with pytest.raises(
        TooManyFaults, match=r"2 of 3 workers failed.*covers 1: worker 1: entry 0 is inf; worker 2: entry"
    ):
        coordinator.newton_step(NEWTON_STEP, np.zeros(1))
    with pytest.raises(TooManyFaults) as caught:
        coordinating(Scripted([np.nan]), trim=1).newton_step(NEWTON_STEP, np.zeros(1))  # nobody is left
    assert caught.value.overflows == 1


def test_the_signal_is_the_average_over_its_standard_error() -> None:
    rows = np.random.default_rng(0).standard_normal((5, 3))
    combined = coordinating(Scripted(*rows), trim=0, chosen=Mean()).newton_step(NEWTON_STEP, np.zeros(3))
    expected = np.sqrt((rows.var(axis=0, ddof=1) / 5).sum())
    assert combined.signal == pytest.approx(np.linalg.norm(rows.mean(axis=0)) / expected)


def test_in_a_metric_flat_directions_do_not_drown_the_signal() -> None:
    rows = np.random.default_rng(0).standard_normal((12, 2)) * [1e6, 0.1] + [0.0, 1.0]
    coordinator = coordinating(Scripted(*rows), trim=0, chosen=HessianMetric())
    assert coordinator.newton_step(NEWTON_STEP, np.zeros(2)).signal < 2
    coordinator.metric = Metric(np.array([1e-7, 1.0]), np.eye(2)[:, :1], np.ones(1), 1.0)
    assert coordinator.newton_step(NEWTON_STEP, np.zeros(2)).signal > 20


def test_shards_of_unequal_size_are_weighed_so_that_the_mean_is_of_all_terms() -> None:
    f = planted(70, 3)
    parts = split(70, 4, np.random.default_rng(0))
    assert sorted(map(len, parts)) == [17, 17, 18, 18]
    assert sorted(np.concatenate(parts).tolist()) == list(range(70))
    coordinator = coordinating(InProcess([f.take(p) for p in parts]), trim=0, chosen=Mean())
    w = np.array([0.5, -1.0, 0.2])
    mean = coordinator.combine(coordinator.weigh(coordinator.ask(GRADIENT, w)))
    np.testing.assert_allclose(mean.vector, f.gradient(w), rtol=1e-12)
    values = coordinator.objectives(w, np.ones(3), np.array([0.0, 0.5]), range(4))
    np.testing.assert_allclose(values.vectors.mean(axis=0), [f.value(w), f.value(w - 0.5)], rtol=1e-12)


@pytest.mark.parametrize(("byzantine", "left_out"), [(0, 0), (1, 3), (2, 4)])
def test_the_round_is_that_of_the_algorithm_box(byzantine: int, left_out: int) -> None:
    f = planted(300, 4)
    shards = [f.take(part) for part in split(300, 8, np.random.default_rng(1))]
    attack = Negative()
    coordinator = coordinating(
        InProcess(shards, WorkerConfig(attack=attack, byzantine=tuple(range(byzantine)))), trim=left_out
    )
    w = np.zeros(4)
    for _ in range(4):
        w = w - coordinator.newton_step(NEWTON_STEP, w).vector
    slow = algorithm_1(shards, np.zeros(4), 4, left_out, byzantine)
    np.testing.assert_allclose(w, slow, rtol=1e-9)


def test_every_worker_draws_from_a_stream_of_its_own() -> None:
    f = planted(60, 8)  # entries enough that two draws hardly round all alike
    config = WorkerConfig(compressor=QSGD, seed=5)
    asked = Broadcast(1, NEWTON_STEP, np.zeros(8))
    alone = Worker(1, f, config).reply(asked)
    among = InProcess([f, f, f], config).ask(asked)
    assert among[1].payload == alone.payload
    assert among[0].payload != among[2].payload or among[0].payload != among[1].payload


def test_values_of_a_line_search_are_not_compressed() -> None:
    f = planted(60, 3)
    asked = Broadcast(1, OBJECTIVE, np.zeros(3), {"direction": np.ones(3), "steps": np.zeros(1)})
    reply = Worker(0, f, WorkerConfig(compressor=QSGD)).reply(asked)
    assert reply.payload.tolist() == [f.value(np.zeros(3))]
    np.testing.assert_array_equal(open_reply(reply, asked, QSGD), reply.payload)


class Odd(Scripted):
    """Workers that send their payloads as they are."""

    def ask(self, broadcast: Broadcast, deadline: float | None = None, to: Any = None) -> list[Any]:
        return [p if isinstance(p, str) else Reply(0, broadcast.round, p) for p in self.payloads]


def test_what_is_neither_reply_nor_array_is_a_fault_and_never_an_error() -> None:
    coordinator = coordinating(Odd(np.ones(2), np.ones(2), None, 3, "not a reply"), trim=3)
    np.testing.assert_array_equal(coordinator.newton_step(NEWTON_STEP, np.zeros(2)).vector, [1.0, 1.0])
    assert [(f.worker, f.kind) for f in coordinator.ledger.faults] == [(i, "wrong-type") for i in (2, 3, 4)]
    assert "sent a str that is no reply" in coordinator.ledger.faults[2].text
    assert coordinator.ledger.bytes_up == 2 * (8 + 16) + 2 * 8


def test_a_round_number_that_cannot_be_written_down_is_a_fault_and_never_an_error() -> None:
    class Mute:
        def __repr__(self) -> str:
            raise RuntimeError

    for number in (10**5000, Mute()):
        fault = open_reply(replace(GOOD, round=number), ASKED, Nothing())  # type: ignore[arg-type]  # a lie
        assert isinstance(fault, Fault)
        assert fault.kind == "old-round"
        assert f"a strange {type(number).__name__}" in fault.text


def test_what_no_compressor_can_write_is_a_fault_of_one_worker() -> None:
    f = planted(60, 3)
    config = WorkerConfig(compressor=QSGD, attack=Negative(c=1e308), byzantine=(0,))
    first, second = InProcess([f, f], config).ask(Broadcast(1, NEWTON_STEP, np.full(3, 9.0)))
    assert isinstance(first, Fault)
    assert (first.kind, second.nbytes) == ("not-finite", 8 + 8 + 2)


def test_workers_that_are_gone_are_not_taken_for_numbers_that_overflow() -> None:
    gone = [Fault(i, 1, "crashed", "is gone") for i in range(3)]
    with pytest.raises(TooManyFaults) as caught:
        coordinating(Scripted(*gone, [np.inf]), trim=1).newton_step(NEWTON_STEP, np.zeros(1))
    assert caught.value.overflows == 1


def test_colluding_workers_among_themselves_still_know_the_honest_ones() -> None:
    f = planted(60, 3)
    attack = part(Attack, "inner-product")
    crowd = InProcess([f, f, f], WorkerConfig(attack=attack, byzantine=(0,)))
    asked = Broadcast(1, GRADIENT, np.zeros(3))
    (alone,) = crowd.ask(asked, to=[0])
    np.testing.assert_array_equal(alone.payload, crowd.ask(asked)[0].payload)


def test_questions_and_complaints_go_from_process_to_process() -> None:
    gone = TooManyFaults("1 of 3 workers failed", [Fault(1, 2, "crashed", "is gone")])
    back = pickle.loads(pickle.dumps(gone))
    assert (str(back), back.faults) == (str(gone), gone.faults)
    assert pickle.loads(pickle.dumps(ASKED)).nbytes == ASKED.nbytes
