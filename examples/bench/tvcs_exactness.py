"""The projection onto three-view sets against HiGHS on random instances: objective, feasibility, certificate.

Run: python examples/bench/tvcs_exactness.py [--count 20000] [--largest 2000] [--seed 0]

Instances of 1 to 2,000 elements of ten kinds (`tvcs_common.KINDS`): ties, zeros, one
value, Pareto-sized groups, elements in no group, bounds of 0 and far too large, and Gaussian ones.
Each is solved by the kernel, a share of them also by its reference, by the fallback and from the prices of a
moved point; HiGHS's dual simplex gives the best worth, rounded to its vertex.
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
from optiframe_tvcs.projection import plan as plans
from optiframe_tvcs.projection.certificate import check
from optiframe_tvcs.projection.plan import ProjectionPlan
from scipy.optimize import linprog
from tvcs_common import KINDS, Instance, random_instance, set_of


def by_reference() -> AbstractContextManager[Any]:
    """Plans made inside answer by the reference of the kernels."""
    return patch.multiple(plans, Layout=reference.Layout, project=reference.project)


def by_highs(instance: Instance, whole: Any) -> int:
    """Worth of the best support by HiGHS, in whole units."""
    over = set_of(instance)
    matrix, bounds = over.incidence
    if not whole.any():
        return 0
    # Without presolve, which on these sizes costs more than it saves.
    found = linprog(
        -whole / whole.max(), A_ub=matrix, b_ub=bounds, bounds=(0, 1), method="highs-ds",
        options={"presolve": False, "dual_feasibility_tolerance": 1e-10},
    )  # fmt: skip
    chosen = (found.x > 0.5) & (whole > 0)
    assert over.excess(chosen) == 0, "HiGHS's vertex is not feasible"
    return sum(int(q) for q in whole[chosen])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--largest", type=int, default=2000, help="elements of the largest instance")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    began = perf_counter()
    wrong: Counter[str] = Counter()
    paths: Counter[str] = Counter()
    solved = 0
    for number in range(chosen.count):
        kind = KINDS[number % len(KINDS)]
        rng = np.random.default_rng([chosen.seed, number])
        instance = random_instance(rng, kind, chosen.largest)
        weights = instance.v**2
        plan = ProjectionPlan(*instance.bounds)
        whole, scale = plan.quantised(weights)
        best = by_highs(instance, whole)
        ways: dict[str, dict[str, Any]] = {"kernel": {}}
        if number % 5 == 0 and len(weights) <= 500:
            ways["reference"] = {}
        if number % 4 == 1:
            ways["forced"] = {"forced": True}
        if number % 4 == 2:
            before = plan.solve((instance.v * (1 + 0.01 * rng.standard_normal(len(weights)))) ** 2)
            ways["warm"] = {"start": before.prices}
        for way, options in ways.items():
            with by_reference() if way == "reference" else nullcontext():
                plan = ProjectionPlan(*instance.bounds)
                found = plan.solve(weights, **options)
            fallback = plan.effort is not None and plan.effort.fallback
            paths[f"{way}, fallback" if fallback else way] += 1
            # A second, independent check; it counts the bounds too.
            again = check(whole, plan.bounds, found.support, found.prices.times(scale), scale)
            mine = sum(int(q) for q in whole[found.support])
            # HiGHS works in floating point: it may stop a little below the best, never above.
            below = (mine - best) / max(best, 1)
            good = {
                "certificate": found.certificate.exact and again.holds and again.gap == 0.0,
                "objective": 0 <= below <= 1e-9,
                "same check": again.primal == found.certificate.primal,
            }
            for what, fine in good.items():
                if not fine:
                    wrong[f"{way} {kind}: {what}"] += 1
                    print(f"instance {number} ({kind}, p = {len(weights)}), {way}: {what} is wrong {below}")
            solved += 1
    print(f"{chosen.count} instances, {solved} projections ({dict(paths)}), {perf_counter() - began:.0f} s")
    print(f"certificate, feasibility and objective right in all: {'reached' if not wrong else 'MISSED'}")
    for what, times in wrong.items():
        print(f"  {what}: {times}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
