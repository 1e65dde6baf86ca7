"""The ledger as tables: what the command line writes beside the answer."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import optiframe
from optiframe.files import output
from optiframe.solving.budget import Budget

from .classification_twins import problem


@pytest.mark.filterwarnings("ignore::optiframe.NotConverged")
def test_workers_and_rounds_are_written_beside_the_answer(tmp_path: Path) -> None:
    result = optiframe.solve(
        problem(),
        "newton.comrade",
        workers=5,
        byzantine=0.2,
        trim=0.4,
        attack={"name": "gaussian", "sigma": 100.0},
        budget=Budget(iterations=3, tolerance=0.0),
    )
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
