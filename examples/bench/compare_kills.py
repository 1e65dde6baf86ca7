"""A comparison whose main process is killed again and again loses nothing and repeats nothing.

Run: python examples/bench/compare_kills.py [--kills 20]

The main process of a comparison of short cells gets SIGKILL at a random moment, and is started
again with the same plan and folder, over and over; then it runs to its end. Each solver notes
when it starts in a file beside the store. Checked are: whatever was stored before a kill is there
afterwards, as it was, and never starts again; no process of the comparison outlives the kill
by more than a few seconds; the table at the end equals that of a run that nobody disturbed.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import psutil

import optiframe
from optiframe import Iterate, Iterates, Minimize, Run, Solver
from optiframe.comparison.records import Records
from optiframe.comparison.store.schema import FILE

LOG = "OPTIFRAME_KILLS_LOG"  # in the environment: where a solver notes that it starts
FOLDER = "OPTIFRAME_KILLS_FOLDER"  # marks the processes of one comparison, so that none is missed
# The reaper kills at once; a child so young that it was not told of ends by itself when it finds
# that nobody asks it anything.
SECONDS_TO_DIE = 1.0
PLAN = """
seeds = {seeds}
warmup = false
[[problem]]
name = "minimize"
[problem.objective]
name = "least-squares"
matrix = [[2.0, 1.0], [1.0, 3.0], [0.0, 1.0]]
target = [1.0, 2.0, 3.0]
[[solver]]
name = "bench.slow-descent"
pause = {{sweep = [0.1, 0.2, 0.3]}}
[budget]
iterations = 20
tolerance = 0.0
[executor]
workers = 2
"""


@optiframe.register
class SlowDescent(Solver[Minimize, np.ndarray, None]):
    """Gradient descent from a random point that notes its start, and sleeps before its first step."""

    name = "bench.slow-descent"
    solves = Minimize

    pause: float = 0.1

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        mark = float(run.rng.integers(10**9)) + self.pause  # tells the cell: the seed and the pause
        with open(os.environ[LOG], "a", encoding="utf-8") as log:
            log.write(f"{mark!r}\n")
        time.sleep(self.pause)
        x = run.rng.normal(size=problem.function.shape)
        step = 1.0 / problem.function.curvature()
        while True:
            gradient = problem.function.gradient(x)
            x = x - step * gradient
            yield Iterate(x, residual=float(np.linalg.norm(gradient)), info={"mark": mark})


def run_here(folder: Path) -> int:
    """The process that is killed: it runs the plan into the folder, as `optiframe compare` does."""
    from optiframe.comparison.engine import run_plan
    from optiframe.comparison.plan.plan import read_plan

    plan = read_plan(folder.parent / "plan.toml", modules=(str(Path(__file__)),))
    try:
        run_plan(plan, folder, show=False)
    except KeyboardInterrupt:
        return 130
    return 0


def start(folder: Path) -> subprocess.Popen[bytes]:
    """The main process, in a session of its own so that only it is killed."""
    environment = {**os.environ, LOG: f"{folder}.log", FOLDER: str(folder)}
    command = [sys.executable, __file__, "--run", str(folder)]
    return subprocess.Popen(command, env=environment, start_new_session=True)


def survivors(folder: Path) -> list[int]:
    """Processes of the comparison that still live."""
    found = []
    for process in psutil.process_iter():
        try:
            ours = process.environ().get(FOLDER) == str(folder)
            if ours and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
        except psutil.Error:
            continue
    return found


def stored(folder: Path) -> dict[str, tuple[str, float]]:
    """Key of each finished cell, with its status and mark; read from a copy, so that nothing is repaired."""
    from optiframe.comparison.store.store import load

    if not (folder / FILE).exists():
        return {}
    with tempfile.TemporaryDirectory() as copy:
        for path in folder.glob(f"{FILE}*"):
            if not path.name.endswith("-shm"):  # it is made again from the others
                shutil.copy(path, copy)
        try:
            rows = load(copy).rows
        except optiframe.InvalidInput:  # killed before the tables or the plan were there
            return {}
    return {row.key: (row.outcome.status, row.outcome.trace["mark"][0]) for row in rows if row.outcome}


def started(folder: Path) -> list[float]:
    """Marks in the order in which solvers noted them."""
    log = Path(f"{folder}.log")
    return list(map(float, log.read_text(encoding="utf-8").split())) if log.exists() else []


def table(records: Records) -> list[tuple[object, ...]]:
    """All of the rows that does not depend on the clock."""
    return [
        (row.problem, row.solver, row.seed)
        + (
            ("none",)
            if (o := row.outcome) is None
            else (o.status, o.objective, o.iterations, dict(o.metrics))
        )
        + (() if o is None else (o.trace["objective"],))
        for row in records.rows
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seeds", type=int, default=14, help="cells are three times as many")
    parser.add_argument("--longest", type=float, default=4.0, help="seconds until a kill, at most")
    parser.add_argument(
        "--to-die", type=float, default=SECONDS_TO_DIE, help="seconds to outlive a kill, at most"
    )
    parser.add_argument("--run", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.run is not None:
        return run_here(arguments.run)
    with tempfile.TemporaryDirectory() as folder:
        return orchestrate(
            Path(folder), arguments.kills, arguments.seeds, arguments.longest, arguments.to_die
        )


def orchestrate(place: Path, kills: int, seeds: int, longest: float, to_die: float) -> int:
    from optiframe.comparison.store.store import load

    (place / "plan.toml").write_text(PLAN.format(seeds=seeds), encoding="utf-8")
    calm, stormy = place / "calm", place / "stormy"
    assert start(calm).wait() == 0
    moments, faults, landed = random.Random(0), [], 0
    seen: list[tuple[int, dict[str, tuple[str, float]]]] = []
    print("kill  after (s)  finished  outlived by (s)")
    for number in range(1, kills + 1):
        process, moment = start(stormy), moments.uniform(0.2, longest)
        try:
            process.wait(moment)
        except subprocess.TimeoutExpired:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            landed += 1
        killed = time.monotonic()
        while (left := survivors(stormy)) and time.monotonic() < killed + to_die:
            time.sleep(0.05)
        outlived = time.monotonic() - killed
        finished = stored(stormy)
        for _, before in seen[-1:]:
            if any(finished.get(key) != was for key, was in before.items()):
                faults.append(f"kill {number} lost a stored cell")
        seen.append((len(started(stormy)), finished))
        print(f"{number:>4}  {moment:>9.2f}  {len(finished):>8}  {outlived:>15.2f}", flush=True)
        if left:
            faults.append(f"{len(left)} processes outlived kill {number} by {to_die:g} s")
    assert start(stormy).wait() == 0
    starts, end = started(stormy), stored(stormy)
    for count, finished in seen:
        twice = {mark for _, mark in finished.values()} & set(starts[count:])
        if twice:
            faults.append(f"{len(twice)} cells started again after they were stored")
    if any(end.get(key) != was for _, finished in seen for key, was in finished.items()):
        faults.append("a stored cell changed")
    if table(load(calm)) != table(load(stormy)):
        faults.append("the table differs from an undisturbed run's")
    rows = load(stormy).rows
    if len(rows) != 3 * seeds or any(row.outcome is None for row in rows):
        faults.append("cells are missing")
    if any(not math.isfinite(row.outcome.objective) for row in rows if row.outcome):
        faults.append("a cell has no answer")
    print(f"{landed} of {kills} kills met a running process; {len(rows)} cells, {len(starts)} starts")
    print("faults: " + ("; ".join(faults) or "none"))
    print("nothing lost and nothing repeated:", "MISSED" if faults else "reached")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
