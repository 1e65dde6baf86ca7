"""A cell runs in a process of its own, and whatever it does there becomes an outcome."""

from __future__ import annotations

import math
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from optiframe.comparison.cells import Limits, Measure, Request
from optiframe.comparison.engine import run_plan
from optiframe.comparison.plan.plan import make_plan
from optiframe.comparison.records import Outcome
from optiframe.comparison.run.isolation import Progress, run_isolated
from optiframe.comparison.run.judging import Judges
from optiframe.comparison.stats.loss_table import suboptimality
from optiframe.solving.result import Status

pytestmark = pytest.mark.slow  # many processes, or a browser: minutes of a small machine

HERE = Path(__file__).parent
LIMIT = 12.0  # seconds: many times what imports take, so that what hangs has begun to on a busy machine
PATIENCE = 60.0  # seconds until what must happen at once has happened, on whatever machine
MEMORY = 350_000_000  # bytes: some times what the libraries alone need
BOWL = {"name": "minimize", "objective": {"name": "squared-distance", "to": [1.0, 2.0]}}


def ask(solver: str, time: float = 60.0, memory: int | None = None, **parameters: Any) -> Request:
    return Request(
        key=solver,
        problem=BOWL,
        solver={"name": solver, **parameters},
        seed=0,
        budget={"iterations": 100},
        limits=Limits(time=time, memory=memory),
        measure=Measure(),
        modules=(str(HERE / "misbehaving.py"),),
        folder=str(HERE),
        where="run.toml line 4: problem.0",
    )


def on_problem(request: Request, **objective: Any) -> Request:
    return replace(request, problem={"name": "minimize", "objective": objective})


def cases(folder: Path) -> dict[str, Request]:
    pids = {
        name: str(folder / name) for name in ("child", "session", "daemon", "hidden", "supervised", "stopped")
    }
    return {
        "busy": ask("mis.busy", LIMIT, waits=0.7 * LIMIT),  # calculating all the time costs others theirs
        "sleeps": ask("mis.sleeps", LIMIT, first=1.5),
        "warms up for long": ask("mis.sleeps", LIMIT, first=60.0),
        "stubborn": ask("mis.stubborn", LIMIT),
        "hangs in C": ask("mis.hangs-in-c", LIMIT),
        "honest": ask("mis.honest"),
        "raises": ask("mis.raises"),
        "raises escapes": ask("mis.raises-escapes"),
        "replies by a pipe": ask("mis.replies-by-pipe"),
        "replies without end": ask("mis.replies-without-end"),
        "truncates the board": ask("mis.truncates-the-board"),
        "patches clocks": ask("mis.patches-clocks"),
        "answers complex": ask("mis.answers-complex"),
        "leaves": ask("mis.leaves"),
        "fails at once": ask("mis.fails-at-once"),
        "segfaults": ask("mis.segfaults"),
        "exits": ask("mis.exits"),
        "hoards": ask("mis.hoards", memory=MEMORY),
        "hoards at once": ask("mis.hoards", memory=MEMORY, piece=10**12),
        "hoards by mapping": ask("mis.hoards-by-mapping", memory=MEMORY),
        "hoards in shared files": ask("mis.hoards-in-shared-files", memory=MEMORY),
        "leaves shared files": ask("mis.hoards-in-shared-files", bytes=2 * 10**7, dies=True),
        "hoards in an anonymous file": ask("mis.hoards-without-a-name", memory=MEMORY),
        "hoards in a deleted file": ask("mis.hoards-without-a-name", memory=MEMORY, deletes=True),
        "leaves a segment": ask("mis.leaves-a-segment"),
        "fostering": ask("mis.fostering", memory=MEMORY),
        "floods": ask("mis.floods"),
        "leaves a child": ask("mis.leaves-a-child", pids=pids["child"]),
        "leaves a session": ask("mis.leaves-a-child", pids=pids["session"], new_session=True),
        "leaves a daemon": ask("mis.leaves-a-daemon", pids=pids["daemon"]),
        "leaves files": ask("mis.leaves-files"),
        "hides a helper": ask("mis.hides-a-helper", pids=pids["hidden"]),
        "kills its supervisor": ask("mis.kills-its-supervisor", pids=pids["supervised"]),
        "stops its supervisor": ask("mis.stops-its-supervisor", LIMIT, pids=pids["stopped"]),
        "leaves a thread": ask("mis.leaves-a-thread"),
        "wrong shape": ask("mis.wrong-shape"),
        "nan": ask("mis.nan"),
        "forges": ask("mis.forges"),
        "changes the data": ask("mis.changes-the-data"),
        "patches the objective": ask("mis.patches-the-objective"),
        "answers with code": ask("mis.answers-with-code", touched=str(folder / "touched")),
        "takes back its answer": ask("mis.takes-back-its-answer"),
        "threads": ask("mis.threads"),
        "unsuited": ask("mis.unsuited"),
        "finds no point": ask("mis.finds-no-point"),
        "finds out": ask("mis.finds-out"),
        "finds out late": ask("mis.finds-out", late=True),
        "counts without end": ask("mis.counts-without-end"),
        "cancels": ask("mis.cancels"),
        "odd text": ask("mis.odd-text"),
        "cannot write": ask("mis.cannot-write"),
        "no file": on_problem(ask("mis.honest"), name="least-squares", matrix="none.csv", target=[1.0]),
        "explodes": on_problem(ask("mis.honest"), name="mis.explodes", to=[1.0]),
        "detonates": on_problem(ask("mis.honest"), name="mis.detonates", to=[1.0]),
        "no solver": ask("mis.nobody"),
        "no module": replace(ask("mis.honest"), modules=("nowhere_at_all",)),
    }


@pytest.fixture(scope="module")
def pids(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pids")


@pytest.fixture(scope="module")
def outcomes(pids: Path) -> dict[str, Outcome]:
    """Every case, several at once: none may disturb another."""
    requests = cases(pids)
    with ThreadPoolExecutor(6) as pool:  # some of them only wait
        return dict(zip(requests, pool.map(run_isolated, requests.values()), strict=True))


EXPECTED = {
    "honest": (Status.FINISHED, "its own end"),
    "raises": (Status.ERROR, "ZeroDivisionError: the step became zero"),
    "raises escapes": (Status.ERROR, "ValueError: \\x1b]0;a title\\x07 and \\u202eturned"),
    "replies by a pipe": (Status.CRASHED, "its reply cannot be read: it is not a regular file"),
    "replies without end": (Status.CRASHED, "its reply cannot be read: Too many levels of symbolic links"),
    "truncates the board": (Status.CRASHED, "the process died: bus error (SIGBUS)"),
    "patches clocks": (Status.CRASHED, " s of a process that lived "),
    "answers complex": (Status.ERROR, "BrokenPlugin: mis.answers-complex gave complex numbers"),
    "leaves": (Status.ERROR, "SystemExit: 0"),
    "fails at once": (Status.ERROR, "while warming up: OSError: the library is not there"),
    "busy": (Status.TIMEOUT, f"killed at the hard limit of {LIMIT:g} s while solving"),
    "sleeps": (
        Status.TIMEOUT,
        f"hard limit of {LIMIT:g} s while solving, after 1 iterations; the warm-up took ",
    ),
    "warms up for long": (
        Status.TIMEOUT,
        "while warming up; raise [limits] time or set warmup = false",
    ),
    "stubborn": (Status.TIMEOUT, f"killed at the hard limit of {LIMIT:g} s while solving"),
    "hangs in C": (Status.TIMEOUT, f"killed at the hard limit of {LIMIT:g} s while solving"),
    "segfaults": (Status.CRASHED, "the process died: segmentation fault (SIGSEGV) while solving"),
    "exits": (Status.CRASHED, "ended with exit code 0 while solving, after 1 iterations, without an answer"),
    "hoards": (Status.OUT_OF_MEMORY, "350 MB"),
    "hoards at once": (Status.OUT_OF_MEMORY, "memory ran out with a limit of 350 MB"),
    "hoards by mapping": (Status.OUT_OF_MEMORY, "over the limit of 350 MB while solving"),
    "hoards in shared files": (Status.OUT_OF_MEMORY, "over the limit of 350 MB while solving"),
    "leaves shared files": (Status.CRASHED, "it was killed from outside the comparison"),
    "hoards in an anonymous file": (Status.OUT_OF_MEMORY, "over the limit of 350 MB while solving"),
    "hoards in a deleted file": (Status.OUT_OF_MEMORY, "over the limit of 350 MB while solving"),
    "leaves a segment": (Status.CRASHED, "it was killed from outside the comparison"),
    "fostering": (Status.OUT_OF_MEMORY, "over the limit of 350 MB while solving"),
    "floods": (Status.FINISHED, "its own end"),
    "leaves a child": (Status.FINISHED, "its own end"),
    "leaves a session": (Status.FINISHED, "its own end"),
    "leaves a daemon": (Status.FINISHED, "its own end"),
    "leaves files": (Status.CRASHED, "ended with exit code 3"),
    "hides a helper": (Status.FINISHED, "its own end"),
    "kills its supervisor": (Status.CRASHED, "it was killed from outside the comparison"),
    "stops its supervisor": (Status.TIMEOUT, f"killed at the hard limit of {LIMIT:g} s while solving"),
    "leaves a thread": (Status.FINISHED, "its own end"),
    "wrong shape": (Status.ERROR, "BrokenPlugin: mis.wrong-shape does not give an answer to 'minimize'"),
    "nan": (Status.DIVERGED, "no longer finite"),
    "forges": (Status.CRASHED, "its reply is not an outcome: message: Input should be a valid string"),
    "changes the data": (Status.FINISHED, "its own end"),
    "patches the objective": (Status.FINISHED, "its own end"),
    "answers with code": (Status.ERROR, "its answer cannot be judged: it holds posix.system, which is not"),
    "takes back its answer": (Status.ERROR, "its answer cannot be judged: the run left none"),
    "threads": (Status.FINISHED, "its own end"),
    "unsuited": (Status.UNSUITED, "it wants more than three unknowns"),
    "finds no point": (Status.TIME_LIMIT, "no point was found in time"),
    "finds out": (Status.UNSUITED, "its matrix is singular"),
    "finds out late": (Status.ERROR, "Unsuited: it was suited a moment ago"),
    "counts without end": (Status.CRASHED, "its reply is not an outcome: it counts 1.00e30 iterations"),
    "cancels": (Status.ERROR, "it was cancelled, which only the user can say (enough)"),
    "odd text": (Status.ERROR, "ValueError: bad file ? name"),
    "cannot write": (Status.CRASHED, "the process ended with exit code 1 while writing its outcome"),
    "no file": (Status.ERROR, "run.toml line 4: problem.0: "),
    "explodes": (Status.ERROR, "RuntimeError: the sensor is offline"),
    "detonates": (Status.CRASHED, "the process died: bus error (SIGBUS) while loading"),
    "no solver": (Status.ERROR, "no solver named 'mis.nobody'"),
    "no module": (Status.ERROR, "No module named 'nowhere_at_all'"),
}


@pytest.mark.parametrize("case", EXPECTED)
def test_what_a_cell_does_becomes_its_status_and_a_sentence(case: str, outcomes: dict[str, Outcome]) -> None:
    status, words = EXPECTED[case]
    outcome = outcomes[case]
    assert outcome.status is status, outcome
    assert words in outcome.message


def test_every_case_is_expected_to_end_in_some_way(pids: Path) -> None:
    assert cases(pids).keys() == EXPECTED.keys()


@pytest.mark.parametrize("case", ["busy", "sleeps", "stubborn", "hangs in C"])
def test_a_hang_is_killed_at_its_limit(case: str, outcomes: dict[str, Outcome]) -> None:
    # By how much it overruns, `examples/bench/isolation.py` measures: under load a clock says little.
    assert LIMIT <= outcomes[case].wall < LIMIT + PATIENCE


@pytest.mark.parametrize(
    ("case", "line"),
    [("busy", "in act"), ("hangs in C", "in act"), ("segfaults", "string_at"), ("raises", "in act")],
)
def test_the_stack_says_where_it_was(case: str, line: str, outcomes: dict[str, Outcome]) -> None:
    assert line in outcomes[case].traceback
    assert "misbehaving.py" in outcomes[case].traceback


def test_a_timeout_speaks_of_the_warm_up_only_where_it_took_long(outcomes: dict[str, Outcome]) -> None:
    assert outcomes["sleeps"].message.endswith("s of it: raise [limits] time or set warmup = false")
    assert outcomes["busy"].message.endswith("after 1 iterations")


def test_who_cannot_write_its_outcome_says_so(outcomes: dict[str, Outcome]) -> None:
    assert "the outcome (finished) cannot be written to" in outcomes["cannot write"].stderr
    assert "set TMPDIR" in outcomes["cannot write"].stderr


def test_no_control_character_leaves_a_cell(outcomes: dict[str, Outcome]) -> None:
    outcome = outcomes["raises escapes"]
    assert "\\x1b[2Jcleared" in outcome.stderr
    assert not any("\x1b" in text for text in (outcome.message, outcome.stderr, outcome.traceback))


def test_temporary_files_go_with_their_cell(outcomes: dict[str, Outcome]) -> None:
    litter = Path(outcomes["leaves files"].stderr.strip())
    assert litter.name.startswith("litter-")
    assert not litter.exists()
    assert not litter.parent.exists()


def test_files_in_shared_memory_go_with_their_cell(outcomes: dict[str, Outcome]) -> None:
    assert outcomes["leaves shared files"].memory > 2e7
    assert not list(Path("/dev/shm").glob("mis-*"))


def test_segments_of_shared_memory_go_with_their_cell(outcomes: dict[str, Outcome]) -> None:
    number = outcomes["leaves a segment"].stderr.split()[0]
    segments = Path("/proc/sysvipc/shm").read_text().splitlines()[1:]
    assert number not in [line.split()[1] for line in segments]


def test_an_answer_needs_no_stack(outcomes: dict[str, Outcome]) -> None:
    assert outcomes["honest"].traceback == ""
    assert outcomes["honest"].objective == pytest.approx(2.5 / 64)
    assert outcomes["honest"].iterations == 3


@pytest.mark.parametrize(
    ("case", "claimed", "words"),
    [
        ("changes the data", "objective 0 (in truth 1.25)", ["changed the problem's", "claimed numbers"]),
        ("patches the objective", "objective -1e+06 (in truth 1.25)", ["claimed numbers"]),
    ],
)
def test_a_row_holds_what_the_answer_is_worth_and_names_who_claimed_more(
    case: str, claimed: str, words: list[str], outcomes: dict[str, Outcome]
) -> None:
    outcome = outcomes[case]
    assert outcome.objective == 1.25
    assert outcome.solved == outcomes["honest"].solved
    assert not outcome.trace
    texts = " ".join(found["text"] for found in outcome.findings)
    assert all(word in texts for word in (*words, claimed))


def test_the_ranking_of_the_others_stands_beside_who_cheats(tmp_path: Path) -> None:
    solvers = ["mis.honest", "mis.changes-the-data", "mis.patches-the-objective"]
    plan = make_plan([BOWL], solvers, modules=[str(HERE / "misbehaving.py")], workers=1)
    records = run_plan(plan, tmp_path, show=False)
    best = records.rows[0].outcome.objective
    assert records.best == {records.rows[0].outcome.solved: best}
    assert [row.outcome.objective for row in records.rows] == [best, 1.25, 1.25]
    gaps = [suboptimality(row.outcome, records.best) for row in records.rows]
    assert gaps == pytest.approx([0.0, 1.25 - best, 1.25 - best])


def test_an_answer_runs_no_code_where_it_is_read(pids: Path, outcomes: dict[str, Outcome]) -> None:
    assert outcomes["answers with code"].metrics == {}
    assert not (pids / "touched").exists()


def test_the_message_names_the_file_that_is_missing(outcomes: dict[str, Outcome]) -> None:
    assert "none.csv" in outcomes["no file"].message


def test_a_gigabyte_of_output_leaves_its_end_and_the_last_words(outcomes: dict[str, Outcome]) -> None:
    said = outcomes["floods"].stderr
    assert said.startswith("and a last word")
    assert said.endswith("no end of words\n")
    assert len(said) < 100_000


@pytest.mark.parametrize(
    ("name", "case"),
    [
        ("child", "leaves a child"),
        ("session", "leaves a session"),
        ("daemon", "leaves a daemon"),
        ("hidden", "hides a helper"),
    ],
)
def test_what_a_cell_started_is_gone_with_it(
    name: str, case: str, pids: Path, outcomes: dict[str, Outcome]
) -> None:
    started = [*map(int, (pids / name).read_text().split())]
    assert all(map(ended, started))
    (note,) = [found for found in outcomes[case].findings if found["identifier"] == "cell.left-processes"]
    # A repeated solve leaves others, too.
    assert int(re.search(r"while (\d+) of the processes it had started", note["text"])[1]) >= len(started)


@pytest.mark.parametrize("name", ["supervised", "stopped"])
@pytest.mark.usefixtures("outcomes")
def test_what_a_cell_without_supervisor_started_is_gone_too(name: str, pids: Path) -> None:
    in_time(lambda: ended(int((pids / name).read_text())))  # its new parent kills it, when it hears of it


def test_linear_algebra_and_compiled_loops_keep_to_the_threads(outcomes: dict[str, Outcome]) -> None:
    assert "[1] ['1', '1', '1', '1']" in outcomes["threads"].stderr
    assert outcomes["threads"].environment["threads"] == 1
    assert {pool["num_threads"] for pool in outcomes["threads"].environment["libraries"]} == {1}


def test_memory_of_what_it_started_counts(outcomes: dict[str, Outcome]) -> None:
    assert outcomes["fostering"].memory > MEMORY
    assert 30e6 < outcomes["honest"].memory < MEMORY


def test_an_outcome_knows_the_versions_and_the_machine(outcomes: dict[str, Outcome]) -> None:
    outcome = outcomes["honest"]
    assert {"python", "optiframework", "numpy"} <= outcome.versions.keys()
    assert outcome.environment["cpu"]
    assert outcome.wall > outcome.loading > 0
    assert outcome.warmup > 0


def test_nothing_is_left_in_the_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    run_isolated(ask("mis.segfaults"))
    assert list(tmp_path.iterdir()) == []


def test_a_cell_beside_one_that_is_killed_is_not_harmed() -> None:
    with ThreadPoolExecutor(2) as pool:
        killed = pool.submit(run_isolated, ask("mis.sleeps", 1.0))
        beside = pool.submit(run_isolated, ask("mis.honest", seconds=2.0))
    assert killed.result().status is Status.TIMEOUT
    assert beside.result().status is Status.FINISHED


def test_an_answer_that_comes_too_late_is_not_taken_for_that_to_the_next_question() -> None:
    slow = on_problem(ask("mis.honest", 6.0), name="mis.slow-to-load", to=[15.0, 2.0])
    next_one = on_problem(ask("mis.honest", 6.0), name="mis.slow-to-load", to=[0.0, 2.0])
    judges = Judges(keep=1)
    try:
        statuses = [run_isolated(request, judges=judges).status for request in (slow, next_one)]
    finally:
        judges.close()
    assert statuses == [Status.TIMEOUT, Status.FINISHED]


def test_the_news_are_told_in_order_and_a_stop_kills() -> None:
    told: list[Progress] = []
    stop = threading.Event()

    def tell(news: Progress) -> None:
        told.append(news)
        if news.stage == "solving" and news.iterations == 1:
            stop.set()

    outcome = run_isolated(ask("mis.sleeps"), tell, stop)
    assert outcome.status is Status.CANCELLED
    assert outcome.message == "stopped by the user while solving, after 1 iterations"
    stages = list(dict.fromkeys(news.stage for news in told))
    assert stages[-1] == "solving"
    assert stages == [s for s in ("starting", "loading", "warming up", "solving") if s in stages]
    assert {news.key for news in told} == {"mis.sleeps"}
    assert math.isnan(told[-1].residual)


def test_an_interrupt_of_the_watcher_leaves_no_child(tmp_path: Path) -> None:
    pids = tmp_path / "pids"

    request = ask("mis.leaves-a-child", pids=str(pids), new_session=True, waits=True)
    thread = threading.Thread(target=interrupt_when, args=(pids,))
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        run_isolated(request)
    thread.join()
    in_time(lambda: all(map(ended, map(int, pids.read_text().split()))))


def interrupt_when(file: Path) -> None:
    """What Ctrl-C does, once the file is there."""
    while not file.exists():
        time.sleep(0.02)
    os.kill(os.getpid(), signal.SIGINT)


@pytest.fixture
def main_process(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], list[int]]]:
    """A process that runs a cell that waits, with a grandchild in a session of its own."""
    pids = tmp_path / "pids"
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from test_compare_isolation import ask, run_isolated\n"
        "run_isolated(ask('mis.leaves-a-child', pids=sys.argv[2], new_session=True, waits=True))"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    main = subprocess.Popen([sys.executable, "-c", code, str(HERE), str(pids)], env=environment)
    while not pids.exists():
        assert main.poll() is None
        time.sleep(0.02)
    yield main, [int(pid) for pid in pids.read_text().split()]
    main.kill()
    main.wait()


def test_when_the_main_process_is_killed_nothing_it_started_outlives_it(
    main_process: tuple[subprocess.Popen[bytes], list[int]], tmp_path: Path
) -> None:
    main, started = main_process
    children = psutil.Process(main.pid).children()
    guardians = [child for child in children if "reaper.py" in " ".join(child.cmdline()[-2:-1])]
    assert len(guardians) == 1
    main.kill()
    main.wait()
    in_time(lambda: all(ended(pid) for pid in (*started, guardians[0].pid)))
    in_time(lambda: not list(tmp_path.glob("optiframe-*")))


@pytest.mark.parametrize("helper", ["reaper.py", "fork_server"])
def test_a_helper_process_that_was_killed_is_replaced(helper: str) -> None:
    code = (
        "import psutil, sys, signal; sys.path.insert(0, sys.argv[1])\n"
        "from test_compare_isolation import ask, run_isolated\n"
        "for _ in range(2):\n"
        "    print(run_isolated(ask('mis.honest')).status)\n"
        "    [helper] = [c for c in psutil.Process().children() if sys.argv[2] in ' '.join(c.cmdline())]\n"
        "    print(helper.pid); helper.kill(); helper.wait()\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, str(HERE), helper],
        capture_output=True,
        text=True,
        check=True,
    )
    first, killed, second, another = done.stdout.split()
    assert (first, second) == ("finished", "finished")
    assert killed != another
    assert done.stderr == ""


def test_what_a_process_told_its_guardian_just_before_it_died_is_ended(tmp_path: Path) -> None:
    folder = tmp_path / "optiframe-cell"
    folder.mkdir()
    code = (
        "import os, signal, subprocess, sys; from optiframe.comparison.processes import reaper\n"
        "sleeper = [sys.executable, '-c', 'import time; time.sleep(600)']\n"
        "environment = {**os.environ, reaper.MARKER: 'a-cell-of-a-test'}\n"
        "cell = subprocess.Popen(sleeper, env=environment, start_new_session=True)\n"
        "print(cell.pid, flush=True)\n"
        "command = [sys.executable, '-I', '-S', reaper.__file__, str(os.getpid())]\n"
        "listens = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)\n"
        "listens.stdin.write(f'+ {cell.pid} a-cell-of-a-test {sys.argv[1]}\\n'.encode())\n"
        "listens.stdin.flush(); os.kill(os.getpid(), signal.SIGKILL)\n"  # before it has begun to listen
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(folder)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as main:
        assert main.stdout is not None
        cell = psutil.Process(int(main.stdout.readline()))
    assert main.returncode == -signal.SIGKILL
    try:
        in_time(lambda: ended(cell.pid))
        in_time(lambda: not folder.exists())
    finally:
        if not ended(cell.pid):
            cell.kill()


def test_an_interrupt_at_the_very_end_is_not_shown() -> None:
    code = (
        "import os, signal, sys, threading, time\n"
        "from pathlib import Path; from optiframe.comparison.processes import reaper_client\n"
        "with reaper_client.known_to_reaper(0, 'nobody', Path('/nowhere')): pass\n"
        "pid = reaper_client._client._process.pid; print(pid, flush=True)\n"
        "os.kill(pid, signal.SIGSTOP)\n"  # so that we wait for it at our end
        "def interrupt(): time.sleep(0.3); os.kill(os.getpid(), signal.SIGINT)\n"
        "threading.Thread(target=interrupt, daemon=True).start()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    os.kill(int(done.stdout), signal.SIGKILL)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("before", "words"),
    [
        ("tempfile.gettempdir()", " {} (File too large)"),
        ("None", " (No usable temporary directory found in "),  # Python itself has tried to write there
    ],
)
def test_a_full_temporary_folder_is_said_in_words(before: str, words: str, tmp_path: Path) -> None:
    code = (
        "import resource, sys, tempfile; sys.path.insert(0, sys.argv[1])\n"
        "from test_compare_isolation import ask, run_isolated\n"
        "from optiframe import OptiframeError\n"
        f"{before}; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n"  # no file can have a byte
        "try: run_isolated(ask('mis.honest'))\n"
        "except OptiframeError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-B", "-c", code, str(HERE)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    assert done.stderr == ""
    assert done.stdout.startswith(f"no room for a cell in the temporary folder{words.format(tmp_path)}")
    assert list(tmp_path.iterdir()) == []


def test_a_child_whose_parent_says_only_half_ends_by_itself() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "optiframe.comparison.run.cell_main"],
        input=b'{"key": ',
        capture_output=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr == b""


def in_time(holds: Callable[[], bool]) -> None:
    """Wait until it holds; fail where it does not in a minute."""
    until = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.02)


def ended(pid: int) -> bool:
    """Whether a process is gone, or a zombie that only waits to be noticed by its parent."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True
