"""Whether the projected gradient on Eq. 7 converges linearly, and what an iteration costs.

Projections of Gaussian points onto the three-view sets of planted 4 x 4 and 6 x 6 matrices, three of each;
projected gradient steps of length 1/L from zero, 20,000 of them. By the theorem the distance to the
solutions falls by a factor alpha < 1 at least in every step, and so does the root of the objective, whose
least value is 0, but for a constant. No number is given for alpha, and every finite descent meets some
alpha < 1: a first look showed that the logarithm of the objective falls ever more slowly, as of steps that
shrink, for which no linear rate holds. So the rate cannot be checked, and the page shows both.

An iteration multiplies by A and its transpose, and is said to cost O(p + |G|), since "each column of A
contains at most 3 nonzero elements". Counted for p = 16 to 10,000. The control adds the diagonals as a
third view of groups.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from harness.answers import kept, problem_of
from harness.claims import Line, against, cannot, holds
from harness.figures import panels
from harness.runs import Run, Runs
from numpy.typing import NDArray
from optiframe_tvcs.program.support_program import SupportProgram
from optiframe_tvcs.solvers.first_order import lipschitz

from optiframe.problems.projection import Projection

TITLE = "Theorem 3: a linear rate, at a linear cost"
CLAIM = "Projected gradient on Eq. 7 converges linearly, and an iteration costs O(p + |G|)."
INSIDE = True
QUICK = ("seeds=1", "problem.0.dataset.side=4")

_STEPS, _RECORDS = 20_000, 50
_END = 1e-24  # of the objective: rounding
_SIDES = (4, 10, 32, 100)


def judge(runs: Runs) -> list[Line]:
    lines = [_rate(runs, side) for side in runs.distinct("dataset.side")]
    line, control = (_cost([_most(side, views) for side in _SIDES]) for views in (2, 3))
    return [*lines, against(line, "diagonals as a third view", control)]


def _rate(runs: Runs, side: int) -> Line:
    falls = [
        np.mean([_falls(np.array(path)) for path in _paths(runs, side, shrinking=each)], axis=0)
        for each in (False, True)
    ]
    first, second = (f"by {one:.2g}, then by {two:.2g}" for one, two in falls)
    return cannot(
        f"{side} x {side}: fall of the log objective from a tenth of the steps to half, and from there on",
        "a linear rate, alpha < 1",
        "a number for alpha",
        f"{first}; with steps 1/(L sqrt(t)) {second}",
    )


def _falls(path: NDArray[np.float64]) -> tuple[float, float]:
    """How far the logarithm falls from a tenth to half of the way, and from there to the end."""
    end = int(np.argmax(path <= _END)) if (path <= _END).any() else len(path) - 1
    tenth, half = max(end // 10, 1), max(end // 2, 2)
    logs = np.log(np.maximum(path, 1e-300))
    return float(logs[tenth] - logs[half]), float(logs[half] - logs[end])


def _paths(runs: Runs, side: int, *, shrinking: bool) -> list[list[float]]:
    """The objective of Eq. 7 along each descent, from the start on."""
    mine = runs.where(dataset__side=side).by_seed()
    settings = [[run.problem, run.seed, _STEPS, shrinking] for run in mine]
    name = f"descents-{side}-{'shrinking' if shrinking else 'fixed'}"
    return list(kept(runs, name, settings, lambda: [_descent(run, shrinking=shrinking) for run in mine]))


def _descent(run: Run, *, shrinking: bool) -> list[float]:
    over = problem_of(run).over
    side = run.problem["dataset"]["side"]
    point = np.random.default_rng(run.seed).standard_normal((side, side))
    program = SupportProgram.of(Projection(point=point, onto=over))
    worth, bounds = program.relative, program.bounds
    down = program.matrix.toarray()
    length = 1.0 / lipschitz(program, worth)
    x, y, z = np.zeros(len(worth)), np.zeros(len(bounds)), np.zeros(len(worth))
    path = []
    for step in range(_STEPS + 1):
        gap = float(bounds @ y) + float(z.sum()) - float(worth @ x)
        short = np.maximum(worth - y @ down - z, 0.0)
        over_ = np.maximum(down @ x - bounds, 0.0)
        if step % (_STEPS // _RECORDS) == 0:
            path.append(0.5 * (gap * gap + float(short @ short) + float(over_ @ over_)))
        part = length / np.sqrt(step + 1) if shrinking else length
        x = np.clip(x - part * (over_ @ down - gap * worth), 0.0, 1.0)
        y = np.maximum(y - part * (gap * bounds - down @ short), 0.0)
        z = np.maximum(z - part * (gap - short), 0.0)
    return path


def _most(side: int, views: int) -> int:
    """The most nonzero elements in a column of A: all, rows, columns and, of three views, diagonals."""
    rows, columns = np.divmod(np.arange(side * side), side)
    families = [np.zeros(side * side, dtype=int), rows, columns, (rows + columns) % side][: views + 1]
    blocks = [sp.csc_array((np.ones(side * side), (each, np.arange(side * side)))) for each in families]
    return int(np.diff(sp.vstack(blocks, format="csc").indptr).max())


def _cost(most: list[int]) -> Line:
    return holds(
        "nonzero elements in a column of A",
        "at most 3",
        f"at most {max(most)} for p = {', '.join(f'{side * side:,}' for side in _SIDES)}",
        found=max(most) <= 3,
        rule="counted; an iteration multiplies by each of them twice",
    )


def draw(runs: Runs) -> Any:
    sides = runs.distinct("dataset.side")
    figure, axes = panels(len(sides), width=8.0, height=2.8)
    at = np.linspace(0, _STEPS, _RECORDS + 1)
    for axis, side in zip(axes, sides, strict=True):
        for shrinking, colour, name in (
            (False, "#0072B2", "steps 1/L"),
            (True, "#D55E00", "steps 1/(L sqrt(t))"),
        ):
            paths = _paths(runs, side, shrinking=shrinking)
            lines = axis.semilogy(at, np.maximum(np.array(paths).T, 1e-30), color=colour, linewidth=1.0)
            lines[0].set_label(name)
        axis.set(title=f"{side} x {side}", xlabel="step")
    axes[0].set_ylabel("objective of Eq. 7")
    axes[0].legend(frameon=False, fontsize=8)
    return figure
