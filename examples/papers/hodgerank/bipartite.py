"""What Figures 21 to 24 share: good and bad items, and how clearly each method tells them apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.stats
from harness.answers import again, kept
from harness.claims import Line, against, holds, mean, order, throughout
from harness.runs import Run, Runs
from hodgerank.flagged import METHODS, most_misfitting, statements
from matplotlib.figure import Figure

FEW = (  # solvers of the quick size
    'solver=[{name="hodge.l2",title="L2"},'
    '{name="hodge.hlasso-l2",title="LASSO+L2",share=0.1},{name="hodge.lbi",title="LBI",share=0.1}]'
)
_CLEAR = 0.5  # half of the range of the scores lies between the groups
_SAME = 0.01  # of the distance between the groups: what a figure shows
_ROUNDING = 1e-9
_PRINTED = 2  # pairs on which LASSO+L2 and LBI disagree
_SHARES = (0.05, 0.15, 0.1)  # taken for outliers; the last one, the truth, is told in full
_TRUE, _TOLD = "10%", "no share"
_METRICS = ("score_spread", "score_gap")


def lines_of(runs: Runs, good: Sequence[str], poor: Sequence[str]) -> list[Line]:
    """That `good` methods tell the groups apart and `poor` ones perturb scores; and what are outliers."""
    here = runs.distinct("solver")
    good, poor = ([name for name in names if name in here] for names in (good, poor))
    found = {name: _by_share(runs, name) for name in here}
    lines = [_groups(found, name, even=name in good) for name in (*good, *poor)]
    lines += [_gap(found, name) for name in good]
    lines += [_majority(found, name) for name in METHODS]
    return [*lines, _disagreements(runs)]


def _by_share(runs: Runs, name: str) -> dict[str, dict[str, list[float]]]:
    """Metrics of every draw, by the share of the votes that the method is told to take for outliers."""
    mine = runs.where(solver=name).by_seed()
    if "share" not in mine[0].solver:  # it is not told
        return {_TOLD: {metric: [run.value(metric) for run in mine] for metric in _METRICS}}
    settings = [[run.problem, run.solver, run.seed] for run in mine]
    shares = kept(runs, f"shares-{name}", [settings, _SHARES], lambda: _told(mine))
    return dict(shares)


def _told(mine: Runs) -> dict[str, dict[str, list[float]]]:
    found: dict[str, dict[str, list[float]]] = {}
    for share in _SHARES:
        results = [again(run, share=share) for run in mine]
        recall = [result.metrics.get("outlier_recall", float("nan")) for result in results]
        found[f"{share:.0%}"] = {
            "score_spread": [float(result.metrics["score_spread"]) for result in results],
            "score_gap": [float(result.metrics["score_gap"]) for result in results],
            "outlier_recall": [float(value) for value in recall],
        }
    return found


def _over_shares(name: str, found: dict[str, Any], line_of: Any, broken: str, control: Line) -> Line:
    """One line of the method at every share: the share is not printed, and 10% is the truth."""
    lines = {share: against(line_of(values), broken, control) for share, values in found[name].items()}
    return throughout(lines, "the share taken for outliers") if len(lines) > 1 else next(iter(lines.values()))


def _groups(found: dict[str, Any], name: str, *, even: bool) -> Line:
    """One score for each group, or none in any draw."""
    other = "L2" if even else "LBI"

    def line_of(values: dict[str, list[float]]) -> Line:
        spread = np.array(values["score_spread"])
        same = bool((spread < _SAME).all()) if even else bool((spread >= _SAME).all())
        return holds(
            f"spread within the groups, {name}",
            "one score for each group" if even else "perturbed scores",
            str(mean(np.where(spread < _ROUNDING, 0.0, spread))),
            found=same,
            rule=f"below {_SAME:.0%} of the groups' distance in every draw (perturbed: in none)",
        )

    true_share = found[other].get(_TRUE, found[other].get(_TOLD))
    return _over_shares(name, found, line_of, f"{other} in its place", line_of(true_share))


def _gap(found: dict[str, Any], name: str) -> Line:
    def line_of(values: dict[str, list[float]]) -> Line:
        gap = np.array(values["score_gap"])
        return holds(
            f"gap between the groups over the range of scores, {name}",
            "a clear gap",
            str(mean(gap)),
            found=bool((gap > _CLEAR).all()),
            rule="more than half of the range in every draw",
        )

    return _over_shares(name, found, line_of, "L2 in its place", line_of(found["L2"][_TOLD]))


def _majority(found: dict[str, Any], name: str) -> Line:
    """Of the flipped votes; the control takes as many votes for outliers at random."""

    def line_of(values: dict[str, list[float]]) -> Line:
        recall = np.array(values["outlier_recall"])
        told = f"{recall.mean():.3f} of them"
        what = f"over half of the flipped votes found by {name}"
        return order(what, "the majority", np.full(len(recall), 0.5), recall, told=told)

    draws = len(found[name][_TRUE]["outlier_recall"])
    chance = {"outlier_recall": [float(_TRUE.rstrip("%")) / 100] * draws}
    return _over_shares(name, found, line_of, "as many votes at random, in the mean", line_of(chance))


def _rounded(spread: float) -> str:
    """Two digits; 0 for what is rounding."""
    return f"{spread:.2g}" if spread > _ROUNDING else "0"


def _disagreements(runs: Runs) -> Line:
    """The paper's count, of one draw, beside ours, at every share."""
    counts = kept(runs, "counts", [_settings(runs), _SHARES], lambda: _counts(runs))
    lines = {
        share: against(
            _uneven(found["LBI"]), "the largest misfits to L2 in LBI's place", _uneven(found["L2"])
        )
        for share, found in counts.items()
    }
    return throughout(lines, "the share taken for outliers")


def _uneven(ours: list[float]) -> Line:
    total = int(sum(ours)) + _PRINTED
    chance = scipy.stats.binomtest(_PRINTED, total, 1 / (1 + len(ours))).pvalue
    return holds(
        "statements taken for outliers by one of the two only",
        f"{_PRINTED}",
        f"{sum(ours):g} in {len(ours)} draws",
        found=chance >= 0.05,
        rule="a chance of 5% at least for counts so uneven, were both of one Poisson rate (binomial test)",
        why=f"chance {chance:.1g}",
    )


def _settings(runs: Runs) -> list[Any]:
    return [[run.problem, run.solver, run.seed] for run in runs if run.solver_title in METHODS]


def _counts(runs: Runs) -> dict[str, dict[str, list[float]]]:
    found: dict[str, dict[str, list[float]]] = {}
    for share in _SHARES:
        mine: dict[str, list[float]] = {"LBI": [], "L2": []}
        for first, second in zip(*(_by_seed(runs, name) for name in METHODS), strict=True):
            result, rival = again(first, share=share), again(second, share=share)
            plain = most_misfitting(result.problem, share)
            mine["LBI"].append(len(statements(result) ^ statements(rival)))
            mine["L2"].append(len(statements(result) ^ plain))
        found[f"{share:.0%}"] = mine
    return found


def _by_seed(runs: Runs, name: str) -> list[Run]:
    return sorted(runs.where(solver=name), key=lambda run: run.seed)


def panels(runs: Runs) -> Any:
    """The score of each item by each method, first draw: good items red, bad ones blue."""
    names = runs.distinct("solver")
    across = -(-len(names) // 2)
    figure = Figure(figsize=(2.9 * across, 5.2), layout="constrained")
    every = list(figure.subplots(2, across).flat)
    for axes in every[len(names) :]:
        figure.delaxes(axes)
    for axes, name in zip(every, names, strict=False):
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
