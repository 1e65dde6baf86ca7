"""The references that Tables 1 and 2 do not show: nine videos of PC-VQA and fourteen images of PC-IQA.

The text says that "other reference videos exhibit similar results" and calls the image of Table 2 randomly
selected. Three results are looked for in each reference: LASSO+L2 and LBI take the same comparisons for
outliers, strictly read the same statements and weakly nine in ten of them; LBI is nearer to LASSO+L2 in the
mean distance of scores than L2, HLASSO, iHT and iLTS; all outliers are against the order of L2. "Similar"
is taken as: it holds in more than half of the references of a set, by a 95% Wilson interval.

LBI makes a 25th of the steps of Tables 1 and 2. XGB_Linear and PCLASSO are left out. Negative controls: the
largest misfits to L2 in LBI's place, L2 as the reference, and as many statements at random.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from harness.answers import again
from harness.claims import Line, against, cannot, holds, throughout
from harness.figures import panels
from harness.runs import Run, Runs
from hodgerank.flagged import Statement, at_random, most_misfitting, statements

TITLE = "Tables 1 and 2: the other references"
CLAIM = "The references that are not shown exhibit results similar to those of Tables 1 and 2."
INSIDE = True
QUICK = ('problem.0.dataset={sweep=[{name="pairwise.pc-vqa", ref=2}, {name="pairwise.pc-iqa", ref=1}]}',)

_SETS = {"pairwise.pc-vqa": "PC-VQA", "pairwise.pc-iqa": "PC-IQA"}
_RIVALS = ("L2", "HLASSO", "iHT", "iLTS")
_Z = 1.96
_READINGS = {"weakly": 0.9, "strictly": 1.0}  # of all statements that either flags, the share that both do

Reference = dict[str, Run]  # by method


def judge(runs: Runs) -> list[Line]:
    lines = []
    for data, called in _SETS.items():
        every = _references(runs, data)
        readings = {}
        for reading, least in _READINGS.items():
            what, claim = f"{called}: LASSO+L2 and LBI take the same for outliers", "exactly the same"
            line = _mostly(what, claim, [_alike(each, _lbi(each)) >= least for each in every])
            control = _mostly(what, claim, [_alike(each, _misfits(each)) >= least for each in every])
            readings[reading] = against(line, "the largest misfits to L2 in LBI's place", control)
        lines.append(throughout(readings, "what is the same, read"))
        what, claim = f"{called}: LBI is the nearest to LASSO+L2", "LBI is the most consistent"
        line, control = (
            _mostly(what, claim, [_nearest(each, reference) for each in every])
            for reference in ("LASSO+L2", "L2")
        )
        lines.append(against(line, "L2 as the reference", control))
        what, claim = f"{called}: all outliers of LBI are against the order of L2", "all"
        line = _mostly(what, claim, [_reverse(each, _lbi(each)) for each in every])
        control = _mostly(what, claim, [_reverse(each, _drawn(each)) for each in every])
        lines.append(against(line, "as many statements at random", control))
    return lines


def _references(runs: Runs, data: str) -> list[Reference]:
    mine = runs.where(dataset__name=data)
    return [
        {run.solver_title: run for run in mine.where(dataset__ref=ref)}
        for ref in mine.distinct("dataset.ref")
    ]


def _mostly(what: str, claim: str, found: list[bool]) -> Line:
    """Whether it holds in more than half, by a Wilson interval of the share."""
    count, hits = len(found), sum(found)
    share = hits / count
    middle = (share + _Z**2 / (2 * count)) / (1 + _Z**2 / count)
    half = _Z / (1 + _Z**2 / count) * math.sqrt(share * (1 - share) / count + _Z**2 / (4 * count**2))
    low, high = middle - half, middle + half
    ours = f"in {hits} of {count} references, {share:.0%} [{abs(low):.0%}, {high:.0%}]"
    if low <= 0.5 <= high:
        return cannot(what, claim, f"more than {count} references: the interval holds a half", ours)
    rule = "95% Wilson interval of the share of references above a half; it differs when it lies below"
    return holds(what, claim, ours, found=low > 0.5, rule=rule)


def _lbi(each: Reference) -> set[Statement]:
    return statements(again(each["LBI"]))


def _misfits(each: Reference) -> set[Statement]:
    result = again(each["LASSO+L2"])
    return most_misfitting(result.problem, len(result.solution.flagged) / result.problem.rows)


def _drawn(each: Reference) -> set[Statement]:
    result = again(each["LBI"])
    return at_random(result.problem, len(statements(result)))


def _alike(each: Reference, theirs: set[Statement]) -> float:
    """Of the statements that LASSO+L2 or the other takes for outliers, the share that both do."""
    ours = statements(again(each["LASSO+L2"]))
    return len(ours & theirs) / max(len(ours | theirs), 1)


def _nearest(each: Reference, reference: str) -> bool:
    away = _distances(each, reference)
    return away["LBI"] < min(value for name, value in away.items() if name != "LBI") - 1e-12


def _distances(each: Reference, reference: str) -> dict[str, float]:
    wanted = again(each[reference]).solution.scores
    names = [name for name in ("LASSO+L2", "LBI", *_RIVALS) if name != reference]
    return {name: float(np.abs(again(each[name]).solution.scores - wanted).mean()) for name in names}


def _reverse(each: Reference, mine: set[Statement]) -> bool:
    """Whether every statement prefers the item of lower score by L2."""
    solution = again(each["L2"]).solution
    score = dict(zip(solution.items.tolist(), solution.scores.tolist(), strict=True))
    return all(score[winner] < score[loser] for winner, loser in mine)


def draw(runs: Runs) -> Any:
    figure, axes = panels(len(_SETS), width=9.0, height=2.8)
    for axis, (data, called) in zip(axes, _SETS.items(), strict=True):
        every = _references(runs, data)
        refs = [each["LBI"].problem["dataset"]["ref"] for each in every]
        for name, colour in zip(("LBI", *_RIVALS), _COLOURS, strict=True):
            away = [_distances(each, "LASSO+L2")[name] for each in every]
            axis.plot(refs, away, "o-", color=colour, markersize=3, linewidth=1.0, label=name)
        axis.set(title=called, xlabel="reference", yscale="log")
    axes[0].set_ylabel("mean distance to LASSO+L2")
    axes[0].legend(frameon=False, fontsize=7)
    return figure


_COLOURS = ("#0072B2", "#000000", "#D55E00", "#009E73", "#CC79A7")
