"""The first projection in a new process: by the plain path, and compiled with a warm cache of kernels.

Run: python examples/bench/tvcs_first_call.py [--sides 20 100] [--repeats 5]

The paper's set-up. The child times the call alone, `ThreeView.project` on a new set, plan included; the
interpreter and the imports before it come apart. Up to 2,000 elements the call waits for no compiler: the
child says whether numba was loaded. Beyond, and after `prepare()`, compiled code is loaded from disk. The
least of the repeats counts, by the clock on the wall; processor time is beside it. Target: the first call
at p = 400 in .5 s, both ways.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from rankone_common import one_thread, verdict

TARGET = 0.5
SCRIPT = """
import sys
from time import perf_counter, process_time
began = perf_counter()
import numpy as np
from optiframe_tvcs import prepare
from tvcs_common import paper_instance, set_of
imported = perf_counter()
side, asked = int(sys.argv[1]), sys.argv[2] == "prepared"
instance = paper_instance(np.random.default_rng(0), side)
made, busy = perf_counter(), process_time()
if asked:
    prepare()
over = set_of(instance)
over.project(instance.v)
first, busy = perf_counter(), process_time() - busy
over.project(instance.v)
print(imported - began, first - made, busy, perf_counter() - first, "numba" in sys.modules)
"""


def child(side: int, way: str) -> tuple[float, float, float, float, bool]:
    """Seconds of imports, of the first call by both clocks, of the second; whether numba was loaded."""
    command = [sys.executable, "-c", SCRIPT, str(side), way]
    imports, first, busy, second, loaded = subprocess.run(
        command, check=True, capture_output=True, text=True, cwd=Path(__file__).parent
    ).stdout.split()
    return float(imports), float(first), float(busy), float(second), loaded == "True"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sides", type=int, nargs="*", default=[20, 100])
    parser.add_argument("--repeats", type=int, default=5)
    chosen = parser.parse_args()
    one_thread()
    good = True
    for side in chosen.sides:
        for way in ("as it is", "prepared"):
            child(side, way)  # compiles where this machine has not yet, and warms the disk's cache
            runs = [child(side, way) for _ in range(chosen.repeats)]
            imports, first, busy, second = (min(run[k] for run in runs) for k in range(4))
            loaded = any(run[4] for run in runs)
            print(
                f"p = {side**2:,}, {way}, numba {'' if loaded else 'not '}loaded: imports {imports:.3f} s,",
                end=" ",
            )
            print(f"second call {second * 1e3:.3f} ms, first {busy:.3f} s of processor time")
            good &= verdict(f"first call at p = {side**2:,}, {way}", first, TARGET, unit=" s")
            if side**2 <= 2000 and way == "as it is":
                good &= not loaded
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
