"""How near COMRADE without hostile workers comes to the minimum, and how fast, against the rows of a worker.

Theorem 1 bounds the distance to the minimum after a step by the larger of a linear and a quadratic term in
the distance before it, plus a floor in proportion to 1/sqrt(s), s the rows of a worker. Generated data of
ten columns, 20 workers, s from 100 to 6,400, five shardings, 12 steps. The distance is the root of the
objective's gap, which near the minimum is the distance in the norm of the Hessian.

The floor is the distance after the last step, its slope that of a least-squares line through the
logarithms, one for each sharding. The bound is one for all s: the floor must fall at least that fast; that
it is *proportional* is judged apart, as a slope of -1/2 within a tenth. "Linear-quadratic" is taken as: the
second step shortens the distance by a larger factor than the first. A look at the quick size showed that
the floor may be reached after one step; so this is judged only where the second step ends above three times
the floor.

Negative controls: for the floor, as many rows in all, but always 100 for a worker and more workers; for the
rate, half steps.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from comrade.steps import steps
from harness.answers import kept, problem_of, solved
from harness.claims import Line, against, cannot, number, order
from harness.figures import panels
from harness.runs import Run, Runs
from numpy.typing import NDArray

from optiframe.report.looks import looks

TITLE = "Theorem 1: error floor and rate"
CLAIM = "COMRADE converges at a linear-quadratic rate, to a floor in proportion to 1/sqrt(rows of a worker)."
INSIDE = True
QUICK = ("seeds=1", "problem.0.dataset.terms={sweep=[2000, 8000]}")

_OURS, _MORE, _HALF = "COMRADE", "100 rows a worker and more workers", "half steps"
_WORKERS = 20
_SLOPE, _WITHIN = -0.5, 0.1
_FEWEST, _STEPS = 100, 12  # rows of a worker of the control, and the file's steps
_ABOVE = 3.0  # times the floor: until there a step's factor is not the floor's


def judge(runs: Runs) -> list[Line]:
    slopes = {name: _slopes(floors) for name, floors in _floors(runs).items()}
    claim = "floor in proportion to 1/sqrt(s)"
    bound, control = (
        order(
            "slope of the floor, log-log: not above -1/2",
            claim,
            each,
            np.full(len(each), _SLOPE + _WITHIN),
            told=f"mean {each.mean():.2f}",
        )
        for each in slopes.values()
    )
    lines = [against(bound, _MORE, control)]
    exact, control = (
        number(
            "slope of the floor, log-log: -1/2",
            _SLOPE,
            each,
            within=_WITHIN,
            why="the bound is one: near the minimum the workers' gradients sum to zero; left is the "
            "product of their deviations and those of their Hessians, each of the order of 1/sqrt(s)",
        )
        for each in slopes.values()
    )
    lines.append(against(exact, _MORE, control))
    return [*lines, *(_rate(runs, rows) for rows in sorted(_rows(runs)))]


def _rate(runs: Runs, rows: int) -> Line:
    """Whether the second step is the better one, unless the floor is reached before."""
    what = f"s = {rows:,}: the second step shortens the distance by more than the first"
    claim = "linear-quadratic rate"
    mine = [_distances(run) for run in runs.where(solver=_OURS, dataset__terms=rows * _WORKERS)]
    path = np.exp(np.mean(np.log(mine), axis=0))
    if path[2] < _ABOVE * path[-1]:
        said = ", ".join(f"{each:.1e}" for each in path[:3])
        return cannot(what, claim, "steps before the floor", f"{said}, floor {path[-1]:.1e}")
    line, control = (order(what, claim, *_factors(runs, name, rows)) for name in (_OURS, _HALF))
    return against(line, _HALF, control)


def _rows(runs: Runs) -> list[int]:
    return [terms // _WORKERS for terms in runs.distinct("dataset.terms")]


def _distances(run: Run) -> NDArray[np.float64]:
    """At the start, where every point is 0 and the loss log 2, and after each step."""
    least = run.outcome.objective - run.outcome.metrics["gap"]
    return np.sqrt(np.concatenate([[np.log(2) - least], steps(run, "gap")]))


def _floors(runs: Runs) -> dict[str, dict[int, list[float]]]:
    """By the rows in all, of each sharding: COMRADE's, and those of the control."""
    terms = sorted(runs.distinct("dataset.terms"))
    ours = {
        each: [float(_distances(run)[-1]) for run in runs.where(solver=_OURS, dataset__terms=each).by_seed()]
        for each in terms
    }
    mine = runs.where(solver=_OURS)
    settings = [[run.problem, run.solver, run.seed] for run in mine]
    more = kept(runs, "more-workers", settings, lambda: [_with_more_workers(run) for run in mine])
    found: dict[int, list[float]] = {each: [] for each in terms}
    for run, floor in zip(mine, more, strict=True):
        found[run.problem["dataset"]["terms"]].append(floor)
    return {_OURS: ours, _MORE: found}


def _with_more_workers(run: Run) -> float:
    """The floor with 100 rows a worker, whatever the rows in all."""
    solver = {**run.solver, "workers": run.problem["dataset"]["terms"] // _FEWEST}
    result = solved(problem_of(run), solver, run.seed, {"iterations": _STEPS, "tolerance": 0.0})
    return float(np.sqrt(max(result.metrics["gap"], 1e-12)))


def _slopes(floors: dict[int, list[float]]) -> NDArray[np.float64]:
    """One for each sharding."""
    rows = np.log(list(floors))
    return np.array([np.polyfit(rows, np.log(each), 1)[0] for each in zip(*floors.values(), strict=True)])


def _factors(runs: Runs, name: str, rows: int) -> tuple[list[float], list[float]]:
    """Logarithms of the factors by which the first and the second step shorten the distance."""
    every = [_distances(run) for run in runs.where(solver=name, dataset__terms=rows * _WORKERS).by_seed()]
    return tuple([float(np.log(each[at] / each[at + 1])) for each in every] for at in (0, 1))


def draw(runs: Runs) -> Any:
    figure, (left, right) = panels(2, width=9.0)
    floors = _floors(runs)
    for (name, look), called in zip(looks([*floors, _HALF]).items(), (_OURS, _MORE, _HALF), strict=True):
        style = {"color": look.light, "marker": look.marker, "markersize": 4}
        if called in floors:
            middle = [np.exp(np.mean(np.log(each))) for each in floors[called].values()]
            left.loglog(list(floors[called]), middle, label=name, **style)
        if called != _MORE:
            most = max(runs.distinct("dataset.terms"))
            mine = [_distances(run) for run in runs.where(solver=called, dataset__terms=most)]
            right.semilogy(np.exp(np.mean(np.log(mine), axis=0)), label=name, **style)
    terms = np.array(sorted(floors[_OURS]), dtype=float)
    first = np.exp(np.mean(np.log(floors[_OURS][int(terms[0])])))
    left.loglog(terms, first * (terms / terms[0]) ** _SLOPE, color="0.5", linestyle=":", label="1/sqrt(s)")
    left.set(xlabel="rows in all", ylabel="floor of the distance")
    right.set(xlabel="step", ylabel="distance to the minimum, most rows")
    for axis in (left, right):
        axis.legend(frameon=False, fontsize=8)
    return figure
