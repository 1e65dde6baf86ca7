"""Labels streamed from a folder of Parquet files: time, and memory that does not grow with them.

Run: python examples/bench/labels_streamed.py [--labels 300000000]

Each file holds ten million labels of a million tasks by 1,000 workers. A child process counts the labels,
solves for the skills by `rankone.pgd`, and writes the answers to one Parquet file; another does so for the
first file alone, whose answers are compared with those of `label-aggregation` in memory. Targets: peak memory
of at most 1 GB, and at most 1.3 times that of the first file; the same answers as in memory.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from optiframe_rankone import count_labels, write_answers
from rankone_common import one_thread, verdict

import optiframe

GIGABYTES, GROWTH = 1.0, 1.3
FILE, PER_TASK, WORKERS = 10_000_000, 10, 1_000


def generate(folder: Path, labels: int) -> None:
    """Files of labels in order of tasks, each task by a worker out of each of ten groups."""
    skill = np.random.default_rng(0).uniform(0.5, 0.95, WORKERS)
    folder.mkdir()
    for number, begin in enumerate(range(0, labels, FILE)):
        rng, size = np.random.default_rng([1, number]), min(FILE, labels - begin)
        task = np.arange(begin, begin + size) // PER_TASK
        worker = np.arange(size, dtype=np.int32) % PER_TASK * (WORKERS // PER_TASK)
        worker += rng.integers(0, WORKERS // PER_TASK, size, dtype=np.int32)
        truth = np.repeat(rng.integers(0, 2, -(-size // PER_TASK), dtype=np.int8), PER_TASK)[:size]
        label = np.where(rng.random(size, dtype=np.float32) < skill[worker], truth, 1 - truth)
        table = pa.table({"task": task, "worker": worker, "label": label})
        pq.write_table(table, folder / f"labels-{number:04}.parquet")


def stream(source: Path, target: Path) -> dict[str, float]:
    """Seconds of both passes and of the solver between them, and the peak of the process's memory in GB."""
    began = perf_counter()
    counts = count_labels(source)
    counted = perf_counter()
    skills = counts.settled(optiframe.solve(counts.completion(), "rankone.pgd", progress=False).solution)
    solved = perf_counter()
    tasks = write_answers(source, target, counts, skills)
    written = perf_counter()
    return {
        "labels": len(counts),
        "tasks": tasks,
        "count": counted - began,
        "solve": solved - counted,
        "answer": written - solved,
        "peak": peak(),
    }


def peak() -> float:
    """The peak of this process's memory in GB. Linux's `ru_maxrss` would count its parent's, too."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return float(re.search(r"^VmHWM:\s*(\d+) kB$", status, re.MULTILINE)[1]) * 1024 / 1e9


def in_child(source: Path, target: Path) -> dict[str, float]:
    command = [sys.executable, "-W", "ignore", __file__, "--source", source, "--target", target]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    print(
        f"{found['labels']:,} labels, {found['tasks']:,} tasks: counted in {found['count']:.1f} s, solved in "
        f"{found['solve']:.2f} s, answers written in {found['answer']:.1f} s; "
        f"peak memory {found['peak']:.2f} GB",
        flush=True,
    )
    return found


def same_in_memory(source: Path, target: Path) -> bool:
    result = optiframe.solve(
        optiframe.problem("label-aggregation", labels=source), "rankone.pgd", progress=False
    )
    columns, found = result.solution.columns(), pq.read_table(target)
    return all(found[name].to_pylist() == np.asarray(values).tolist() for name, values in columns.items())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--labels", type=int, default=300_000_000)
    parser.add_argument("--source", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--target", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    one_thread()
    if chosen.source is not None:
        print(json.dumps(stream(chosen.source, chosen.target)))
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "labels"
        began = perf_counter()
        generate(folder, chosen.labels)
        files = sorted(folder.iterdir())
        size = sum(path.stat().st_size for path in files) / 1e9
        print(f"{len(files)} files, {size:.2f} GB, drawn in {perf_counter() - began:.0f} s", flush=True)
        one = in_child(files[0], Path(name) / "one.parquet")
        same = same_in_memory(files[0], Path(name) / "one.parquet")
        print(f"answers of the first file in memory: {'equal' if same else 'DIFFER'}", flush=True)
        every = in_child(folder, Path(name) / "all.parquet")
    seconds = every["count"] + every["solve"] + every["answer"]
    print(f"{every['labels'] / seconds / 1e6:.1f} million labels a second, both passes together")
    good = same & verdict("peak memory", every["peak"], GIGABYTES, unit=" GB")
    good &= verdict("peak memory over that of the first file", every["peak"] / one["peak"], GROWTH)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
