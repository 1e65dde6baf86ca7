"""The iterates of the gradient descent, without noise, never leave a box around the skills.

With skills and start in [k, K] and a step of at most k^2/(K^2 max_i sum_j N_ij s_j^2) every iterate is to
lie in [k^2/K, K^2/k], and V = max_i max(x_i/s_i, s_i/x_i) never to be above K/k. Here k = .4 and K = .6,
the largest step that is allowed, 2,000 steps from a random start in [k, K]; the three graphs of Figure 4,
ten draws of each. The descent is the plain one, x + step (N o (s s' - x x')) x, written out below: our
solver clips its iterates, so that it could not leave such a box. The control is ten times that step.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from harness.answers import problem_of
from harness.claims import Line, against, holds
from harness.figures import panels
from harness.runs import Run, Runs
from numpy.typing import NDArray

TITLE = "Corollary 14: the iterates stay near the skills"
CLAIM = "With a small step the noiseless iterates stay in [k^2/K, K^2/k], skills and start being in [k, K]."
INSIDE = True
QUICK = ("seeds=1",)

_LOW, _HIGH = 0.4, 0.6
_STEPS = 2000
_SLACK = 1e-9


def judge(runs: Runs) -> list[Line]:
    lines = []
    for graph in runs.distinct("problem"):
        mine = runs.where(problem=graph).by_seed()
        line, control = (_stays(graph, [_ratios(run, times) for run in mine]) for times in (1.0, 10.0))
        lines.append(against(line, "ten times the step", control))
    return lines


def _stays(graph: str, found: list[tuple[float, float, float]]) -> Line:
    low, high, ratio = min(f[0] for f in found), max(f[1] for f in found), max(f[2] for f in found)
    inside = low >= _LOW**2 / _HIGH - _SLACK and high <= _HIGH**2 / _LOW + _SLACK
    return holds(
        f"{graph}: every iterate, and the largest ratio to a skill",
        f"in [{_LOW**2 / _HIGH:.3f}, {_HIGH**2 / _LOW:.3f}], at most {_HIGH / _LOW:.3g}",
        f"in [{low:.3g}, {high:.3g}], at most {ratio:.3g}, in {len(found)} draws",
        found=bool(inside and ratio <= _HIGH / _LOW + _SLACK),
        rule="no entry of an iterate outside, and no ratio above",
    )


def _ratios(run: Run, times: float) -> tuple[float, float, float]:
    """Least and greatest entry of the iterates, and the greatest ratio to the skills, either way round."""
    path, skills = iterates(run, times)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.maximum(path / skills, skills / path)
    ratio = np.where(path > 0, ratio, np.inf)
    return float(path.min()), float(path.max()), float(ratio.max())


def iterates(run: Run, times: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Of the plain descent with so many times the largest allowed step, while they are finite."""
    problem = problem_of(run)
    weights, skills = np.asarray(problem.weights, dtype=float), np.asarray(problem.truth, dtype=float)
    values = np.outer(skills, skills)
    step = times * _LOW**2 / (_HIGH**2 * float((weights @ skills**2).max()))
    x = np.random.default_rng(run.seed).uniform(_LOW, _HIGH, len(skills))
    path = [x]
    for _ in range(_STEPS):
        x = x + step * (weights * (values - np.outer(x, x))) @ x
        if not np.isfinite(x).all() or np.abs(x).max() > 1e6:
            path.append(np.full(len(skills), 1e6))
            break
        path.append(x)
    return np.array(path), skills


def draw(runs: Runs) -> Any:
    graphs = runs.distinct("problem")
    figure, axes = panels(len(graphs), width=9.0, height=2.6)
    for axis, graph in zip(axes, graphs, strict=True):
        path, _ = iterates(runs.where(problem=graph).by_seed()[0], 1.0)
        axis.plot(
            np.arange(1, len(path) + 1), path, color="#0072B2", linewidth=0.6, alpha=0.6, rasterized=True
        )
        for bound in (_LOW**2 / _HIGH, _HIGH**2 / _LOW):
            axis.axhline(bound, color="#D55E00", linewidth=1.0)
        axis.set(title=graph, xlabel="step", xscale="log")
    axes[0].set_ylabel("entry of the iterate")
    return figure
