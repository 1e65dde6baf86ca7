"""Ten thousand users and items with the exact objective, twenty thousand with the ridge: time and memory.

Run: python examples/bench/manifold_large.py

The simulations of Dong et al., Sec. VI, rank 10, d = 5, one thread: `manifold.trust-region` with its
defaults to a gradient norm of 1e-6, in a child process for each size. Counted from the problem, with its
comparisons merged and grouped, to the answer, spectral start included; drawing the comparisons and the
metrics are not. Memory is the process's peak above what it held before the search.
`--random` begins at a random matrix, as the paper does.
Targets: at K = 10,000 with log-sum-exp 6 minutes and 4 GB. At K = 20,000 the ridge takes its place, which
needs no pass over the 400 million entries; no target but to end.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import warnings
from pathlib import Path

from rankone_common import one_thread, verdict

import optiframe

QUICK = bool(os.environ.get("OPTIFRAME_QUICK"))  # only a small case, to see that the script works
SIZES = (
    ((60, "log-sum-exp"), (80, "frobenius")) if QUICK else ((10_000, "log-sum-exp"), (20_000, "frobenius"))
)
MINUTES, BYTES = 6.0, 4.0
TOLERANCE = 1e-6
MOST = 1500.0  # seconds after which a search is given up


def memory(what: str) -> float:
    """Resident memory of this process in bytes: "VmRSS" now, "VmHWM" at its peak; 0 where it is not told."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
        return 1024 * float(status.partition(f"{what}:")[2].split()[0])
    except (OSError, IndexError):
        return 0.0


def forget_peak() -> None:
    """Let the peak count from here, where the system offers that."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        print("the peak of drawing the comparisons counts, too")


def one(size: int, penalty: str, init: str, timed: bool) -> int:
    data = {"name": "collaborative.low-rank", "users": size, "items": size, "rank": 10, "density": 5.0}
    problem = optiframe.problem(dataset=data, penalty=penalty)
    basic = problem.formulation.problem  # without metrics and report, which are not what is timed
    print(f"K = {size}, {penalty}: {problem.rows} comparisons, {len(basic.function.winner)} after merging")
    warnings.simplefilter("ignore", optiframe.NotConverged)
    forget_peak()
    before = memory("VmRSS")
    result = optiframe.solve(
        basic,
        "manifold.trust-region",
        init=init,
        progress=False,
        trace=False,
        budget={"tolerance": TOLERANCE, "time": MOST},
    )
    gigabytes = (memory("VmHWM") - before) / 1e9
    print(f"  {result.status} after {result.iterations} outer steps, objective {result.objective:.8g}")
    print(f"  {result.message}")
    if not timed:
        print(f"  {result.time / 60:.2f} minutes, {gigabytes:.2f} GB beyond the data")
        return 0
    good = verdict("  time", result.time / 60, MINUTES, unit=" minutes")
    good &= verdict("  memory beyond the data", gigabytes, BYTES, unit=" GB")
    return 0 if good and result.status == "converged" else 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--random", action="store_true", help="begin at a random matrix")
    parser.add_argument("--case", type=int, choices=range(len(SIZES)), help="only this one of the sizes")
    chosen = parser.parse_args()
    one_thread()
    if chosen.case is not None:
        size, penalty = SIZES[chosen.case]
        init = "random" if chosen.random else "spectral"
        return one(size, penalty, init, timed=penalty == "log-sum-exp")
    code = 0
    for case in range(len(SIZES)):
        child = [sys.executable, *sys.argv, "--case", str(case)]
        code = max(code, subprocess.run(child, check=False).returncode)
    return code


if __name__ == "__main__":
    sys.exit(main())
