"""What Figures 21 to 24 share: good and bad items, and how clearly each method tells them apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.stats
from harness.answers import again, kept, problem_of
from harness.claims import Line, cannot, holds, mean, order
from harness.runs import Run, Runs
from hodgerank.flagged import METHODS, statements
from matplotlib.figure import Figure

FEW = (  # solvers of the quick size
    'solver=[{name="hodge.l2",title="L2"},'
    '{name="hodge.hlasso-l2",title="LASSO+L2",share=0.1},{name="hodge.lbi",title="LBI",share=0.1}]'
)
_CLEAR = 0.5  # half of the range of the scores lies between the groups
_SAME = 0.01  # of the distance between the groups: what a figure shows
_ROUNDING = 1e-9
_PRINTED = 2  # pairs on which LASSO+L2 and LBI disagree


def lines_of(runs: Runs, good: Sequence[str], poor: Sequence[str]) -> list[Line]:
    """That `good` methods tell the groups apart and `poor` ones perturb scores; and what are outliers."""
    here = runs.distinct("solver")
    good, poor = ([name for name in names if name in here] for names in (good, poor))
    return [*_spread_lines(runs, good, poor), *_outlier_lines(runs)]


def _spread_lines(runs: Runs, good: Sequence[str], poor: Sequence[str]) -> list[Line]:
    """Each of `good` gives the items of a group one score, with a clear gap; none of `poor` does."""
    lines = []
    for name in (*good, *poor):
        spread = runs.values("score_spread", solver=name)
        same = bool((spread < _SAME).all()) if name in good else bool((spread >= _SAME).all())
        lines.append(
            holds(
                f"spread within the groups, {name}",
                "one score for each group" if name in good else "perturbed scores",
                str(mean(np.where(spread < _ROUNDING, 0.0, spread))),
                found=same,
                rule=f"below {_SAME:.0%} of the groups' distance in every draw (perturbed: in none)",
                why=_why(runs, name),
            )
        )
    for name in good:
        gap = runs.values("score_gap", solver=name)
        lines.append(
            holds(
                f"gap between the groups over the range of scores, {name}",
                "a clear gap",
                str(mean(gap)),
                found=bool((gap > _CLEAR).all()),
                rule="more than half of the range in every draw",
            )
        )
    return lines


def _rounded(spread: float) -> str:
    """Two digits; 0 for what is rounding."""
    return f"{spread:.2g}" if spread > _ROUNDING else "0"


def _why(runs: Runs, name: str) -> str:
    if name == "HLASSO":
        first = _by_seed(runs, name)[0]
        last = float(again(first).detail.knots[-1])
        spread = again(first, share=None, lambda_=1.0).metrics["score_spread"]
        return (
            f"a tenth is flagged only where lambda has come down to {_rounded(last)}, which hardly pulls any "
            f"more; at lambda = 1, which the paper names for votes, the spread is {spread:.2g} (first draw)"
        )
    if name in ("iLTS", "iHT"):
        missed = max(_missed(run) for run in runs.where(solver=name))
        return f"with the true share the fixed point leaves out all flipped votes but {missed} at most"
    return ""


def _missed(run: Run) -> int:
    """How many flipped votes were not found."""
    return round((1 - run.value("outlier_recall")) * int(problem_of(run).outlier_truth.sum()))


def _outlier_lines(runs: Runs) -> list[Line]:
    """What LBI and LASSO+L2 take for outliers, beside the truth and each other; and what 5% would give."""
    counts = kept(runs, "disagreements", _settings(runs), lambda: _counts(runs))
    found = {name: runs.values("outlier_recall", solver=name) for name in METHODS}
    lines = [
        order(
            f"over half of the flipped votes found by {name}",
            "the majority",
            np.full(len(each), 0.5),
            each,
            told=f"{each.mean():.3f} of them",
        )
        for name, each in found.items()
    ]
    lines += [_disagreements(share, counts) for share in ("10%", "5%")]
    lines.append(
        cannot(
            "spread within the groups when 5% are taken for outliers, as on the other data",
            "not said which share was taken",
            "the share of outliers",
            f"spread of LBI {np.mean(counts['LBI']):.2g}, "
            f"of LASSO+L2 {np.mean(counts['LASSO+L2']):.2g}, of L2 "
            f"{runs.values('score_spread', solver='L2').mean():.2g}",
        )
    )
    return lines


def _disagreements(share: str, counts: dict[str, list[float]]) -> Line:
    """The paper's count, of one draw, beside ours: by chance so uneven, were both of one rate."""
    ours = counts[f"at {share}"]
    total = int(sum(ours)) + _PRINTED
    chance = scipy.stats.binomtest(_PRINTED, total, 1 / (1 + len(ours))).pvalue
    return holds(
        f"statements taken for outliers by one of the two only, with {share} flagged",
        f"{_PRINTED}",
        f"{sum(ours):g} in {len(ours)} draws",
        found=chance >= 0.05,
        rule="a chance of 5% at least for counts so uneven, were both of one Poisson rate (binomial test)",
        why=f"chance {chance:.1g}; with the true share both methods flag just the flipped votes",
    )


def _settings(runs: Runs) -> list[Any]:
    return [[run.problem, run.solver, run.seed] for run in runs if run.solver_title in METHODS]


def _counts(runs: Runs) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {"at 10%": [], "at 5%": [], "LBI": [], "LASSO+L2": []}
    for first, second in zip(*(_by_seed(runs, name) for name in METHODS), strict=True):
        found["at 10%"].append(len(statements(again(first)) ^ statements(again(second))))
        fewer = [again(run, share=0.05) for run in (first, second)]
        found["at 5%"].append(len(statements(fewer[0]) ^ statements(fewer[1])))
        for name, result in zip(METHODS, fewer, strict=True):
            found[name].append(result.metrics["score_spread"])
    return found


def _by_seed(runs: Runs, name: str) -> list[Run]:
    return sorted(runs.where(solver=name), key=lambda run: run.seed)


def panels(runs: Runs) -> Any:
    """The score of each item by each method, first draw: good items red, bad ones blue."""
    names = runs.distinct("solver")
    across = -(-len(names) // 2)
    figure = Figure(figsize=(2.9 * across, 5.2), layout="constrained")
    for axes, name in zip(figure.subplots(2, across).flat, names, strict=False):
        run = _by_seed(runs, name)[0]
        result = again(run)
        score, upper = result.solution.scores, result.problem.truth.score == 1
        item = np.arange(1, len(score) + 1)
        for which, colour, called in ((upper, "#D55E00", "good item"), (~upper, "#0072B2", "bad item")):
            axes.plot(item[which], score[which], ".", color=colour, markersize=4, label=called)
        axes.set_title(f"{name}: spread {_rounded(run.value('score_spread'))}", loc="left", fontsize=9)
        axes.tick_params(labelsize=8)
    figure.supxlabel("item", fontsize=10)
    figure.supylabel("score", fontsize=10)
    figure.axes[0].legend(loc="center right", frameon=False, fontsize=8)
    return figure
