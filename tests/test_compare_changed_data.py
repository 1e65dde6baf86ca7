"""A data file that changes while a comparison runs: nothing is stored as a result of what it was before."""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import optiframe as of
from optiframe.comparison.cells import Checksums, Plan
from optiframe.comparison.engine import run_plan
from optiframe.comparison.plan.plan import make_plan, read_plan
from optiframe.comparison.plan.unchanged import DataChanged, unchanged
from optiframe.comparison.records import Outcome
from optiframe.comparison.store.store import load
from optiframe.problems.datasets import DataSet
from optiframe.registry import registry
from optiframe.registry.user_modules import import_user_module

from .command_line import run_in

MODULE = '''
from pathlib import Path

import numpy as np

from optiframe import Iterate, Minimize, Solver, register
from optiframe.problems.datasets import DataFile, DataSet


@register
class Edits(Solver[Minimize, object, None]):
    """Writes another target into the file of data, then answers."""

    name = "edits.data"
    solves = Minimize
    file: str

    def iterates(self, problem, run):
        Path(self.file).write_text("7,8\\n")
        yield Iterate(np.array(problem.function.to))


@register
class Targets(DataSet):
    """A target in a file of a data folder."""

    name = "edits.target"
    problem = "minimize"

    @classmethod
    def alternatives(cls):
        return ((DataFile("edits/target.csv", "a test"),),)

    def inputs(self):
        path = self.files()["edits/target.csv"]
        return {"objective": {"name": "squared-distance", "to": str(path)}}
'''

FILE = """
[[problem]]
name = "minimize"
objective = {name = "squared-distance", to = "target.csv"}
[[solver]]
name = "edits.data"
file = "FILE"
[[solver]]
name = "scipy.lbfgs"
[executor]
workers = 1
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A module with the solver that edits, and the data; names it registers are forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*sys.path])
    (tmp_path / "edits.py").write_text(MODULE)
    (tmp_path / "target.csv").write_text("1,2\n")
    (tmp_path / "edits").mkdir()
    (tmp_path / "edits" / "target.csv").write_text("1,2\n")
    monkeypatch.setenv(
        "OPTIFRAME_DATA", os.pathsep.join([str(tmp_path), os.environ.get("OPTIFRAME_DATA", "")])
    )
    import_user_module(str(tmp_path / "edits.py"))
    yield tmp_path
    sys.modules.pop("edits")
    registry.reset()


def with_editor_first(plan: Plan) -> Plan:
    cells = sorted(plan.cells, key=lambda cell: cell.solver.name != "edits.data")
    return dataclasses.replace(plan, cells=tuple(cells), positions=())


def outcomes(records: Any) -> dict[str, Outcome | None]:
    return {row.solver_name: row.outcome for row in records.rows}


CHANGED = "the file changed while the comparison ran; run the command again"


@pytest.mark.slow  # a process for each cell
def test_cells_that_would_read_an_edited_file_end_in_an_error_and_run_again(folder: Path) -> None:
    (folder / "run.toml").write_text(FILE.replace("FILE", str(folder / "target.csv")))
    # With this seed the editor comes first. Its own parameter names the file as well: what it loaded was
    # the planned one.
    plan = read_plan("run.toml", ["order_seed=1"], modules=["edits.py"])
    command = ("--import", "edits.py", "compare", "run.toml", "--set", "order_seed=1", "--output", "out")
    done = run_in(folder, *command, code=1)  # the comparison is not complete
    assert CHANGED in " ".join(done.stdout.split())
    found = outcomes(load("out"))
    assert found["edits.data"].status is of.Status.FINISHED
    assert found["scipy.lbfgs"].status is of.Status.ERROR
    assert found["scipy.lbfgs"].message == f"run.toml line 2: problem.0: target.csv: {CHANGED}"
    assert (found["edits.data"].provisional, found["scipy.lbfgs"].provisional) == (False, True)

    (folder / "target.csv").write_text("1,2\n")
    again = outcomes(run_plan(plan, "out", show=False))
    assert again["scipy.lbfgs"].status is of.Status.CONVERGED
    assert again["scipy.lbfgs"] == outcomes(load("out"))["scipy.lbfgs"]


@pytest.mark.slow
def test_cells_that_would_run_an_edited_solver_end_in_an_error_and_run_again(folder: Path) -> None:
    module = folder / "edits.py"
    sound = module.read_text()
    itself = {"name": "edits.data", "file": str(module), "title": "itself"}
    data = {"name": "edits.data", "file": str(folder / "elsewhere.csv"), "title": "data"}
    problem = {"name": "minimize", "objective": {"name": "squared-distance", "to": "target.csv"}}
    plan = make_plan([problem], [itself, data, "scipy.lbfgs"], workers=1, modules=[str(module)])
    first = sorted(plan.cells, key=lambda cell: cell.solver.title != "itself")
    plan = dataclasses.replace(plan, cells=tuple(first), positions=())
    found = {row.solver: row.outcome for row in run_plan(plan, "out", show=False).rows}
    assert found["itself"].message == f"{module}: {CHANGED}"
    assert found["data"].message == f"the cell cannot be sent: {module}: {CHANGED}"
    assert found["itself"].provisional
    assert found["data"].provisional
    assert found["scipy.lbfgs"].status is of.Status.CONVERGED  # none of its code

    stat = module.stat()
    module.write_text(sound)
    os.utime(module, ns=(stat.st_atime_ns, stat.st_mtime_ns))  # by time and size alone nothing would show
    plan = dataclasses.replace(plan, cells=plan.cells[::-1])  # the editor comes last
    again = {row.solver: row.outcome for row in run_plan(plan, "out", show=False).rows}
    assert again["data"].status is of.Status.FINISHED
    assert again["itself"].message == f"{module}: {CHANGED}"


@pytest.mark.slow
def test_an_edited_file_of_a_data_set_is_noticed(folder: Path) -> None:
    editor = {"name": "edits.data", "file": str(folder / "edits" / "target.csv")}
    problem = {"dataset": "edits.target"}
    plan = make_plan([problem], [editor, "scipy.lbfgs"], workers=1, modules=[str(folder / "edits.py")])
    found = outcomes(run_plan(with_editor_first(plan), "out", show=False))
    assert found["edits.data"].status is of.Status.FINISHED
    assert found["scipy.lbfgs"].message == (f"problem.0: data set edits.target, edits/target.csv: {CHANGED}")
    assert outcomes(load("out"))["scipy.lbfgs"].provisional


class Seeded(DataSet):
    """A target in a file, moved by a seed; known in this process only, which builds its problems."""

    name = "edits.seeded"
    problem = "minimize"
    seed: int = 0
    file: str

    def inputs(self) -> dict[str, Any]:
        return {"objective": {"name": "squared-distance", "to": self.file}}


@pytest.mark.slow
def test_an_edited_file_is_noticed_where_this_process_builds_the_problem_of_each_cell(folder: Path) -> None:
    of.register(Seeded)
    problem = {"dataset": {"name": "edits.seeded", "seed": {"from": "seed"}, "file": "target.csv"}}
    editor = {"name": "edits.data", "file": str(folder / "target.csv")}
    plan = make_plan([problem], [editor, "scipy.lbfgs"], workers=1, modules=[str(folder / "edits.py")])
    found = outcomes(run_plan(with_editor_first(plan), "out", show=False))
    assert found["edits.data"].status is of.Status.FINISHED
    assert found["scipy.lbfgs"].message == f"the cell cannot be sent: target.csv: {CHANGED}"
    assert outcomes(load("out"))["scipy.lbfgs"].provisional


@pytest.fixture
def sums(tmp_path: Path) -> Checksums:
    (tmp_path / "a.csv").write_text("1,2\n")
    problem = {"name": "minimize", "objective": {"name": "squared-distance", "to": "a.csv"}}
    (cell,) = make_plan([problem], ["scipy.lbfgs"], folder=tmp_path).cells
    return cell.problem.checksums


def test_a_file_that_is_edited_while_it_is_loaded_is_noticed(tmp_path: Path, sums: Checksums) -> None:
    with unchanged(sums, tmp_path, None):
        pass
    with pytest.raises(DataChanged, match=f"^a.csv: {CHANGED}$"), unchanged(sums, tmp_path, None):
        (tmp_path / "a.csv").write_text("1,2,3\n")


def test_what_half_a_file_makes_of_loading_is_not_the_cells_error(tmp_path: Path, sums: Checksums) -> None:
    def load(text: str) -> None:
        with unchanged(sums, tmp_path, None):
            (tmp_path / "a.csv").write_text(text)
            raise ValueError("no number")

    with pytest.raises(DataChanged):
        load("1,")
    (tmp_path / "a.csv").write_text("1,2\n")
    with pytest.raises(ValueError, match="no number"):
        load("1,2\n")


def test_a_file_that_is_gone_is_to_be_put_back(tmp_path: Path, sums: Checksums) -> None:
    (tmp_path / "a.csv").unlink()
    gone = pytest.raises(DataChanged, match=r"^a\.csv: the file cannot be read.*put it back")
    with gone, unchanged(sums, tmp_path, None):
        pass


def test_a_data_set_that_cannot_be_had_now_and_could_before_is_to_be_put_back(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = {"dataset": "edits.target"}
    (cell,) = make_plan([problem], ["scipy.lbfgs"], modules=[str(folder / "edits.py")]).cells
    monkeypatch.setenv("OPTIFRAME_DATA", "")
    gone = pytest.raises(DataChanged, match=r"^data set edits\.target: the file cannot be read")
    with gone, unchanged(cell.problem.checksums, folder, problem):
        pass
