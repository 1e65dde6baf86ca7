"""What the loop of `solve` costs for each iterate, a callback turned into a generator, and whole solvers.

Run: python examples/bench/loop_overhead.py

The same generator is driven by a plain `for` and by `solve` when nothing is recorded, in
turn, several times; the least CPU time of each counts, since noise only ever adds. `gradient.projected` is
compared with the same arithmetic written out in NumPy, and `scipy.lbfgs` with SciPy's own function, both on
a quadratic of 50 entries whose gradient is a Python function.
"""

from __future__ import annotations

import argparse
import math
import sys
import warnings
from collections import deque
from time import process_time
from typing import Any

import numpy as np
from rankone_common import one_thread
from scipy.optimize import minimize

from optiframe import Budget, Iterate, Iterates, Minimize, NotConverged, Run, Solver, from_function, solve
from optiframe.problems.objectives.objective import SquaredDistance
from optiframe.solving.callbacks import Emit, iterates_from_callback

LOOP_TARGET = 5.0  # microseconds an iterate: a thousandth of the cheapest useful step
CALLBACK_TARGET = 100.0  # microseconds a callback
NATIVE_TARGET = 5.0  # microseconds an iteration above NumPy's own work
ADAPTER_TARGET = 50.0  # microseconds an iteration above SciPy's
BENDS = np.geomspace(1.0, 1e6, 50)  # so that no method is done soon


class Trivial(Solver[Minimize, Any, None]):
    """Yields one and the same iterate for ever."""

    name = "bench.trivial"
    solves = Minimize

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        return same()


def same() -> Iterates:
    iterate = Iterate(np.zeros(2), residual=1.0)
    while True:
        yield iterate


def bare(count: int) -> float:
    began = process_time()
    for number, _ in enumerate(same(), 1):
        if number == count:
            break
    return process_time() - began


def solved(count: int) -> float:
    problem = Minimize(SquaredDistance(to=np.zeros(2)))
    budget = Budget(iterations=count, tolerance=0.0, time=3600.0)
    began = process_time()
    solve(problem, Trivial(), budget=budget, trace=False)
    return process_time() - began


def called_back(count: int) -> float:
    iterate = Iterate(np.zeros(2))

    def work(emit: Emit) -> None:
        for _ in range(count):
            emit(iterate)

    began = process_time()
    for _ in iterates_from_callback(work):
        pass
    return process_time() - began


def value(x: Any) -> float:
    return float(x @ (BENDS * x)) / 2 - float(x.sum())


def gradient(x: Any) -> Any:
    return BENDS * x - 1.0


def written_out(count: int) -> float:
    """The arithmetic of `gradient.projected` for as many iterations, and nothing else."""
    began = process_time()
    x = np.zeros(50)
    reached, slope, step = value(x), gradient(x), 1e-6
    recent = deque([reached], maxlen=10)
    for _ in range(count):
        while True:
            ahead = x - step * slope
            move = ahead - x
            square = float(np.vdot(move, move))
            reached = value(ahead)
            if reached <= max(recent) - 1e-4 * square / (2 * step) or square < 1e-26:
                break
            step *= 0.5
        float(np.max(np.abs(move), initial=0.0))
        before, slope = slope, np.asarray(gradient(ahead))
        bend = float(np.vdot(move, slope - before))
        x = ahead
        recent.append(reached)
        step = min(max(square / bend, step * 1e-3), step * 1e3) if bend > 0 else step * 2
    return process_time() - began


def by_solver(solver: str, count: int) -> tuple[float, int]:
    """Seconds and iterations of a run of `solve`."""
    problem = Minimize(from_function(value, 50, gradient=gradient), start=np.zeros(50))
    budget = Budget(iterations=count, tolerance=0.0)
    began = process_time()
    iterations = solve(problem, solver, budget=budget, trace=False).iterations
    return process_time() - began, iterations


def by_scipy(count: int) -> tuple[float, int]:
    options = {"maxiter": count, "ftol": 0.0, "gtol": 0.0, "maxfun": 10**9}
    began = process_time()
    found = minimize(value, np.zeros(50), jac=gradient, method="L-BFGS-B", options=options)
    return process_time() - began, found.nit


def above(repeats: int) -> tuple[float, float]:
    """Seconds an iteration of the native solver above NumPy, and of the adapter above SciPy.

    Each is what a longer run takes more than a shorter one: what `solve` costs once is left out.
    """
    tasks = {
        "native": lambda count: by_solver("gradient.projected", 100 + 10 * count),
        "numpy": lambda count: (written_out(100 + 10 * count), 100 + 10 * count),
        "adapter": lambda count: by_solver("scipy.lbfgs", count),
        "scipy": by_scipy,
    }
    least: dict[tuple[str, int], tuple[float, int]] = {}
    for _ in range(repeats):
        for name, task in tasks.items():
            for count in (10, 60):
                least[name, count] = min(task(count), least.get((name, count), (math.inf, 0)))
    each = {}
    for name in tasks:
        (short, few), (long, many) = least[name, 10], least[name, 60]
        each[name] = (long - short) / (many - few)
    return each["native"] - each["numpy"], each["adapter"] - each["scipy"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--iterates", type=int, default=300_000, help="iterates in each repeat")
    parser.add_argument("--repeats", type=int, default=5)
    chosen = parser.parse_args()
    count, callbacks = chosen.iterates, max(1, chosen.iterates // 20)
    warnings.simplefilter("ignore", NotConverged)  # the limit is meant to end every run
    solved(10)  # imports and first-time set-up
    rounds = [(bare(count), solved(count), called_back(callbacks)) for _ in range(chosen.repeats)]
    plain, core, callback = (min(column) for column in zip(*rounds, strict=True))
    native, adapter = above(6 * chosen.repeats)
    figures = [
        ("loop of solve()", (core - plain) / count * 1e6, LOOP_TARGET),
        ("callback", callback / callbacks * 1e6, CALLBACK_TARGET),
        ("native solver", native * 1e6, NATIVE_TARGET),
        ("SciPy's adapter", adapter * 1e6, ADAPTER_TARGET),
    ]
    print(f"bare generator    {plain / count * 1e6:8.3f} microseconds an iterate")
    for title, cost, target in figures:
        verdict = "reached" if cost <= target else "MISSED"
        print(f"{title:<16}  {cost:8.3f} microseconds, target at most {target:g}: {verdict}")
    return 0 if all(cost <= target for _, cost, target in figures) else 1


if __name__ == "__main__":
    one_thread()
    sys.exit(main())
