"""Labels in a folder of Parquet files, counted and answered by a Dask cluster; more than one machine holds.

python examples/labels_on_dask.py                                                   # on labels drawn here
python examples/labels_on_dask.py labels answers --address tcp://10.0.0.1:8786      # folders all machines see
"""

from __future__ import annotations

import argparse
import tempfile
from operator import add
from pathlib import Path

import dask.bag
import pyarrow as pa
import pyarrow.parquet as pq
from distributed import Client
from optiframe_rankone import count_labels, write_answers

import optiframe


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "labels", type=Path, nargs="?", help="Parquet files, in order of tasks, no task in two"
    )
    parser.add_argument("answers", type=Path, nargs="?", help="a new folder")
    parser.add_argument("--address", help="of a Dask scheduler; without it, two processes are started here")
    chosen = parser.parse_args()
    here = {"n_workers": 2, "threads_per_worker": 1, "host": "127.0.0.1", "dashboard_address": None}
    with Client(chosen.address) if chosen.address else Client(**here) as client:
        if chosen.labels:
            aggregate(client, chosen.labels, chosen.answers)
        else:
            with tempfile.TemporaryDirectory() as name:
                draw(Path(name) / "labels")
                aggregate(client, Path(name) / "labels", Path(name) / "answers")


def aggregate(client: Client, labels: Path, answers: Path) -> None:
    files = sorted(labels.glob("*.parquet"))

    # Counts of different tasks add up: each machine counts files, and Dask adds, two by two.
    counts = dask.bag.from_sequence(files, partition_size=1).map(count_labels).fold(add).compute()
    print(f"counted {len(counts):,} labels of {counts.tasks:,} tasks by {len(counts.worker_ids)} workers")

    # The skills follow from the counts alone, which fit here.
    result = optiframe.solve(counts.completion(), "rankone.pgd", progress=False)
    skills = counts.settled(result.solution)

    # The vote with these skills, file by file; an unfinished file has another name.
    answers.mkdir()
    shared = client.scatter(counts, broadcast=True)
    written = [client.submit(write_answers, file, answers / file.name, shared, skills) for file in files]
    print(f"answered {sum(client.gather(written)):,} tasks in {len(files)} files")


def draw(folder: Path) -> None:
    """Labels of a generated crowd in three files, in order of tasks."""
    data = optiframe.dataset("synthetic.single-coin", workers=40, tasks=3000, labels_per_task=5, seed=1)
    table = pa.table(dict(data.inputs()["labels"])).sort_by("task")
    folder.mkdir()
    for number in range(3):
        pq.write_table(table.slice(5000 * number, 5000), folder / f"labels-{number}.parquet")


if __name__ == "__main__":
    main()
