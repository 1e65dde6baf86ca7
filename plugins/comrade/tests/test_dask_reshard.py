"""Which shards move on Dask, and where to: decided without a cluster."""

from __future__ import annotations

import numpy as np
from optiframe_comrade.backends.dask_reshard import Resharder
from optiframe_comrade.messages import GRADIENT, Broadcast, Fault, Reply
from optiframe_comrade.parts.compressors import QSGD
from optiframe_comrade.protocol.ledger import Ledger, Move
from optiframe_comrade.protocol.worker import WorkerConfig

from .classification_twins import planted

ASKED = Broadcast(3, GRADIENT, np.zeros(2))
FINE = Reply(0, 3, np.ones(2))
CRASH = Fault(1, 3, "crashed", "is gone")
PLACES = {0: "a", 1: "b", 2: "c", 3: "d"}


def resharder(trim: int = 1, workers: int = 4) -> Resharder:
    return Resharder([planted(10, 2)] * workers, WorkerConfig(trim=trim))


def test_faults_and_replies_that_do_not_pass_are_reasons_to_move() -> None:
    replies = {0: FINE, 1: CRASH, 2: Reply(2, 3, np.full(2, np.nan)), 3: Reply(3, 2, np.ones(2))}
    lost = resharder(trim=3).lost(replies, ASKED, ())
    assert [(fault.worker, fault.kind) for fault in lost] == [
        (1, "crashed"),
        (2, "not-finite"),
        (3, "old-round"),
    ]


def test_a_reply_is_read_by_the_compressor_of_the_run() -> None:
    config = WorkerConfig(trim=1, compressor=QSGD())
    payload = QSGD().encode(np.ones(2), np.random.default_rng(1))
    replies = {0: Reply(0, 3, payload), 1: Reply(1, 3, payload[:-1])}
    lost = Resharder([planted(10, 2)] * 2, config).lost(replies, ASKED, ())
    assert [fault.worker for fault in lost] == [1]


def test_nothing_is_moved_beyond_the_budget_or_of_a_worker_that_is_spared() -> None:
    replies = {0: FINE, 1: CRASH, 2: Fault(2, 3, "late", "no reply by the deadline")}
    assert resharder(trim=1).lost(replies, ASKED, ()) == []
    assert [fault.worker for fault in resharder(trim=2).lost(replies, ASKED, {1})] == [2]


def test_the_process_with_the_fewest_workers_takes_the_shard() -> None:
    asked = resharder()
    assert asked.target(1, PLACES, "abcd") == "a"
    assert asked.target(2, {**PLACES, 1: "a"}, "acd") == "d"
    assert asked.target(3, PLACES, "abcde") == "e"  # one that was started again has none


def test_a_process_that_failed_gets_no_shard_while_there_is_another() -> None:
    asked = resharder()
    asked.shun("ab")
    assert asked.target(0, PLACES, "abcd") == "c"
    assert asked.target(1, PLACES, "ab") == "a"
    assert asked.target(2, PLACES, "c") is None


def test_without_word_from_the_scheduler_the_places_of_the_others_are_taken() -> None:
    assert resharder().target(0, PLACES, ()) == "b"


def test_three_processes_in_a_row_are_enough_and_a_usable_reply_counts_anew() -> None:
    asked = resharder()
    tried = [asked.target(1, PLACES, "abcd") for _ in range(3)]
    assert None not in tried[:2]
    assert tried[2] is None
    assert "3 processes in a row gave no usable reply (crashed: is gone)" in asked.why(CRASH)
    asked.lost({1: FINE}, ASKED, ())
    assert asked.target(1, PLACES, "abcd") is not None


def test_a_move_says_who_was_lost_when_and_where_the_rows_went() -> None:
    said = str(Move(CRASH, "tcp://here:1", "tcp://there:2", 800))
    assert said == (
        "round 3: worker 1 at tcp://here:1 was lost (crashed: is gone); "
        "its rows went to tcp://there:2 (800 bytes)"
    )


def test_the_books_have_a_table_of_moves_where_there_are_any() -> None:
    assert "moves" not in Ledger(["worker 0"]).tables()
    moved = Ledger(["worker 0", "worker 1"], moves=[Move(CRASH, "tcp://here:1", "tcp://there:2", 800)])
    assert moved.tables()["moves"] == {
        "round": [3],
        "worker": [1],
        "fault": ["crashed"],
        "source": ["tcp://here:1"],
        "target": ["tcp://there:2"],
        "bytes": [800],
    }
