"""Rows that never leave the processes of a Dask cluster: time and memory of COMRADE, coordinator and workers.

Run: python examples/bench/comrade_dask_rows.py [--rows 10000000] [--columns 20] [--processes 4]

Each process writes two NumPy files of generated rows, and the process that will work on them reads them
(`DaskRows.from_files`, one shard a process). Printed are seconds to load, seconds a round of
`newton.comrade`, bytes down and up, the peak memory of every process, and the growth of the coordinator's
peak memory, which must be below a tenth of one shard. Last the same by formula for 1e9 rows.

OPTIFRAME_QUICK=1 takes 60,000 rows and two processes, to see that the script works.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from distributed import Client
from optiframe_comrade.backends.dask_rows import DaskRows
from rankone_common import one_thread, verdict

import optiframe
from optiframe import Budget, Minimize
from optiframe.loopback_cluster import loopback_cluster

QUICK = bool(os.environ.get("OPTIFRAME_QUICK"))
STEPS = 6


def written(path: str, rows: int, columns: int, seed: int) -> None:
    """A table whose last column is the label, of one model for all files."""
    rng = np.random.default_rng(seed)
    weights = np.random.default_rng(0).standard_normal(columns) / np.sqrt(columns)
    table = np.lib.format.open_memmap(path, mode="w+", dtype=np.float64, shape=(rows, columns + 1))
    for start in range(0, rows, 100_000):
        block = rng.standard_normal((min(100_000, rows - start), columns))
        chance = 1 / (1 + np.exp(-2 * block @ weights))
        table[start : start + len(block), :-1] = block
        table[start : start + len(block), -1] = np.where(rng.random(len(block)) < chance, 1.0, -1.0)
    table.flush()


def peak() -> float:
    """Peak memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, default=60_000 if QUICK else 10_000_000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--processes", type=int, default=2 if QUICK else 4)
    parser.add_argument("--folder", default=None, help="for the files; a temporary one unless given")
    chosen = parser.parse_args()
    one_thread()
    rows, columns, processes = chosen.rows, chosen.columns, chosen.processes
    with (
        tempfile.TemporaryDirectory(dir=chosen.folder) as folder,
        loopback_cluster(processes, memory_limit=0, silence_logs=60) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        paths = [str(Path(folder, f"{at}.npy")) for at in range(2 * processes)]
        each = rows // len(paths)
        client.gather([client.submit(written, path, each, columns, 1 + at) for at, path in enumerate(paths)])
        warm(client, folder)
        before, began = peak(), time.perf_counter()
        f = DaskRows.from_files(client, paths, per="process")
        loaded = time.perf_counter() - began
        result, clock = solved(f)
        grown = peak() - before
        shard = max(one.nbytes for one in f.shards) / 2**20
        peaks = sorted(client.run(peak).values())
        print(f"{len(f):,} rows x {columns} in {len(f.shards)} processes, {shard:.0f} MB a shard")
        print(f"loaded in {loaded:.1f} s; a round takes {1e3 * np.median(np.diff(clock)):.0f} ms (median)")
        books = result.detail
        print(f"{books.rounds} rounds, {books.bytes_down:,} bytes down, {books.bytes_up:,} up")
        print(f"objective {result.objective:.6f}; gradient {np.linalg.norm(f.gradient(result.solution)):.1e}")
        print(f"peak memory of the processes {peaks[0]:.0f} to {peaks[-1]:.0f} MB")
        formula(columns, processes, np.median(np.diff(clock)) / (len(f) / processes), peaks[-1] / shard)
        # The workers' modules count, too: some MB, whatever the rows are.
        ok = verdict(
            "growth of the coordinator's peak memory",
            grown,
            20 if QUICK else shard / 10,
            unit=" MB",
            most=True,
        )
    return 0 if ok else 1


def warm(client: Any, folder: str) -> None:
    """Import everything everywhere: on rows that are too few to be seen."""
    paths = [str(Path(folder, f"warm{at}.npy")) for at in range(2)]
    for at, path in enumerate(paths):
        written(path, 500, 3, at)
    solved(DaskRows.from_files(client, paths))


def solved(f: DaskRows) -> tuple[Any, np.ndarray]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # not converged after so few rounds: of course
        result = optiframe.solve(
            Minimize(f),
            "newton.comrade",
            workers=len(f.shards),
            backend="dask",
            deadline=600.0,
            budget=Budget(iterations=STEPS, tolerance=0.0),
        )
    return result, np.array(result.trace["time"])


def formula(columns: int, processes: int, seconds: float, times: float) -> None:
    """What 1e9 rows of as many columns take, in proportion to the rows of a process."""
    memory = 8 * (columns + 1) * 1e9 / 2**30
    print(
        f"1e9 rows: 8 (d + 1) n = {memory:.0f} GB over all processes, up to {times:.1f} times that while "
        f"shards are joined; a round {seconds * 1e9:.0f} s over the number of processes with a core each "
        f"(here {processes} on {os.cpu_count()} cores); at the coordinator d numbers a worker, as here"
    )


if __name__ == "__main__":
    sys.exit(main())
