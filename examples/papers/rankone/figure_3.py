"""Errors on the two binary label sets, RTE and Temp, thinned so that no worker meets many others.

Edges of the graph of workers are deleted at random, beginning at the worker with most of them, until no
worker has more than so many; both workers of an edge lose their labels of the tasks they share. Tasks that
lose all labels are not scored. There are 50 trials, as in the paper (ten at first; the verdicts were known
when 40 were added). Its plot shows degrees that its text does not name; here they are 45, 15 and 5, of 163
(RTE) and 75 (Temp) before thinning. KOS is the singular vector of centred labels, whose numbers the paper's
Table 5 has. M3V is not run, as in that table.

"Surprisingly robust" is taken as: over all degrees together its error is below that of each other method.
"Degrades gracefully relative to other schemes" is taken as: no other method's error grows less from degree
45 to 5, beyond the noise of the trials.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from harness.claims import Line, holds, mean, order
from harness.figures import curves, legend_below, panels
from harness.runs import Runs
from numpy.typing import NDArray

TITLE = "Figure 3: thinned graphs of workers"
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


def judge(runs: Runs) -> list[Line]:
    lines = []
    for data in runs.distinct("dataset.of"):
        called, ours = _SETS[data], _errors(runs, data, "rankone.pgd")
        lines.append(
            order(
                f"{called}: IWMV performs poorly, worse than PGD",
                "majority votes are no longer reliable, which IWMV relies on",
                ours,
                _errors(runs, data, "labels.iwmv"),
                why=_majority(runs, data),
            )
        )
        lines += [_less(runs, data, method) for method in _CALLED if method not in _JUDGED_APART]
        lines.append(_degrades(runs, data))
    return lines


def _less(runs: Runs, data: str, method: str) -> Line:
    return order(
        f"{_SETS[data]}: PGD errs less than {_CALLED[method]}",
        "surprisingly robust to sparsification",
        _errors(runs, data, "rankone.pgd"),
        _errors(runs, data, method),
        why="not explained",
    )


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
    ours = _growth(runs, data, "rankone.pgd")
    told, slower = [f"PGD {mean(ours).value:.3f}"], []
    for method, called in _CALLED.items():
        if method != "rankone.pgd":
            growth = _growth(runs, data, method)
            told.append(f"{called} {growth.mean():.3f}")
            if mean(growth - ours).high < 0:
                slower.append(called)
    return holds(
        f"{_SETS[data]}: no error grows less than PGD's from degree {_MOST} to {_LEAST}",
        "degrades gracefully relative to other schemes",
        ", ".join(told),
        found=not slower,
        rule="no method whose growth, less PGD's, has its 95% interval below 0",
        why=f"{', '.join(slower)} less beyond the noise" if slower else "",
    )


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
