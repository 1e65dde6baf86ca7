"""What Figures 4 and 5 share: gradient descent beside Eq. 4, step for step, on three graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from harness.answers import problem_of, solved
from harness.claims import Line, against, holds
from harness.figures import legend_below, panels
from harness.runs import Run, Runs
from numpy.typing import NDArray

METHODS = ("descent", "Eq. 4")
HALVED = "descent, half the step"  # the negative control: another speed
# Curves this near lie on each other to the eye: a twentieth of the height of the plot.
_ALIKE = 0.05
_COLOURS = {"descent": "tab:blue", "Eq. 4": "tab:red"}  # as in the paper


def alike(runs: Runs, graph: str) -> Line:
    """Whether the two curves of errors are one to the eye in every realization.

    The control has the descent with half the step in the place of Eq. 4.
    """
    line, control = (_alike(runs, graph, other) for other in (METHODS[1], HALVED))
    return against(line, f"{HALVED}, in the place of {METHODS[1]}", control)


def _alike(runs: Runs, graph: str, rival: str) -> Line:
    gaps, places, lasts = [], [], []
    for seed in _seeds(runs):
        one, other = (_curve(runs, graph, method, seed) for method in (METHODS[0], rival))
        shared = np.intersect1d(one[0], other[0], return_indices=True)[1:]
        gap = np.abs(one[1][shared[0]] - other[1][shared[1]]) / one[1][0]
        gaps.append(gap.max())
        places.append(int(one[0][shared[0]][gap.argmax()]))
        lasts.append((one[1][-1], other[1][-1]))
    ends = " and ".join(f"{value:.2g}" for value in np.mean(lasts, axis=0))
    return holds(
        f"{graph}: the two methods look alike",
        "extremely similar, in every realization",
        f"widest gap {max(gaps):.1%} of the first error; mean errors at the end {ends}",
        found=max(gaps) <= _ALIKE,
        rule=f"in every realization no recorded step with a gap above {_ALIKE:.0%} of the first error",
        why=f"wider in {sum(gap > _ALIKE for gap in gaps)} of {len(gaps)} realizations, widest at iteration "
        f"{places[int(np.argmax(gaps))]}",
    )


def _seeds(runs: Runs) -> list[int]:
    return sorted({run.seed for run in runs})


def _curve(runs: Runs, graph: str, method: str, seed: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Steps, and the largest error of a skill after each of them."""
    (run,) = (each for each in runs.where(problem=graph, solver=method) if each.seed == seed)
    trace = run.outcome.trace
    return np.array(trace["iteration"], dtype=np.int64), np.array(trace["distance"])


def within_order(value: NDArray[np.float64], order: float) -> bool:
    """Whether all values are of an order of magnitude: nearer to it than to the next, on a log scale."""
    return bool((np.abs(np.log10(value / order)) <= 0.5).all())


def perturbation(run: Run) -> float:
    """Spectral norm of the known entries' difference to the products of the true skills."""
    problem = problem_of(run)
    known, products = np.asarray(problem.weights) > 0, np.outer(problem.truth, problem.truth)
    return float(np.linalg.norm(np.where(known, problem.values - products, 0.0), 2))


def limit(run: Run) -> float:
    """Error of the least-squares answer itself, which coordinate descent finds at once."""
    return float(solved(problem_of(run), "rankone.coordinate").metrics["distance"])


def figure(runs: Runs, graphs: Sequence[str]) -> Any:
    """The first realization of each graph, as the paper shows one."""
    made, axes = panels(len(graphs))
    seed = _seeds(runs)[0]
    for axis, graph in zip(axes, graphs, strict=True):
        for method in METHODS:
            steps, errors = _curve(runs, graph, method, seed)
            style = "-" if method == "descent" else "--"
            axis.plot(steps, errors, style, color=_COLOURS[method], linewidth=1.6, label=method)
        axis.set(title=graph, xlabel="iteration", xscale="log")
        axis.set_ylim(bottom=0.0)
    axes[0].set_ylabel("largest error of a skill")
    legend_below(made, axes[0])
    return made
