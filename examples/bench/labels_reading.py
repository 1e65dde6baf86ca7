"""Reading a million labels: the path of a CSV file beside a data frame, by whole numbers and by text.

Run: python examples/bench/labels_reading.py [--labels 1000000]

Makes a `label-aggregation` problem from the path of a CSV file, and from the frame that `pandas.read_csv`
makes of the same file, both timed from the file on; the least of interleaved rounds counts. Rows are in
random order, ids whole numbers or text. Target: the path takes at most 1.5 times as long as the frame.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rankone_common import best_of, one_thread, verdict

import optiframe

RATIO = 1.5
PER_TASK = 5


def table(labels: int, *, text: bool) -> pd.DataFrame:
    """Labels in random order; each task has five workers of five groups of 200."""
    rng = np.random.default_rng(0)
    task = np.arange(labels) // PER_TASK
    worker = np.arange(labels) % PER_TASK * 200 + rng.integers(0, 200, labels)
    label = rng.integers(0, 2, labels)
    rows = rng.permutation(labels)
    frame = pd.DataFrame({"task": task[rows], "worker": worker[rows], "label": label[rows]})
    if not text:
        return frame
    return frame.assign(
        task=frame["task"].map("task-{}".format),
        worker=frame["worker"].map("worker-{}".format),
        label=np.array(["no", "yes"])[frame["label"]],
    )


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
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
