"""Reading a million labels from CSV beside a data frame, and ten million from Parquet to an answer.

Run: python examples/bench/labels_reading.py [--labels 1000000]

Makes a `label-aggregation` problem from the path of a CSV file, and from the frame that `pandas.read_csv`
makes of the same file, both timed from the file on; the least of interleaved rounds counts. Rows are in
random order, ids whole numbers or text. Target: the path takes at most 1.5 times as long as the frame.

Then ten times as many labels in a Parquet file, in order of tasks or in random order, in a new process each:
read, solved by `rankone.pgd`, and the answer's labels taken. Target: 3 s for ten million, imports included.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rankone_common import best_of, one_thread, verdict

import optiframe

RATIO, SECONDS = 1.5, 3.0
PER_TASK = 5  # labels of a task, by workers of five groups of 200


def table(labels: int, *, text: bool) -> pd.DataFrame:
    """Labels in random order, by workers who are right in 50% to 95%."""
    rng = np.random.default_rng(0)
    task = np.arange(labels) // PER_TASK
    worker = np.arange(labels) % PER_TASK * 200 + rng.integers(0, 200, labels)
    right = rng.random(labels) < rng.uniform(0.5, 0.95, 200 * PER_TASK)[worker]
    label = (rng.integers(0, 2, labels // PER_TASK + 1)[task] + right) % 2
    rows = rng.permutation(labels)
    frame = pd.DataFrame({"task": task[rows], "worker": worker[rows], "label": label[rows]})
    if not text:
        return frame
    return frame.assign(
        task=frame["task"].map("task-{}".format),
        worker=frame["worker"].map("worker-{}".format),
        label=np.array(["no", "yes"])[frame["label"]],
    )


CHILD = """
import sys
from time import perf_counter
began = perf_counter()
import optiframe
problem = optiframe.problem("label-aggregation", labels=sys.argv[1])
read = perf_counter()
optiframe.solve(problem, "rankone.pgd", progress=False).solution.predicted()
print(read - began, perf_counter() - began)
"""


def answered(path: Path, repeats: int) -> tuple[float, float]:
    """Seconds to the problem, and to the answer: those of the quickest of some processes."""
    command = [sys.executable, "-W", "ignore", "-c", CHILD, path]
    runs = [subprocess.run(command, check=True, capture_output=True, text=True) for _ in range(repeats)]
    seconds = (tuple(map(float, run.stdout.split())) for run in runs)
    read, whole = min(seconds, key=lambda times: times[1])
    return read, whole


def problem(labels: Any) -> Any:
    return optiframe.problem("label-aggregation", labels=labels)


def through_pandas(path: Path) -> Any:
    return problem(pd.read_csv(path))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--labels", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    chosen = parser.parse_args()
    one_thread()
    good = True
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("whole numbers", "text"):
            path = Path(folder) / "labels.csv"
            table(chosen.labels, text=kind == "text").to_csv(path, index=False)
            times, made = best_of(
                chosen.repeats,
                {"path": partial(problem, path), "frame": partial(through_pandas, path)},
            )
            same = made["path"].fingerprint() == made["frame"].fingerprint()
            print(
                f"{kind}, {path.stat().st_size / 1e6:.0f} MB: path {times['path']:.3f} s, frame "
                f"{times['frame']:.3f} s, problems {'equal' if same else 'DIFFER'}"
            )
            good &= same and verdict(f"{kind}, path over frame", times["path"] / times["frame"], RATIO)
        large = table(10 * chosen.labels, text=False)
        for kind, rows in (
            ("in order of tasks", large.sort_values(["task", "worker"])),
            ("in random order", large),
        ):
            path = Path(folder) / "labels.parquet"
            rows.to_parquet(path, index=False)
            read, whole = answered(path, chosen.repeats)
            what = f"{len(large):,} labels {kind}"
            print(f"{what}: read after {read:.2f} s")
            good &= verdict(f"{what}, from Parquet to the answer", whole, SECONDS, unit=" s")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
