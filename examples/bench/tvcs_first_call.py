"""The first projection in a new process, beyond the second one and the imports.

Run: python examples/bench/tvcs_first_call.py [--sides 20 316] [--repeats 5]

The paper's set-up. The child times the call alone, `ThreeView.project` on a new set, plan included; the
interpreter and the imports before it come apart, and so do the kernels, which are imported with them. The
least of the repeats counts, by the clock on the wall. Targets: the first call 50 ms beyond the second, the
kernels imported in 5 ms.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from rankone_common import one_thread, verdict

TARGET, IMPORT = 50.0, 5.0
SCRIPT = """
import sys
from time import perf_counter
began = perf_counter()
import numpy as np
import optiframe.native, optiframe.records.fields, optiframe_tvcs
before = perf_counter()
import optiframe_tvcs.kernels.projection
kernels = perf_counter() - before
from tvcs_common import paper_instance, set_of
imported = perf_counter()
instance = paper_instance(np.random.default_rng(0), int(sys.argv[1]))
over = set_of(instance)
made = perf_counter()
over.project(instance.v)
first = perf_counter()
over.project(instance.v)
print(imported - began, kernels, first - made, perf_counter() - first)
"""


def child(side: int, cache: str) -> list[float]:
    """Seconds of all imports, of the kernels', of the first call and of the second.

    Python keeps its bytecode in the folder `cache`, as it does wherever pip installed.
    """
    command = [sys.executable, "-c", SCRIPT, str(side)]
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": cache, "PYTHONDONTWRITEBYTECODE": ""}
    here = Path(__file__).parent
    ran = subprocess.run(command, check=True, capture_output=True, text=True, cwd=here, env=environment)
    return [float(each) for each in ran.stdout.split()]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sides", type=int, nargs="*", default=[20, 316])
    parser.add_argument("--repeats", type=int, default=5)
    chosen = parser.parse_args()
    one_thread()
    good = True
    for side in chosen.sides:
        with TemporaryDirectory() as cache:
            child(side, cache)  # fills it, and warms the disk's
            runs = [child(side, cache) for _ in range(chosen.repeats)]
        imports, kernels, first, second = (1e3 * min(run[k] for run in runs) for k in range(4))
        print(f"p = {side**2:,}: imports {imports:.0f} ms, first call {first:.3g} ms, second {second:.3g} ms")
        what = f"first call at p = {side**2:,}, as it is installed, beyond the second"
        good &= verdict(what, first - second, TARGET, unit=" ms")
        good &= verdict("import of the kernels", kernels, IMPORT, unit=" ms")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
