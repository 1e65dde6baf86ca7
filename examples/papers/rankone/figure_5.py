"""Gradient descent and Eq. 4 as in Figure 4, with noise .01 X on every product, X uniform in [-1/2, 1/2].

Noise is drawn once for each pair and is the same both ways round. "On the order of 1e-2" is taken as
between 10^-2.5 and 10^-1.5. The deviations are those after 10,000 iterations: on the ring neither method
has come to rest by then (Figure 4 shows what is left without noise).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from harness.claims import Line, holds
from harness.runs import Runs
from numpy.typing import NDArray
from rankone.descents import METHODS, alike, figure, limit, perturbation, within_order

TITLE = "Figure 5: descent against Eq. 4, with noise"
INSIDE = True
QUICK = (
    "seeds=1",
    "budget.iterations=300",
    'problem=[{title="grid", dataset={name="rank-one.grid", noise=0.01}}]',
)
_ORDER = 1e-2


def judge(runs: Runs) -> list[Line]:
    lines = []
    for graph in runs.distinct("problem"):
        lines.append(alike(runs, graph))
        sizes = np.array([perturbation(run) for run in runs.where(problem=graph, solver=METHODS[0])])
        lines.append(_of_order(f"{graph}: size of the perturbation", "spectral norm about 1e-2", sizes))
        for method in METHODS:
            ends = runs.values("distance", problem=graph, solver=method)
            why = _not_at_rest(runs, graph)
            lines.append(_of_order(f"{graph}: final error, {method}", "on the order of 1e-2", ends, why))
    return lines


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
    return figure(runs)
