"""How fast the Riemannian trust region (PRTRS), the bi-factored descent with a barrier (BFGDB) and the
spectral projected gradient (SPG) converge, at K = 200, d = r = 15.

The text claims a "faster convergence rate" for PRTRS. It does not say what is plotted against what, and
the three minimize three functions, so each is measured by its own (BFGDB's has a weaker barrier in each
round; the value is that of the round): the iterations and the seconds until it is within 1e-6, relative,
of the least value that it reaches. The panel on the right has the paper's error (Eq. 27) of every
recorded point, which is one measure for all three.

The negative control takes curvature away: Riemannian conjugate gradients over the same manifold
(pymanopt's) in the place of the trust region.

Where we depart: two drawings, each from a random start; BFGDB's rounds end at a relative change of 1e-4
(the paper refers to another paper for it; the solver's default, 5e-6, is slower still); SPG goes on to a
certified gap of 1e-6 and is reported as it is, without a cut to the rank. An iteration is not the same
work in each: PRTRS takes several Hessian products in one, SPG a singular value decomposition, BFGDB one
gradient. Derivatives are compiled for all three. Seconds are the solver's clock on a machine with other
work.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from harness.claims import Line, against, order
from harness.figures import legend_below, panels
from harness.runs import Run, Runs
from manifold.progress import BROKEN, column, own_gap, until

from optiframe.report.looks import looks

TITLE = "Figure 2: convergence at K = 200, d = r = 15"
CLAIM = "The Riemannian trust region (PRTRS) converges faster than BFGDB and SPG."
QUICK = (
    "seeds=1",
    "warmup=false",
    "problem.0.dataset.users=40",
    "problem.0.dataset.items=40",
    "problem.0.dataset.rank=3",
    "solver.1.change=1e-3",
)
_CLOSE = 1e-6
_RIVALS = ("BFGDB", "SPG")


def judge(runs: Runs) -> list[Line]:
    claim = "PRTRS converges faster"
    lines = []
    for of, unit in (("iteration", "iterations"), ("time", "seconds")):
        ours = _needed(runs, "PRTRS", of)
        for rival in _RIVALS:
            theirs = _needed(runs, rival, of)
            what = f"{unit} to within {_CLOSE:g} of the own least value: PRTRS below {rival}"
            line, control = (
                order(what, claim, each, theirs, told=f"mean {each.mean():.3g}, {rival} {theirs.mean():.3g}")
                for each in (ours, _needed(runs, BROKEN, of))
            )
            lines.append(against(line, BROKEN, control))
    return lines


def _needed(runs: Runs, solver: str, of: str) -> Any:
    chosen = sorted(runs.where(solver=solver), key=lambda run: run.seed)
    return np.array([until(run, own_gap(run) <= _CLOSE, of) for run in chosen])


def draw(runs: Runs) -> Any:
    figure, axes = panels(3, width=9.5)
    names = runs.distinct("solver")
    for run in _first(runs):
        look = looks(names)[run.solver_title]
        style = {"color": look.light, "dashes": look.dashes or (None, None), "linewidth": 1.4}
        gap = np.maximum(own_gap(run), 1e-12)
        axes[0].loglog(column(run, "iteration"), gap, label=run.solver_title, **style)
        axes[1].loglog(column(run, "time"), gap, **style)
        axes[2].loglog(column(run, "time"), column(run, "relative_error"), **style)
    axes[0].set(xlabel="iteration", ylabel="own function, over its least value")
    axes[1].set(xlabel="seconds")
    axes[2].set(xlabel="seconds", ylabel="relative error (Eq. 27)")
    legend_below(figure, axes[0])
    return figure


def _first(runs: Runs) -> list[Run]:
    return [run for run in runs if run.seed == 0]
