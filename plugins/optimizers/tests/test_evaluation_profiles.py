"""Profiles on histories of evaluations: exact counts, and the same curves as OptiProfiler's."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import optiframe
from optiframe.comparison.records import Outcome, Records, Row
from optiframe.comparison.stats.evaluation_profiles import ACCURACIES, evaluation_profile, work
from optiframe.comparison.store.store import load
from optiframe.report.charts import MERIT, chart_data
from optiframe.solving.counting import merit_of
from optiframe.solving.result import Status

MOST = 40  # evaluations of a generated run


def drawn(problems: int, solvers: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Merits by evaluation, those of starts, and numbers of variables; some runs never reach a finite one."""
    rng = np.random.default_rng(seed)
    merits = 10.0 ** rng.uniform(-8, 3, (problems, solvers, 1, MOST))
    merits[0, 0] = np.inf
    merits[1, :, 0, :5] = np.inf
    starts = 10.0 ** rng.uniform(2, 3, (problems, 1))
    starts[2] = np.inf
    return merits, starts, rng.integers(1, 10, problems)


def recorded(merits: np.ndarray, starts: np.ndarray, variables: np.ndarray) -> Records:
    """The same runs as a comparison would have them: a row for each merit lower than all before."""
    rows = []
    for i, problem in enumerate(merits):
        for j, (history,) in enumerate(problem):
            least = np.minimum.accumulate(history)
            kept = [0, *(k for k in range(1, MOST) if least[k] < least[k - 1])]
            columns = {
                "evaluations": [0.0, *(k + 1.0 for k in kept)],
                "merit": [float(starts[i, 0]), *(float(least[k]) for k in kept)],
            }
            columns["per_variable"] = [count / (variables[i] + 1) for count in columns["evaluations"]]
            outcome = Outcome(Status.FINISHED, "", 0.0, 0.0, solved=f"p{i}", history=columns)
            rows.append(Row(f"{i},{j}", f"p{i}", f"s{j}", "minimize", "mine", 0, outcome))
    return Records(tuple(rows), {f"p{i}": 0.0 for i in range(len(merits))}, (1e-3,), {})


@pytest.mark.slow  # imports Matplotlib
@pytest.mark.parametrize("accuracy", ACCURACIES)
@pytest.mark.parametrize("seed", range(3))
def test_profiles_are_those_of_optiprofiler_on_the_same_histories(accuracy: float, seed: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from optiprofiler.plotting import _get_extended_performances_data_profile_axes
        from optiprofiler.scoring import compute_convergence_work
        from optiprofiler.utils import ProfileOption
    merits, starts, variables = drawn(12, 3, seed)
    records = recorded(merits, starts, variables)
    least = np.fmin(np.fmin.reduce(merits, axis=(1, 3)), starts)
    counts = np.full(merits.shape[:3], MOST)
    theirs, _ = compute_convergence_work(
        merits, merits[..., -1], starts, least, counts, accuracy,
        np.zeros(starts.shape, bool), np.ones(merits.shape, bool), np.zeros(counts.shape, bool),
    )  # fmt: skip
    _, ours, _ = work(records, accuracy)
    np.testing.assert_array_equal(np.where(np.isfinite(ours), ours, np.nan), theirs[:, :, 0])

    places: list[Any] = [[None, None] for _ in range(3)]
    curves = {"perf": places, "data": [[None, None] for _ in range(3)]}
    _get_extended_performances_data_profile_axes(theirs, variables, {ProfileOption.SEMILOGX: False}, curves)
    kinds = (("perf", "performance"), ("data", "data"))
    for name, kind in kinds:
        for j, curve in enumerate(evaluation_profile(records, kind, accuracy=accuracy)):  # type: ignore[arg-type]
            x, y = curves[name][j][0]
            for place in sorted({one for one in x if one >= curve.x[0]}):
                after = np.searchsorted(curve.x, place, side="right") - 1
                # Their heights are np.linspace(1 / n, 1, n): a count over n but for the last bit.
                assert curve.y[after] == pytest.approx(max(y[x <= place]), rel=4e-16, abs=0)


@pytest.mark.slow
def test_the_merit_is_optiprofilers() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from optiprofiler.scoring import _default_merit
    outside = {"name": "box", "lower": 1.0, "upper": 2.0}
    for start in (1.5, 1.0 - 1e-9, 0.9, -3.0):
        problem = optiframe.Minimize({"name": "squared-distance", "to": [0.0]}, over=outside, start=[start])
        first = problem.violation(np.array([start]))
        ours = merit_of(problem)
        for violation in (0.0, 1e-11, 1e-10, 1e-6, 0.05, 0.1, 0.15, 3.0, 8.0, 9.0, np.nan):
            for value in (2.5, -1.0, np.nan):
                assert ours(value, violation) == _default_merit(value, violation, first)


@pytest.mark.slow
def test_a_comparison_keeps_histories_and_draws_them(tmp_path: Path) -> None:
    problems = [{"dataset": {"name": "cutest.problem", "instance": name}} for name in ("ROSENBR", "HS21")]
    optiframe.compare(
        problems,
        ["nlopt.bobyqa", "scipy.cobyqa"],
        budget={"evaluations_per_variable": 20},
        folder=tmp_path,
        show=False,
    )
    records = load(tmp_path)
    assert len(problems) == len(records.problems)
    for row, outcome in records.outcomes:
        if not outcome.suited:
            assert not outcome.history
            continue
        counts, merits = outcome.history["evaluations"], outcome.history["merit"]
        assert counts[:2] == [0.0, 1.0]
        assert counts[-1] <= 60
        assert merits[1:] == sorted(merits[1:], reverse=True)
        if "ROSENBR" in row.problem:
            assert merits[0] == pytest.approx(24.2)
            assert outcome.history["per_variable"][1] == 1 / 3
    shares = optiframe.Comparison.open(tmp_path).solved(within=(20,))
    assert list(shares["solver"]) == ["nlopt.bobyqa", "scipy.cobyqa"]
    assert shares["0.1 within 20 (n + 1)"].max() == 1.0
    drawn_here = [one for one in chart_data(records)["profiles"] if one["measure"] == MERIT]
    assert [one["gap"] for one in drawn_here] == list(ACCURACIES)
    assert len(drawn_here[0]["data"]) == 2


def test_a_run_without_a_history_has_solved_nothing() -> None:
    merits, starts, variables = drawn(3, 2, 0)
    records = recorded(merits, starts, variables)
    failed = Outcome(Status.ERROR, "it broke")
    rows = [replace(row, outcome=failed) if row.key == "1,0" else row for row in records.rows]
    broken = Records(tuple(rows), records.best, records.gaps, {})
    assert work(broken, 1e-1)[1][1, 0] == np.inf
    with pytest.raises(optiframe.InvalidInput, match="an accuracy is above 0 and below 1"):
        evaluation_profile(records, "data", accuracy=1.0)


def test_a_solver_that_always_fails_stays_in_the_profile_and_one_that_counts_nothing_does_not() -> None:
    records = recorded(*drawn(3, 3, 0))
    instead = {"s1": Outcome(Status.ERROR, "it broke"), "s2": Outcome(Status.CONVERGED, "", 0.0, 0.0)}
    rows = [replace(row, outcome=instead.get(row.solver, row.outcome)) for row in records.rows]
    solvers, costs, _ = work(Records(tuple(rows), records.best, records.gaps, {}), 1e-1)
    assert solvers == ["s0", "s1"]
    assert np.isinf(costs[:, 1]).all()
