"""The tables of prices and proof that the command line writes beside a projection's answer."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from optiframe_tvcs import ThreeView

import optiframe
from optiframe.cli.solve import command

POINT = np.array([[3.0, 1.0, 0.5], [2.0, 2.5, 0.1]])
OVER = ThreeView.of_matrix((2, 3), total=3, per_row=2, per_column=1)
SOLVERS = ("tvcs.exact", "tvcs.pdhg", "tvcs.greedy")


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_prices_in_the_table_give_the_worth_of_the_support(solver: str) -> None:
    tables = optiframe.solve(optiframe.Projection(POINT, OVER), solver, progress=False).to_tables()
    prices, proof = tables["prices"], tables["certificate"]
    assert prices["view"] == ["total", "row", "row", "column", "column", "column"]
    assert prices["group"] == ["", "0", "1", "0", "1", "2"]
    assert prices["bound"] == [3, 2, 2, 1, 1, 1]
    assert prices["used"] == [3, 2, 1, 1, 1, 1]
    # What the bounds cost, and the elements beyond their prices: the dual, which is the primal here.
    y, u, w = prices["price"][0], np.array(prices["price"][1:3]), np.array(prices["price"][3:])
    beyond = np.maximum(POINT**2 - y - u[:, None] - w, 0).sum()
    assert np.dot(prices["bound"], prices["price"]) + beyond == pytest.approx(15.5)
    assert proof["holds"] == [True]
    assert proof["gap"] == [0.0]
    assert proof["primal"] == [pytest.approx(15.5)]


def test_a_bound_with_a_price_is_used_up_in_the_table() -> None:
    rng = np.random.default_rng(0)
    over = ThreeView(total=20, rows={"labels": rng.integers(-1, 5, 60), "bounds": 3}, size=60)
    prices = optiframe.solve(optiframe.Projection(rng.standard_normal(60), over), "tvcs.exact").to_tables()
    table = prices["prices"]
    assert len(table["view"]) == 6  # the total and five rows; no columns
    binding = np.array(table["price"]) > 0
    assert binding.any()
    assert np.array_equal(np.array(table["used"])[binding], np.array(table["bound"])[binding])


def test_a_support_that_is_not_proved_says_so_in_the_table() -> None:
    point = np.array([[1.0, 0.9], [0.9, 0.1]])  # the largest first is not the best
    over = ThreeView.of_matrix((2, 2), per_row=1, per_column=1)
    tables = optiframe.solve(optiframe.Projection(point, over), "tvcs.greedy", progress=False).to_tables()
    proof = tables["certificate"]
    assert proof["holds"] == [False]
    assert proof["gap"][0] >= 2 * 0.81 - 1.01 - 1e-9  # what is lost
    assert proof["reason"][0]


def test_the_prices_of_an_assignment_name_workers_and_tasks() -> None:
    quality = {"worker": ["ann", "ann", "bob", "bob"], "task": ["x", "y", "x", "y"]}
    problem = optiframe.problem(
        "task-assignment", quality=quality | {"quality": [0.9, 0.8, 0.85, 0.6]}, per_worker=1, per_task=1
    )
    table = optiframe.solve(problem, "tvcs.assignment-by-quality", progress=False).to_tables()["prices"]
    assert list(zip(table["view"], table["group"], strict=True)) == [
        ("total", ""), ("worker", "ann"), ("worker", "bob"), ("task", "x"), ("task", "y")
    ]  # fmt: skip


def solved(problem: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, list[dict[str, str]]]:
    """What `optiframe solve --output out` prints, and the rows of the certificate."""
    (folder / "projection.toml").write_text(
        f'[problem]\nname = "projection"\n{problem}\n[solver]\nname = "tvcs.exact"\n'
    )
    monkeypatch.chdir(folder)
    done = CliRunner().invoke(command, ["projection.toml", "--output", "out"])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.output
    return " ".join(done.output.split()), rows_of(folder / "out" / "certificate.csv")


def test_solve_writes_prices_and_certificate_beside_the_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    over = '[problem.onto]\nname = "three-view"\nmatrix = [2, 3]\ntotal = 3\nrows = { bounds = 2 }'
    problem = f"point = [[3.0, 1.0, 0.5], [2.0, 2.5, 0.1]]\n{over}\ncolumns = {{ bounds = 1 }}"
    shown, (row,) = solved(problem, tmp_path, monkeypatch)
    assert "converged" in shown
    prices = rows_of(tmp_path / "out" / "prices.csv")
    assert [each["used"] for each in prices] == ["3", "2", "1", "1", "1", "1"]
    assert (row["holds"], row["gap"]) == ("True", "0.0")


def test_entries_far_apart_are_proved_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    over = '[problem.onto]\nname = "three-view"\ntotal = 2\nsize = 4'
    shown, (row,) = solved(f"point = [1e8, 1.0, 2.0, 3.0]\n{over}", tmp_path, monkeypatch)
    assert "converged" in shown
    assert (row["holds"], row["gap"], row["loss"]) == ("True", "0.0", "0.0")
