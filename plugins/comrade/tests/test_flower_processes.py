"""Processes of a trial and their files: nothing is left of either, whoever is killed."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from optiframe_comrade.backends.flower.processes import FederationFailed, Processes, remove_leftovers

LONG = 120.0
SLEEP = [sys.executable, "-c", "import time; print('up', flush=True); time.sleep(1000)"]
OWNER = f"""
import time
from optiframe_comrade.backends.flower.processes import Processes
processes = Processes()
processes.run("one", {SLEEP!r})
print(processes.folder, processes.supervisor.pid, processes.pids["one"], flush=True)
time.sleep(1000)
"""


def becomes(true: Callable[[], object]) -> bool:
    ends = time.monotonic() + LONG
    while not true() and time.monotonic() < ends:
        time.sleep(0.02)
    return bool(true())


def ended(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where folders are made, by this process and those it starts; empty."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def started() -> tuple[subprocess.Popen[str], Path, list[int]]:
    """A process that owns another; the folder, and the ids of the supervisor and the other."""
    owner = subprocess.Popen([sys.executable, "-c", OWNER], stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    folder, *pids = owner.stdout.readline().split()
    return owner, Path(folder), [int(pid) for pid in pids]


def end(owner: subprocess.Popen[str]) -> None:
    owner.kill()
    owner.communicate()


def test_closing_ends_the_processes_and_removes_the_folder(temporary: Path) -> None:
    with Processes() as processes:
        processes.run("one", SLEEP)
        processes.wait("one", lambda: "up" in processes.log("one"), time.monotonic() + LONG)
        assert list(temporary.iterdir()) == [processes.folder]
    assert ended(processes.pids["one"])
    assert not list(temporary.iterdir())
    processes.close()


def test_one_that_ends_before_it_is_ready_and_one_that_is_not_there_are_named(temporary: Path) -> None:
    with Processes() as processes:
        processes.run("one", [sys.executable, "-c", "print('no port is free')"])
        with pytest.raises(FederationFailed, match="one did not start; its log ends:\nno port is free"):
            processes.wait("one", lambda: False, time.monotonic() + LONG)
        with pytest.raises(FederationFailed, match="no command 'flower-nothing' here; run: pip install"):
            processes.run("two", ["flower-nothing"])


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere children of a killed supervisor live on")
@pytest.mark.parametrize("both", [False, True], ids=["its-owner", "both"])
def test_of_a_killed_trial_nothing_is_left(both: bool, temporary: Path) -> None:
    owner, folder, (supervisor, child) = started()
    try:
        assert folder.parent == temporary
        remove_leftovers(young=-LONG)
        assert folder.exists()  # in use
        if both:
            psutil.Process(supervisor).send_signal(signal.SIGKILL)
            assert becomes(lambda: ended(supervisor))
    finally:
        end(owner)
    assert becomes(lambda: ended(child))
    if both:
        remove_leftovers()
        assert folder.exists()  # younger than a minute: another's might not be locked yet
        remove_leftovers(young=-LONG)
        assert not folder.exists()
    assert becomes(lambda: not folder.exists())


def test_a_folder_that_is_not_ours_to_remove_is_left(temporary: Path) -> None:
    (temporary / "comrade-flower-other").mkdir()
    remove_leftovers(young=-LONG)
    assert list(temporary.iterdir())
    shutil.rmtree(temporary / "comrade-flower-other")
