"""Whether the projection gives the nearest point, compared without tolerance with an oracle in whole numbers.

Run: python examples/bench/tvcs_exactness.py [--count 20000] [--largest 400] [--seed 0]

Instances of 1 to 400 elements of ten kinds (`tvcs_common.KINDS`: ties, zeros, one value, Pareto-sized groups,
elements in no group, bounds of 0 and far too large, ..) with entries of ten spreads: ordinary ones, ties,
near ties, and sizes over 12, 20 and 600 decades. The kernel answers, a share of them also by cost scaling,
from the prices of a moved point, and by the reference. The oracle knows nothing of rounding or prices:
squares are Python's whole numbers, and a support is the nearest point if no cycle of changes gains (Bellman
and Ford's method on all elements). Supports are compared with ties broken by index, as numbers behind the
squares, so that one is best.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from contextlib import AbstractContextManager, nullcontext
from time import perf_counter
from typing import Any
from unittest.mock import patch

import numpy as np
from optiframe_tvcs.kernels import reference
from optiframe_tvcs.kernels.numbers import exact_worths, with_ties
from optiframe_tvcs.projection import plan as plans
from optiframe_tvcs.projection.plan import ProjectionPlan
from rankone_common import verdict
from tvcs_common import KINDS, SPREADS, improves, random_instance, spread_entries


def by_reference() -> AbstractContextManager[Any]:
    """Plans made inside answer by the reference of the kernels."""
    return patch.multiple(plans, Layout=reference.Layout, project=reference.project)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--largest", type=int, default=400, help="elements of the largest instance")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    began = perf_counter()
    wrong: Counter[str] = Counter()
    paths: Counter[str] = Counter()
    for number in range(chosen.count):
        rng = np.random.default_rng([chosen.seed, number])
        kind, spread = KINDS[number % len(KINDS)], SPREADS[number // len(KINDS) % len(SPREADS)]
        instance = random_instance(rng, kind, chosen.largest)
        p = len(instance.v)
        v = spread_entries(rng, instance.v, spread)
        plan = ProjectionPlan(*instance.bounds)
        ways: dict[str, dict[str, Any]] = {"kernel": {}}
        if number % 5 == 0:
            ways["reference"] = {}
        if number % 4 == 1:
            ways["cost scaling"] = {"forced": True}
        if number % 4 == 2:
            moved = v * (1 + 0.01 * rng.standard_normal(p))
            ways["warm"] = {"start": plan.solve(moved, squared=True).prices}
        first = None
        for way, options in ways.items():
            with by_reference() if way == "reference" else nullcontext():
                found = ProjectionPlan(*instance.bounds).solve(v, squared=True, **options)
            paths[way] += 1
            if first is None:
                first = found.support
                worths = with_ties(exact_worths(v, squared=True)[0], p)
                right = not improves(instance, first, worths)
            else:
                right = bool(np.array_equal(found.support, first))
            for what, fine in (("nearest", right), ("certificate", found.certificate.holds)):
                if not fine:
                    wrong[what] += 1
                    print(f"instance {number} ({kind}, {spread}, p = {p}), {way}: {what} is wrong")
    print(f"{chosen.count} instances, {dict(paths)}, {perf_counter() - began:.0f} s")
    good = verdict("projections that are not the nearest point", float(wrong["nearest"]), 0)
    good &= verdict("nearest points that are not certified", float(wrong["certificate"]), 0)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
