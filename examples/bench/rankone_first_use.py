"""First use in a new process after an installation, on the rte labels: the whole process, in seconds.

Run: python examples/bench/rankone_first_use.py

The child finds no compiled Python of optiframe and its plugins, which an editable installation leaves to the
first import; that of NumPy, SciPy and the other packages is there, as pip compiles what it installs. (Until
this file kept theirs, their sources were compiled as well, which took more time than all the rest.)
Without the rte data it solves generated labels of the same shape. Target: 2 s.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
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
PLUGINS = ("rankone", "tvcs", "hodgerank", "manifold", "comrade", "peers", "optimizers")


def ours() -> list[Path]:
    """Where the sources of optiframe and the plugins that are installed lie."""
    found = (find_spec(name) for name in ("optiframe", *(f"optiframe_{plugin}" for plugin in PLUGINS)))
    return [Path(spec.origin).resolve().parent for spec in found if spec is not None and spec.origin]


def use(cache: str) -> float:
    """Seconds of a process that keeps compiled Python in the folder `cache`."""
    settings = {
        "PYTHONPYCACHEPREFIX": cache,
        "PYTHONDONTWRITEBYTECODE": "",  # writing it is part of a first use
        "OPTIFRAME_OFFLINE": "1",
    }
    began = perf_counter()
    subprocess.run([sys.executable, "-c", SCRIPT], check=True, env=os.environ | settings)
    return perf_counter() - began


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3)
    repeats = parser.parse_args().repeats
    times = []
    with tempfile.TemporaryDirectory() as cache:
        use(cache)
        for _ in range(repeats):
            for folder in ours():
                shutil.rmtree(Path(cache) / folder.relative_to(folder.anchor), ignore_errors=True)
            times.append(use(cache))
    print("seconds:", ", ".join(f"{seconds:.2f}" for seconds in times))
    return 0 if verdict("whole process, own caches cold", min(times), TARGET, unit=" s") else 1


if __name__ == "__main__":
    sys.exit(main())
