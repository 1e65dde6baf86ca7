"""What is shown of a run: pictures, read from the figures themselves, and tables beside the answer."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from optiframe_comrade.plots.runs import plot_attacks, plot_left_out, plot_progress

import optiframe
from optiframe import Budget
from optiframe.errors import InvalidInput
from optiframe.files import output

pytestmark = pytest.mark.filterwarnings(
    "ignore::optiframe.solving.solve.NotConverged"
)  # so many rounds, no more


@cache
def problem(terms: int = 1000) -> Any:
    data = optiframe.dataset("synthetic.covtype-shape", terms=terms, columns=6)
    return optiframe.problem("linear-classification", **data.inputs())


def run(rounds: int = 4, **chosen: Any) -> Any:
    budget = Budget(iterations=rounds, tolerance=0.0)
    return optiframe.solve(problem(), "newton.comrade", workers=8, budget=budget, **chosen)


def words(figure: Any) -> list[str]:
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


@pytest.mark.slow
def test_progress_is_drawn_against_rounds_bytes_and_seconds() -> None:
    runs = {"plain": run(), "coded": run(compressor="qsgd")}
    figure = plot_progress(runs)
    assert len(figure.axes) == 6  # gap and accuracy
    assert words(figure) == ["plain", "coded"]
    gap, sent = figure.axes[0].lines[0], figure.axes[1].lines[1]
    trace = runs["plain"].trace
    np.testing.assert_array_equal(gap.get_xdata(), trace["rounds"])
    np.testing.assert_allclose(gap.get_ydata(), np.array(trace["objective"]) - problem().lowest)
    np.testing.assert_allclose(sent.get_xdata(), np.array(runs["coded"].trace["bytes_up"]) / 1e6)
    reached = figure.axes[3].lines[0].get_ydata()
    assert reached[-1] == problem().accuracy(runs["plain"].detail.points[-1])
    assert [axes.get_xlabel() for axes in figure.axes[3:]] == [
        "rounds",
        "megabytes sent by the workers",
        "seconds",
    ]


@pytest.mark.slow
def test_a_solver_without_workers_is_drawn_against_seconds_alone() -> None:
    exact = optiframe.solve(problem(), "newton.exact")
    figure = plot_progress({"comrade": run(), "exact": exact})
    assert [len(axes.lines) for axes in figure.axes] == [1, 1, 2, 1, 1, 2]


def test_runs_on_different_problems_are_not_drawn_together() -> None:
    with pytest.raises(InvalidInput, match="different problems"):
        plot_progress({"one": run(), "two": optiframe.solve(problem(900), "newton.exact")})
    with pytest.raises(InvalidInput, match="no run to draw"):
        plot_progress({})


@pytest.mark.slow
def test_who_was_left_out_is_shown_by_worker_and_round() -> None:
    result = run(byzantine=0.2, attack={"name": "crash", "start": 2})
    ledger = result.detail
    figure = plot_left_out(result)
    left, right = figure.axes
    shown = np.asarray(left.collections[0].get_array()).reshape(len(ledger.names), ledger.rounds)
    for column, each in enumerate(ledger.exchanges):
        assert set(np.flatnonzero(shown[:, column] == 1)) == set(each.trimmed)
        assert set(np.flatnonzero(shown[:, column] == 2)) == {fault.worker for fault in each.faults}
    np.testing.assert_allclose([bar.get_width() for bar in right.patches], ledger.suspicion())
    with pytest.raises(InvalidInput, match="no ledger"):
        plot_left_out(optiframe.solve(problem(), "newton.exact"))


@pytest.mark.slow
def test_the_heat_map_says_each_gap_and_which_runs_failed() -> None:
    gaps = {
        ("none", "norm", 0.1): 1e-3,
        ("none", "mean", 0.1): 2e-4,
        ("alie", "norm", 0.1): float("inf"),
        ("alie", "norm", 0.2): 0.0,
        ("alie", "mean", 0.2): 3.0,
    }
    figure = plot_attacks(gaps)
    figure.draw_without_rendering()
    one, two, bar = figure.axes
    assert [each.get_text() for each in one.texts] == ["1e-3", "2e-4", "failed"]
    assert [each.get_text() for each in two.texts] == ["0", "failed"]
    assert one.get_title(loc="left") == "10% hostile"
    assert bar.get_ylabel() == "objective gap"
    with pytest.raises(InvalidInput, match="no gap to draw"):
        plot_attacks({})


def test_a_run_without_liars_accuses_nobody() -> None:
    result = run(byzantine=0.2, filter="norm")
    out = [each.trimmed for each in result.detail.exchanges]
    assert all(out)  # somebody is left out each round, though all are honest
    # No chance, p-value or level is named, by which a worker would be judged.
    assert list(result.detail.workers()) == ["worker", "left_out", "trimmed", "faults"]
    said = [finding.text for finding in result.findings]
    assert not [text for text in said if any(name in text for name in result.detail.names)]
    figure = plot_left_out(result)
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == ["Left out, by round", "Left out, in all"]
    assert "mean" in words(figure)


def test_workers_and_rounds_are_written_beside_the_answer(tmp_path: Path) -> None:
    attack = {"name": "gaussian", "sigma": 100.0}
    result = run(3, byzantine=0.1, trim=0.2, attack=attack, filter="norm")
    written = output.write(result, tmp_path, "answer.csv")
    assert [path.name for path in written] == [
        "answer.csv",
        "workers.csv",
        "rounds.csv",
        "trace.csv",
        "result.json",
    ]
    with (tmp_path / "workers.csv").open() as file:
        workers = list(csv.DictReader(file))
    assert [row["worker"] for row in workers] == result.detail.names
    assert float(workers[0]["left_out"]) == 1.0  # the hostile one
    with (tmp_path / "rounds.csv").open() as file:
        rounds = list(csv.DictReader(file))
    assert [row["round"] for row in rounds] == ["1", "2", "3"]
    assert all("worker 0" in row["trimmed"] for row in rounds)
