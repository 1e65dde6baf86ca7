"""One round a step against two, where a round costs seconds: COMRADE and GIANT on Flower.

Run: python examples/bench/comrade_flower.py

a9a (real; folder in OPTIFRAME_DATA), logistic loss with l2 = 1/n, sharded among 4 nodes: a SuperLink
and 4 SuperNodes as processes on loopback, all on this machine. Rounds and seconds until the gap is
1e-3; the gap is computed afterwards, outside the clock. Nodes keep one process each, as
`backend = "flower"` does; with --app Flower starts one for every message, as it does by itself.

Target: COMRADE needs fewer rounds, and less time, than GIANT with and without its line search.

OPTIFRAME_QUICK=1 solves a small generated problem in this process only, to see that the script works.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from typing import Any

import numpy as np
from rankone_common import one_thread

import optiframe
from optiframe import Budget, Minimize
from optiframe.problems.objectives.losses import Logistic

NODES, GAP = 4, 1e-3
SOLVERS: dict[str, tuple[str, dict[str, Any]]] = {
    "COMRADE": ("newton.comrade", {"filter": "norm"}),
    "GIANT": ("newton.giant", {"search": "none"}),
    "GIANT, line search": ("newton.giant", {"search": "armijo"}),
}
STEPS = 5  # all of them are there after 4


def run(
    f: Logistic, least: float, name: str, given: dict[str, Any], backend: Any
) -> tuple[int, float, float]:
    """Rounds and seconds to the gap (0 and infinite: not reached), and the seconds a round took."""
    begun = time.perf_counter()
    with warnings.catch_warnings():
        # Not to have converged after so many steps, or to diverge, is the result.
        warnings.simplefilter("ignore")
        budget = Budget(iterations=STEPS, tolerance=0.0)
        result = optiframe.solve(Minimize(f), name, workers=NODES, backend=backend, budget=budget, **given)
    whole = time.perf_counter() - begun
    trace = result.trace
    gaps = np.asarray(trace["objective"]) - least
    # The first step's time holds the start of the processes; later ones are rounds alone.
    rounds, seconds = np.asarray(trace["rounds"]), np.asarray(trace["time"])
    each = float((seconds[-1] - seconds[0]) / (rounds[-1] - rounds[0]))
    started = seconds[0] - each * rounds[0]
    reached = np.flatnonzero(gaps <= GAP)
    print(f"  gaps {' '.join(f'{gap:.1e}' for gap in gaps)}; start {started:.1f} s, all {whole:.1f} s")
    if len(reached) == 0:
        return 0, np.inf, each
    at = int(reached[0])
    return int(rounds[at]), float(seconds[at] - started), each


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--app", action="store_true", help="one process a message")
    app = parser.parse_args().app
    quick = bool(os.environ.get("OPTIFRAME_QUICK"))
    if quick:
        data = optiframe.dataset("synthetic.covtype-shape", terms=2000, columns=10).inputs()
    else:
        data = optiframe.dataset("libsvm.a9a").inputs()
    f = Logistic(matrix=data["matrix"], target=data["target"], l2=1 / len(data["target"]))
    exact = optiframe.solve(Minimize(f), "newton.exact", budget=Budget(tolerance=1e-12))
    backend: Any = "in-process" if quick else {"name": "flower", "persistent_client": not app}
    print(f"{len(f)} x {f.shape[0]}, {NODES} nodes, backend {backend}; to a gap of {GAP:g}")
    found = {}
    for label, (name, given) in SOLVERS.items():
        print(label)
        found[label] = run(f, exact.objective, name, given, backend)
    print(f"\n{'':<20}{'rounds':>8}{'seconds':>10}{'s a round':>11}")
    for label, (rounds, seconds, each) in found.items():
        print(f"{label:<20}{rounds or 'never':>8}{seconds:>10.1f}{each:>11.2f}")
    ours, rivals = found["COMRADE"], [each for label, each in found.items() if label != "COMRADE"]
    fewer = all(rounds == 0 or ours[0] < rounds for rounds, _, _ in rivals) and ours[0] > 0
    faster = all(ours[1] < seconds for _, seconds, _ in rivals)
    print(f"\ntarget: fewer rounds than GIANT: {'reached' if fewer else 'MISSED'}")
    print(f"target: less time than GIANT: {'reached' if faster else 'MISSED'}")


if __name__ == "__main__":
    one_thread()
    main()
