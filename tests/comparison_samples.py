"""Stored comparisons made by hand, with all that a report has to survive."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from optiframe.comparison.records import Outcome, Records, Row
from optiframe.solving.result import Status


def ended(objective: float = math.nan, **more: Any) -> Outcome:
    """A run with an answer, of the problem whose fingerprint is "print"."""
    values = {"status": Status.FINISHED, "violation": 0.0, "time": 1.0, "iterations": 10, "solved": "print"}
    return Outcome(message="", objective=objective, **(values | more))


def failed(status: Status = Status.ERROR, message: str = "it raised", **more: Any) -> Outcome:
    return Outcome(status, message, **more)


def compared(
    cells: Mapping[str, Mapping[str, Any]],
    of: Callable[[float], Outcome],
    best: Mapping[str, float] | None = None,
    better: Mapping[str, Any] | None = None,
) -> Records:
    """A comparison made by hand: by problem and solver a run, or a list of one run a seed.

    A number stands for the run that `of` makes of it, None for one that has not ended, and ... for a seed
    that is not in the comparison.
    """
    rows = []
    for problem, solvers in cells.items():
        for solver, runs in solvers.items():
            for seed, run in enumerate(runs if isinstance(runs, list) else [runs]):
                end = of(run) if isinstance(run, float | int) else run
                if run is not ...:
                    rows.append(
                        Row(f"{problem}/{solver}/{seed}", problem, solver, problem, solver, seed, end)
                    )
    return Records(tuple(rows), best or {"print": 0.0}, (1e-2,), better or {})


HOSTILE = "</script><script>document.title='owned'</script>"
SOLVERS = ("newton", "lbfgs memory=10", "descent step=0.1", f"bregman κ=50 {HOSTILE}")
# Per solver: factor by which the gap shrinks each iteration, seconds an iteration, lowest gap.
_SPEED = ((0.18, 0.021, 0.0), (0.45, 0.0031, 1e-13), (0.9, 0.0009, 3e-5), (0.8, 0.0016, 1e-9))
TRACEBACK = (
    'Traceback (most recent call last):\n  File "steps.py", line 12, in iterates\n'
    "    direction = factor.solve(-gradient)\n"
    f"numpy.linalg.LinAlgError: Singular matrix near <b>row 7</b> & {HOSTILE}\n"
)
CONFIG = """\
# Three ways to a least squares fit, and one that ranks.
seeds = [0, 1, 2, 3, 4]

[budget]
time = 10.0
tolerance = 1e-8

[limits]
time = 60.0
threads = 1

[[problem]]
name = "minimize"
title = "ridge n=200 & p=50"

[[solver]]
name = "scipy.lbfgs"
memory = {sweep = [10, 20]}
"""


def _trace(solver: int, problem: int, rng: np.random.Generator, best: float) -> dict[str, list[float]]:
    shrink, seconds, floor = _SPEED[solver]
    shrink = min(0.97, shrink ** (1 / (1 + 0.5 * (problem % 5))) * float(rng.uniform(0.92, 1.06)))
    gap, time = float(rng.uniform(20, 60)), 0.0
    columns: dict[str, list[float]] = {"iteration": [], "time": [], "objective": [], "violation": []}
    for iteration in range(400):
        for name, value in zip(columns, (iteration, time, best + gap, 0.0), strict=True):
            columns[name].append(float(value))
        if gap <= max(floor, 1e-12):
            break
        gap = max(gap * shrink * float(rng.uniform(0.7, 1.2)), floor)
        time += seconds * float(rng.uniform(0.8, 1.4))
    columns["residual"] = [(value - best) ** 0.5 for value in columns["objective"]]
    return columns


def _answer(solver: int, problem: int, seed: int) -> Outcome:
    rng = np.random.default_rng((solver, problem, seed))
    best = 3.0 + problem
    trace = _trace(solver, problem, rng, best)
    time = trace["time"][-1]
    return Outcome(
        Status.CONVERGED if solver != 2 else Status.ITERATION_LIMIT,
        "gradient norm 3e-9 is within 1e-8",
        objective=trace["objective"][-1],
        violation=0.0,
        metrics={"prediction error": float(0.1 + 0.02 * solver + rng.normal(0, 0.004))},
        better={"prediction error": "lower"},
        solved=f"{problem:064x}",
        iterations=len(trace["time"]) - 1,
        time=time,
        times=(time,),
        cpu=time * 1.02,
        wall=time + 0.6,
        memory=8.5e7 + 1e6 * solver,
        evaluations={"value": 1.0 + len(trace["time"]), "gradient": float(len(trace["time"]))},
        trace=trace,
    )


def _labels(solver: int, seed: int) -> Outcome:
    rng = np.random.default_rng((solver, 99, seed))
    return Outcome(
        Status.FINISHED,
        "one pass over the labels",
        metrics={"accuracy": float(0.93 - 0.01 * solver + rng.normal(0, 0.004))},
        better={"accuracy": "higher"},
        violation=0.0,
        solved=f"{99:064x}",
        iterations=1,
        time=float(0.02 * (solver + 1) + rng.uniform(0, 0.004)),
        memory=9e7,
    )


def _outcome(problem: int, solver: int, seed: int, domain: int) -> Outcome:
    if problem == domain:
        if solver == 0:
            return Outcome(Status.UNSUITED, "newton needs a Hessian; label-aggregation has none")
        return _labels(solver, seed)
    if (problem, solver) == (1, 3):
        return Outcome(Status.DIVERGED, "the objective is nan at iteration 4", wall=0.8)
    if (problem, solver, seed) == (1, 0, 2):
        return Outcome(
            Status.CRASHED,
            "the process died: segmentation fault (SIGSEGV)",
            wall=0.7,
            stderr=f"Fatal Python error: Segmentation fault\nnaïve ✓ {HOSTILE}\n",
            traceback=TRACEBACK,
        )
    return _answer(solver, problem, seed)


def sample_records(problems: int = 3, seeds: int = 5) -> Records:
    """A comparison of four solvers; the last problem has metrics and no objective.

    `newton` is unsuited for the last problem and crashed once on the second, on which the
    solver with the hostile title always diverged.
    """
    titles = [
        "ridge n=200 & p=50",
        'logistic "news" <b>bold</b>',
        *(f"ridge {n}" for n in range(3, problems)),
    ]
    titles.append("labels Zürich 🎲")
    rows = tuple(
        Row(
            f"{p:02x}{s:02x}{seed:02x}" * 4,
            title,
            solver,
            "minimize" if p < len(titles) - 1 else "label-aggregation",
            solver.split()[0],
            seed,
            _outcome(p, s, seed, len(titles) - 1),
        )
        for p, title in enumerate(titles)
        for s, solver in enumerate(SOLVERS)
        for seed in range(seeds)
    )
    outcomes = [row.outcome for row in rows if row.outcome is not None]
    best: dict[str, float] = {}
    for outcome in outcomes:
        if not math.isnan(outcome.objective):
            best[outcome.solved] = min(best.get(outcome.solved, math.inf), outcome.objective)
    return Records(
        rows=rows,
        best=best,
        gaps=(1e-2, 1e-4, 1e-6),
        better={},
        config=CONFIG,
        environment={
            "python": "3.11.2",
            "platform": "Linux x86_64",
            "cpu": "a processor with 2 cores",
            "memory": 8_000_000_000,
            "versions": {"optiframe": "0.1.0", "numpy": "2.4.0", "scipy": "1.17.0"},
            "blas": [{"name": "openblas", "version": "0.3.30", "threads": 1}],
            "argument": HOSTILE,
        },
        title="Fits and labels",
        started="2026-03-01T10:00:00+00:00",
        ended="2026-03-01T10:07:30+00:00",
    )


def empty_records() -> Records:
    """A comparison without a cell."""
    return Records(rows=(), best={}, gaps=(1e-2,), better={})


def failing_records() -> Records:
    """Every cell died."""
    records = sample_records()
    died = Outcome(Status.TIMEOUT, "killed after 60 s", stderr="still going\n", wall=60.2)
    return replace(records, rows=tuple(replace(row, outcome=died) for row in records.rows), best={})


def unfinished_records() -> Records:
    """Half of the cells have not ended."""
    records = sample_records()
    rows = [row if number % 2 else replace(row, outcome=None) for number, row in enumerate(records.rows)]
    return replace(records, rows=tuple(rows), ended="")


def only(records: Records, *, solvers: Sequence[str] = (), problems: Sequence[str] = ()) -> Records:
    """The same comparison with these solvers and problems alone."""
    rows = tuple(
        row
        for row in records.rows
        if (not solvers or row.solver in solvers) and (not problems or row.problem in problems)
    )
    return replace(records, rows=rows)


def large_records(problems: int = 12, solvers: int = 15, seeds: int = 2) -> Records:
    """Many solvers and problems with long names; each problem has an objective and a metric."""
    made = sample_records(problems=problems + 1, seeds=seeds)
    kinds = [row for row in made.rows if row.problem_name == "minimize" and row.solver != SOLVERS[3]]
    rows = []
    for row in kinds:
        first = SOLVERS.index(row.solver)
        for number in range(first, solvers, 3):
            title = f"a.method-with-a-long-name (step=0.{number:02d}, restarts=adaptive, memory={number})"
            problem = f"{row.problem} from a family of problems that is called at length"
            rows.append(replace(row, key=f"{row.key}{number}", solver=title, problem=problem))
    titles = sorted({row.solver for row in rows})
    order = {title: place for place, title in enumerate(made.problems)}
    rows.sort(key=lambda row: (order[row.problem.partition(" from a family")[0]], titles.index(row.solver)))
    return replace(made, rows=tuple(rows), title="Many methods on many problems")


def beside_one_without_truth() -> Records:
    """The sample's first problem, and votes of one's own that nothing judges."""
    made = only(sample_records(), problems=["ridge n=200 & p=50"])
    rows = []
    for row in made.rows:
        assert row.outcome is not None
        unjudged = replace(row.outcome, objective=math.nan, trace={}, metrics={}, better={})
        own = replace(row, key=f"{row.key}own", problem="own votes", problem_name="pairwise-ranking")
        rows += [replace(row, problem="ridge (outlier_share=0.25)"), replace(own, outcome=unjudged)]
    return replace(made, rows=tuple(rows))


def beside_a_vote(seeds: int = 2) -> Records:
    """Two solvers with an objective on two problems, and a vote that has only metrics."""
    made = sample_records(problems=3, seeds=seeds)
    rows = []
    for row in made.rows:
        assert row.outcome is not None
        if row.problem_name == "minimize" and row.solver in SOLVERS[1:3]:
            rows.append(row)
            if row.solver == SOLVERS[1]:
                vote = replace(
                    row.outcome,
                    objective=math.nan,
                    trace={},
                    time=1e-3,
                    metrics={"prediction error": 0.3},
                    status=Status.FINISHED,
                )
                rows.append(replace(row, key=f"{row.key}vote", solver="majority vote", outcome=vote))
    return replace(made, rows=tuple(rows))
