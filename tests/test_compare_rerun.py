"""Repeating a stored comparison, and the object a comparison gives in Python."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import optiframe as of
from optiframe.cli.rerun import command as rerun_command
from optiframe.comparison.cells import Plan
from optiframe.comparison.comparison import Comparison
from optiframe.comparison.engine import run_plan
from optiframe.comparison.plan.plan import make_plan, read_plan, renewed
from optiframe.comparison.records import Records
from optiframe.comparison.rerun import differences, rerun
from optiframe.comparison.run.local import LocalExecutor
from optiframe.comparison.store.store import Store, load

from .command_line import run_in
from .comparing import outcome

pytestmark = pytest.mark.slow  # many processes

BOWL = {
    "name": "minimize",
    "objective": {"name": "least-squares", "matrix": [[2.0, 1.0], [1.0, 3.0]], "target": [1.0, 2.0]},
}


class Halving(of.Solver[of.Minimize, np.ndarray, None]):
    """Halves the way to the optimum of a quadratic; defined where no other process can import it."""

    name = "test.halving"
    solves = of.Minimize

    def iterates(self, problem, run):
        x = problem.initial()
        step = 1 / problem.function.curvature()
        while True:
            gradient = problem.function.gradient(x)
            x = x - step * gradient
            yield of.Iterate(x, residual=float(np.abs(gradient).max()))


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Comparison:
    folder = tmp_path_factory.mktemp("made") / "out"
    bowl = of.Minimize(of.objective("least-squares", matrix=np.diag([1.0, 2.0, 3.0]), target=np.ones(3)))
    return of.compare(
        {"bowl": BOWL, "diagonal": bowl},
        {"lbfgs": "scipy.lbfgs", "halving": Halving()},
        budget={"iterations": 200},
        folder=folder,
        show=False,
    )


def test_objects_made_in_python_run_beside_names(made):
    assert made.records.problems == ["bowl", "diagonal"]
    assert made.records.solvers == ["lbfgs", "halving"]
    assert all(row.outcome is not None and row.outcome.answered for row in made.records.rows)
    best = {row.problem: made.records.best[row.outcome.solved] for row in made.records.rows}
    for row in made.records.rows:
        assert row.outcome.objective == pytest.approx(best[row.problem], abs=1e-9)


def test_frame_and_table_come_in_the_asked_kind(made):
    frame = made.frame()
    assert len(frame) == 4
    assert set(frame["status"]) <= {"converged", "finished"}
    assert len(made.frame(traces=True, backend="polars")) == sum(
        len(row.outcome.trace["iteration"]) for row in made.records.rows
    )
    table = made.table()
    assert list(table["problem"]) == ["bowl", "bowl", "diagonal", "diagonal"]
    assert (table["time_low"].isna() | (table["time_low"] <= table["time"])).all()


def test_a_figure_of_every_kind_is_made(made):
    for kind in ("convergence", "performance", "data"):
        assert made.plot(kind).axes, kind
    with pytest.raises(of.InvalidInput, match="kind must be"):
        made.plot("pie")
    with pytest.raises(of.InvalidInput, match="no problem is titled 'valley'; there are 'bowl', 'diagonal'"):
        made.plot(problem="valley")


def test_a_page_is_written(made, tmp_path):
    page = made.report(tmp_path / "page.html")
    assert "halving" in page.read_text(encoding="utf-8")


def test_a_kept_comparison_is_opened_again(made):
    again = Comparison.open(made.folder)
    assert again.records == made.records
    assert repr(again) == "<comparison of 2 solvers on 2 problems: 4 of 4 cells ended>"
    with pytest.raises(of.InvalidInput, match="no "):
        Comparison.open(made.folder / "nowhere")


def test_without_a_folder_the_results_go_with_the_object():
    comparison = of.compare([BOWL], ["scipy.lbfgs"], budget={"iterations": 3}, show=False)
    folder = comparison.folder
    assert len(comparison.frame()) == 1
    assert folder.exists()
    del comparison
    assert not folder.exists()


def test_verdicts_are_words(made):
    assert made.verdicts()
    assert all("lbfgs" in text and "halving" in text for text in made.verdicts())


def test_objects_cannot_be_rerun_and_it_is_said(made):
    with pytest.raises(of.InvalidInput, match="diagonal"):
        rerun(made.folder, show=False)


FILE = """
[[problem]]
title = "bowl"
name = "minimize"
objective = {name = "least-squares", matrix = "A.csv", target = [1.0, 2.0]}
[[solver]]
name = "scipy.lbfgs"
[budget]
iterations = 50
"""


def command(*arguments: str) -> Result:
    return CliRunner().invoke(rerun_command, arguments)


def test_rerun_says_that_nothing_differs_and_then_what_does(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("run.toml").write_text(FILE)
    Path("A.csv").write_text("2,1\n1,3\n")
    run_plan(read_plan("run.toml"), "out", show=False)
    stored = Path("out/comparison.sqlite").read_bytes()
    same = command("out")
    assert same.exit_code == 0, same.output
    assert "1 cell in out-rerun: no difference in statuses and numbers" in same.output
    assert Path("out/comparison.sqlite").read_bytes() == stored
    Path("A.csv").write_text("2,1\n1,3\n0,0\n")  # a row more than the target has
    other = command("out", "--output", "again")
    assert other.exit_code == 1
    assert "scipy.lbfgs on bowl, seed 0: status was" in other.output
    assert "is error" in other.output


def begun(folder: Path, plan: Plan, *, ended: bool) -> None:
    """A run of the plan, whose cells need no process here."""
    with Store(folder) as store:
        store.begin(plan, {})
        for one in plan.cells[: None if ended else 1]:
            store.claim(one.key)
            store.finish(one.key, outcome())
        if ended:
            store.end()


def test_a_second_rerun_repeats_everything_again_and_a_broken_one_goes_on(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("optiframe.comparison.rerun.run_plan", in_this_process)
    plan = make_plan({"bowl": BOWL}, ["scipy.lbfgs"], seeds=2)
    begun(Path("out"), plan, ended=True)
    folders = [rerun("out", show=False).folder for _ in range(3)]
    assert list(map(str, folders)) == ["out-rerun", "out-rerun-2", "out-rerun-3"]
    assert [len(ran(folder)) for folder in folders] == [2, 2, 2]
    begun(Path("out-rerun-4"), renewed(plan), ended=False)
    assert str(rerun("out", show=False).folder) == "out-rerun-4"
    assert len(ran("out-rerun-4")) == 1  # the other was there already
    begun(Path("elsewhere"), make_plan({"bowl": BOWL}, ["scipy.lbfgs"]), ended=False)
    for folder in ("out-rerun", "elsewhere"):
        with pytest.raises(of.InvalidInput, match=f"{folder} holds a comparison already"):
            rerun("out", folder, show=False)
    with pytest.raises(of.InvalidInput, match="a folder of its own"):
        rerun("out", "./out", show=False)


@pytest.fixture
def strangers(tmp_path: Path) -> Path:
    """A folder with a stored comparison that names a module, which leaves a mark when it is imported."""
    module = tmp_path / "stranger.py"
    module.write_text(f"open({str(tmp_path / 'imported')!r}, 'w').close()\n")
    plan = dataclasses.replace(make_plan({"bowl": BOWL}, ["scipy.lbfgs"]), modules=(str(module),))
    begun(tmp_path / "out", plan, ended=True)
    return tmp_path


def test_a_rerun_imports_what_a_stored_file_names_only_when_it_is_trusted(strangers):
    refused = run_in(strangers, "rerun", "out", code=2)
    assert f"module to import: '{strangers / 'stranger.py'}'" in refused.stderr
    assert "if you know them, run again with --trust" in refused.stderr
    with pytest.raises(of.InvalidInput, match=r"trust=True in Python"):
        rerun(strangers / "out", show=False)
    assert not (strangers / "imported").exists()
    assert not (strangers / "out-rerun").exists()
    run_in(strangers, "rerun", "out", "--trust", "--quiet", code=1)  # the stored numbers are made up
    assert (strangers / "imported").exists()


def test_reports_exports_and_resumed_comparisons_import_nothing_that_a_stored_file_names(strangers):
    (strangers / "A.csv").write_text("2,1\n1,3\n")
    (strangers / "run.toml").write_text(FILE)
    run_in(strangers, "report", "out", "--html", "page.html")
    run_in(strangers, "export", "out", "--csv", "cells.csv", "--trace")
    run_in(strangers, "compare", "run.toml", "--output", "out", "--dry-run")
    run_in(strangers, "compare", "run.toml", "--output", "out", "--quiet")
    assert not (strangers / "imported").exists()


def test_a_rerun_shows_the_addresses_that_a_stored_file_names(tmp_path):
    plan = make_plan({"bowl": BOWL}, ["scipy.lbfgs"], executor={"name": "dask", "address": "tcp://far:8786"})
    (one,) = plan.cells
    backend = {"name": "newton.comrade", "backend": {"name": "dask", "address": "tls://evil\x1b[2J:1"}}
    solver = dataclasses.replace(one.solver, table=backend)
    plan = dataclasses.replace(plan, cells=(dataclasses.replace(one, solver=solver),))
    begun(tmp_path / "out", plan, ended=True)
    with pytest.raises(of.InvalidInput) as refused:
        rerun(tmp_path / "out", show=False)
    assert "address to contact: 'tcp://far:8786'" in str(refused.value)
    assert r"address to contact: 'tls://evil\x1b[2J:1'" in str(refused.value)  # not to the terminal as it is


def in_this_process(plan: Plan, folder: Path, *, show: bool) -> Records:
    """The engine with answers made by hand: which cells it runs is what is looked at."""
    return run_plan(plan, folder, show=show, executor=LocalExecutor(2, 10, lambda *_: outcome(5.0)))


def ran(folder: Path | str) -> list[str]:
    """Cells of a folder that `in_this_process` has run."""
    return [row.key for row in load(folder).rows if row.outcome.objective == 5.0]


def test_differences_name_versions_once_statuses_and_numbers(made):
    records = made.records

    def changed(change) -> list[str]:
        rows = tuple(dataclasses.replace(row, outcome=change(row.outcome)) for row in records.rows)
        return [d.text for d in differences(records, dataclasses.replace(records, rows=rows))]

    assert changed(lambda old: old) == []
    assert changed(lambda old: dataclasses.replace(old, objective=old.objective + 1e-9)) == []
    assert len(changed(lambda old: dataclasses.replace(old, objective=old.objective + 1e-3))) == 4
    numpy = changed(lambda old: dataclasses.replace(old, versions={**old.versions, "numpy": "1.0"}))
    assert len(numpy) == 1
    assert numpy[0].startswith("numpy: versions was ")
    crashed = changed(lambda old: outcome(status=of.Status.CRASHED, message="died"))
    assert sum("is crashed (died)" in text for text in crashed) == 4


def test_the_environment_is_compared(made):
    other = dataclasses.replace(made.records, environment={**made.records.environment, "python": "2.7"})
    assert [d.about for d in differences(made.records, other)] == ["environment"]
    versions = {**made.records.environment["versions"], "numpy": "1.0"}
    other = dataclasses.replace(
        made.records, environment={**made.records.environment, "versions": versions, "queue": "long"}
    )
    assert [d.text for d in differences(made.records, other)] == [
        "queue: environment was not recorded, is long",
        f"numpy is 1.0 now and was {np.__version__}",
    ]
    before = dataclasses.replace(made.records, environment={"plugins": {"gone": "2.0"}})
    now = dataclasses.replace(made.records, environment={"plugins": {"optiframework-peers": "0.1.0"}})
    assert [d.text for d in differences(before, now)] == [
        "gone 2.0 was installed then and is not now",
        "optiframework-peers 0.1.0 is installed now and was not then",
    ]
    assert load(made.folder) == made.records
