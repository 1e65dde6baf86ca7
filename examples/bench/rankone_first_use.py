"""First use in a new process with cold caches, on the rte labels: the whole process, in seconds.

Run: python examples/bench/rankone_first_use.py

The child finds no compiled Python of this package (it is sent to an empty folder). Without the rte data it
solves generated labels of the same shape. Target: 2 s.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from time import perf_counter

from rankone_common import verdict

TARGET = 2.0
SCRIPT = """
import optiframe
try:
    problem = optiframe.problem(dataset="labels.rte")
except optiframe.InvalidInput:
    problem = optiframe.problem(
        dataset={"name": "synthetic.single-coin", "workers": 164, "tasks": 800, "labels_per_task": 10}
    )
result = optiframe.solve(problem, "rankone.pgd", progress=False)
print(f"{result.status}, error {result.metrics['error']:.4f}")
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3)
    repeats = parser.parse_args().repeats
    times = []
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as empty:
            caches = {
                "PYTHONPYCACHEPREFIX": empty,
                "PYTHONDONTWRITEBYTECODE": "",  # writing it is part of a first use
                "OPTIFRAME_OFFLINE": "1",
            }
            began = perf_counter()
            subprocess.run([sys.executable, "-c", SCRIPT], check=True, env=os.environ | caches)
            times.append(perf_counter() - began)
    print("seconds:", ", ".join(f"{seconds:.2f}" for seconds in times))
    return 0 if verdict("whole process, caches cold", min(times), TARGET, unit=" s") else 1


if __name__ == "__main__":
    sys.exit(main())
