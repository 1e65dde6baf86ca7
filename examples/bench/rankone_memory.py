"""Ten million labels of ten thousand workers: time and peak memory once the labels are encoded.

Run: python examples/bench/rankone_memory.py

A child process loads the codes from files, solves, and tells the best time of some rounds and
the peak memory of the whole process (its interpreter, libraries and labels included). Targets:
2.5 s, and 8 bytes a label plus 1 GB.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np
from rankone_common import one_thread, verdict

import optiframe

SECONDS, BYTES_A_LABEL, BYTES = 2.5, 8, 1e9
PER_TASK = 10
COLUMNS = ("task", "worker", "label")


def generate(folder: Path, workers: int, labels: int) -> None:
    data = optiframe.dataset(
        "synthetic.single-coin", workers=workers, tasks=labels // PER_TASK, labels_per_task=PER_TASK
    )
    inputs = data.inputs()
    for name in COLUMNS:
        np.save(folder / f"{name}.npy", inputs["labels"][name].astype(np.int32))
    np.save(folder / "truth.npy", inputs["truth"]["label"])
    np.save(folder / "skills.npy", data.skills_of_workers())


def solve(folder: Path, repeats: int) -> int:
    from optiframe_rankone.data import LabelTable
    from optiframe_rankone.problem import LabelAggregation

    codes = {name: np.load(folder / f"{name}.npy") for name in COLUMNS}
    truth, skills = np.load(folder / "truth.npy"), np.load(folder / "skills.npy")
    count = len(codes["task"])
    ids = {f"{name}_ids": np.arange(int(codes[name].max()) + 1) for name in COLUMNS}
    times = []
    for _ in range(repeats):
        problem = LabelAggregation(labels=LabelTable(**codes, **ids))
        began = perf_counter()
        result = optiframe.solve(problem, "rankone.pgd", trace=False, progress=False)
        found = result.solution.predicted()
        times.append(perf_counter() - began)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024  # Linux counts in kilobytes
    oracle = np.mean(problem.weighted_vote(skills).predicted() != truth)
    print(f"{result.status} after {result.iterations} steps; solver alone {result.time:.2f} s")
    print(f"error {np.mean(found != truth):.4f}, of the vote with true skills {oracle:.4f}")
    good = verdict("time", min(times), SECONDS, unit=" s")
    good &= verdict("peak memory", peak / 1e6, (BYTES_A_LABEL * count + BYTES) / 1e6, unit=" MB")
    return 0 if good else 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--workers", type=int, default=10_000)
    parser.add_argument("--labels", type=int, default=10_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    one_thread()
    if chosen.folder is not None:
        return solve(chosen.folder, chosen.repeats)
    with tempfile.TemporaryDirectory() as name:
        generate(Path(name), chosen.workers, chosen.labels)
        child = [sys.executable, __file__, "--folder", name, "--repeats", str(chosen.repeats)]
        return subprocess.run(child, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
