"""Task assignment and network identification (Secs. 5.2 and 5.3): what of the paper's ordering holds.

Run: python examples/bench/tvcs_problems.py [--repeats 20] [--part assignment|networks|drawn]

Assignment: 20 workers and 40 tasks, qualities uniform in [.5, .9], prior 1/2; the caps are the same ratio
of the tasks and of the workers, the total is .8 of the smaller sum. Shown is the mean expected
accuracy over the repeats and a 95% interval of the paired difference to the linear program, by
accuracies that are enumerated (up to 13 workers a task). Thresholding begins with no assignment, or with
the linear program's, below which it then cannot fall. Figure 4 has thresholding above the linear
program above chance.

Networks: the DREAM4 networks, with the bounds of their data sets (set before anything was seen: two
edges a gene in all, 3 into a gene, 5 or 10 out of it), by iterative hard thresholding with all three
views and with fewer, by lagged correlation and by CLR; with the paper's model, and with decay,
basal levels and scales in it. Drawn: the same for drawn networks of 30 genes. OPTIFRAME_QUICK=1
for a small case.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from hodgerank_common import one_thread, quick

import optiframe

RATIOS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
ASSIGNERS: dict[str, dict[str, Any]] = {
    "random": {"solver": "tvcs.assignment-random"},
    "by quality": {"solver": "tvcs.assignment-by-quality"},
    "by log-odds": {"solver": "tvcs.assignment-by-quality", "worth": "log-odds"},
    "iht, from empty": {"solver": "tvcs.assignment-iht", "init": "empty"},
    "iht": {"solver": "tvcs.assignment-iht"},
}
LEARNERS: dict[str, dict[str, Any]] = {
    "three views": {"solver": "tvcs.iht"},
    "in-degree, total": {"solver": "tvcs.fewer-views", "views": "rows"},
    "out-degree, total": {"solver": "tvcs.fewer-views", "views": "columns"},
    "total": {"solver": "tvcs.fewer-views", "views": "total"},
    "correlation": {"solver": "genes.pearson"},
    "clr": {"solver": "genes.clr", "estimator": "pearson"},
}
SHOWN = ("sensitivity", "specificity", "f_sn_sp", "f1", "mcc", "auc_thresholded", "aupr")
MODELS = {
    "the paper's model": {},
    "with decay, basal level and scale": {"own_effects": True, "intercept": True, "scale": True},
}
DREAM4 = {10: [f"grn.dream4-10.{k}" for k in range(1, 6)], 100: ["grn.dream4-100.1", "grn.dream4-100.2"]}


def solved(problem: Any, **choice: Any) -> dict[str, float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optiframe.NotConverged)
        return optiframe.solve(
            problem, **choice, progress=False, trace=False, budget={"iterations": 2000}
        ).metrics


def interval(values: np.ndarray) -> str:
    """Mean and half of a 95% interval, by the normal distribution."""
    half = 1.96 * values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else float("nan")
    return f"{values.mean():.4f} +- {half:.4f}"


def assignment(repeats: int, ratios: tuple[float, ...]) -> None:
    print(f"expected accuracy, {repeats} repeats; difference to 'by quality' with its 95% interval")
    for ratio in ratios:
        found: dict[str, list[float]] = {name: [] for name in ASSIGNERS}
        for seed in range(repeats):
            data = {"name": "assignment.uniform", "per_worker": ratio, "per_task": ratio, "seed": seed}
            problem = optiframe.problem(dataset=data)
            for name, choice in ASSIGNERS.items():
                found[name].append(solved(problem, **choice)["accuracy"])
        mean = {name: np.array(values) for name, values in found.items()}
        held = bool((mean["random"] < mean["by quality"]).all())
        wins = [int((mean[name] > mean["by quality"]).sum()) for name in ("iht, from empty", "iht")]
        print(f"ratio {ratio:g}: random always below by quality: {held}; iht above it: {wins} of {repeats}")
        for name, values in mean.items():
            print(f"  {name:16} {values.mean():.4f}   {interval(values - mean['by quality'])}")


def table(problems: list[Any]) -> None:
    """Means over the problems of each metric, a line a learner."""
    print(f"  {'':20}{''.join(f'{name[:12]:>13}' for name in SHOWN)}{'edges':>8}")
    for name, choice in LEARNERS.items():
        scores = [solved(problem, **choice) for problem in problems]
        row = "".join(f"{np.mean([s[key] for s in scores]):13.3f}" for key in SHOWN)
        print(f"  {name:20}{row}{np.mean([s['edges'] for s in scores]):8.1f}")


def networks(sizes: list[int]) -> None:
    for size in sizes:
        for title, options in MODELS.items():
            names = DREAM4[size]
            print(f"DREAM4, {size} genes, mean of {len(names)} networks, {title}")
            table([optiframe.problem(dataset=name, **options) for name in names])


def drawn(repeats: int) -> None:
    for series in (2, 5, 10):
        print(f"drawn networks of 30 genes, {series} series of 21 points, mean of {repeats}")
        data = {"name": "grn.random-network", "series": series}
        table([optiframe.problem(dataset={**data, "seed": seed}) for seed in range(repeats)])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--repeats", type=int, default=2 if quick() else 20)
    parser.add_argument("--part", choices=["assignment", "networks", "drawn"])
    chosen = parser.parse_args()
    one_thread()
    if chosen.part in (None, "assignment"):
        assignment(chosen.repeats, RATIOS[:2] if quick() else RATIOS)
    if chosen.part in (None, "networks"):
        networks([10] if quick() else [10, 100])
    if chosen.part in (None, "drawn"):
        drawn(min(chosen.repeats, 10))


if __name__ == "__main__":
    main()
