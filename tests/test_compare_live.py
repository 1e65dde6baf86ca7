"""What a person sees of a running comparison: a table on a terminal, lines in a pipe, or nothing."""

from __future__ import annotations

import fcntl
import io
import math
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import threading
import time

import pytest
from rich.console import Console

from optiframe import Status
from optiframe.comparison.live import LineView, LiveView, View, view_for
from optiframe.comparison.run.isolation import Progress
from optiframe.comparison.store.store import load
from optiframe.comparison.units import duration

from .comparing import HERE, cell, outcome, plan_of

pytestmark = pytest.mark.slow  # many processes

# Three cells by the engine: two that end well, one that cannot be loaded. In real processes, or,
# where nothing of theirs is looked at, with answers made by hand.
PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import dataclasses
from optiframe.comparison.engine import run_plan
from optiframe.comparison.run.local import LocalExecutor
from tests.comparing import cell, outcome, plan_of
bad = {"table": {"name": "no-such.solver"}, "title": "[red]odd[/red]", "content": "of nothing"}
bad = dataclasses.replace(cell().solver, **bad)
cells = [cell(seed=0), cell(seed=1), dataclasses.replace(cell(seed=2), solver=bad)]
quick = LocalExecutor(2, 3, lambda *_: outcome()) if sys.argv[4] == "quick" else None
run_plan(plan_of(*cells), sys.argv[2], show=sys.argv[3] == "show", executor=quick)
"""


def command(folder, show="show", cells="real") -> list[str]:
    return [sys.executable, "-c", PROGRAM, str(HERE.parent), str(folder), show, cells]


def on_terminal(arguments: list[str], columns: int = 100) -> str:
    """Everything a program writes to a pseudo-terminal that is its standard error."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 30, columns, 0, 0))
    said = b""
    environment = {**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
    for name in ("NO_COLOR", "COLUMNS", "LINES"):
        environment.pop(name, None)
    with subprocess.Popen(arguments, stderr=theirs, env=environment) as process:
        os.close(theirs)
        deadline = time.monotonic() + 300
        while time.monotonic() < deadline:
            if select.select([ours], [], [], 0.2)[0]:
                try:
                    said += os.read(ours, 65536)
                except OSError:  # the last to write has closed it
                    break
            elif process.poll() is not None:
                break
        assert process.wait(60) == 0
    os.close(ours)
    return said.decode()


def screen(said: str) -> str:
    """What is written, without colours and movements of the cursor."""
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", said)


def test_a_terminal_shows_a_table_redrawn_in_place(tmp_path):
    said = on_terminal(command(tmp_path))
    assert "\x1b[2K" in said  # lines are cleared and written again
    assert said.endswith("\x1b[?25h")  # the cursor is back
    seen = screen(said)
    assert "running" in seen
    last = seen[seen.rindex("of 3 done") :]
    assert "1 failed" in last
    assert "[red]odd[/red]" in last  # a title is text, not markup
    assert "converged" in last
    assert "/ 20 s" in seen  # the elapsed time of a running cell, against its limit


def test_a_pipe_gets_one_line_a_cell(tmp_path):
    done = subprocess.run(command(tmp_path), capture_output=True, text=True, timeout=300, check=True)
    lines = done.stderr.splitlines()
    assert [line[:5] for line in lines] == ["[1/3]", "[2/3]", "[3/3]"]
    assert "\x1b" not in done.stderr
    ended = sorted(line.split(" | ")[2:4] for line in lines)
    assert [seed for seed, _ in ended] == ["seed 0", "seed 1", "seed 2"]
    assert ended[0][1].startswith("converged")
    assert ended[2][1].startswith("error")
    assert "no-such.solver" in ended[2][1]
    assert done.stdout == ""
    again = subprocess.run(
        command(tmp_path, cells="quick"), capture_output=True, text=True, timeout=300, check=True
    )
    assert again.stderr == "3 of 3 cells are finished already; nothing is left to run\n"


def test_nothing_is_shown_when_nothing_is_asked_for(tmp_path):
    hidden = command(tmp_path, "hide", "quick")
    done = subprocess.run(hidden, capture_output=True, text=True, timeout=300, check=True)
    assert (done.stdout, done.stderr) == ("", "")
    assert len(load(tmp_path).rows) == 3


def test_a_reader_that_goes_away_does_not_stop_the_comparison(tmp_path):
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(command(tmp_path, cells="quick"), stderr=writing, timeout=300, check=False)
    os.close(writing)
    assert done.returncode == 0


# --- what it counts ---------------------------------------------------------------------------------


def test_a_view_counts_what_was_done_before_here_and_elsewhere():
    view = View(plan_of(*(cell(seed=seed) for seed in range(6))))
    view.begin(6, {"a": Status.CONVERGED, "b": Status.CRASHED})
    assert (view.done, view.failed) == (2, 1)
    assert math.isnan(view.remaining())
    view.started(cell())
    view.ended(cell(), outcome(status=Status.UNSUITED))
    view.elsewhere(cell(seed=1))
    assert (view.done, view.failed, view.running) == (4, 1, {})
    view.ended(cell(seed=2), outcome(status=Status.CANCELLED))
    assert view.done == 4


def live(height: int = 30, width: int = 100, cells: int = 40) -> tuple[LiveView, Console]:
    console = Console(file=io.StringIO(), force_terminal=False, width=width, height=height)
    view = LiveView(plan_of(*(cell(seed=seed) for seed in range(cells))), console)
    view.begin(cells, {})
    return view, console


def picture(view: LiveView, console: Console) -> list[str]:
    console.print(view._picture())
    return console.file.getvalue().splitlines()


def test_the_picture_tells_stage_iterations_residual_and_time():
    view, console = live()
    view.started(cell())
    view.progress(Progress(cell().key, "solving", 120, 1.5e-3, 0.7))
    view.progress(Progress("of another comparison", "solving", 9, 1.0, 0.7))
    text = "\n".join(picture(view, console))
    for word in ("bowl", "descent", "solving", "120", "0.00150", "/ 20 s", "39 waiting", "1 running"):
        assert word in text


@pytest.mark.parametrize(("height", "width"), [(24, 80), (12, 60), (50, 200)])
def test_the_picture_fits_the_terminal(height, width):
    view, console = live(height, width)
    for seed in range(30):
        view.started(cell("a problem with quite a long title", "a solver with one, too", seed))
    for seed in range(20):
        failed = outcome(status=Status.ERROR, message="a reason that goes on\nand on " * 20)
        view.ended(cell("a problem with quite a long title", "a solver with one, too", seed), failed)
    lines = picture(view, console)
    assert len(lines) < height
    assert all(len(line) <= width for line in lines)


def test_news_from_many_threads_meets_no_half_drawn_table():
    view, console = live(cells=200)
    stop = threading.Event()
    errors = []

    def tell(seed):
        while not stop.is_set():
            try:
                view.progress(Progress(cell(seed=seed).key, "solving", 1, 0.1, 0.1))
            except Exception as error:  # shown by the assertion below
                errors.append(error)

    threads = [threading.Thread(target=tell, args=(seed,)) for seed in range(3)]
    for thread in threads:
        thread.start()
    for seed in range(20):
        view.started(cell(seed=seed))
        picture(view, console)
        view.ended(cell(seed=seed), outcome())
    stop.set()
    for thread in threads:
        thread.join()
    assert errors == []
    assert view.done == 20


def test_the_kind_of_view_depends_on_the_terminal(capsys):
    plan = plan_of(cell())
    assert type(view_for(plan, show=False)) is View
    assert type(view_for(plan, show=True)) is LineView  # pytest captures standard error


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.2, "1 s"), (59.1, "1 min 0 s"), (200, "3 min 20 s"), (7500, "2 h 5 min"), (-1, "0 s")],
)
def test_durations_in_words(seconds, words):
    assert duration(seconds) == words
