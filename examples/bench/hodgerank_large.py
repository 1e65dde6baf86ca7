"""Ten million votes from arrays, a hundred million streamed from Parquet: time and peak memory.

Run: python examples/bench/hodgerank_large.py

1,000 items, 20% of the votes reversed. In memory: from arrays of ids to the flagged rows by
`hodge.hlasso` at lambda = 1, which is natural for +-1 data (a vote off by more than a whole vote): equal
votes are merged to at most 999,000 rows, and one Huber regression by Newton's method, from least
squares, is solved on these (`per_decade=1`: no path on the way). Streamed: the same, with the votes in
a Parquet file read twice, chunk by chunk. A child process does each and tells its peak memory,
interpreter and libraries included. The best of some rounds counts.
Targets: 3 s and recall above 0.99 for ten million, 4 GB for a hundred million.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import numpy as np
from hodgerank_common import missing, one_thread, quick, verdict

import optiframe

SECONDS, RECALL, BYTES = 3.0, 0.99, 4e9
WRONG = 0.2
CHUNK = 1_000_000


def votes(items: int, rows: int) -> Iterator[tuple[np.ndarray, ...]]:
    """Chunks of left, right, margin and whether the vote was reversed."""
    rng = np.random.default_rng(0)
    place = rng.permutation(items)
    for start in range(0, rows, CHUNK):
        size = min(CHUNK, rows - start)
        left = rng.integers(items, size=size, dtype=np.int32)
        right = (left + rng.integers(1, items, size=size, dtype=np.int32)) % items
        wrong = rng.random(size) < WRONG
        yield left, right, np.where((place[left] > place[right]) != wrong, 1, -1).astype(np.int8), wrong


def peak() -> float:
    """Peak resident memory of this process in bytes."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
        return 1024 * float(status.partition("VmHWM:")[2].split()[0])
    except (OSError, IndexError):
        return 1024 * float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def told(flags: np.ndarray, wrong: np.ndarray) -> bool:
    print(
        f"flagged {flags.mean():.2%} of the votes, {(flags & wrong).sum() / flags.sum():.4f} of them rightly"
    )
    return verdict("recall", float((flags & wrong).sum() / wrong.sum()), RECALL, most=False)


def in_memory(items: int, rows: int, repeats: int) -> int:
    left, right, margin, wrong = (np.concatenate(parts) for parts in zip(*votes(items, rows), strict=True))
    left, right, margin = left.astype(np.int64), right.astype(np.int64), margin.astype(np.float64)
    before = peak()
    times = []
    for _ in range(repeats):
        began = perf_counter()
        problem = optiframe.problem(
            "pairwise-ranking", comparisons={"left": left, "right": right, "margin": margin}
        )
        result = optiframe.solve(
            problem, "hodge.hlasso", lambda_=1.0, per_decade=1, method="grid", trace=False, progress=False
        )
        flags = result.solution.outliers != 0
        times.append(perf_counter() - began)
        print(
            f"round {len(times)}: {times[-1]:.2f} s, the solver alone {result.time:.2f} s; "
            f"{problem.graph.rows} merged rows"
        )
    good = verdict("from arrays to flagged rows", min(times), SECONDS, unit=" s")
    good &= told(flags, wrong)
    print(f"peak memory {peak() / 1e9:.2f} GB, {before / 1e9:.2f} GB of it before: the arrays and libraries")
    return 0 if good else 1


def streamed(items: int, rows: int, file: Path) -> int:
    from optiframe_hodgerank.tools.streaming import flagged, merge_stream, parquet_chunks

    began = perf_counter()
    merged = merge_stream(parquet_chunks(file), items)
    print(f"merged {rows} votes to {len(merged)} rows in {perf_counter() - began:.2f} s")
    solver = {"lambda_": 1.0, "per_decade": 1, "method": "grid"}
    began = perf_counter()
    result = optiframe.solve(merged.problem(), "hodge.hlasso", trace=False, progress=False, **solver)
    print(f"solved in {perf_counter() - began:.2f} s")
    began, hits, found, reversed_ = perf_counter(), 0, 0, 0
    masks = flagged(parquet_chunks(file), merged.scores_of(result.solution), 1.0)
    for flags, (wrong,) in zip(masks, parquet_chunks(file, ("wrong",)), strict=True):
        hits, found, reversed_ = hits + (flags & wrong).sum(), found + flags.sum(), reversed_ + wrong.sum()
    print(f"flagged {found / rows:.2%} in {perf_counter() - began:.2f} s, {hits / found:.4f} rightly")
    good = verdict("recall", float(hits / reversed_), RECALL, most=False)
    good &= verdict("peak memory", peak() / 1e9, BYTES / 1e9, unit=" GB")
    return 0 if good else 1


def write(items: int, rows: int, file: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    writer = None
    for columns in votes(items, rows):
        table = pa.table(dict(zip(("left", "right", "margin", "wrong"), columns, strict=True)))
        writer = writer or pq.ParquetWriter(file, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--items", type=int, default=50 if quick() else 1000)
    parser.add_argument("--votes", type=int, default=20_000 if quick() else 10_000_000)
    parser.add_argument("--streamed", type=int, default=100_000 if quick() else 100_000_000)
    parser.add_argument("--repeats", type=int, default=1 if quick() else 3)
    parser.add_argument("--child", choices=("memory", "stream"), help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    one_thread()
    if chosen.child == "memory":
        return in_memory(chosen.items, chosen.votes, chosen.repeats)
    if chosen.child == "stream":
        return streamed(chosen.items, chosen.streamed, chosen.file)
    code = subprocess.run([sys.executable, *sys.argv, "--child", "memory"], check=False).returncode
    if missing("pyarrow"):
        return code
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "votes.parquet"
        write(chosen.items, chosen.streamed, file)
        child = [sys.executable, *sys.argv, "--child", "stream", "--file", str(file)]
        return max(code, subprocess.run(child, check=False).returncode)


if __name__ == "__main__":
    sys.exit(main())
