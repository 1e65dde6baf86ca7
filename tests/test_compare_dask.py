"""Cells on a Dask cluster, and a worker of it killed in the middle."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import psutil
import pytest
from distributed import Client, LocalCluster

from optiframe import InvalidInput, Status
from optiframe.comparison.engine import run_plan
from optiframe.comparison.plan.plan import read_plan
from optiframe.comparison.processes.supervisor import CELL
from optiframe.comparison.records import Records
from optiframe.comparison.run.dask import DaskExecutor
from optiframe.registry.user_modules import import_user_module

pytestmark = [pytest.mark.slow, pytest.mark.ci]  # many processes

MODULE = str(Path(__file__).parent / "misbehaving.py")
PLAN = """
seeds = {seeds}
warmup = false
count = false

[[problem]]
name = "minimize"
objective = {{name = "least-squares", matrix = [[2.0, 1.0], [1.0, 3.0]], target = [1.0, 2.0]}}

[[solver]]
name = "mis.honest"
seconds = {seconds}

[limits]
time = 60.0

[executor]
name = "dask"
address = "{address}"
"""


@pytest.fixture(scope="module")
def cluster():
    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address="127.0.0.1:0"
    ) as cluster:
        yield cluster


@pytest.fixture(autouse=True)
def misbehaving(fresh_registry):
    sys.modules.pop("misbehaving", None)  # imported anew, since the registry is, too
    import_user_module(MODULE)
    yield
    sys.modules.pop("misbehaving", None)  # whoever imports it next registers its solvers again


def plan_on(cluster, folder: Path, *, seeds: int, seconds: float):
    file = folder / "run.toml"
    file.write_text(PLAN.format(seeds=seeds, seconds=seconds, address=cluster.scheduler_address))
    return read_plan(file, modules=(MODULE,))


def statuses(records: Records) -> list[Status]:
    return [row.outcome.status for row in records.rows]


def children(pid: int) -> list[psutil.Process]:
    try:
        return [p for p in psutil.Process(pid).children(recursive=True) if p.name() == CELL]
    except psutil.NoSuchProcess:  # one that ended meanwhile
        return []


def ended(pid: int) -> bool:
    """Whether a process is gone, or a zombie that nobody has asked about."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def test_a_worker_killed_in_the_middle_loses_no_cell(cluster, tmp_path):
    plan = plan_on(cluster, tmp_path, seeds=4, seconds=1.0)
    killed: list[int] = []

    def kill_one() -> None:
        with Client(cluster) as client:
            pids = list(client.run(os.getpid).values())
        until = time.monotonic() + 120
        while time.monotonic() < until:
            for pid in pids:
                cells = children(pid)
                if cells:  # this worker has a cell in hand
                    killed.extend([pid, cells[0].pid])
                    os.kill(pid, signal.SIGKILL)
                    return
            time.sleep(0.02)

    killer = threading.Thread(target=kill_one)
    killer.start()
    records = run_plan(plan, tmp_path / "out", show=False)
    killer.join()
    assert killed, "no worker was seen with a cell"
    assert statuses(records) == [Status.FINISHED] * 4
    # The guardian of the dead worker ends what it had started there.
    until = time.monotonic() + 60
    while not all(map(ended, killed)):
        assert time.monotonic() < until
        time.sleep(0.02)


def test_an_interrupt_ends_the_cells_on_the_workers(cluster, tmp_path):
    plan = plan_on(cluster, tmp_path, seeds=2, seconds=100.0)
    seen: list[psutil.Process] = []

    def interrupt() -> None:
        with Client(cluster) as client:
            pids = list(client.run(os.getpid).values())
        until = time.monotonic() + 120
        while time.monotonic() < until and len(seen) < 2:
            seen[:] = [cell for pid in pids for cell in children(pid)]
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGINT)

    interrupter = threading.Thread(target=interrupt)
    interrupter.start()
    with pytest.raises(KeyboardInterrupt):
        run_plan(plan, tmp_path / "out", show=False)
    interrupter.join()
    assert len(seen) == 2
    assert psutil.wait_procs(seen, timeout=60)[1] == []


def test_a_local_cluster_listens_on_loopback_only_and_shows_nothing_by_http():
    executor = DaskExecutor(None, 1)
    try:
        here = [psutil.Process(), *psutil.Process().children(recursive=True)]
        addresses = {c.laddr for p in here for c in p.net_connections("tcp") if c.status == "LISTEN"}
        assert addresses
        assert {address.ip for address in addresses} == {"127.0.0.1"}
        port = executor._connection._cluster.scheduler.http_server.port
        with pytest.raises(HTTPError, match="404"):
            urlopen(f"http://127.0.0.1:{port}/info/main/workers.html", timeout=60)
    finally:
        executor.close()


def test_a_script_without_a_guard_is_told_to_have_one(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "from optiframe import OptiframeError\n"
        "from optiframe.comparison.run.dask import DaskExecutor\n"
        "try: DaskExecutor(None, 1)\n"
        "except OptiframeError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert 'begin its work below `if __name__ == "__main__":`' in done.stdout
    assert done.stdout.count("\n") == 1
    assert done.stderr == ""


def test_cells_on_a_cluster_give_what_they_give_here(cluster, tmp_path):
    far = plan_on(cluster, tmp_path, seeds=2, seconds=0.0)
    file = tmp_path / "here.toml"
    file.write_text(far.text.replace('name = "dask"', 'name = "local"').split("address")[0])
    here = read_plan(file, modules=far.modules)
    there = run_plan(far, tmp_path / "far", show=False)
    local = run_plan(here, tmp_path / "here", show=False)
    assert [row.key for row in there.rows] == [row.key for row in local.rows]
    assert [row.outcome.objective for row in there.rows] == [row.outcome.objective for row in local.rows]


def test_an_address_where_nobody_answers_is_said(monkeypatch):
    monkeypatch.setattr("optiframe.comparison.run.dask._PATIENCE", 0.5)
    with pytest.raises(InvalidInput, match=r"no Dask cluster with a worker answers at tcp://127\.0\.0\.1:9"):
        DaskExecutor("tcp://127.0.0.1:9")
