"""What the loop of `solve` costs for each iterate, and a callback turned into a generator.

Run: python examples/bench/loop_overhead.py

The same generator is driven by a plain `for` and by `solve` when nothing is recorded, in
turn, several times; the least time of each counts, since noise only ever adds.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from time import perf_counter
from typing import Any

import numpy as np

from optiframe import Budget, Iterate, Iterates, Minimize, NotConverged, Run, Solver, solve
from optiframe.problems.objectives.objective import SquaredDistance
from optiframe.solving.callbacks import Emit, iterates_from_callback

LOOP_TARGET = 5.0  # microseconds an iterate: a thousandth of the cheapest useful step
CALLBACK_TARGET = 100.0  # microseconds a callback


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
    began = perf_counter()
    for number, _ in enumerate(same(), 1):
        if number == count:
            break
    return perf_counter() - began


def solved(count: int) -> float:
    problem = Minimize(SquaredDistance(to=np.zeros(2)))
    budget = Budget(iterations=count, tolerance=0.0, time=3600.0)
    began = perf_counter()
    solve(problem, Trivial(), budget=budget, trace=False)
    return perf_counter() - began


def called_back(count: int) -> float:
    iterate = Iterate(np.zeros(2))

    def work(emit: Emit) -> None:
        for _ in range(count):
            emit(iterate)

    began = perf_counter()
    for _ in iterates_from_callback(work):
        pass
    return perf_counter() - began


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
    figures = [
        ("loop of solve()", (core - plain) / count * 1e6, LOOP_TARGET),
        ("callback", callback / callbacks * 1e6, CALLBACK_TARGET),
    ]
    print(f"bare generator    {plain / count * 1e6:8.3f} microseconds an iterate")
    for title, cost, target in figures:
        verdict = "reached" if cost <= target else "MISSED"
        print(f"{title:<16}  {cost:8.3f} microseconds, target at most {target:g}: {verdict}")
    return 0 if all(cost <= target for _, cost, target in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
