"""Two threads at once in compiled kernels: how many times the work of one thread they do.

Run: python examples/bench/native_threads.py [--rounds 7]

Each kernel runs on arrays of its own, which fit in a core's cache, for some tenths of a second, alone and in
two threads at once, in turn; kernels that let go of Python's lock do twice the work on two free cores. The
median of the rounds counts, by the clock on the wall, so other jobs on the machine lower it. Target: 1.8
times.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from rankone_common import one_thread, verdict
from tvcs_common import paper_instance, set_of


def jobs() -> dict[str, Callable[[], Any]]:
    """A long call of each plugin, on data of its own each time it is asked for."""
    from optiframe_comrade.kernels import passes as logistic
    from optiframe_manifold.kernels import passes as ranking

    rng = np.random.default_rng(0)
    margins, signs = rng.standard_normal(100_000), rng.choice([-1.0, 1.0], 100_000)
    instance = paper_instance(rng, 400)
    projected = set_of(instance)
    projected.project(instance.v)
    first, second = np.ones_like(margins), np.ones_like(margins)  # made once: memory is not what is timed

    def loss() -> None:
        logistic.logistic(margins, signs, first, second)

    def comparisons() -> None:
        ranking.log_loss(margins, 1.0, np.empty(0), first, second)

    return {
        "comrade, logistic": loss,
        "manifold, log_loss": comparisons,
        "tvcs, projection": lambda: projected.project(instance.v),
    }


def repeated(job: Callable[[], Any], times: int) -> None:
    for _ in range(times):
        job()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    one_thread()
    good = True
    ours, others = jobs(), jobs()
    with ThreadPoolExecutor(2) as pool:
        for name, job in ours.items():
            job(), others[name]()
            began = perf_counter()
            job()
            times = max(1, round(0.3 / (perf_counter() - began)))
            ratios = []
            for _ in range(rounds):
                began = perf_counter()
                pool.submit(repeated, job, times).result()
                alone = perf_counter() - began
                began = perf_counter()
                list(pool.map(repeated, (job, others[name]), (times, times)))
                ratios.append(2 * alone / (perf_counter() - began))
            good &= verdict(f"{name}, two threads over one", median(ratios), 1.8, most=False)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
