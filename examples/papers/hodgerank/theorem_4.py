"""Whether the outliers that Huber-LASSO and LBI find are right, where the theorems say that they are.

10 items, 400 comparisons with noise of 0.1, and outliers of size 3 on 3% of them: then the conditions C1
(the outliers can be told from scores), C2 (irrepresentability) and C3 (large outliers) hold in most draws.
In every draw where they hold Theorem 4.1 gives a lambda from which on, with a chance of 1 - 2/m, no right
comparison is taken for an outlier, and a window of lambda in which exactly the outliers are found, with
their signs. Theorem 4.2 gives a time up to which LBI takes no right comparison for an outlier; for LBI
kappa = 100 times the largest margin. With m = 400 that may fail in one of 200 draws; "holds" is taken as:
in no draw of 50.

The conditions are computed for the true outliers and the true noise (`conditions` of the plugin). The
theorem is about one solution path, so Huber-LASSO is run to the lambda, LBI to the time. Negative control:
theorems that are told a tenth of the noise.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from harness.answers import kept, problem_of, solved
from harness.claims import Line, against, holds
from harness.figures import panels
from harness.runs import Run, Runs
from optiframe_hodgerank import conditions

TITLE = "Theorems 4.1 and 4.2: outliers under the conditions"
CLAIM = "Under C1 to C3 Huber-LASSO and LBI take no right comparison for an outlier, and find all outliers."
INSIDE = True
QUICK = ("seeds=2",)

_NOISE = 0.1
_KAPPA = 100.0  # times the largest margin
_CHECKS = {
    "lasso": (
        "Huber-LASSO at the least lambda: no false outlier",
        "supp within S, chance 1 - 2/m",
        "C1 and C2",
    ),
    "window": (
        "Huber-LASSO in the window of lambda: exactly the outliers, with signs",
        "sign(gamma) = sign(gamma*)",
        "C1, C2 and C3",
    ),
    "lbi": ("LBI at the latest time: no false outlier", "supp within S, chance 1 - 2/m - 2/l", "C1 and C2"),
}


def judge(runs: Runs) -> list[Line]:
    told, misled = (_all(runs, noise) for noise in (_NOISE, _NOISE / 10))
    lines = []
    for check in _CHECKS:
        line, control = (_line(check, [each[check] for each in found]) for found in (told, misled))
        lines.append(against(line, "told a tenth of the noise", control))
    return lines


def _line(check: str, found: list[bool | None]) -> Line:
    what, claim, under = _CHECKS[check]
    held = [each for each in found if each is not None]
    return holds(
        what,
        claim,
        f"holds in {sum(held)} of {len(held)} draws with {under}; {len(found)} draws in all",
        found=bool(held) and all(held),
        rule="it holds in every draw with the conditions, and there are some",
        why="not explained",
    )


def _all(runs: Runs, noise: float) -> list[dict[str, Any]]:
    settings = [[run.problem, run.seed] for run in runs]
    return list(
        kept(runs, f"theorem-{noise:g}", [settings, noise], lambda: [_one(run, noise) for run in runs])
    )


def _one(run: Run, noise: float) -> dict[str, Any]:
    """Whether each conclusion holds in a draw; None where its conditions do not."""
    problem = problem_of(run)
    wrong = problem.outlier_truth
    kappa = _KAPPA * float(np.abs(problem.comparisons.margin).max())
    found = conditions(problem, wrong, sigma=noise, kappa=kappa)
    at: dict[str, Any] = {"lasso": None, "window": None, "lbi": None}
    at |= {"lambda_bar": found.lambda_bar, "lambda_top": found.lambda_top, "tau_bar": found.tau_bar}
    if not (found.restricted_eigenvalue and found.irrepresentable):
        return at
    outliers = _outliers(problem, {"name": "hodge.hlasso", "lambda_": found.lambda_bar})
    at["lasso"] = not (outliers[~wrong] != 0).any()
    if found.large_outliers:
        middle = float(np.sqrt(found.lambda_bar * found.lambda_top))
        outliers = _outliers(problem, {"name": "hodge.hlasso", "lambda_": middle})
        at["window"] = bool((np.sign(outliers) == np.where(wrong, np.sign(_sizes(problem)), 0)).all())
    if found.tau_bar > 0:
        outliers = _outliers(problem, {"name": "hodge.lbi", "t": found.tau_bar, "kappa": kappa})
        at["lbi"] = not (outliers[~wrong] != 0).any()
    return at


def _outliers(problem: Any, solver: dict[str, Any]) -> Any:
    return solved(problem, solver).solution.outliers


def _sizes(problem: Any) -> Any:
    """Of the outliers, from the truth."""
    table, truth = problem.comparisons, problem.truth.score
    return table.margin - (truth[table.left] - truth[table.right])


def draw(runs: Runs) -> Any:
    found = _all(runs, _NOISE)
    figure, (axis,) = panels(1, width=5.0)
    bars, tops = ([each[key] for each in found] for key in ("lambda_bar", "lambda_top"))
    fine = np.isfinite(bars)
    axis.scatter(np.array(bars)[fine], np.array(tops)[fine], s=14, color="#0072B2")
    reach = (
        [0.0, float(max(np.array(bars)[fine].max(), np.array(tops)[fine].max()))] if fine.any() else [0, 1]
    )
    axis.plot(reach, reach, color="0.6", linewidth=0.8, label="C3 holds above")
    axis.set(xlabel="least lambda without false outliers", ylabel="largest without missed ones")
    axis.legend(frameon=False, fontsize=8)
    return figure
