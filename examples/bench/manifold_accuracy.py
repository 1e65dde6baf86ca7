"""Errors and rankings of PRTRS, BFGDB, SPG and L-BFGS; what they are sensitive to; random starts.

Run: python examples/bench/manifold_accuracy.py

The simulations of Dong et al., Sec. VI, K = 200, rank 10, one thread:
- the paper's relative error (Eq. 27), the same with rows centred, and Kendall's tau, for d = 2, 5, 10
  and 15, over six drawings with 90% intervals of the mean (Student's t). PRTRS, L-BFGS and BFGDB
  begin at a random matrix, SPG too; its radius is alpha sqrt(r m n) with the true alpha (the paper's), its
  answer as it is, and cut to the rank. BFGDB's rounds end at a relative change of 1e-4 a step (--change;
  its own 5e-6 takes ten times as long).
- sensitivity at d = 5: the penalty times 0, .1, 1, 10; SPG's radius (the paper's, and the nuclear norm of
  the truth, an oracle) and start (random, or zero, whose rows are centred); where BFGDB's rounds end;
- random starts of the trust region: do all reach one objective?
Verdicts on the paper's ordering PRTRS < BFGDB < SPG in error.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from typing import Any

import numpy as np
from rankone_common import one_thread, verdict

import optiframe

QUICK = bool(os.environ.get("OPTIFRAME_QUICK"))  # only a small case, to see that the script works
SIZE, RANK = (30, 3) if QUICK else (200, 10)
DENSITIES = (5.0,) if QUICK else (2.0, 5.0, 10.0, 15.0)
DRAWINGS = 2 if QUICK else 6
STARTS = 3 if QUICK else 24
CHANGE = 1e-3 if QUICK else 1e-4
METRICS = ("relative_error", "centred_error", "kendall_tau")
SPG = {"tolerance": 1e-3}

METHODS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "PRTRS": ("manifold.trust-region", {"init": "random"}, {"tolerance": 1e-6}),
    "L-BFGS": ("manifold.lbfgs", {"init": "random"}, {"tolerance": 1e-3}),
    "BFGDB": ("btl.bfgd", {"change": CHANGE}, {"iterations": None}),
    "SPG": ("btl.spg", {"cut": False}, SPG),
    "SPG, cut": ("btl.spg", {}, SPG),
}


def problem_of(density: float, seed: int, multiplier: float = 1.0) -> Any:
    data = {"name": "collaborative.low-rank", "users": SIZE, "items": SIZE, "rank": RANK, "seed": seed}
    return optiframe.problem(dataset=data | {"density": density}, multiplier=multiplier)


def figures(
    solver: str, parameters: dict[str, Any], budget: dict[str, Any], density: float, multiplier: float = 1.0
) -> dict[str, np.ndarray]:
    """Every metric over the drawings, and seconds."""
    found: dict[str, list[float]] = {name: [] for name in (*METRICS, "time")}
    for seed in range(DRAWINGS):
        problem = problem_of(density, seed, multiplier)
        given = parameters
        if parameters.get("radius") == "oracle":
            given = parameters | {"radius": float(np.linalg.norm(problem.truth.dense(), "nuc"))}
        result = optiframe.solve(
            problem, solver, seed=seed, budget=budget, progress=False, trace=False, **given
        )
        for name in METRICS:
            found[name].append(result.metrics[name])
        found["time"].append(result.time)
    return {name: np.array(values) for name, values in found.items()}


def shown(values: np.ndarray) -> str:
    from optiframe_manifold.metrics import interval

    low, high = interval(values)
    return f"{values.mean():.3f} [{low:.3f}, {high:.3f}]"


def row(name: str, found: dict[str, np.ndarray]) -> None:
    print(
        f"| {name} | " + " | ".join(shown(found[m]) for m in METRICS) + f" | {found['time'].mean():.1f} |",
        flush=True,
    )


def head(first: str) -> None:
    print(f"\n| {first} | relative error | centred error | Kendall tau | s |")
    print("| --- | --- | --- | --- | --- |", flush=True)


def accuracy(densities: list[float]) -> bool:
    good = True
    for density in densities:
        head(f"d = {density:g}")
        found = {}
        for name, (solver, parameters, budget) in METHODS.items():
            found[name] = figures(solver, parameters, budget, density)
            row(name, found[name])
        error = {name: values["relative_error"] for name, values in found.items()}
        for one, other in (("PRTRS", "BFGDB"), ("BFGDB", "SPG")):
            # Paired by drawing: the share of drawings in which the order is the paper's.
            share = float(np.mean(error[one] < error[other]))
            good &= verdict(f"error of {one} below {other}'s, share of drawings", share, 1.0, most=False)
        gap = float(np.abs(found["PRTRS"]["kendall_tau"] - found["BFGDB"]["kendall_tau"]).max())
        good &= verdict("Kendall tau of PRTRS and BFGDB apart by", gap, 0.02)
    return good


def sensitivity() -> None:
    head("d = 5, PRTRS with the penalty times")
    solver, parameters, budget = METHODS["PRTRS"]
    for multiplier in (0.0, 0.1, 1.0, 10.0):
        limits = budget | {"iterations": 100, "time": 20.0}  # without one some scores run off to infinity
        row(f"{multiplier:g}", figures(solver, parameters, limits, 5.0, multiplier))
    head("d = 5, BFGDB: rounds end at a change of")
    for change in (1e-2, 1e-3, 1e-4):
        row(f"{change:g}", figures("btl.bfgd", {"change": change}, {"iterations": None}, 5.0))
    head("d = 5, SPG: radius, start, answer")
    for radius in (None, "oracle"):
        for init in ("random", "zero"):
            for cut in (False, True):
                given = {"init": init, "cut": cut} | ({"radius": radius} if radius else {})
                name = f"{radius or 'paper'}, {init}, {'cut to the rank' if cut else 'as it is'}"
                row(name, figures("btl.spg", given, SPG, 5.0))


def starts() -> bool:
    problem = problem_of(5.0, 0)
    basic = problem.formulation.problem
    reached = [
        optiframe.solve(
            basic,
            "manifold.trust-region",
            init="random",
            seed=seed,
            budget={"tolerance": 1e-6},
            progress=False,
            trace=False,
        )
        for seed in range(STARTS)
    ]
    values = np.array([result.objective for result in reached])
    steps = [result.iterations for result in reached]
    print(f"\n{STARTS} random starts: objectives from {values.min():.10g} to {values.max():.10g}, ", end="")
    print(
        f"{min(steps)} to {max(steps)} outer steps, {sum(r.status == 'converged' for r in reached)} converged"
    )
    return verdict("spread of the objective, relative", float(np.ptp(values) / values.min()), 1e-9)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--part", choices=("accuracy", "sensitivity", "starts"), help="only this")
    parser.add_argument("--densities", type=float, nargs="*", default=DENSITIES, help="d")
    parser.add_argument("--change", type=float, default=CHANGE, help="where BFGDB's rounds end")
    chosen = parser.parse_args()
    one_thread()
    warnings.simplefilter("ignore", optiframe.NotConverged)
    METHODS["BFGDB"][1]["change"] = chosen.change
    good = True
    if chosen.part in (None, "accuracy"):
        good &= accuracy(chosen.densities)
    if chosen.part in (None, "sensitivity"):
        sensitivity()
    if chosen.part in (None, "starts"):
        good &= starts()
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
