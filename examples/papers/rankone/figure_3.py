"""Errors on the two binary label sets, RTE and Temp, thinned so that no worker meets many others.

Edges of the graph of workers are deleted at random, beginning at the worker with most of them, until no
worker has more than so many; both workers of an edge lose their labels of the tasks they share. Tasks that
lose all labels are not scored. There are 50 trials, as in the paper (ten at first; the verdicts were known
when 40 were added). Its plot shows degrees that its text does not name; here they are 45, 15 and 5, of 163
(RTE) and 75 (Temp) before thinning. KOS is the singular vector of centred labels, whose numbers the paper's
Table 5 has. M3V is not run, as in that table.

"Surprisingly robust" is taken as: over all degrees together its error is below that of each other method;
two errors within a hundredth are level. "Degrades gracefully relative to other schemes" is taken as: no
other method's error grows less by more than a hundredth from degree 45 to 5.

Negative controls: for PGD, the majority vote in its place, and beside the majority itself the vote with PGD's
skills dealt to the workers at random; for what thinning does to IWMV, all labels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from harness.answers import solved
from harness.claims import Line, against, mean, none_below, order
from harness.figures import curves, legend_below, panels
from harness.runs import Runs
from numpy.typing import NDArray
from rankone.broken import SHUFFLED, shuffled

import optiframe

TITLE = "Figure 3: thinned graphs of workers"
CLAIM = "PGD is surprisingly robust when the graph of workers is thinned, and IWMV is not."
INSIDE = True
_QUICK_DATA = (
    """{name="labels.sparsified", of="labels.temp", max_degree={sweep=[5, 45]}, seed={from="seed"}}"""
)
QUICK = ("seeds=3", f'problem=[{{orientation="workers", dataset={_QUICK_DATA}}}]')

_SETS = {"labels.rte": "RTE", "labels.temp": "Temp"}
_CALLED = {
    "rankone.pgd": "PGD",
    "labels.majority": "MV",
    "labels.kos": "KOS",
    "labels.opt-ds": "Opt-D&S",
    "labels.ratio": "ER",
    "labels.iwmv": "IWMV",
}
_JUDGED_APART = ("rankone.pgd", "labels.iwmv")
_LEAST, _MOST = 5, 45
_SAME = 0.01


def judge(runs: Runs) -> list[Line]:
    lines = []
    for data in runs.distinct("dataset.of"):
        rivals = ("rankone.pgd", "labels.iwmv")
        line, control = (
            order(
                f"{_SETS[data]}: IWMV performs poorly, worse than PGD",
                "majority votes are no longer reliable, which IWMV relies on",
                *pair,
                same=_SAME,
                why=_majority(runs, data),
            )
            for pair in (
                [_errors(runs, data, name) for name in rivals],
                [_whole(data, name) for name in rivals],
            )
        )
        lines.append(against(line, "all labels", control))
        lines += [_less(runs, data, method) for method in _CALLED if method not in _JUDGED_APART]
        lines.append(_degrades(runs, data))
    return lines


def _less(runs: Runs, data: str, method: str) -> Line:
    if method == "labels.majority":
        broken, theirs = SHUFFLED, _shuffled(runs, data)
    else:
        broken, theirs = "the majority in PGD's place", _errors(runs, data, "labels.majority")
    line, control = (
        order(
            f"{_SETS[data]}: PGD errs less than {_CALLED[method]}",
            "surprisingly robust to sparsification",
            ours,
            _errors(runs, data, method),
            same=_SAME,
            why="not explained",
        )
        for ours in (_errors(runs, data, "rankone.pgd"), theirs)
    )
    return against(line, broken, control)


def _whole(data: str, solver: str) -> float:
    """The error on all labels."""
    problem = optiframe.problem(dataset=data, orientation="workers")
    return float(solved(problem, solver).metrics["error"])


def _shuffled(runs: Runs, data: str) -> NDArray[np.float64]:
    """As `_errors`, with PGD's skills dealt at random."""
    found = []
    for degree in sorted(runs.distinct("dataset.max_degree")):
        mine = runs.where(dataset__of=data, dataset__max_degree=degree, solver="rankone.pgd")
        ordered = mine.by_seed()
        found.append(np.array(shuffled(ordered, f"{data}-{degree}")))
    return np.concatenate(found)


def _errors(runs: Runs, data: str, solver: str) -> NDArray[np.float64]:
    """Of all degrees and trials together, in one order for all methods."""
    degrees = sorted(runs.distinct("dataset.max_degree"))
    return np.concatenate(
        [
            runs.values("error", dataset__of=data, dataset__max_degree=degree, solver=solver)
            for degree in degrees
        ]
    )


def _growth(runs: Runs, data: str, solver: str) -> NDArray[np.float64]:
    few, many = (
        runs.values("error", dataset__of=data, dataset__max_degree=degree, solver=solver)
        for degree in (_LEAST, _MOST)
    )
    return few - many


def _majority(runs: Runs, data: str) -> str:
    majority = mean(_errors(runs, data, "labels.majority"))
    iwmv = mean(_errors(runs, data, "labels.iwmv"))
    return f"the majority stays reliable on these labels: its mean error is {majority}, that of IWMV {iwmv}"


def _degrades(runs: Runs, data: str) -> Line:
    growth = {method: _growth(runs, data, method) for method in _CALLED if len(runs.where(solver=method))}
    line, control = (
        none_below(
            f"{_SETS[data]}: no error grows less than PGD's from degree {_MOST} to {_LEAST}",
            "degrades gracefully relative to other schemes",
            {_CALLED[name]: each - growth[mine] for name, each in growth.items() if name != mine},
            within=_SAME,
            told=", ".join(f"{_CALLED[name]} {each.mean():.3f}" for name, each in growth.items()),
        )
        for mine in ("rankone.pgd", "labels.majority")
    )
    return against(line, "the majority in PGD's place", control)


def draw(runs: Runs) -> Any:
    sets = runs.distinct("dataset.of")
    made, axes = panels(len(sets), width=8.0)
    for axis, data in zip(axes, sets, strict=True):
        curves(axis, runs.where(dataset__of=data), x="dataset.max_degree", y="error", only=list(_CALLED))
        for line, called in zip(axis.get_lines(), _CALLED.values(), strict=True):
            line.set_label(called)
        axis.set(title=_SETS[data], xlabel="largest number of other workers met", ylim=(0.0, None))
    axes[0].set_ylabel("prediction error")
    legend_below(made, axes[0])
    return made
