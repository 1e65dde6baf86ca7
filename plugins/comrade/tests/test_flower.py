"""Flower federations on loopback: real processes, killed, lying and sending what they should not."""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import numpy as np
import psutil
import pytest
from optiframe_comrade import Broadcast, Fault, Reply
from optiframe_comrade.backends.flower import flower, relay
from optiframe_comrade.backends.flower.local_backend import Trial
from optiframe_comrade.backends.flower.node import save_rows
from optiframe_comrade.backends.flower.processes import FederationFailed, Processes
from optiframe_comrade.backends.flower.protocol import work_of
from optiframe_comrade.backends.flower.relay import RelayedWorkers
from optiframe_comrade.backends.flower.start_local import listens, start_local
from optiframe_comrade.backends.in_process import InProcess
from optiframe_comrade.local.newton import minimum
from optiframe_comrade.messages import NEWTON_STEP
from optiframe_comrade.parts.compressors import QSGD
from optiframe_comrade.protocol.coordinator import TooManyFaults
from optiframe_comrade.protocol.sharding import split
from optiframe_comrade.protocol.worker import WorkerConfig

import optiframe
from optiframe import Budget, Minimize

from .classification_twins import planted

with flower():
    from optiframe_comrade.backends.flower.grid_workers import GridWorkers, Ready

pytestmark = [pytest.mark.slow, pytest.mark.ci]  # a dozen processes

NODES, COLUMNS = 4, 5
F = planted(2000, COLUMNS)
SHARDS = [F.take(terms) for terms in split(len(F), NODES, np.random.default_rng(1))]


class Stage:
    """Four nodes that behave as they are told, round by round."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        configs = []
        for number, shard in enumerate(SHARDS):
            save_rows(folder / f"rows-{number}.npz", shard)
            paths = {"shard": f"rows-{number}.npz", "mode": f"mode-{number}", "mark": f"mark-{number}"}
            config = {key: str(folder / name) for key, name in paths.items()}
            configs.append(config | {"partition-id": number})
        self.behave()
        actor = Path(__file__).with_name("flower_actor.py")
        self.processes = Processes()
        try:
            self.local = start_local(self.processes, configs, instead=[sys.executable, str(actor)])
        except BaseException:
            self.processes.close()
            raise

    def behave(self, **modes: str) -> None:
        """Tell nodes how to: ``behave(node0="nan")``; all others are honest."""
        for number in range(NODES):
            (self.folder / f"mode-{number}").write_text(modes.get(f"node{number}", "honest"))

    def workers(self, config: WorkerConfig) -> RelayedWorkers:
        return RelayedWorkers(
            self.local.line,
            self.local.address,
            self.local.nodes,
            work_of(config, SHARDS[0].name, SHARDS[0].l2),
            names=[f"node {number}" for number in range(NODES)],
            sizes=[len(shard) for shard in SHARDS],
        )

    def close(self) -> None:
        self.local.line.close()
        self.processes.close()


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    made = Stage(tmp_path_factory.mktemp("stage"))
    try:
        yield made
    finally:
        made.close()


def living(processes: Processes) -> list[psutil.Process]:
    """All that live, the supervisor first."""
    supervisor = psutil.Process(processes.supervisor.pid)
    found = [supervisor, *supervisor.children(recursive=True)]
    return [each for each in found if each.status() != psutil.STATUS_ZOMBIE]


def server_app(stage: Stage) -> psutil.Process:
    """The process that takes in what nodes send."""
    (found,) = [
        each for each in living(stage.processes) if any("flwr-serverapp" in word for word in each.cmdline())
    ]
    return found


def assert_ended(processes: list[psutil.Process]) -> None:
    _, alive = psutil.wait_procs(processes, timeout=120)
    assert not [each for each in alive if each.status() != psutil.STATUS_ZOMBIE]


def at_round(stage: Stage, script: dict[int, Callable[[], None]]) -> Ready:
    """A backend of the stage's nodes; before a round it does what the script says."""

    class Scripted(RelayedWorkers):
        def ask(self, broadcast, deadline=None, to=None):
            script.get(broadcast.round, lambda: None)()
            return super().ask(broadcast, deadline, to)

    def found(config: WorkerConfig) -> RelayedWorkers:
        workers = stage.workers(config)
        workers.__class__ = Scripted
        return workers

    return Ready(found=found)


def test_nodes_answer_what_workers_in_this_process_do(stage: Stage) -> None:
    for config in (WorkerConfig(), WorkerConfig(compressor=QSGD(levels=7), seed=11)):
        asked = Broadcast(1, NEWTON_STEP, np.full(COLUMNS, 0.1))
        nearby = InProcess(SHARDS, config)
        for worker in nearby.workers:
            worker.resume(1, {})
        for far, near in zip(stage.workers(config).ask(asked, 60.0), nearby.ask(asked), strict=True):
            assert isinstance(far, Reply)
            np.testing.assert_array_equal(far.payload, near.payload)


def test_a_vector_that_no_compressor_can_write_is_said_to_be_not_finite(stage: Stage) -> None:
    huge = np.full(COLUMNS, 1e308)
    replies = stage.workers(WorkerConfig(compressor=QSGD())).ask(Broadcast(1, NEWTON_STEP, huge), 60.0)
    assert {each.kind for each in replies if isinstance(each, Fault)} == {"not-finite"}


def test_nothing_listens_but_on_loopback_and_nothing_is_connected_beyond(stage: Stage) -> None:
    listening, connected = set(), set()
    for process in living(stage.processes):
        for each in process.net_connections(kind="inet"):
            if each.status == psutil.CONN_LISTEN or (each.type == socket.SOCK_DGRAM and not each.raddr):
                listening.add(each.laddr)
            elif each.raddr:
                connected.add(each.raddr.ip)
    assert {address.ip for address in listening} == {"127.0.0.1"}
    assert len(listening) == 1 + NODES  # the SuperLink, and each node for its own process
    assert connected <= {"127.0.0.1"}


def test_what_malicious_nodes_send_does_nothing_in_the_coordinator(stage: Stage) -> None:
    stage.behave(node0="pickle", node1="object-array", node2="bomb", node3="huge")
    takes = [psutil.Process(), server_app(stage)]
    before = [process.memory_info().rss for process in takes]
    asked = Broadcast(1, NEWTON_STEP, np.zeros(COLUMNS))
    faults = stage.workers(WorkerConfig()).ask(asked, 60.0)
    stage.behave()
    assert [fault.kind for fault in faults] == ["wrong-type", "malformed", "malformed", "too-large"]
    assert not list(stage.folder.glob("mark-*"))
    for process, held in zip(takes, before, strict=True):
        assert process.memory_info().rss - held < 1 << 25  # half of what the last one sent


def test_too_many_faults_name_the_nodes(stage: Stage) -> None:
    stage.behave(node0="nan", node1="parts", node3="pickle")
    given = {"workers": NODES, "trim": 0.49, "deadline": 60.0, "budget": Budget(iterations=1)}
    with pytest.raises(
        TooManyFaults,
        match=r"3 of 4 workers failed.*node 0: entry 0 is nan.*node 1: sent a message of more parts.*node 3",
    ):
        optiframe.solve(Minimize(F), "newton.comrade", backend=at_round(stage, {}), **given)
    stage.behave()


def test_a_run_gets_through_an_attack_nan_and_a_killed_node(stage: Stage) -> None:
    def kill() -> None:
        os.kill(stage.processes.pids["node 3"], signal.SIGKILL)
        stage.behave(node0="negative")

    stage.behave(node0="negative", node1="nan")
    budget = Budget(iterations=4, tolerance=0.0)
    chosen = {"workers": NODES, "filter": "distance-to-median", "budget": budget}
    given = {"trim": 0.49, "deadline": 20.0, **chosen}
    with pytest.warns(match="4 iterations|beta below one half"):
        hurt = optiframe.solve(Minimize(F), "newton.comrade", backend=at_round(stage, {3: kill}), **given)
    stage.behave()
    exchanges = hurt.detail.exchanges
    faults = {(fault.worker, fault.round, fault.kind) for one in exchanges for fault in one.faults}
    assert faults >= {(1, 1, "not-finite"), (1, 2, "not-finite"), (3, 3, "late")}
    assert {worker for worker, number, _ in faults if number > 3} == {3}
    assert all(0 in one.trimmed for one in exchanges)

    nearby = Ready(found=lambda config: InProcess(SHARDS, config))
    with pytest.warns(match="4 iterations"):
        clean = optiframe.solve(Minimize(F), "newton.comrade", backend=nearby, **chosen)
    least = F.value(minimum(F))
    assert clean.objective - least < 1e-4
    assert hurt.objective - least < 1e-3  # of half the nodes' rows each step; the start's gap is 0.3


def test_a_superlink_killed_in_a_run_is_an_error(stage: Stage) -> None:
    def kill() -> None:
        os.kill(stage.processes.pids["superlink"], signal.SIGKILL)

    given = {"workers": NODES, "trim": 0.49, "deadline": 60.0, "budget": Budget(iterations=1)}
    with pytest.raises(FederationFailed, match=r"round 1: Flower's SuperLink is out of reach .*refused"):
        optiframe.solve(Minimize(F), "newton.comrade", backend=at_round(stage, {1: kill}), **given)


def test_closing_ends_every_process_and_removes_the_files(stage: Stage) -> None:
    processes, folder = living(stage.processes), stage.processes.folder
    assert len(processes) >= 8
    stage.processes.close()
    assert_ended(processes)
    assert not folder.exists()


@pytest.mark.thorough  # a federation of its own for each, and seconds of waiting
@pytest.mark.parametrize(
    ("loss", "words"),
    [
        ("killed", "round 2: Flower's SuperLink is out of reach .*refused"),
        ("stopped", "round 2: Flower's SuperLink is out of reach .*timed out"),
        ("started anew", "round 2: Flower's SuperLink does not know this run any more"),
    ],
)
def test_a_superlink_lost_in_a_run_is_an_error_and_nothing_is_left(
    loss: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relay, "_TIMEOUT", 8.0)  # not to wait longer than a test must
    before = set(threading.enumerate())
    trials: list[Trial] = []
    left: list[psutil.Process] = []

    def strike() -> None:
        processes = trials[0].processes
        link = psutil.Process(processes.pids["superlink"])
        left.extend(living(processes))
        again = link.cmdline()
        link.send_signal(signal.SIGSTOP if loss == "stopped" else signal.SIGKILL)
        if loss == "started anew":
            port = int(trials[0].address.rsplit(":", 1)[1])
            while listens(port):
                time.sleep(0.05)
            processes.run("superlink", again)
            processes.wait("superlink", lambda: listens(port), time.monotonic() + 60)

    class Struck(Trial):
        def ask(self, broadcast, deadline=None, to=None):
            if broadcast.round == 2:
                strike()
            return super().ask(broadcast, deadline, to)

    def found(config: WorkerConfig) -> Trial:
        trials.append(Struck(SHARDS[:1], config))
        return trials[0]

    given = {"workers": 1, "budget": Budget(iterations=4, tolerance=0.0), "deadline": 60.0}
    with pytest.raises(FederationFailed, match=words):
        optiframe.solve(Minimize(F), "newton.comrade", backend=Ready(found=found), **given)
    assert_ended(left)
    assert not trials[0].processes.folder.exists()
    assert set(threading.enumerate()) <= before


def test_a_superlink_that_accepts_and_never_answers_is_out_of_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay, "_LOOK", 0.01)
    monkeypatch.setattr(relay, "_TIMEOUT", 0.2)
    ours, theirs = multiprocessing.Pipe()
    with socket.create_server(("127.0.0.1", 0)) as silent, ours, theirs:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        work = work_of(WorkerConfig(), SHARDS[0].name, SHARDS[0].l2)
        workers = RelayedWorkers(ours, address, [1], work, names=["node 0"], sizes=[1])
        with pytest.raises(FederationFailed, match=r"round 2: Flower's SuperLink is out of reach .timed out"):
            workers.ask(Broadcast(2, NEWTON_STEP, np.zeros(COLUMNS)))


@pytest.mark.parametrize(
    ("status", "words"),
    [(404, "does not know this run any more .HTTP 404"), (503, "is out of reach .*503")],
)
def test_a_superlink_that_does_not_know_the_run_is_told_from_one_that_is_busy(
    status: int, words: str
) -> None:
    request = httpx.Request("POST", "http://127.0.0.1")
    error = httpx.HTTPStatusError(f"HTTP {status}", request=request, response=httpx.Response(status))

    class Failing(GridWorkers):
        def _ask(self, broadcast, deadline, to):
            raise error

    workers = Failing(
        None, [1, 2], work_of(WorkerConfig(), SHARDS[0].name, SHARDS[0].l2), WorkerConfig().compressor
    )
    with pytest.raises(FederationFailed, match=words):
        workers.ask(Broadcast(2, NEWTON_STEP, np.zeros(COLUMNS)))
