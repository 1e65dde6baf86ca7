"""Sparse learning with three views against fewer (Fig. 2), and what an iteration spends its time on.

Run: python examples/bench/tvcs_learning.py [--repeats 30] [--part recovery|time]

Recovery: a planted 20 x 20 matrix (p = 400), Gaussian samples, noise 0.01, bounds of rows and columns
uniform in 1..20, the bound on the total 0.8 of the smaller sum, which leaves about 150 of 400
entries. Every method sees the same data; every answer is projected onto all three views. IHT makes
at most 1,000 iterations, GradMP 30, the exclusive LASSO 300, with the penalty out of 1e-6, 1e-5, ..,
1e-2 that has the least loss on a fifth of the samples held out. Shown: exact recoveries (95%
Wilson intervals); the share of supports whose best fit is as good as that of the true one, since entries
below the noise cannot be told from the samples; and the mean recall. Where some support of the set that a
method found, or a descent from the truth, fits better than the true one, no fit to these samples can
tell the true one: that many runs bound the exact recoveries from above.

Time: p = 10^4, n = 2,000; the seconds of 30 IHT iterations spent in gradients, in values of the
objective (backtracking) and in projections, which begin with the last one's prices or each on its own.
Target: the gradients take more than the projections, backtracking or not. OPTIFRAME_QUICK=1 for a
small case.
"""

from __future__ import annotations

import argparse
import math
import sys
import warnings
from time import perf_counter
from typing import Any
from unittest.mock import patch

import numpy as np
from hodgerank_common import one_thread, quick, verdict
from optiframe_tvcs.learning.iht import IterativeHardThresholding
from optiframe_tvcs.learning.restricted import minimise_on
from optiframe_tvcs.projection.warm_start import WarmProjector
from optiframe_tvcs.sets.three_view import ThreeView

import optiframe
from optiframe.problems.objectives.losses import LeastSquares

METHODS = {"iht": 1000, "gradmp": 30}  # iterations at most
VIEWS = ("total", "rows", "columns")
SAMPLES = [200, 250, 300, 350, 400]
PENALTIES = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2)


def solved(problem: Any, name: str, iterations: int, **parameters: Any) -> dict[str, float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optiframe.NotConverged)  # GradMP goes round where samples are few
        found = optiframe.solve(
            problem, name, progress=False, trace=False, budget={"iterations": iterations}, **parameters
        )
    best = [best_fit(problem, support != 0) for support in (found.solution, problem.truth)]
    return {
        **found.metrics,
        "fits": float(best[0] <= best[1] * (1 + 1e-9)),
        "beats": float(best[0] < best[1] * (1 - 1e-9)),
    }


def best_fit(problem: Any, support: Any) -> float:
    """The least objective of a point on this support."""
    return problem.function.value(minimise_on(problem.function, support, np.zeros(support.shape)))


def exclusive_lasso(problem: Any, iterations: int) -> dict[str, float]:
    """The metrics at the penalty with the least loss on samples held out; the truth is not asked."""
    rows = len(problem.function)
    fitted, held_out = problem.function.take(slice(rows // 5, None)), problem.function.take(slice(rows // 5))
    losses = []
    for penalty in PENALTIES:
        part = optiframe.Minimize(fitted, over=problem.over)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optiframe.NotConverged)
            found = optiframe.solve(
                part,
                "tvcs.exclusive-lasso",
                penalty=penalty,
                progress=False,
                trace=False,
                budget={"iterations": iterations},
            )
        losses.append(held_out.value(found.solution))
    best = PENALTIES[int(np.argmin(losses))]
    return solved(problem, "tvcs.exclusive-lasso", iterations, penalty=best)


def methods(problem: Any, chosen: list[str]) -> dict[str, dict[str, float]]:
    found = {}
    for method, iterations in METHODS.items():
        if method not in chosen:
            continue
        found[f"{method} all"] = solved(problem, f"tvcs.{method}", iterations)
        for views in VIEWS:
            found[f"{method} {views}"] = solved(
                problem, "tvcs.fewer-views", iterations, views=views, method=method
            )
    if "lasso" in chosen:
        found["exclusive lasso"] = exclusive_lasso(problem, 300)
    return found


def wilson(successes: int, trials: int) -> tuple[float, float]:
    share, z = successes / trials, 1.96
    middle = (share + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z / (1 + z * z / trials) * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials**2))
    return max(0.0, middle - half), min(1.0, middle + half)


def recovery(repeats: int, side: int, samples: list[int], chosen: list[str]) -> bool:
    good = True
    pursuits = [method for method in METHODS if method in chosen]
    # Runs in which only all views recover the support, and only fewer, over all n.
    only = {f"{method} {views}": [0, 0] for method in pursuits for views in VIEWS}
    for n in samples:
        runs, beaten = [], 0
        for seed in range(repeats):
            data = optiframe.dataset("sparse.planted-regression", side=side, samples=n, seed=seed)
            problem = optiframe.problem(dataset=data)
            runs.append(methods(problem, chosen))
            others = [*runs[-1].values(), solved(problem, "tvcs.htp", 100, start=problem.truth)]
            beaten += any(other["beats"] for other in others)
        print(f"-- n = {n}: exact recoveries of {repeats} (95%), fit as good, mean recall", flush=True)
        print(f"in {beaten} runs another support fits better than the true one")
        exact = {name: np.array([run[name]["recovered"] for run in runs]) for name in runs[0]}
        fits = {name: np.array([run[name]["fits"] for run in runs]) for name in runs[0]}
        recall = {name: np.array([run[name]["recall"] for run in runs]) for name in runs[0]}
        for name, hits in exact.items():
            low, high = wilson(int(hits.sum()), repeats)
            spread = 1.96 * float(recall[name].std(ddof=1)) / math.sqrt(repeats)
            print(
                f"{name:<16} {int(hits.sum()):3d}  {hits.mean():.2f} ({low:.2f} to {high:.2f})"
                f"   {fits[name].mean():.2f}   {recall[name].mean():.3f} +- {spread:.3f}"
            )
        for method in pursuits:
            rivals = [f"{method} {views}" for views in VIEWS]
            ours, theirs = exact[f"{method} all"], {name: exact[name] for name in rivals}
            for name, hits in theirs.items():
                only[name][0] += int(np.sum(ours > hits))
                only[name][1] += int(np.sum(ours < hits))
            ahead = float(ours.mean()) - max(float(hits.mean()) for hits in theirs.values())
            good &= verdict(
                f"n = {n}, {method}: share with three views minus the best with fewer", ahead, 0.0, most=False
            )
            rival = max(rivals, key=lambda name: float(recall[name].mean()))
            paired = recall[f"{method} all"] - recall[rival]
            half = 1.96 * float(paired.std(ddof=1)) / math.sqrt(repeats)
            print(f"recall minus that of {rival}, the best with fewer: {paired.mean():.3f} +- {half:.3f}")
    for name, (wins, losses) in only.items():
        pairs = wins + losses
        chance = sum(math.comb(pairs, k) for k in range(wins, pairs + 1)) / 2**pairs
        print(f"{name}: all views alone recover in {wins} runs, these alone in {losses}")
        good &= verdict(f"{name}: chance of so many if all views were no better", chance, 0.05)
    return good


def timed(
    side: int, samples: int, iterations: int, warm: bool, **parameters: Any
) -> tuple[dict[str, float], float]:
    """Seconds of a run by what they are spent on, and the whole of it; `warm`: with the set's projector."""
    data = optiframe.dataset("sparse.planted-regression", side=side, samples=samples)
    problem = optiframe.problem(dataset=data)
    problem.over.project(np.ones(side**2))  # the plan is built once
    spent = dict.fromkeys(("gradient", "value", "projection"), 0.0)

    def clocked(what: str, original: Any) -> Any:
        def call(self: Any, *given: Any) -> Any:
            began = perf_counter()
            answer = original(self, *given)
            spent[what] += perf_counter() - began
            return answer

        return call

    where = WarmProjector if warm else ThreeView
    with (
        patch.object(LeastSquares, "gradient", clocked("gradient", LeastSquares.gradient)),
        patch.object(LeastSquares, "value", clocked("value", LeastSquares.value)),
        patch.object(ThreeView, "projector", ThreeView.projector if warm else lambda self: self),
        patch.object(where, "project", clocked("projection", where.project)),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore", optiframe.NotConverged)
        solver = IterativeHardThresholding(**parameters)
        began = perf_counter()
        steps = solver.iterates(problem, _Plain())
        for _, _ in zip(range(iterations), steps, strict=False):
            pass
        whole = perf_counter() - began
    return spent, whole


class _Plain:
    """A run without a loop around it: the solver's own iterations are what is timed."""

    start = None


def time_shares(side: int, samples: int, iterations: int) -> bool:
    good = True
    timed(side, samples, 3, True)  # compiles, and fills the caches
    for name, parameters in (("backtracking", {}), ("fixed step 0.1", {"step": 0.1})):
        apart = {}
        for warm in (False, True):
            # The least of three runs: what else the machine does only adds to it.
            runs = [timed(side, samples, iterations, warm, **parameters) for _ in range(3)]
            spent, whole = min(runs, key=lambda run: run[1])
            parts = ", ".join(f"{what} {seconds / whole:.1%}" for what, seconds in spent.items())
            how = "from the last prices" if warm else "each on its own"
            print(f"-- p = {side**2:,}, n = {samples:,}, {name}, projections {how}:")
            print(f"{whole / iterations * 1e3:.2f} ms an iteration: {parts}, the rest", end=" ")
            print(f"{1 - sum(spent.values()) / whole:.1%}")
            apart[warm] = spent["projection"] / iterations * 1e3
        print(f"projections: {apart[False]:.2f} ms an iteration, warm {apart[True]:.2f} ms", end=" ")
        print(f"({apart[False] / apart[True]:.2f} times faster)")
        ratio = spent["gradient"] / spent["projection"]
        good &= verdict("time in gradients over time in projections", ratio, 1.0, unit=" x", most=False)
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--repeats", type=int, default=2 if quick() else 30)
    parser.add_argument("--part", choices=("recovery", "time"))
    parser.add_argument("--samples", type=int, nargs="+", default=[40] if quick() else SAMPLES)
    known = [*METHODS, "lasso"]
    parser.add_argument("--methods", nargs="+", choices=known, default=known)
    chosen = parser.parse_args()
    one_thread()
    good = True
    if chosen.part != "time":
        good &= recovery(chosen.repeats, 8 if quick() else 20, chosen.samples, chosen.methods)
    if chosen.part != "recovery":
        good &= time_shares(*((30, 200, 5) if quick() else (100, 2000, 30)))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
