"""Cells per minute with a trivial solver on two cores, beside bare starts of the interpreter.

Run: python examples/bench/compare_throughput.py [--cells 40]

The floor is what no isolation by processes can go below: `python -c "import numpy, scipy, pydantic"`,
two at a time. Both are run in turn, in blocks, and the median ratio over the blocks counts.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter

import numpy as np

import optiframe
from optiframe import Iterate, Iterates, Minimize, Run, Solver

WORKERS = 2
STARTS = 1.0  # bare starts a cell may cost, whatever the machine
SECONDS = 0.25  # a cell may keep a worker busy, on two cores at more than 300 bare starts a minute
A_MINUTE = 400  # cells on two cores
PLAN = """
seeds = {cells}
warmup = false
[[problem]]
name = "minimize"
[problem.objective]
name = "least-squares"
matrix = [[2.0, 1.0], [1.0, 3.0]]
target = [1.0, 2.0]
[[solver]]
name = "bench.nothing-much"
[executor]
workers = 2
"""


@optiframe.register
class NothingMuch(Solver[Minimize, np.ndarray, None]):
    """One answer at once: all that is left is what the machinery costs."""

    name = "bench.nothing-much"
    solves = Minimize

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        yield Iterate(0.0 * run.rng.random(problem.function.shape))  # else one seed would do for all


def floor(starts: int) -> float:
    """Bare starts a minute."""
    command = [sys.executable, "-c", "import numpy, scipy, pydantic"]
    began = perf_counter()
    with ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(lambda _: subprocess.run(command, check=True), range(starts)))
    return 60 * starts / (perf_counter() - began)


def cells(number: int) -> float:
    """Cells a minute, stored and all."""
    from optiframe.comparison.engine import run_plan
    from optiframe.comparison.plan.plan import read_plan

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "plan.toml"
        file.write_text(PLAN.format(cells=number), encoding="utf-8")
        plan = read_plan(file, modules=(str(Path(__file__)),))
        began = perf_counter()
        records = run_plan(plan, Path(folder) / "results", show=False)
        took = perf_counter() - began
    for row in records.rows:
        assert row.outcome is not None
        assert row.outcome.status == "finished", row.outcome.message
    return 60 * number / took


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", type=int, default=20, help="in each block")
    parser.add_argument("--blocks", type=int, default=3)
    arguments = parser.parse_args()
    measured = [(floor(arguments.cells), cells(arguments.cells)) for _ in range(arguments.blocks)]
    bare = statistics.median(one for one, _ in measured)
    ours = statistics.median(one for _, one in measured)
    ratio = statistics.median(one / two for one, two in measured)
    print(f"bare starts a minute on {WORKERS} cores  {bare:8.0f}")
    goals = (
        (f"cells a minute on {WORKERS} cores", ours, f"at least {A_MINUTE}", ours >= A_MINUTE),
        ("bare starts to a cell", ratio, f"at most {STARTS:g}", ratio <= STARTS),
        ("seconds a cell", 60 * WORKERS / ours, f"at most {SECONDS:g}", 60 * WORKERS / ours <= SECONDS),
    )
    for what, value, target, reached in goals:
        print(f"{what:<31} {value:8.2f}, target {target}: {'reached' if reached else 'MISSED'}")
    return 0 if all(reached for *_, reached in goals) else 1


if __name__ == "__main__":
    sys.exit(main())
