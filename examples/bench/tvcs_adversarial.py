"""A search for three-view instances on which the exact projection is slow: the worst ratios to OR-tools.

Run: python examples/bench/tvcs_adversarial.py [--sizes 1000 10000] [--again 100000] [--keep 24]

Every combination of a shape (square, one row, one column, three rows, a row for each element, groups of
one to three, Pareto-sized groups, random sparse groups, alternating chains), of worths (Gaussian, ties of
several kinds, nearly equal ones, thirty powers of ten, sums and products of a row's and a column's number,
which defeat Hungarian methods) and of bounds (1, 2, half, uniform) is projected and solved by
`SimpleMinCostFlow` on costs of 30 bits, as in `tvcs_speed.py`; the least CPU time of two turns each counts.
The worst of the largest size are then run at `--again` elements. Every answer must be proved; on the worst
instances the fallback is forced as well, and must prove an answer of the same worth.
OPTIFRAME_QUICK=1 for a small case.
"""

from __future__ import annotations

import argparse
import sys
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np
from hodgerank_common import one_thread, quick
from tvcs_common import CASES, Case, adversarial_instance, set_of
from tvcs_speed import flow_of, least


class Found(NamedTuple):
    """One case and its outcome: CPU seconds of both, and how ours went."""

    case: Case
    ours: float
    theirs: float
    fallback: bool
    proved: bool

    @property
    def ratio(self) -> float:
        return self.ours / self.theirs


def run(case: Case, p: int, seed: int) -> Found:
    made = adversarial_instance(case, p, seed)
    over = set_of(made)
    proved = over.plan.solve(made.v**2).certificate.exact
    fallback = over.plan.effort is not None and over.plan.effort.fallback
    ours, theirs = least(2, lambda: over.project(made.v), flow_of(made))
    return Found(case, ours, theirs, fallback, proved)


def forced(case: Case, p: int, seed: int) -> bool:
    """Whether the fallback proves an answer of the same worth."""
    made = adversarial_instance(case, p, seed)
    plan = set_of(made).plan
    usual, other = (plan.solve(made.v**2, forced=each).certificate for each in (False, True))
    return other.exact and other.gap == 0.0 and other.primal == usual.primal


def show(found: list[Found], most: int) -> None:
    for each in sorted(found, key=lambda one: -one.ratio)[:most]:
        path = "fallback" if each.fallback else ""
        print(
            f"  {each.ratio:6.2f}  {each.ours * 1e3:9.2f} ms  {each.theirs * 1e3:9.2f} ms  {path:9}", end=""
        )
        print(f" {', '.join(each.case)}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[300] if quick() else [1000, 10_000])
    parser.add_argument("--again", type=int, default=600 if quick() else 100_000, help="a second size")
    parser.add_argument("--keep", type=int, default=2 if quick() else 24, help="how many get one")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    one_thread()
    if find_spec("ortools") is None:
        print("OR-tools is not installed, so there is nothing to compare with; to install it, run:")
        print("    pip install --group dev")
        return 0
    cases = CASES[:: 37 if quick() else 1]
    good = True
    for p in chosen.sizes:
        found = [run(case, p, chosen.seed) for case in cases]
        good &= report(found, p, chosen.seed)
    worst = sorted(found, key=lambda each: -each.ratio)[: chosen.keep]
    found = [run(each.case, chosen.again, chosen.seed) for each in worst]
    good &= report(found, chosen.again, chosen.seed)
    return 0 if good else 1


def report(found: list[Found], p: int, seed: int) -> bool:
    ratios = np.array([each.ratio for each in found])
    fallbacks = sum(each.fallback for each in found)
    print(f"-- p = {p:,}: {len(found)} instances, ours / OR-tools: median {np.median(ratios):.2f}, ", end="")
    print(f"90% {np.quantile(ratios, 0.9):.2f}, worst {ratios.max():.2f}; {fallbacks} by the fallback")
    show(found, 12)
    unproved = [each.case for each in found if not each.proved]
    worst = sorted(found, key=lambda each: -each.ratio)[:12]
    unproved += [each.case for each in worst if not forced(each.case, p, seed)]
    print(f"proved in all, and by the fallback in the worst 12: {'MISSED' if unproved else 'reached'}")
    for case in unproved:
        print("  not proved:", ", ".join(case))
    return not unproved


if __name__ == "__main__":
    sys.exit(main())
