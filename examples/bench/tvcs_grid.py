"""The projection onto three-view sets over an adversarial grid: ratios to OR-tools, percentiles.

Run: python examples/bench/tvcs_grid.py [--sizes 100 1000 10000 100000] [--seeds 1] [--seconds 100]

First what a small projection takes beyond a call of NumPy; bounds of 1 on a matrix against SciPy's
`linear_sum_assignment`; the paper's set-up, Pareto-sized groups, power-law worths and whole numbers up to
10**6 elements, each also with entries moved by 1% and prices of the projection before; and memory beside what
is given, in a process of its own. Then the grid: every shape with every kind of worths and of bounds of
`tvcs_common.CASES` and those of `MORE`: two rows, half of each row and one a column; regular sparse groups
with bounds of 1; sparse groups at random, one each of as many as can be had; full matrices with bounds of 1;
the total alone; one view. Nothing is ever taken out of it.

`SimpleMinCostFlow` gets costs of 30 bits; CPU time, plan and arrays built once, turns interleaved, the least
of three, or one turn above `--once` seconds (of the four kinds above always three: in new memory either takes
longer). A ratio is OR-tools' time over ours: above 1 is faster. Every answer must be proved. A size ends
after `--seconds` of CPU time, and how many instances were run is printed. Their order is drawn once, so that
what is left out was not chosen, except for those that would take OR-tools a tenth of that time, judged by
the size before.
OPTIFRAME_QUICK=1 for a small case.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from hodgerank_common import one_thread, quick
from optiframe_tvcs import ThreeView
from rankone_common import verdict
from scipy.optimize import linear_sum_assignment
from tvcs_common import (
    CASES,
    MORE,
    Instance,
    adversarial_instance,
    hard_instance,
    more_instance,
    paper_instance,
    set_of,
)
from tvcs_speed import flow_of, least, moved

BOUNDS_ON_RATIOS = {"median": 3.0, "tenth percentile": 1.2, "worst": 0.8}
ORDINARY = {400: 2.0, 10_000: 4.0, 100_000: 10.0, 1_000_000: 15.0}
SHAPES_OF_THEIR_OWN = {"two rows": 1.5, "three rows": 1.5, "regular": 1.2}  # and all whose names begin so
WARM, WARM_FROM = 3.0, 10_000  # cold over warm; below so many elements Python and the passes are most
MEMORY = 45.0  # bytes an element


class Found(NamedTuple):
    """A case and its CPU seconds."""

    case: tuple[str, ...]
    p: int
    ours: float
    theirs: float
    fallback: bool

    @property
    def ratio(self) -> float:
        return self.theirs / self.ours


def timed(instance: Instance, case: tuple[str, ...], once: float) -> Found:
    """Both on an instance, which ours must prove."""
    over = set_of(instance)
    assert over.select_for(instance.v).certificate.holds, case
    effort = over.plan.effort
    p = len(instance.v)
    batch = max(1, 3000 // p)  # small ones are timed in batches, above the clock's step
    flow = flow_of(instance)
    tasks: tuple[Callable[[], Any], ...] = (
        lambda: [over.project(instance.v) for _ in range(batch)],
        lambda: [flow() for _ in range(batch)],
    )
    began = process_time()
    times = least(1, *tasks)
    if process_time() - began < once:
        times = [min(pair) for pair in zip(times, least(2, *tasks), strict=True)]
    return Found(case, p, *(each / batch for each in times), effort is not None and effort.fallback)


def measured(p: int, before: list[Found], chosen: argparse.Namespace) -> list[Found]:
    """Cases of a size until its time is up, but for those that would take OR-tools long."""
    slow = {each.case for each in before if each.theirs * (p / each.p) ** 1.5 > chosen.seconds / 10}
    cases = [*((name,) for name in MORE), *CASES[:: chosen.every]]
    listed = [(seed, case) for seed in range(chosen.seeds) for case in cases if case not in slow]
    found: list[Found] = []
    until = process_time() + chosen.seconds
    for k in np.random.default_rng(p).permutation(len(listed)):
        seed, case = listed[k]
        if process_time() > until:
            break
        made = more_instance(case[0], p, seed) if len(case) == 1 else adversarial_instance(case, p, seed)
        found.append(timed(made, case, chosen.once))
    of = f"{len(found)} of {chosen.seeds * len(cases)} instances"
    print(f"-- p = {p:,}: {of}, {len(slow)} are slow for OR-tools")
    return found


def report(found: list[Found], title: str, most: int) -> bool:
    ratios = np.array([each.ratio for each in found])
    fallen = sum(each.fallback for each in found)
    print(f"{fallen} by the fallback; slowest:")
    for each in sorted(found, key=lambda one: one.ratio)[:most]:
        line = f"  {each.ratio:6.2f}  {each.ours * 1e3:9.3f} ms  {each.theirs * 1e3:9.3f} ms  "
        print(line + ", ".join(each.case) + (" (fallback)" if each.fallback else ""))
    values = {
        "median": np.median(ratios),
        "tenth percentile": np.quantile(ratios, 0.1),
        "worst": ratios.min(),
    }
    good = True
    for name, target in BOUNDS_ON_RATIOS.items():
        good &= verdict(f"OR-tools / ours, {title}, {name}", float(values[name]), target, most=False)
    for shape, target in SHAPES_OF_THEIR_OWN.items():
        own = [each.ratio for each in found if each.case[0].startswith(shape)]
        if own:
            good &= verdict(f"OR-tools / ours, {title}, {shape}, worst", min(own), target, most=False)
    return good


def ordinary(sizes: list[int]) -> bool:
    """The paper's set-up, Pareto-sized groups, power-law worths and whole numbers."""
    good = True
    for p in sizes:
        side = round(p**0.5)
        made = {
            "paper": paper_instance(np.random.default_rng(0), side),
            "pareto": hard_instance(np.random.default_rng(1), side, "pareto"),
            "power law": paper_instance(
                np.random.default_rng(2), side, np.random.default_rng(3).pareto(1.1, side * side) + 1
            ),
            "whole numbers": hard_instance(np.random.default_rng(4), side, "ties"),
        }
        target = max((t for least_p, t in ORDINARY.items() if least_p <= p), default=1.0)
        for name, instance in made.items():
            found = timed(instance, (name,), float("inf"))
            print(f"{name}, p = {side**2}: {found.ours * 1e3:.3g} ms")
            good &= verdict(f"OR-tools / ours, {name}, p = {side**2}", found.ratio, target, most=False)
            if side**2 >= WARM_FROM:
                text = f"cold / warm, {name}, p = {side**2}, entries moved by 1%"
                good &= verdict(text, warm_start(instance), WARM, most=False)
    return good


def warm_start(instance: Instance) -> float:
    """How many times faster with the prices of the last projection, from point to point and back."""
    over = set_of(instance)
    points = (instance.v, moved(instance.v, np.random.default_rng(0)))
    following = over.projector()
    following.project(points[1])
    cold, warm = least(
        3, lambda: [over.project(v) for v in points], lambda: [following.project(v) for v in points]
    )
    return cold / warm


def memory(sides: list[int]) -> bool:
    """Bytes an element of plan and solving, measured by `tvcs_memory` in processes of their own."""
    script = Path(__file__).with_name("tvcs_memory.py")
    good = True
    for side in sides:
        ran = subprocess.run(
            [sys.executable, script, "--one", str(side)], capture_output=True, text=True, check=True
        )
        used = float(ran.stdout.split()[0])
        good &= verdict(f"bytes an element, p = {side**2}", used, MEMORY)
    return good


def assignments(sides: list[int]) -> bool:
    """Bounds of 1 on a matrix against SciPy, which has to choose as well and to cut."""
    good = True
    for side in sides:
        v = np.random.default_rng(side).standard_normal((side, side))
        over = ThreeView.of_matrix((side, side), per_row=1, per_column=1)
        over.project(v)
        ours, theirs = least(
            3, lambda o=over, x=v: o.project(x), lambda x=v: linear_sum_assignment(x * x, True)
        )
        good &= verdict(f"SciPy / ours, bounds of 1, {side} x {side}", theirs / ours, 1.0, most=False)
    return good


def small_calls() -> bool:
    """Microseconds of a projection of 100 elements beyond a NumPy call's own."""
    v, calls = np.random.default_rng(0).standard_normal(100), 2000
    good = True
    for name, over in (
        ("the total alone", ThreeView(total=20, size=100)),
        ("a matrix of 10 x 10", ThreeView.of_matrix((10, 10), 20, 3, 3)),
    ):
        over.project(v)
        ours, numpys = least(
            5,
            lambda o=over: [o.project(v) for _ in range(calls)],
            lambda: [np.multiply(v, v) for _ in range(calls)],
        )
        text = f"100 elements, {name}, microseconds beyond a NumPy call"
        good &= verdict(text, (ours - numpys) / calls * 1e6, 15.0)
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    sizes = [100, 400] if quick() else [100, 1000, 10_000, 100_000]
    parser.add_argument("--sizes", type=int, nargs="*", default=sizes)
    parser.add_argument("--ordinary", type=int, nargs="*", default=[400] if quick() else list(ORDINARY))
    parser.add_argument("--sides", type=int, nargs="*", default=[20] if quick() else [20, 100, 500])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--memory", type=int, nargs="*", default=[] if quick() else [1000])
    parser.add_argument("--every", type=int, default=37 if quick() else 1, help="take every so many cases")
    parser.add_argument("--seconds", type=float, default=100.0, help="CPU time after which a size ends")
    parser.add_argument("--most", type=int, default=12, help="slowest cases to list")
    parser.add_argument("--once", type=float, default=0.5, help="seconds above which one turn is enough")
    chosen = parser.parse_args()
    one_thread()
    if find_spec("ortools") is None:
        print("OR-tools is not installed, so there is nothing to compare with; to install it, run:")
        print("    pip install --group dev")
        return 0
    good = small_calls()
    good &= assignments(chosen.sides)
    good &= ordinary(chosen.ordinary)
    good &= memory(chosen.memory)
    found: list[Found] = []
    for p in chosen.sizes:
        found = measured(p, found, chosen)
        good &= report(found, f"p = {p:,}", chosen.most)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
