"""What a comparison adds to what it measures: to the time of a 2 ms solve, and to each cell.

Run: python examples/bench/compare_timing.py

A gradient descent of about 2 ms is timed by a comparison's child process and, in a process of
its own, by a plain loop over the solver's generator; in turn, several times. Each process gives
the median of its solves; the least of those counts, since noise from outside only ever adds.
Then the time a whole cell takes, beside a bare interpreter that imports what the cell imports.
What the loop of `solve` costs for each iterate is measured by loop_overhead.py.
"""

from __future__ import annotations

import os
import subprocess
import sys
from statistics import median
from time import perf_counter

import numpy as np

from optiframe import Budget, Iterate, Iterates, Minimize, Run, Solver, register
from optiframe.comparison.cells import Limits, Measure, Request
from optiframe.comparison.records import Outcome
from optiframe.comparison.run.isolation import run_isolated
from optiframe.solving import construct
from optiframe.solving.clock import Clock

ERROR_TARGET = 0.10  # of the time of the same solve timed alone
OVERHEAD_TARGET = 1.0  # seconds a cell beyond the start of a process with the same imports
ROUNDS = 3 if os.environ.get("OPTIFRAME_QUICK") else 15
SOLVES = 30  # in each process
STEPS = 130  # about 2 ms in all
PROBLEM = {
    "name": "minimize",
    "objective": {
        "name": "least-squares",
        "matrix": np.random.default_rng(0).standard_normal((500, 100)).tolist(),
        "target": np.random.default_rng(1).standard_normal(500).tolist(),
    },
}
IMPORTS = (
    "import optiframe.solving.solve, threadpoolctl, scipy.sparse, optiframe.problems.objectives.losses, "
    "optiframe.problems.sets.constraint_set"
)


@register
class Descent(Solver[Minimize, np.ndarray, None]):
    """Gradient descent with a fixed step."""

    name = "bench.descent"
    solves = Minimize

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        x = problem.initial()
        for _ in range(STEPS):
            x = x - 0.1 * problem.function.gradient(x)
            yield Iterate(x)


def alone() -> None:
    """Print the median time of the solve, driven by a plain loop."""
    problem, solver = construct.problem(**PROBLEM), Descent()
    times = []
    for _ in range(SOLVES + 3):
        run = Run(np.random.default_rng(0), None, Budget(), Clock(), stop=None, inner=None)
        began = perf_counter()
        for _ in solver.iterates(problem, run):
            pass
        times.append(perf_counter() - began)
    print(median(times[3:]))  # the first ones warm the caches


def in_a_cell() -> Outcome:
    return run_isolated(
        Request(
            key="timing",
            problem=PROBLEM,
            solver={"name": Descent.name},
            seed=0,
            budget={"tolerance": 0.0},
            limits=Limits(time=60.0),
            measure=Measure(repeat=SOLVES),
            modules=(__file__,),
        )
    )


def small_cell() -> Outcome:
    """The least a cell can do: what it takes is the machinery's."""
    return run_isolated(
        Request(
            key="overhead",
            problem={"name": "minimize", "objective": {"name": "squared-distance", "to": [1.0]}},
            solver={"name": Descent.name},
            seed=0,
            budget={"iterations": 1},
            limits=Limits(time=60.0),
            measure=Measure(repeat=1),
            modules=(__file__,),
        )
    )


def process(*arguments: str) -> tuple[float, str]:
    """Seconds of a process with the same threads, and what it printed."""
    began = perf_counter()
    done = subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return perf_counter() - began, done.stdout


def main() -> int:
    if sys.argv[1:] == ["alone"]:
        alone()
        return 0
    small_cell()  # the disk, and the reaper's start
    plain, reported, cells, bare = [], [], [], []
    for _ in range(ROUNDS):
        plain.append(float(process(__file__, "alone")[1]))
        reported.append(in_a_cell().time)
        began = perf_counter()
        small_cell()
        cells.append(perf_counter() - began)
        bare.append(process("-c", IMPORTS)[0])
    error = min(reported) / min(plain) - 1
    print(f"the solve alone            {min(plain) * 1e3:.3f} ms  (median {median(plain) * 1e3:.3f})")
    print(f"the solve as reported      {min(reported) * 1e3:.3f} ms  (median {median(reported) * 1e3:.3f})")
    right = verdict(abs(error) <= ERROR_TARGET)
    print(f"error                      {error:+.1%}, target {ERROR_TARGET:.0%}: {right}")
    overhead = median(cells) - median(bare)
    print(f"interpreter and imports    {median(bare):.3f} s")
    print(f"a whole cell               {median(cells):.3f} s")
    print(
        f"overhead of the machinery  {overhead:.3f} s, target {OVERHEAD_TARGET:g} s: "
        f"{verdict(overhead <= OVERHEAD_TARGET)}"
    )
    return int(abs(error) > ERROR_TARGET or overhead > OVERHEAD_TARGET)


def verdict(reached: bool) -> str:
    return "reached" if reached else "MISSED"


if __name__ == "__main__":
    sys.exit(main())
