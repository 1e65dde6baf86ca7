"""Broadcasts and replies on Flower's wire: read strictly, whoever wrote them. No processes here."""

from __future__ import annotations

import contextlib
import json
import math
import pickle
import re
import socket
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from optiframe_comrade import Broadcast, Fault, Reply, mean_of
from optiframe_comrade.backends.flower import flower, node, persistent_client, protocol
from optiframe_comrade.backends.flower.loopback import only_loopback
from optiframe_comrade.backends.flower.protocol import (
    Work,
    read_broadcast,
    read_reply,
    write_broadcast,
    write_reply,
)
from optiframe_comrade.backends.in_process import InProcess
from optiframe_comrade.messages import GRADIENT, NEWTON_STEP, OBJECTIVE, STEP_WITH_GRADIENT
from optiframe_comrade.parts.attacks import Negative
from optiframe_comrade.parts.compressors import QSGD, TopK
from optiframe_comrade.parts.faults import HugeMessage, Malformed, WrongShape, WrongType
from optiframe_comrade.parts.kinds import Nothing, Situation
from optiframe_comrade.protocol.reply_checks import open_reply
from optiframe_comrade.protocol.worker import Worker, WorkerConfig
from optiframe_comrade.protocol.workers import WorkersLost
from optiframe_comrade.solvers.comrade import Comrade

import optiframe
from optiframe.errors import InvalidInput, Unsuited

from .classification_twins import planted
from .flower_actor import Armed, content

with flower():
    from optiframe_comrade.backends.flower import server_app
    from optiframe_comrade.backends.flower.grid_workers import Ready

ASKED = Broadcast(3, NEWTON_STEP, np.zeros(4))
FINE = write_reply(Reply(0, 3, np.arange(4.0)))
WORK = Work(loss="logistic", l2=0.01, seed=2**62 + 1, run="one")


@settings(max_examples=30, deadline=None)
@given(
    st.integers(1, 2**40),
    st.lists(st.floats(width=64), min_size=1, max_size=8),
    st.sampled_from([NEWTON_STEP, GRADIENT, STEP_WITH_GRADIENT, OBJECTIVE]),
)
def test_a_broadcast_comes_out_as_it_went_in(number: int, point: list[float], kind: str) -> None:
    x = np.array(point)
    arrays = {
        STEP_WITH_GRADIENT: {"gradient": -x},
        OBJECTIVE: {"direction": np.flip(x), "steps": np.array([0.0, 1.0])},
    }.get(kind, {})
    back = read_broadcast(write_broadcast(Broadcast(number, kind, x, arrays)))
    assert (back.round, back.kind) == (number, kind)
    np.testing.assert_array_equal(back.point, x)
    assert back.arrays.keys() == arrays.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(back.arrays[name], array)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 2**40), st.lists(st.floats(width=64), min_size=1, max_size=8), st.booleans())
def test_a_reply_comes_out_as_it_went_in(number: int, entries: list[float], encoded: bool) -> None:
    payload = np.array(entries).tobytes() if encoded else np.array(entries)
    back = read_reply(5, ASKED, write_reply(Reply(0, number, payload)))
    assert isinstance(back, Reply)
    assert (back.worker, back.round) == (5, number)  # the worker is known by the line, not by its word
    np.testing.assert_array_equal(back.payload, payload)


_ANYTHING = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.binary(max_size=40),
    st.lists(st.integers(), max_size=3),
    st.lists(st.text(max_size=3), max_size=3),
)


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(
    st.dictionaries(st.sampled_from(["round", "type", "shape", "payload", "more"]), _ANYTHING),
    st.sets(st.sampled_from(["round", "type", "shape", "payload"])),
)
def test_whatever_is_sent_becomes_a_vector_or_a_fault(sent: dict, honest: set) -> None:
    values = sent | {key: FINE[key] for key in honest}
    read = read_reply(0, ASKED, values)
    opened = open_reply(read, ASKED, Nothing()) if isinstance(read, Reply) else read
    assert isinstance(opened, Fault) or (opened.shape == (4,) and np.isfinite(opened).all())


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.sampled_from(["round", "kind", "point", "array.gradient"]), _ANYTHING))
def test_a_node_takes_no_broadcast_that_is_none(sent: dict) -> None:
    values = write_broadcast(Broadcast(1, STEP_WITH_GRADIENT, np.zeros(2), {"gradient": np.zeros(2)})) | sent
    try:
        back = read_broadcast(values)
    except InvalidInput:
        return
    assert all(len(array) == len(back.point) for array in back.arrays.values())


@pytest.mark.parametrize(
    ("changed", "kind"),
    [
        ({"type": "<i8"}, "wrong-type"),
        ({"type": "|O"}, "wrong-type"),
        ({"payload": "text"}, "wrong-type"),
        ({"shape": [10**12]}, "wrong-shape"),
        ({"shape": [2, 2]}, "wrong-shape"),
        ({"shape": [-4]}, "malformed"),
        ({"shape": []}, "wrong-shape"),
        ({"round": True}, "malformed"),
        ({"round": 3.0}, "malformed"),
        ({"more": 1}, "malformed"),
        ({"payload": bytes(24), "shape": [3]}, "wrong-shape"),
        ({"payload": bytes(40), "shape": [5]}, "too-large"),
        ({"round": 2}, "old-round"),
        ({"payload": np.full(4, math.nan).tobytes()}, "not-finite"),
    ],
)
def test_each_misdeed_has_its_fault(changed: dict, kind: str) -> None:
    read = read_reply(0, ASKED, FINE | changed)
    fault = open_reply(read, ASKED, Nothing()) if isinstance(read, Reply) else read
    assert isinstance(fault, Fault)
    assert fault.kind == kind


def test_a_claimed_size_costs_no_memory() -> None:
    tracemalloc.start()
    try:
        fault = read_reply(0, ASKED, FINE | {"shape": [10**12]})
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert isinstance(fault, Fault)
    assert most < 100_000


def test_the_bomb_of_the_other_tests_goes_off_where_flower_puts_it_together() -> None:
    """It is refused unread (test_flower): here is what it would do."""
    times = 16
    array = content("bomb", {}, "", times).array_records[protocol.RECORD]["update"]
    chunks = array.children
    assert chunks is not None
    sent = len(array.deflate()) + sum(len(chunk.deflate()) for chunk in chunks.values())
    assert sent < 1.1 * (1 << 20)
    with flower():
        whole = type(array).inflate(array.deflate(), chunks)
    assert len(whole.data) == times << 20


def test_a_pickle_stays_bytes(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    armed = pickle.dumps(Armed(str(mark)))
    for form in ("|O", "bytes", "<f8", "pickle"):
        read = read_reply(0, ASKED, FINE | {"type": form, "payload": armed, "shape": [1]})
        opened = open_reply(read, ASKED, Nothing()) if isinstance(read, Reply) else read
        assert isinstance(opened, Fault)
    assert not mark.exists()
    pickle.loads(armed)  # it was armed indeed
    assert mark.exists()


@pytest.mark.parametrize("attack", [WrongShape(), WrongType(), Malformed(), HugeMessage(size=4096)])
@pytest.mark.parametrize("compressor", [Nothing(), QSGD()])
def test_faults_by_name_arrive_as_the_faults_they_are(attack, compressor) -> None:
    rng = np.random.default_rng(0)
    vector = np.arange(4.0)
    payload = compressor.encode(vector, rng) if compressor.encodes else vector
    situation = Situation(0, 3, NEWTON_STEP, (0,), 1, None, ASKED.point, rng)
    here = open_reply(attack.tamper(Reply(0, 3, payload), situation), ASKED, compressor)
    there = read_reply(0, ASKED, write_reply(attack.tamper(Reply(0, 3, payload), situation)))
    opened = open_reply(there, ASKED, compressor) if isinstance(there, Reply) else there
    assert isinstance(here, Fault)
    assert isinstance(opened, Fault)
    if compressor.encodes or not isinstance(attack, HugeMessage | WrongShape):
        assert opened.kind in (here.kind, "wrong-type", "malformed")


@pytest.mark.parametrize("dense", [True, False])
def test_a_node_answers_like_a_worker(tmp_path: Path, dense: bool) -> None:
    f = planted(100, 4)
    shard = f if dense else type(f)(matrix=sp.csr_array(f.matrix), target=f.target, l2=f.l2)
    node.save_rows(tmp_path / "rows.npz", shard)
    asked = Broadcast(1, NEWTON_STEP, np.full(4, 0.1))
    values = write_broadcast(asked) | protocol.write_work(WORK)
    got = read_reply(0, asked, node.answer(values, {"shard": str(tmp_path / "rows.npz")}, {}))
    assert isinstance(got, Reply)
    np.testing.assert_allclose(got.payload, Worker(0, f, WorkerConfig()).reply(asked).payload, rtol=1e-12)


@pytest.mark.slow  # scikit-learn reads LIBSVM's format, and takes seconds to import
def test_rows_with_fewer_columns_than_the_point_are_filled_up(tmp_path: Path) -> None:
    (tmp_path / "rows.svm").write_text("+1 1:1.5\n-1 2:1\n+1 1:-1 2:0.5\n")
    asked = Broadcast(1, GRADIENT, np.zeros(5))
    values = write_broadcast(asked) | protocol.write_work(WORK)
    got = read_reply(0, asked, node.answer(values, {"shard": str(tmp_path / "rows.svm")}, {}))
    assert isinstance(got, Reply)
    np.testing.assert_array_equal(got.payload[2:], 0.0)
    short = write_broadcast(Broadcast(1, GRADIENT, np.zeros(1))) | protocol.write_work(WORK)
    with pytest.raises(InvalidInput, match="2 columns, the broadcast point 1"):
        node.answer(short, {"shard": str(tmp_path / "rows.svm")}, {})


def test_what_error_feedback_owes_is_kept_between_messages_and_ends_with_the_run(tmp_path: Path) -> None:
    f = planted(100, 4)
    node.save_rows(tmp_path / "rows.npz", f)
    work = Work(loss="logistic", l2=f.l2, compressor=TopK(k=1), error_feedback=True, seed=1, run="one")
    config, memory = {"shard": str(tmp_path / "rows.npz"), "partition-id": 0}, {}
    in_one_go = Worker(0, f, node.worker_config_of(config, work)[1])
    for number in (1, 2, 3):
        asked = Broadcast(number, NEWTON_STEP, np.full(4, 0.1))
        values = write_broadcast(asked) | protocol.write_work(work)
        got = read_reply(0, asked, node.answer(values, config, memory))
        assert isinstance(got, Reply)
        assert got.payload == in_one_go.reply(asked).payload
    owed = memory["owed." + NEWTON_STEP]
    other = Work(loss="logistic", l2=f.l2, run="two")
    node.answer(write_broadcast(asked) | protocol.write_work(other), config, memory)
    assert owed
    assert memory == {"run": "two"}


def test_draws_differ_from_round_to_round() -> None:
    worker = Worker(0, planted(50, 3), WorkerConfig(compressor=QSGD(levels=4), seed=5))
    vector, sent = np.array([1.0, 0.31, -0.47]), set()
    for number in range(1, 9):
        worker.resume(1 if number == 8 else number, {})
        sent.add(worker.send(Broadcast(number, NEWTON_STEP, np.zeros(3)), vector).payload)
    assert 1 < len(sent) < 8  # the first and the last are of one round, and drawn alike


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"loss": "steal"}, "work: loss: must be one of 'logistic', 'least-squares' or 'squared-hinge'"),
        ({"compressor": {"name": "zip"}}, "zip"),
        ({"compressor": 3}, "compressor: must be a compressor: its name"),
        ({"l2": "1"}, "l2: must be a number"),
        ({"l2": math.nan}, "l2: must be at least 0|l2: must be a finite number"),
        ({"seed": -3}, "seed: must be at least 0"),
        ({"local": "guess"}, "local: must be one of"),
        ({"code": "import os"}, "code: "),
    ],
)
def test_a_node_says_what_is_wrong_with_its_orders(changed: dict, words: str) -> None:
    table = json.loads(protocol.write_work(WORK)["work"]) | changed
    with pytest.raises((InvalidInput, LookupError), match=words):
        protocol.read_work({"work": json.dumps(table)})


@pytest.mark.parametrize("sent", [{}, {"work": 1}, {"work": "not JSON"}, {"work": "[]"}])
def test_orders_that_are_no_table_are_refused(sent: dict) -> None:
    with pytest.raises(InvalidInput, match=r"cannot be read|must be a table"):
        protocol.read_work(sent)


def test_a_node_without_rows_says_how_to_give_them() -> None:
    with pytest.raises(InvalidInput, match="node-config"):
        node.rows({})
    with pytest.raises(InvalidInput, match="it is 0 to 3"):
        node.rows({"dataset": "synthetic.covtype-shape", "partition-id": 4, "num-partitions": 4})


def test_a_trial_refuses_what_cannot_travel() -> None:
    f = mean_of(lambda w, x, y: (x @ w - y) ** 2, np.ones((8, 2)), np.ones(8))
    with pytest.raises(Unsuited, match="takes the losses logistic, least-squares, squared-hinge"):
        optiframe.solve(optiframe.Minimize(f), "gradient.robust", workers=2, backend="flower", step=0.1)
    with pytest.raises(Unsuited, match="which no node on Flower knows"):
        optiframe.solve(
            optiframe.Minimize(planted(50, 2)),
            "newton.comrade",
            workers=4,
            backend="flower",
            attack="mimic",
            byzantine=0.2,
        )
    harmless = Comrade(backend="flower", attack="mimic")
    assert harmless.unsuited(optiframe.Minimize(planted(50, 2))) is None  # nobody makes it


def test_a_vector_no_compressor_can_write_arrives_as_what_it_is(tmp_path: Path) -> None:
    node.save_rows(tmp_path / "rows.npz", planted(100, 4))
    (tmp_path / "attack.json").write_text(json.dumps({"attack": Negative(c=1e308).table(), "byzantine": [0]}))
    work = Work(loss="logistic", l2=0.01, compressor=QSGD(), run="one")
    asked = Broadcast(2, NEWTON_STEP, np.full(4, 9.0))
    config = {"shard": str(tmp_path / "rows.npz"), "attack": str(tmp_path / "attack.json")}
    said = node.answer(write_broadcast(asked) | protocol.write_work(work), config, {})
    fault = read_reply(3, asked, said)
    assert isinstance(fault, Fault)
    assert (fault.worker, fault.round, fault.kind) == (3, 2, "not-finite")
    assert fault.text in {"its norm overflows", "entry 0 is inf", "entry 0 is -inf"}
    # Whoever says so of himself may write what he likes.
    shouted = read_reply(3, asked, said | {"payload": b"\x1b[31m" + b"\xff" * 1000})
    assert isinstance(shouted, Fault)
    assert shouted.text.isprintable()
    assert len(shouted.text) <= 80


def test_a_node_told_to_attack_does(tmp_path: Path) -> None:
    f = planted(100, 4)
    node.save_rows(tmp_path / "rows.npz", f)
    table = {"attack": Negative(c=0.5).table(), "byzantine": [2], "trim": 1}
    (tmp_path / "attack.json").write_text(json.dumps(table))
    asked = Broadcast(1, NEWTON_STEP, np.full(4, 0.1))
    values = write_broadcast(asked) | protocol.write_work(WORK)
    config = {"shard": str(tmp_path / "rows.npz"), "partition-id": 2}
    honest = read_reply(2, asked, node.answer(values, config, {}))
    lied = read_reply(2, asked, node.answer(values, config | {"attack": str(tmp_path / "attack.json")}, {}))
    np.testing.assert_array_equal(lied.payload, -0.5 * honest.payload)


@contextlib.contextmanager
def listening(host: str) -> Iterator[int]:
    """Somebody who listens, as a SuperLink would, and its port."""
    with socket.create_server((host, 0)) as server:
        yield server.getsockname()[1]


def told(address: str) -> str:
    """Why the app's coordinator does not run at a SuperLink of that address."""
    grid: Any = SimpleNamespace(_addr=address)
    with pytest.raises(InvalidInput) as refused:
        server_app.run(grid, {"columns": 0, "nodes": 1})
    return str(refused.value)


NOT_HERE = r"one port: whoever reaches it can run code of their own .* Listen on 127\.0\.0\.1 only"


@pytest.mark.parametrize("address", ["0.0.0.0", "192.0.2.7", "::", "::1", "coordinator.example.org"])
def test_the_set_up_refuses_every_address_but_loopback(address: str) -> None:
    at = f"[{address}]:8000" if ":" in address else f"{address}:8000"
    with pytest.raises(InvalidInput, match=NOT_HERE):
        persistent_client.serve(at, b"", parent=0)
    assert re.search(NOT_HERE, told(at))
    assert only_loopback("127.0.0.1:8000") == "127.0.0.1:8000"
    assert only_loopback("localhost:8000") == "localhost:8000"


def test_the_app_does_not_run_at_a_superlink_that_listens_on_all_addresses() -> None:
    # Flower tells the app 127.0.0.1 where the SuperLink listens on 0.0.0.0.
    with listening("0.0.0.0") as port:
        assert re.search(NOT_HERE, told(f"127.0.0.1:{port}"))
    with listening("127.0.0.1") as port:
        assert "columns: say how many" in told(f"127.0.0.1:{port}")  # the next check


def test_a_coordinator_without_rows_goes_on_without_an_objective() -> None:
    f = planted(200, 3)
    shards = [f.take(range(at, 200, 2)) for at in range(2)]
    backend = Ready(found=lambda config: InProcess(shards, config))
    afar = server_app.Afar(server_app.Elsewhere(columns=3, terms=200))
    result = optiframe.solve(afar, "newton.comrade", workers=2, backend=backend)
    assert result.status in (optiframe.Status.CONVERGED, optiframe.Status.FINISHED)
    assert math.isnan(result.objective)


def test_the_answer_of_a_run_that_lost_its_nodes_is_written_and_the_run_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = {"status": "stalled", "message": "round 4: 2 of 3 workers failed", "solution": [1.0]}
    monkeypatch.setattr(server_app, "run", lambda grid, settings: lost)
    chosen = {"relay": "", "solver": "newton.comrade", "result": str(tmp_path / "answer.json")}
    context: Any = SimpleNamespace(run_config=chosen)
    grid: Any = None
    with pytest.raises(WorkersLost, match="round 4"):
        server_app.main(grid, context)
    assert json.loads((tmp_path / "answer.json").read_text()) == lost
