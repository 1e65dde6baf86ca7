"""Memory of the projection onto three-view sets: plan and solving, in bytes an element.

Run: python examples/bench/tvcs_memory.py [--sides 1000 3162]

Every size runs in a process of its own; what counts is how far its largest resident size rises
above that with the set and the point in memory and the kernels loaded. The groups come
in random order, so that the plan has to keep an order of the elements. p = 10**7 must run.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
from time import perf_counter

import numpy as np
from optiframe_tvcs.projection.plan import ProjectionPlan
from rankone_common import verdict
from tvcs_common import paper_instance

from optiframe.tables.ids import locked

TARGET = 60  # bytes an element


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def one(side: int) -> None:
    rng = np.random.default_rng(0)
    small = paper_instance(rng, 60)
    ProjectionPlan(*small.bounds).solve(small.v**2)
    instance = paper_instance(rng, side)
    order = rng.permutation(side * side)
    # Read-only, as those of a set: a plan copies what others could change.
    rows, columns = (
        locked(labels[order]) for labels in (instance.bounds.row_labels, instance.bounds.column_labels)
    )
    bounds = instance.bounds._replace(row_labels=rows, column_labels=columns)
    weights = instance.v**2
    del instance, order, rows, columns
    # The largest size so far may be above the present one: fill the difference, so that a rise is seen.
    with open("/proc/self/statm") as table:
        present = int(table.read().split()[1]) * resource.getpagesize()
    filler = np.ones(max(peak() - present, 0), dtype=np.uint8)
    before = peak()
    began = perf_counter()
    plan = ProjectionPlan(*bounds)
    found = plan.solve(weights)
    seconds = perf_counter() - began
    assert filler.size >= 0
    effort = "fallback" if plan.effort and plan.effort.fallback else "usual"
    print(f"{(peak() - before) / side**2:.1f} {seconds:.2f} {found.certificate.holds} {effort}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sides", type=int, nargs="*", default=[1000, 3162])
    parser.add_argument("--one", type=int, help="measure this side in this process")
    chosen = parser.parse_args()
    if chosen.one:
        one(chosen.one)
        return 0
    good = True
    for side in chosen.sides:
        command = [sys.executable, __file__, "--one", str(side)]
        ran = subprocess.run(command, capture_output=True, text=True, check=True)
        used, seconds, holds, effort = ran.stdout.split()
        print(f"p = {side**2}: plan and solving {seconds} s by the {effort} path, proved: {holds}")
        good &= holds == "True"
        good &= verdict(f"memory at p = {side**2}", float(used), TARGET, unit=" bytes an element")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
