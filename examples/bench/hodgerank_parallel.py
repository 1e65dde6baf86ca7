"""Parallel linearized Bregman iteration: time a step, bytes moved, and the same bits for any threads.

Run: python examples/bench/hodgerank_parallel.py

A step of Algorithm 4 on 4,000,000 merged comparisons of 1,000 items passes once over 64 bytes a row.
Beside it a triad, a = b + 3 c on arrays larger than any cache, by the same blocks over as many
threads, tells what the memory of this machine gives. Steps and triads take turns. Speed depends on
the cores that are free; the one thing asked for is that the bits are the same.
"""

from __future__ import annotations

import argparse
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter

import numpy as np
from hodgerank_common import one_thread, quick

BYTES_A_ROW = 64  # left, right, margin, weight, outliers, dual read; dual and outliers written


def triad(pool: ThreadPoolExecutor, arrays: list[np.ndarray], threads: int) -> float:
    """Bytes a second of a = b + 3 c, each thread on its part."""
    a, b, c = arrays
    part = -(-len(a) // threads)

    def one(start: int) -> None:
        here = slice(start, start + part)
        np.multiply(c[here], 3.0, out=a[here])
        np.add(a[here], b[here], out=a[here])

    began = perf_counter()
    list(pool.map(one, range(0, len(a), part)))
    # Two passes in NumPy: c to a, then a and b to a: 3 and 3 arrays, the first with a fetch of a.
    return len(a) * (24 + 24) / (perf_counter() - began)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--items", type=int, default=1000)
    parser.add_argument("--rows", type=int, default=200_000 if quick() else 4_000_000)
    parser.add_argument("--steps", type=int, default=5 if quick() else 30)
    chosen = parser.parse_args()
    one_thread()  # of linear algebra; the threads here are our own
    from optiframe_hodgerank.graph.comparison_graph import ComparisonGraph
    from optiframe_hodgerank.solvers.lbi_parallel import ParallelStep

    rng = np.random.default_rng(0)
    pair = np.sort(rng.integers(chosen.items * chosen.items, size=chosen.rows))  # as merging sorts
    left, right = np.divmod(pair, chosen.items)
    right = np.where(left == right, (right + 1) % chosen.items, right)
    graph = ComparisonGraph(
        chosen.items, left, right, rng.standard_normal(chosen.rows), rng.integers(1, 4, chosen.rows) + 0.0
    )
    counts = sorted({1, 2, os.cpu_count() or 1})
    steps = {threads: ParallelStep(graph, threads) for threads in counts}
    pools = {threads: ThreadPoolExecutor(threads) for threads in counts}
    arrays = [np.ones(chosen.rows * 2) for _ in range(3)]
    states = {
        threads: [
            np.zeros(chosen.items),
            np.zeros(chosen.rows),
            np.zeros(chosen.rows),
            np.zeros(chosen.rows),
        ]
        for threads in counts
    }
    degree = chosen.rows / chosen.items * 2 * 2 * 2  # a bound on the largest eigenvalue, with weights
    dt = 0.1  # so that comparisons become outliers within the steps made
    kappa = 1 / (degree * dt)
    times: dict[int, list[float]] = {threads: [] for threads in counts}
    speeds: dict[int, list[float]] = {threads: [] for threads in counts}
    for number in range(chosen.steps + 1):
        for threads, step in steps.items():
            scores, dual, outliers, after = states[threads]
            began = perf_counter()
            moved, _ = step(scores, dual, outliers, after, dt=dt, kappa=kappa)
            seconds = perf_counter() - began
            states[threads] = [moved, dual, after, outliers]
            if number:  # the first step touches the memory first
                times[threads].append(seconds)
                speeds[threads].append(triad(pools[threads], arrays, threads))
    print(f"steps on {chosen.rows:,} rows of {chosen.items:,} items")
    for threads in counts:
        least, fastest = min(times[threads]), max(speeds[threads])
        moved_bytes = BYTES_A_ROW * chosen.rows / least
        print(
            f"{threads} threads: {1e3 * least:.2f} ms a step, {moved_bytes / 1e9:.2f} GB/s; "
            f"triad {fastest / 1e9:.2f} GB/s, so {moved_bytes / fastest:.0%} of it; "
            f"{min(times[1]) / least:.2f} times one thread"
        )
    first = states[counts[0]]
    same = all(
        a.tobytes() == b.tobytes()
        for other in states.values()
        for a, b in zip(first[:3], other[:3], strict=True)
    )
    print(f"{np.mean(first[2] != 0):.1%} of the rows are outliers after the last step")
    print(f"same bits for {' and '.join(map(str, counts))} threads: {'reached' if same else 'MISSED'}")
    for step in steps.values():
        step.close()
    for pool in pools.values():
        pool.shutdown()
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
