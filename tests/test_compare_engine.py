"""The engine: each cell runs once, whatever happens to the process that runs them."""

from __future__ import annotations

import dataclasses
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import optiframe as of
from optiframe import Budget, Status
from optiframe.comparison.cells import ExecutorChoice, Limits
from optiframe.comparison.engine import Terminated, _Interrupts, run_plan
from optiframe.comparison.records import Outcome
from optiframe.comparison.run.executors import executor_for, workers_of
from optiframe.comparison.run.local import LocalExecutor
from optiframe.comparison.store.failures import StoreFailed
from optiframe.comparison.store.store import Store, load
from optiframe.solving.runner import Runner

from .comparing import HERE, cell, outcome, plan_of

KILLS = HERE.parent / "examples" / "bench" / "compare_kills.py"


def solved_here(request) -> Outcome:
    """A request solved in this process: the engine's own logic needs no isolation."""
    result = Runner(
        of.problem(**request.problem),
        of.solver(**request.solver),
        seed=request.seed,
        budget=Budget(**request.budget),
    ).result()
    return Outcome(
        result.status,
        result.message,
        objective=result.objective,
        violation=result.violation,
        solved=result.solved,
        iterations=result.iterations,
        trace=result.trace.columns(),
    )


class Here(LocalExecutor):
    """The local executor's threads, in this process; `asked` says what was run."""

    def __init__(self, runner=solved_here, workers: int = 2):
        self.asked: list[str] = []

        def one(request, tell, stop):
            self.asked.append(request.key)
            return runner(request)

        super().__init__(workers, 100, one)


def run(plan, folder, executor=None, **more):
    executor = executor or Here()
    return run_plan(plan, folder, show=False, executor=executor, **more), executor.asked


def test_every_cell_runs_once_and_none_again(tmp_path):
    cells = [cell(seed=seed) for seed in range(5)]
    plan = plan_of(*cells, positions=(4, 3, 2, 1, 0))
    records, asked = run(plan, tmp_path)
    assert sorted(asked) == sorted(one.key for one in cells)
    assert [row.seed for row in records.rows] == [4, 3, 2, 1, 0]
    assert all(row.outcome.answered for row in records.rows)
    assert records == load(tmp_path)
    assert list(records.best.values()) == [min(row.outcome.objective for row in records.rows)]
    again, asked = run(plan, tmp_path)
    assert asked == []
    assert again.rows == records.rows


def test_cells_start_in_the_plans_order_and_only_when_there_is_room(tmp_path):
    cells = [cell(seed=seed) for seed in (3, 1, 2)]
    claimed = []

    def look(request):
        claimed.append(len(list(tmp_path.glob(".running-*"))))
        return solved_here(request)

    _, asked = run(plan_of(*cells), tmp_path, Here(look, workers=1))
    assert asked == [one.key for one in cells]
    assert claimed == [1, 1, 1]


@pytest.mark.parametrize("matters", [False, True])
def test_seeds_that_cannot_differ_are_run_once(tmp_path, matters):
    cells = [cell(solver=solver, seed=seed) for solver in ("descent", "ascent") for seed in range(3)]

    def without_numbers(request):
        return dataclasses.replace(solved_here(request), seed_matters=matters)

    records, asked = run(plan_of(*cells), tmp_path, Here(without_numbers, workers=1))
    assert len(asked) == (6 if matters else 2)
    assert len({row.outcome.objective for row in records.rows}) == 1
    notes = [found for row in records.rows for found in row.outcome.findings]
    assert [note["identifier"] for note in notes] == ["cell.same-for-every-seed"] * (6 - len(asked))
    again, asked = run(plan_of(*cells), tmp_path)
    assert (asked, again.rows) == ([], records.rows)


def test_data_that_follow_the_seed_are_solved_for_each(tmp_path):
    cells = [cell(seed=seed) for seed in range(3)]
    table = {**cells[0].problem.table, "start": {"from": "seed"}}
    problem = dataclasses.replace(cells[0].problem, table=table)
    plan = plan_of(*(dataclasses.replace(one, problem=problem) for one in cells))
    fixed = Here(lambda request: outcome(seed_matters=False), workers=1)
    _, asked = run(plan, tmp_path, fixed)
    assert len(asked) == 3


@pytest.mark.parametrize("status", [Status.ERROR, Status.TIMEOUT])
def test_a_failure_is_not_taken_for_the_other_seeds(tmp_path, status):
    plan = plan_of(*(cell(seed=seed) for seed in range(3)))
    fails = Here(lambda request: outcome(status=status, seed_matters=False), workers=1)
    assert len(run(plan, tmp_path, fails)[1]) == 3


def test_a_run_that_breaks_off_is_resumed(tmp_path):
    cells = [cell(seed=seed) for seed in range(4)]

    def breaks(request):
        if request.key == cells[2].key:
            raise RuntimeError("the machinery itself")
        return solved_here(request)

    with pytest.raises(RuntimeError, match="machinery"):
        run(plan_of(*cells), tmp_path, Here(breaks, workers=1))
    assert [row.outcome is not None for row in load(tmp_path).rows] == [True, True, False, False]
    records, asked = run(plan_of(*cells), tmp_path)
    assert sorted(asked) == sorted(one.key for one in cells[2:])
    assert records.ended


def test_a_cancelled_cell_is_not_finished(tmp_path):
    records, _ = run(plan_of(cell()), tmp_path, Here(lambda request: outcome(status=Status.CANCELLED)))
    assert records.rows[0].outcome is None
    assert records.ended == ""
    records, asked = run(plan_of(cell()), tmp_path)
    assert asked == [cell().key]
    assert records.rows[0].outcome.answered


def test_failures_are_finished_and_run_again_only_when_asked(tmp_path):
    plan = plan_of(cell(seed=0), cell(seed=1))
    run(plan, tmp_path, Here(lambda r: outcome(status=Status.TIMEOUT if r.seed else Status.DIVERGED)))
    _, asked = run(plan, tmp_path)
    assert asked == []
    records, asked = run(plan, tmp_path, retry=True)
    assert asked == [cell(seed=1).key]
    first, second = (row.outcome for row in records.rows)
    assert first.status is Status.DIVERGED
    assert second.answered


def test_one_content_under_two_titles_runs_once(tmp_path):
    twin = dataclasses.replace(cell(), problem=dataclasses.replace(cell().problem, title="twin"))
    records, asked = run(plan_of(cell(), twin), tmp_path)
    assert asked == [cell().key]
    assert all(row.outcome is not None for row in records.rows)


def test_an_object_that_cannot_be_sent_fails_its_own_cell_only(tmp_path):
    lock = dataclasses.replace(cell(seed=1).problem, table=None, thing=threading.Lock())
    stuck = dataclasses.replace(cell(seed=1), problem=lock)
    records, asked = run(plan_of(stuck, cell(seed=2)), tmp_path)
    assert asked == [cell(seed=2).key]
    assert records.rows[0].outcome.status is Status.ERROR
    assert "cannot be sent" in records.rows[0].outcome.message
    assert records.rows[1].outcome.answered


@pytest.mark.parametrize("bad", [{"iterations": 10**30}, {"trace": {"iteration": [1, 2**70]}}])
def test_an_outcome_that_cannot_be_stored_fails_its_own_cell_only(tmp_path, bad):
    def runner(request):
        return outcome(**bad) if request.seed == 0 else outcome()

    records, asked = run(plan_of(cell(seed=0), cell(seed=1)), tmp_path, Here(runner))
    assert len(asked) == 2
    first, second = (row.outcome for row in records.rows)
    assert (first.status, second.status) == (Status.ERROR, Status.CONVERGED)
    assert first.message.startswith("its outcome cannot be stored: OverflowError")
    assert "OverflowError" in first.traceback
    assert records.ended


def test_a_folder_that_is_deleted_ends_the_run_with_a_sentence(tmp_path):
    folder = tmp_path / "results"

    def delete(request):
        shutil.rmtree(folder)
        return outcome()

    with pytest.raises(StoreFailed, match="was deleted"):
        run(plan_of(*(cell(seed=seed) for seed in range(3))), folder, Here(delete, workers=1))
    assert not folder.exists()


def test_two_plans_in_one_folder_each_report_their_own(tmp_path):
    def meanwhile(request):
        if request.seed == 0:
            run(plan_of(cell(seed=5)), tmp_path)
        return solved_here(request)

    records, _ = run(plan_of(cell(seed=0), cell(seed=1)), tmp_path, Here(meanwhile, workers=1))
    assert [row.seed for row in records.rows] == [0, 1]


def test_a_cell_another_process_gives_up_is_taken_over(tmp_path):
    with Store(tmp_path) as other:
        other.begin(plan_of(cell()), {})
        assert other.claim(cell().key) == "claimed"
        giving_up = threading.Timer(0.4, lambda: None)
        done = []
        ours = threading.Thread(target=lambda: done.append(run(plan_of(cell()), tmp_path)))
        ours.start()
        giving_up.start()
        giving_up.join()
        assert done == []
        other.release(cell().key)
        ours.join(20)
    assert done[0][0].rows[0].outcome.answered


def test_a_cell_another_process_finishes_is_waited_for(tmp_path):
    with Store(tmp_path) as other:
        other.begin(plan_of(cell()), {})
        other.claim(cell().key)
        done = []
        ours = threading.Thread(target=lambda: done.append(run(plan_of(cell()), tmp_path)))
        ours.start()
        other.finish(cell().key, outcome(7.0))
        ours.join(20)
    records, asked = done[0]
    assert asked == []
    assert records.rows[0].outcome.objective == 7.0


@pytest.mark.parametrize(
    ("number", "raised"),
    [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, Terminated), (signal.SIGHUP, Terminated)],
)
def test_an_interrupt_waits_for_the_commit(number, raised):
    reached = []

    def commit(interrupts):
        with interrupts.held():
            signal.raise_signal(number)
            reached.append("the end of the commit")
        reached.append("never")

    # Whoever started the tests may have had it ignored, as nohup does.
    usual = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
    before = signal.signal(number, usual)
    try:
        with _Interrupts() as interrupts, pytest.raises(raised) as caught:
            commit(interrupts)
        assert signal.getsignal(number) == usual
    finally:
        signal.signal(number, before)
    assert reached == ["the end of the commit"]
    assert getattr(caught.value, "code", 128 + number) == 128 + number


def test_a_signal_that_is_ignored_stays_ignored():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup leaves it
    try:
        with _Interrupts():
            signal.raise_signal(signal.SIGHUP)
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_an_order_to_end_leaves_a_store_to_resume(tmp_path, capsys):
    def terminate(request):
        if request.seed == 1:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(0.1)  # the main thread hears of it first
        return outcome()

    plan = plan_of(cell(seed=0), cell(seed=1))
    with pytest.raises(SystemExit) as caught:
        run_plan(plan, tmp_path, executor=Here(terminate, workers=1))
    assert caught.value.code == 143
    assert "stopped: 1 of 2 cells are finished and stored in " in capsys.readouterr().err
    assert [row.outcome is not None for row in load(tmp_path).rows] == [True, False]


def test_the_executor_is_the_one_the_plan_names():
    limits = Limits()
    assert executor_for(ExecutorChoice(workers=3), 10, limits).workers == 3
    assert executor_for(ExecutorChoice(workers=3), 2, limits).workers == 2


def test_by_default_cells_do_not_share_cores():
    cores = len(os.sched_getaffinity(0))
    for threads in (1, 2, cores, cores + 1):
        limits = Limits(threads=threads)
        workers = workers_of(ExecutorChoice(), limits)
        assert executor_for(ExecutorChoice(), 1000, limits).workers == workers == max(1, cores // threads)
        assert workers_of(ExecutorChoice("dask"), limits) == workers
    assert workers_of(ExecutorChoice("dask", address="tcp://10.0.0.1:8786"), Limits()) is None


# --- real processes --------------------------------------------------------------------------------


def start(folder: Path, seeds: int = 2) -> subprocess.Popen:
    """The main process of a comparison of three cells a seed, as the script that kills it starts it."""
    from runpy import run_path

    script = run_path(str(KILLS), run_name="compare_kills")
    (folder.parent / "plan.toml").write_text(script["PLAN"].format(seeds=seeds))
    environment = {**os.environ, script["LOG"]: f"{folder}.log", script["FOLDER"]: str(folder)}
    return subprocess.Popen(
        [sys.executable, str(KILLS), "--run", str(folder)],
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def starts(folder: Path) -> list[str]:
    log = Path(f"{folder}.log")
    return log.read_text().split() if log.exists() else []


@pytest.mark.slow
def test_two_processes_share_a_store_and_each_cell_runs_once(tmp_path):
    folder = tmp_path / "results"
    both = [start(folder, seeds=3) for _ in range(2)]
    errors = [process.communicate(timeout=300)[1] for process in both]
    assert [process.returncode for process in both] == [0, 0], errors
    noted = starts(folder)
    assert len(noted) == len(set(noted)) == 9
    assert all(row.outcome.answered for row in load(folder).rows)


@pytest.mark.slow
def test_the_first_interrupt_kills_the_children_and_leaves_a_store_to_resume(tmp_path):
    folder = tmp_path / "results"
    with start(folder, seeds=4) as process:
        deadline = time.monotonic() + 240
        while len(starts(folder)) < 3:  # the first has ended by then, the third has just started
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        errors = process.communicate(timeout=240)[1]
    assert process.returncode == 130
    assert errors == ""
    from runpy import run_path

    survivors = run_path(str(KILLS), run_name="compare_kills")["survivors"]
    while survivors(folder):  # a killed process still has to be scheduled once to be gone
        assert time.monotonic() < deadline
        time.sleep(0.05)
    before = [row for row in load(folder).rows if row.outcome is not None]
    assert len(before) < 12
    with start(folder, seeds=4) as process:
        errors = process.communicate(timeout=240)[1]
    assert process.returncode == 0, errors
    after = load(folder).rows
    assert [row.outcome.message for row in after if not row.outcome.answered] == []
    assert [row for row in after if row.key in {one.key for one in before}] == before


@pytest.mark.slow
@pytest.mark.parametrize("kills", [2, pytest.param(8, marks=pytest.mark.thorough)])
def test_killing_the_main_process_again_and_again_loses_and_repeats_nothing(kills):
    numbers = ["--kills", str(kills), "--seeds", "2", "--longest", "1.6", "--to-die", "60"]
    done = subprocess.run(
        [sys.executable, str(KILLS), *numbers],
        capture_output=True,
        text=True,
        timeout=480,
        check=False,
    )
    assert "nothing lost and nothing repeated: reached" in done.stdout, done
    assert done.returncode == 0
