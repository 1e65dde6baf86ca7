"""Gradient descent and Eq. 4 as in Figure 4, with noise .01 X on every product, X uniform in [-1/2, 1/2].

Noise is drawn once for each pair and is the same both ways round. "On the order of 1e-2" is taken as
between 10^-2.5 and 10^-1.5. The deviations are those after 10,000 iterations: on the ring neither method
has come to rest by then (Figure 4 shows what is left without noise).

Negative controls: for the likeness of the curves, the descent with half the step in the place of Eq. 4; for
the errors at the end, the same without noise; for the size of the perturbation, ten times the noise.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from harness.claims import Line, against, holds
from harness.runs import Runs
from numpy.typing import NDArray
from rankone.descents import METHODS, alike, figure, limit, perturbation, within_order

TITLE = "Figure 5: descent against Eq. 4, with noise"
CLAIM = "With noise of width 0.01 both methods stay alike, and end with errors of the order of the noise."
INSIDE = True
QUICK = (
    "seeds=1",
    "budget.iterations=300",
    (
        'problem=[{title="grid", dataset={name="rank-one.grid", noise=0.01}}, '
        '{title="grid without noise", dataset={name="rank-one.grid"}}]'
    ),
)
_ORDER = 1e-2
_WITHOUT = " without noise"


def judge(runs: Runs) -> list[Line]:
    lines = []
    for graph in _graphs(runs):
        lines.append(alike(runs, graph))
        sizes = np.array([perturbation(run) for run in runs.where(problem=graph, solver=METHODS[0])])
        line, control = (
            _of_order(f"{graph}: size of the perturbation", "spectral norm about 1e-2", each)
            for each in (sizes, 10 * sizes)
        )
        lines.append(against(line, "ten times the noise", control))
        for method in METHODS:
            what, why = f"{graph}: final error, {method}", _not_at_rest(runs, graph)
            line, control = (
                _of_order(what, "on the order of 1e-2", _ends(runs, each, method), why)
                for each in (graph, graph + _WITHOUT)
            )
            lines.append(against(line, "without noise", control))
    return lines


def _graphs(runs: Runs) -> list[str]:
    return [graph for graph in runs.distinct("problem") if not graph.endswith(_WITHOUT)]


def _ends(runs: Runs, graph: str, method: str) -> NDArray[np.float64]:
    return runs.values("distance", problem=graph, solver=method)


def _of_order(what: str, claim: str, values: NDArray[np.float64], why: str = "") -> Line:
    return holds(
        what,
        claim,
        f"{values.min():.2g} to {values.max():.2g}",
        found=within_order(values, _ORDER),
        rule="every realization between 10^-2.5 and 10^-1.5",
        why=why,
    )


def _not_at_rest(runs: Runs, graph: str) -> str:
    """How far the limits are, which coordinate descent reaches at once."""
    limits = [limit(run) for run in runs.where(problem=graph, solver=METHODS[0])]
    off = f"{min(limits):.2g} to {max(limits):.2g} off"
    return f"the limits, which so many iterations do not reach on this graph, are {off}"


def draw(runs: Runs) -> Any:
    return figure(runs, _graphs(runs))
