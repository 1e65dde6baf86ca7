"""The first solve in a new process beside the second, imports apart; and what importing kernels costs.

Run: python examples/bench/first_call.py [--repeats 5]

Three jobs: 1,000 labels by `rankone.pgd`, a projection of 100,000 elements by `tvcs.exact`, a ranking of
100,000 votes by `hodge.hlasso`. A child process imports whatever modules the job needs, found by one child
before, makes the data, and times two solves of two problems of the same data. The least of the repeats
counts. Imports of each extension are timed in processes of their own, NumPy loaded.
Targets: the first solve within 50 ms of the second; importing an extension in 5 ms.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

from rankone_common import one_thread, verdict

MAKE = {
    "1,000 labels": (
        "rankone.pgd",
        """
data = {"name": "synthetic.single-coin", "workers": 20, "tasks": 200, "labels_per_task": 5}
def problem():
    return optiframe.problem(dataset=data)
""",
    ),
    "projection of 100,000": (
        "tvcs.exact",
        """
from tvcs_common import paper_instance, set_of
instance = paper_instance(np.random.default_rng(0), 316)
def problem():
    return optiframe.Projection(point=instance.v, onto=set_of(instance))
""",
    ),
    "ranking of 100,000 votes": (
        "hodge.hlasso",
        """
rng = np.random.default_rng(0)
left = rng.integers(0, 500, 100_000)
right = (left + rng.integers(1, 500, 100_000)) % 500
margin = np.where(rng.random(100_000) < 0.7, 1.0, -1.0) * np.sign(right - left)
votes = {"left": left, "right": right, "margin": margin}
def problem():
    return optiframe.problem("pairwise-ranking", comparisons=votes)
""",
    ),
}
CHILD = """
import json, sys
from importlib import import_module
from time import perf_counter
import numpy as np
import optiframe
for name in json.loads(sys.argv[1]):
    try:
        import_module(name)
    except ImportError:
        pass
{make}
first_problem, second_problem = problem(), problem()
began = perf_counter()
optiframe.solve(first_problem, {solver!r}, progress=False)
first = perf_counter()
optiframe.solve(second_problem, {solver!r}, progress=False)
print(json.dumps([first - began, perf_counter() - first, sorted(sys.modules)]))
"""
PLUGINS = ("rankone", "hodgerank", "tvcs", "manifold", "comrade")
IMPORT = """
from time import perf_counter
import numpy, optiframe_{0}.kernels
began = perf_counter()
from optiframe_{0}.kernels import _native
print(perf_counter() - began)
"""


def child(code: str, *arguments: str) -> str:
    command = [sys.executable, "-W", "ignore", "-c", code, *arguments]
    return subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parent
    ).stdout


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    one_thread()
    good = True
    for job, (solver, make) in MAKE.items():
        code = CHILD.format(make=make, solver=solver)
        modules = json.dumps(json.loads(child(code, "[]"))[2])
        runs = [json.loads(child(code, modules)) for _ in range(repeats)]
        first, second = (min(run[k] for run in runs) for k in (0, 1))
        print(f"{job}, {solver}: first {first * 1e3:.1f} ms, second {second * 1e3:.1f} ms")
        good &= verdict(f"{job}, the first beyond the second", (first - second) * 1e3, 50, unit=" ms")
    for plugin in PLUGINS:
        least = min(float(child(IMPORT.format(plugin))) for _ in range(repeats))
        good &= verdict(f"import of the extension of {plugin}", least * 1e3, 5, unit=" ms")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
