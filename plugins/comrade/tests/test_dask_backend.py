"""Workers on a Dask cluster: the same numbers as in one process, and processes that die, hang and lie."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Literal

import dask
import numpy as np
import psutil
import pytest
from distributed import Client, LocalCluster
from optiframe_comrade.backends.backend import InProcessBackend
from optiframe_comrade.backends.dask_backend import DaskBackend
from optiframe_comrade.backends.dask_workers import DaskWorkers
from optiframe_comrade.local.per_sample import mean_of
from optiframe_comrade.messages import GRADIENT, NEWTON_STEP, Broadcast, Fault, Reply
from optiframe_comrade.parts import faults
from optiframe_comrade.parts.attacks import ALittleIsEnough, FlippedLabels, Negative
from optiframe_comrade.parts.compressors import QSGD
from optiframe_comrade.parts.filters import Norm
from optiframe_comrade.parts.kinds import Attack, Nothing
from optiframe_comrade.protocol.reply_checks import open_reply
from optiframe_comrade.protocol.worker import WorkerConfig
from optiframe_comrade.solvers.comrade import Comrade
from optiframe_comrade.solvers.distributed import Distributed
from optiframe_comrade.solvers.giant import Giant

import optiframe
from optiframe import Budget, InvalidInput, Status, Unsuited
from optiframe.dask_connection import DaskConnection
from optiframe.problems.objectives.objective import FiniteSum

from .classification_twins import planted, problem
from .dask_processes import LONG, cluster_of

pytestmark = [pytest.mark.slow, pytest.mark.ci]  # a cluster of processes is started once, for some seconds

WORKERS = 5
F = planted(1000, 6)
SHARDS = [F.take(slice(at, None, WORKERS)) for at in range(WORKERS)]
# Waited for once by a test with a process that is stopped; the others answer within it on a busy machine.
ONCE = 12.0


@pytest.fixture(scope="module")
def started() -> Iterator[LocalCluster]:
    with cluster_of(WORKERS) as cluster:
        yield cluster


@pytest.fixture
def cluster(started: LocalCluster) -> Iterator[LocalCluster]:
    """With all its processes, also after a test: those stopped go on, those killed are started again."""
    yield started
    for nanny in started.workers.values():
        if nanny.pid and psutil.pid_exists(nanny.pid):
            os.kill(nanny.pid, signal.SIGCONT)
    with Client(started, set_as_default=False) as client:
        client.wait_for_workers(WORKERS, timeout=LONG)


def backend(cluster: LocalCluster, on_fault: Literal["reshard", "drop"] = "reshard") -> DaskBackend:
    return DaskBackend(address=cluster.scheduler_address, on_fault=on_fault)


def run(solver: Distributed, steps: int = 6) -> Any:
    given = problem(1000, 6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optiframe.NotConverged)  # so many rounds, no more
        return optiframe.solve(given, solver, seed=5, budget=Budget(iterations=steps, tolerance=0.0))


def process_of(cluster: LocalCluster, name: str) -> int:
    """The process id behind "worker 1 at tcp://...", or behind the address alone."""
    address = name.rsplit(" ", 1)[-1]
    return next(int(n.pid) for n in cluster.workers.values() if n.worker_address == address)


def same_books(one: Any, other: Any) -> None:
    """Equal but for the workers' names and the sentences of faults."""
    for a, b in zip(one.exchanges, other.exchanges, strict=True):
        assert (a.kind, a.asked, a.bytes_down, a.bytes_up) == (b.kind, b.asked, b.bytes_down, b.bytes_up)
        assert a.trimmed == b.trimmed
        assert [(f.worker, f.kind) for f in a.faults] == [(f.worker, f.kind) for f in b.faults]


def striking(strike: Callable[[], None], *more: Callable[[], None]) -> Norm:
    """The filter by norm; before it answers in its third round it strikes at some workers.

    `more` strike one by one in the rounds that follow.
    """
    rounds = itertools.count(1)
    strikes = dict(enumerate([strike, *more], start=3))

    class Striking(Norm):
        name = "filter.striking"

        def aggregate(self, vectors: Any, trim: int = 0) -> Any:
            strikes.get(next(rounds), lambda: None)()
            return super().aggregate(vectors, trim)

    return Striking()


SOLVERS: list[Distributed] = [
    Comrade(workers=WORKERS),
    Comrade(workers=WORKERS, byzantine=0.2, attack=Negative(), local="cg"),
    Comrade(workers=WORKERS, byzantine=0.2, attack=FlippedLabels(), compressor=QSGD(), error_feedback=True),
    Giant(workers=WORKERS, search="armijo"),
    Comrade(workers=2 * WORKERS, byzantine=0.2),  # two on each process
]


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda s: f"{s.name}-{s.attack.name}-{s.compressor.name}")
def test_the_numbers_are_those_of_one_process_to_the_last_bit(
    solver: Distributed, cluster: LocalCluster
) -> None:
    here, there = run(solver), run(solver.model_copy(update={"backend": backend(cluster)}))
    np.testing.assert_array_equal(there.solution, here.solution)
    assert there.trace["objective"] == here.trace["objective"]
    same_books(there.detail, here.detail)


@pytest.mark.parametrize(
    "attack",
    [
        faults.Crash(start=2),
        faults.Hang(start=2),
        faults.HugeMessage(),
        faults.Malformed(),
        *(
            pytest.param(attack, marks=pytest.mark.thorough)  # a reply like others, as far as Dask knows
            for attack in (
                faults.LateReply(),
                faults.Replay(),
                faults.NotANumber(),
                faults.WrongShape(),
                faults.WrongType(),
            )
        ),
    ],
    ids=lambda attack: attack.name,
)
def test_a_simulated_fault_is_the_same_fault_as_in_one_process(attack: Attack, cluster: LocalCluster) -> None:
    solver = Comrade(workers=WORKERS, byzantine=0.2, attack=attack)
    here, there = run(solver, 3), run(solver.model_copy(update={"backend": backend(cluster)}), 3)
    np.testing.assert_array_equal(there.solution, here.solution)
    same_books(there.detail, here.detail)
    assert there.detail.faults


def test_workers_killed_stopped_and_lying_are_made_anew_elsewhere_and_the_numbers_stay(
    cluster: LocalCluster,
) -> None:
    """One a round, which is the budget; three in all."""
    struck: list[str] = []

    def lone() -> str:
        """The address of a process that is well and holds one worker."""
        until = time.monotonic() + LONG
        with Client(cluster, set_as_default=False) as client:
            while True:
                # Those started again, too: they may have taken over a worker.
                places = [place for place in client.scheduler_info(-1)["workers"] if place not in struck]
                held = client.run(lambda dask_worker: len(dask_worker.state.actors), workers=places)
                if sum(held.values()) == WORKERS or time.monotonic() > until:  # earlier runs' are gone
                    break
                time.sleep(0.05)
        struck.append(next(place for place in started_with if held.get(place) == 1))
        return struck[-1]

    started_with = [name.rsplit(" ", 1)[1] for name in names(cluster)]
    solver = Comrade(
        workers=WORKERS,
        trim=0.2,
        filter=striking(
            lambda: os.kill(process_of(cluster, lone()), signal.SIGKILL),
            lambda: os.kill(process_of(cluster, lone()), signal.SIGSTOP),
            lambda: replace_reply(cluster, lone(), lambda asked: (asked, np.full(6, np.nan))),
        ),
        backend=backend(cluster),
        deadline=ONCE,
    )
    hurt = run(solver, 9)
    clean = run(Comrade(workers=WORKERS, trim=0.2, filter=Norm()), 9)
    np.testing.assert_array_equal(hurt.solution, clean.solution)
    assert hurt.trace["objective"] == clean.trace["objective"]
    same_books(hurt.detail, clean.detail)
    moves = hurt.detail.moves
    assert [(move.fault.round, move.fault.kind) for move in moves] == [
        (4, "crashed"),
        (5, "late"),
        (6, "not-finite"),
    ]
    assert [move.source for move in moves] == struck
    assert not {move.target for move in moves} & set(struck)
    shard = 200 * (6 + 1) * 8  # terms times columns and a label
    assert all(shard < move.nbytes < 1.2 * shard for move in moves)
    told = [each.text for each in hurt.findings]
    for move in moves:
        assert any(f"worker {move.fault.worker} at {move.source} was lost" in text for text in told)


def test_a_compressed_update_comes_from_the_new_place_too(cluster: LocalCluster) -> None:
    there = names(cluster)
    solver = Comrade(
        workers=WORKERS,
        trim=0.2,
        compressor=QSGD(),
        error_feedback=True,
        filter=striking(lambda: os.kill(process_of(cluster, there[0]), signal.SIGKILL)),
        backend=backend(cluster),
        deadline=LONG,
    )
    struck = run(solver, 6)
    assert [move.fault.worker for move in struck.detail.moves] == [0]
    assert not struck.detail.faults
    clean = run(solver.model_copy(update={"filter": Norm(), "backend": InProcessBackend()}), 6)
    np.testing.assert_array_equal(struck.detail.points[2], clean.detail.points[2])
    assert abs(struck.objective - clean.objective) < 1e-3  # other draws from then on


def test_a_worker_whose_rows_spoil_every_process_is_given_up(cluster: LocalCluster) -> None:
    shards = list(SHARDS)
    shards[2] = shards[2].model_copy(update={"matrix": np.full((200, 6), 1e200)})  # its Hessian overflows
    with closing(start(cluster, on_fault="reshard", shards=shards)) as workers:
        asked = Broadcast(1, NEWTON_STEP, np.zeros(6))
        first = workers.ask(asked, LONG)
        assert [move.fault.worker for move in workers.moves] == [2, 2]
        assert len({workers.moves[0].source, *(move.target for move in workers.moves)}) == 3
        assert isinstance(open_reply(first[2], asked, Nothing()), Fault)
        second = workers.ask(Broadcast(2, NEWTON_STEP, np.zeros(6)), LONG)
        assert isinstance(second[2], Fault)
        assert "is not asked any more: 3 processes in a row gave no usable reply" in second[2].text
        assert all(isinstance(each, Reply) for each in second[:2] + second[3:])


def test_dropped_a_killed_and_a_stopped_process_cost_their_workers_and_nothing_else(
    cluster: LocalCluster,
) -> None:
    def strike() -> None:
        for name, number in ((there[0], signal.SIGKILL), (there[1], signal.SIGSTOP)):
            os.kill(process_of(cluster, name), number)

    there = names(cluster)
    at = backend(cluster, "drop")
    solver = Comrade(workers=WORKERS, trim=0.4, filter=striking(strike), backend=at, deadline=ONCE)
    struck = run(solver, 9)
    kinds = {(fault.worker, fault.kind) for fault in struck.detail.faults}
    assert kinds == {(0, "crashed"), (1, "late")}
    assert [len(each.faults) for each in struck.detail.exchanges] == [0] * 3 + [2] * 6
    assert not struck.detail.moves
    # In one process, with two workers that are silent from the same round on.
    silent = Comrade(workers=WORKERS, trim=0.4, byzantine=0.4, attack=faults.Crash(start=4), filter=Norm())
    np.testing.assert_array_equal(struck.solution, run(silent, 9).solution)


def names(cluster: LocalCluster) -> list[str]:
    """What workers will be called: they are assigned to the processes in the order of addresses."""
    addresses = sorted(nanny.worker_address for nanny in cluster.workers.values())
    return [f"worker {number} at {address}" for number, address in enumerate(addresses)]


@pytest.mark.filterwarnings("ignore::optiframe.NotConverged")
def test_more_faults_than_the_budget_end_the_run_and_are_named(cluster: LocalCluster) -> None:
    there = names(cluster)

    def strike() -> None:
        for name in there[1:3]:
            os.kill(process_of(cluster, name), signal.SIGKILL)

    solver = Comrade(
        workers=WORKERS, trim=0.2, filter=striking(strike), backend=backend(cluster), deadline=LONG
    )
    result = optiframe.solve(problem(1000, 6), solver, budget=Budget(iterations=9, tolerance=0.0))
    assert result.status is Status.STALLED
    assert "round 4: 2 of 5 workers failed and the trim budget covers 1" in result.message
    assert len(result.detail.points) == 3
    assert [fault.worker for fault in result.detail.faults] == [1, 2]
    for name in there[1:3]:
        assert name in result.message


def test_garbage_from_a_worker_is_a_fault_with_a_name(cluster: LocalCluster) -> None:
    with closing(start(cluster)) as workers:
        for garbage, kind in [
            (lambda asked: None, "wrong-type"),
            (lambda asked: (asked, None), "wrong-type"),
            (lambda asked: (asked, 7.0), "wrong-type"),
            (lambda asked: {"round": asked}, "wrong-type"),
            (lambda asked: np.zeros(6), "wrong-type"),
            (lambda asked: 1 / 0, "crashed"),
        ]:
            replace_reply(cluster, workers.names[2], garbage)
            asked = Broadcast(1, NEWTON_STEP, np.zeros(6))
            replies = workers.ask(asked, LONG)
            sent = replies[2]
            fault = sent if isinstance(sent, Fault) else open_reply(sent, asked, Nothing())
            assert isinstance(fault, Fault)
            assert (fault.worker, fault.kind) == (2, kind), fault
            assert all(isinstance(each, Reply) for each in replies[:2] + replies[3:])


def test_a_vector_that_no_compressor_can_write_is_said_to_be_not_finite(cluster: LocalCluster) -> None:
    config = WorkerConfig(compressor=QSGD(), attack=Negative(c=1e308), byzantine=(0,))
    with closing(start(cluster, config)) as workers:
        replies = workers.ask(Broadcast(1, NEWTON_STEP, np.full(6, 9.0)), LONG)
        assert isinstance(replies[0], Fault)
        assert replies[0].kind == "not-finite"
        assert all(isinstance(each, Reply) for each in replies[1:])


def test_bytes_that_are_no_message_of_dask_are_a_worker_that_is_late(cluster: LocalCluster) -> None:
    def noise(asked: int) -> None:
        from distributed import get_worker

        for connection, asked_for in get_worker()._comms.items():
            if asked_for != "actor_execute":  # the scheduler's lines are left alone
                continue
            # As a length it is more than any memory.
            connection.stream.socket.setblocking(True)
            connection.stream.socket.send(b"\x7f" * 64)

    with closing(start(cluster)) as workers:
        replace_reply(cluster, workers.names[2], noise)
        for number in (1, 2):
            replies = workers.ask(Broadcast(number, NEWTON_STEP, np.zeros(6)), ONCE)
            assert isinstance(replies[2], Fault)
            assert all(isinstance(each, Reply) for each in replies[:2] + replies[3:])


def test_a_worker_that_was_late_is_asked_again_when_it_has_answered(cluster: LocalCluster) -> None:
    with closing(start(cluster)) as workers:
        pid = process_of(cluster, workers.names[3])
        os.kill(pid, signal.SIGSTOP)
        late = workers.ask(Broadcast(1, NEWTON_STEP, np.zeros(6)), 0.5)
        assert isinstance(late[3], Fault)
        assert late[3].kind == "late"
        # Still stopped, and not waited for: one fault is within the budget, and this deadline is long.
        assert isinstance(workers.ask(Broadcast(2, NEWTON_STEP, np.zeros(6)), LONG)[3], Fault)
        os.kill(pid, signal.SIGCONT)
        until = time.monotonic() + LONG
        for number in itertools.count(3):
            back = workers.ask(Broadcast(number, NEWTON_STEP, np.zeros(6)), LONG)[3]
            if isinstance(back, Reply) or time.monotonic() > until:
                break
            time.sleep(0.05)
        assert isinstance(back, Reply)
        assert back.round == number  # not what it had left to say of round 1


def test_beyond_the_budget_those_behind_are_waited_for(cluster: LocalCluster) -> None:
    with closing(start(cluster, WorkerConfig(trim=0))) as workers:
        pid = process_of(cluster, workers.names[3])
        os.kill(pid, signal.SIGSTOP)
        assert isinstance(workers.ask(Broadcast(1, NEWTON_STEP, np.zeros(6)), 0.5)[3], Fault)
        threading.Timer(0.5, os.kill, (pid, signal.SIGCONT)).start()
        replies = workers.ask(Broadcast(2, NEWTON_STEP, np.zeros(6)), LONG)
        assert [each.round for each in replies] == [2] * WORKERS


def start(
    cluster: LocalCluster,
    config: WorkerConfig | None = None,
    on_fault: Literal["reshard", "drop"] = "drop",
    shards: Sequence[FiniteSum] = SHARDS,
) -> Any:
    """Workers with one fault in the budget that stay where they are, unless asked for otherwise."""
    return backend(cluster, on_fault).start(shards, config or WorkerConfig(trim=1))


def replace_reply(cluster: LocalCluster, name: str, reply: Callable[[int], Any]) -> None:
    """From now on the actors at a worker's place answer with something else; a function sent by value."""

    def there(dask_worker: Any) -> None:
        for actor in dask_worker.state.actors.values():
            actor.reply = lambda round, kind, point, arrays: reply(round)

    with Client(cluster, set_as_default=False) as client:
        client.run(there, workers=[name.rsplit(" ", 1)[-1]])


def test_nothing_of_a_run_stays_on_the_cluster(cluster: LocalCluster) -> None:
    run(Comrade(workers=WORKERS, backend=backend(cluster)), 2)
    with Client(cluster, set_as_default=False) as client:
        until = time.monotonic() + LONG
        while time.monotonic() < until:
            left = client.run(lambda dask_worker: len(dask_worker.state.actors))
            if not any(left.values()):
                break
            time.sleep(0.05)
        assert list(left.values()) == [0] * WORKERS
        assert not client.who_has()


def test_an_attack_that_does_not_fit_the_objective_is_refused_as_in_one_process(
    cluster: LocalCluster,
) -> None:
    class Bare:
        name = "bare"

        def __len__(self) -> int:
            return 3

    with pytest.raises(Unsuited, match="flipped-labels changes labels, and the objective 'bare' has no"):
        backend(cluster).start([Bare(), Bare()], WorkerConfig(attack=FlippedLabels(), byzantine=(0,)))  # type: ignore[list-item]
    colluding = Comrade(workers=2, byzantine=0.4, attack=ALittleIsEnough(), backend=backend(cluster))
    with pytest.raises(Unsuited, match=r"attack\.alie must know what honest workers send"):
        optiframe.solve(problem(), colluding)


def test_an_objective_that_cannot_travel_is_refused(cluster: LocalCluster) -> None:
    lock = threading.Lock()

    def locked(w: Any, features: Any, target: Any) -> Any:
        with lock:
            return (features @ w - target) ** 2

    mine = mean_of(locked, np.ones((10, 1)), np.ones(10), l2=1.0)
    with pytest.raises(Unsuited, match="cannot be sent to another process"):
        backend(cluster).start([mine], WorkerConfig())


def test_an_address_has_a_scheme_and_processes_of_its_own() -> None:
    with pytest.raises(InvalidInput, match=r"the form tcp://host:8786.*got 'localhost'"):
        DaskBackend(address="localhost")
    with pytest.raises(InvalidInput, match="give address or processes, not both"):
        DaskBackend(address="tcp://127.0.0.1:8786", processes=3)


def test_an_address_where_nobody_answers_is_named() -> None:
    nobody = DaskBackend(address="tcp://127.0.0.1:9", starting=1.0)
    with pytest.raises(InvalidInput, match=r"no Dask cluster with a worker answers at tcp://127\.0\.0\.1:9"):
        optiframe.solve(problem(), Comrade(workers=2, backend=nobody))


def test_a_cluster_of_its_own_listens_on_loopback_and_ends_with_the_run() -> None:
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    listening: list[str] = []
    children: list[psutil.Process] = []

    def look_and_strike() -> None:
        children.extend(c for c in psutil.Process().children(recursive=True) if c.pid not in before)
        for process in [psutil.Process(), *children]:
            listening.extend(
                each.laddr.ip for each in process.net_connections("inet") if each.status == psutil.CONN_LISTEN
            )
        # Of two, one is stopped: the end of the run must not wait for it.
        workers = [c for c in children if c.net_connections("inet")]
        os.kill(workers[-1].pid, signal.SIGSTOP)

    table = {"name": "dask", "processes": 2}
    fresh = dask.config.set({"distributed.worker.multiprocessing-method": "spawn"})  # Dask's default
    with fresh, pytest.warns(optiframe.NotConverged):
        result = optiframe.solve(
            problem(1000, 6),
            "newton.comrade",
            workers=2,
            trim=0.49,
            filter=striking(look_and_strike),
            backend=table,
            deadline=ONCE,
            budget=Budget(iterations=5, tolerance=0.0),
        )
    assert result.detail.moves
    assert len(listening) >= 3  # the scheduler and two workers
    assert set(listening) == {"127.0.0.1"}
    gone, alive = psutil.wait_procs(
        [c for c in children if "resource_tracker" not in cmdline(c)], timeout=LONG
    )
    assert not alive
    assert gone


def cmdline(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


def started_apart(folder: Path) -> tuple[str, list[subprocess.Popen[bytes]]]:
    """A scheduler and two workers as processes of their own, the scheduler first; its address."""
    file = folder / "scheduler.json"
    here = ["--scheduler-file", str(file)]
    environment = os.environ | {"DASK_DISTRIBUTED__LOGGING__DISTRIBUTED": "critical"}

    def begin(*words: str) -> subprocess.Popen[bytes]:
        argv = [sys.executable, "-m", "dask", *words, *here]
        quiet: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        return subprocess.Popen(argv, env=environment, cwd=folder, **quiet)

    processes = [begin("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")]
    worker = ["worker", "--host", "127.0.0.1", "--no-dashboard", "--nthreads", "1", "--no-nanny"]
    processes += [begin(*worker, "--death-timeout", "60") for _ in range(2)]
    while not (file.exists() and file.read_text().endswith("}")):  # it is written after it is made
        assert processes[0].poll() is None
        time.sleep(0.1)
    return json.loads(file.read_text())["address"], processes


@pytest.mark.filterwarnings("ignore::optiframe.NotConverged")
def test_the_schedulers_death_has_a_name(tmp_path: Path) -> None:
    address, processes = started_apart(tmp_path)
    try:
        backend = {"name": "dask", "address": address, "starting": 10 * LONG}
        given = {"workers": 2, "backend": backend, "trim": 0.0}
        result = optiframe.solve(problem(200, 3), "newton.comrade", filter=ending(processes[0]), **given)
        assert result.status is Status.STALLED
        assert "round 3: Dask's scheduler at tcp://127.0.0.1" in result.message
    finally:
        for each in processes:
            each.kill()
            each.wait()


def ending(process: subprocess.Popen[bytes]) -> Norm:
    """The filter by norm; in its second round it kills a process."""
    rounds = iter(range(1000))

    class Ending(Norm):
        name = "filter.ending"

        def aggregate(self, vectors: Any, trim: int = 0) -> Any:
            if next(rounds) == 1:
                process.kill()
                process.wait()
            return super().aggregate(vectors, trim)

    return Ending()


class Deadly(Negative):
    """Kills the first process that unpickles it."""

    name = "attack.deadly"
    flag: str

    def __reduce__(self) -> Any:
        return survived, (self.flag, self.c)


def survived(flag: str, c: float) -> Negative:
    try:
        os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return Negative(c=c)
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def test_a_process_that_dies_while_shards_are_sent_is_lost_at_once(
    cluster: LocalCluster, tmp_path: Path
) -> None:
    shards = [planted(40, 3) for _ in range(WORKERS)]
    config = WorkerConfig(attack=Deadly(flag=str(tmp_path / "killed")), trim=1)
    connection = DaskConnection(
        cluster.scheduler_address,
        pytest.fail,
        LONG,
        asked="",
        remedy="",
        direct_to_workers=True,
        set_as_default=False,
    )
    # As long as nobody would wait for it: the test ends because the death is seen.
    workers = DaskWorkers(connection, shards, config, starting=3600.0, reshard=False)
    try:
        asked = Broadcast(1, GRADIENT, np.zeros(3))
        faults = [each for each in workers.ask(asked, LONG) if isinstance(each, Fault)]
        assert [fault.kind for fault in faults] == ["crashed"]
    finally:
        workers.close()
