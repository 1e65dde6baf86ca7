"""Modules that crash or hang when they are imported: the solvers they have fail, and the others run."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import optiframe as of
from optiframe.comparison.engine import run_plan
from optiframe.comparison.plan import first_import
from optiframe.comparison.plan.plan import make_plan, read_plan
from optiframe.comparison.planner import plan_of_file
from optiframe.comparison.processes.watched import WatchedChild
from optiframe.comparison.records import Outcome, Records
from optiframe.comparison.store.store import load
from optiframe.registry import registry

from .command_line import run_in

pytestmark = pytest.mark.slow  # many processes

CRASHES = "import ctypes\nctypes.string_at(0)\n"
HANGS = "import time\ntime.sleep(10**6)\n"
LEAVES = "import os\nos._exit(0)\n"
SOLVER = """
from optiframe import Iterate, Minimize, Solver, register

@register
class Exact(Solver[Minimize, object, None]):
    \"\"\"Knows the answer.\"\"\"

    name = "{name}"
    solves = Minimize

    def iterates(self, problem, run):
        yield Iterate(problem.function.to)
"""
BOWL = {"name": "minimize", "objective": {"name": "squared-distance", "to": [1.0, 2.0]}}
FILE = """
[[problem]]
name = "minimize"
objective = {name = "squared-distance", to = [1.0, 2.0]}
"""


def solvers(*names: str) -> str:
    return FILE + "".join(f'[[solver]]\nname = "{name}"\n' for name in names)


def outcomes(records: Records) -> dict[str, Outcome]:
    assert all(row.outcome is not None for row in records.rows)
    return {row.solver_name: row.outcome for row in records.rows}  # type: ignore[misc]  # just asked


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current folder; what is imported and registered from it is forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]
    registry.reset()


def test_the_command_warns_of_a_module_that_crashes_on_import(folder: Path) -> None:
    Path("crashes.py").write_text(CRASHES)
    Path("run.toml").write_text(solvers("crashes.solver", "scipy.lbfgs"))
    done = run_in(folder, "--import", "crashes.py", "compare", "run.toml", "--dry-run")
    assert f"warning: {folder / 'crashes.py'} is not imported: the process died: " in done.stderr
    assert f"{folder / 'crashes.py'} line 2, <module>" in done.stderr


CRASHES_WHEN_MADE = """
import ctypes

from optiframe import Iterate, Minimize, Solver, register

@register
class WhenMade(Solver[Minimize, object, None]):
    \"\"\"Does something when it is made, before it has solved anything.\"\"\"

    name = "{name}"
    solves = Minimize

    def model_post_init(self, context):
        {act}

    def iterates(self, problem, run):
        yield Iterate(problem.function.to)
"""
# Sound when it is tried, and fatal when it is imported again.
CRASHES_LATER = (
    """
import ctypes
from pathlib import Path

before = Path(__file__).with_suffix(".imported")
if before.exists():
    ctypes.string_at(0)
before.touch()
"""
    + SOLVER
)
# Writes to every channel that it finds, as the process does that plans, and dies.
TALKS_AND_CRASHES = """
import ctypes
import os

for descriptor in range(3, 30):
    try:
        os.write(descriptor, b'no JSON\\n[1]\\n{"module": null}\\n')
    except OSError:
        pass
ctypes.string_at(0)
"""


def test_the_command_outlives_solvers_that_crash_when_they_are_made_or_imported_again(folder: Path) -> None:
    Path("made.py").write_text(CRASHES_WHEN_MADE.format(name="made.solver", act="ctypes.string_at(0)"))
    Path("later.py").write_text(CRASHES_LATER.format(name="later.solver"))
    Path("talks.py").write_text(TALKS_AND_CRASHES)
    Path("sound.py").write_text(SOLVER.format(name="first.sound"))
    Path("run.toml").write_text(solvers("made.solver", "later.solver", "talks.solver", "first.sound"))
    modules = [word for name in ("made", "later", "talks", "sound") for word in ("--import", f"{name}.py")]
    done = run_in(folder, *modules, "compare", "run.toml", "--output", "out")
    found = outcomes(load("out"))
    assert found["first.sound"].status is of.Status.FINISHED
    assert found["made.solver"].status is of.Status.CRASHED
    assert "segmentation fault (SIGSEGV) while loading" in found["made.solver"].message
    for name in ("later", "talks"):
        assert f"warning: {folder / name}.py is not imported: the process died" in done.stderr
        assert f"it may be in {folder / 'talks.py'}, whose import failed" in found[f"{name}.solver"].message


def test_a_solver_that_hangs_when_it_is_made_is_taken_unchecked(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(first_import, "SECONDS", 15.0)
    hang = "import time; time.sleep(10**6)"
    Path("hangs.py").write_text(CRASHES_WHEN_MADE.format(name="hangs.solver", act=hang))
    Path("run.toml").write_text(solvers("hangs.solver", "scipy.lbfgs"))
    plan = plan_of_file("run.toml", ["limits.time=10"], ["hangs.py"])
    assert "hangs" not in sys.modules  # no code of others runs in this process
    found = outcomes(run_plan(plan, "out", show=False))
    assert found["scipy.lbfgs"].status is of.Status.CONVERGED
    assert found["hangs.solver"].message == "killed at the hard limit of 10 s while loading"


def test_a_plan_made_in_a_child_is_the_one_made_here(folder: Path) -> None:
    Path("sound.py").write_text(SOLVER.format(name="first.sound"))
    Path("run.toml").write_text("seeds = 3\ngaps = [1e-3]\n" + solvers("first.sound", "scipy.lbfgs"))
    apart = plan_of_file("run.toml", ["budget.tolerance=1e-4"], ["sound.py"])
    here = read_plan("run.toml", ["budget.tolerance=1e-4"], ["sound.py"])
    assert apart == here
    assert [cell.solver.checksums for cell in apart.cells] == [cell.solver.checksums for cell in here.cells]
    assert any(cell.solver.checksums.code for cell in apart.cells)
    with pytest.raises(of.InvalidInput, match=r"^--set solver\.0\.nothing: unknown key"):
        plan_of_file("run.toml", ["solver.0.nothing=1"], ["sound.py"])


def test_doctor_outlives_a_module_that_crashes_on_import(folder: Path) -> None:
    Path("crashes.py").write_text(CRASHES)
    done = run_in(folder, "--import", "crashes.py", "doctor", "--quick", code=1)
    assert "crashes.py  broken  the process died: segmentation fault (SIGSEGV)" in done.stdout
    assert "builtin  loaded" in done.stdout


def test_modules_that_crash_hang_or_leave_cost_their_own_solvers_only(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(first_import, "SECONDS", 15.0)  # enough for the others' imports on a busy machine
    ends = {
        "crashes.py": (CRASHES, "the process died: segmentation fault (SIGSEGV)"),
        "hangs.py": (HANGS, "killed after 15 s"),
        "leaves.py": (LEAVES, "the process ended with exit code 0 before it was done"),
    }
    for name, (text, _) in ends.items():
        Path(name).write_text(text)
    Path("sound.py").write_text(SOLVER.format(name="first.sound"))
    Path("run.toml").write_text(solvers("odd.solver", "first.sound", "scipy.lbfgs"))
    plan = read_plan("run.toml", modules=[*ends, "sound.py"])
    assert plan.modules == (str(folder / "sound.py"),)
    found = outcomes(run_plan(plan, "out", show=False))
    assert found["scipy.lbfgs"].status is of.Status.CONVERGED
    assert found["first.sound"].status is of.Status.FINISHED
    assert found["odd.solver"].status is of.Status.ERROR
    for name, (_, why) in ends.items():
        assert f"it may be in {folder / name}, whose import failed: {why}" in found["odd.solver"].message

    # In a process that goes on, such as a notebook's, a module is tried again.
    Path("crashes.py").write_text(SOLVER.format(name="odd.solver"))
    again = outcomes(run_plan(read_plan("run.toml", modules=["crashes.py", "sound.py"]), "out", show=False))
    assert again["odd.solver"].status is of.Status.FINISHED

    # Where every module was imported, a misspelt name is an error of the whole file.
    Path("run.toml").write_text(solvers("odd.solver", "odd.slover"))
    with pytest.raises(of.InvalidInput, match=r"no solver named 'odd\.slover'"):
        read_plan("run.toml", modules=["crashes.py", "sound.py"])


PLUGIN = """
from optiframe.hookspec import Description, hookimpl

@hookimpl
def optiframe_plugin():
    return [
        Description("solver", "fake." + name, f".{name}:Exact", "A solver.") for name in ("bad", "good")
    ]
"""


@pytest.fixture
def site(folder: Path) -> Path:
    """Two distributions on disk: one of two solvers, a module of which crashes, one that crashes at once."""
    site = folder / "site"
    for name in ("fake-first", "fake-second"):
        module = name.replace("-", "_")
        info = site / f"{module}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[optiframe]\n{name} = {module}\n")
        (site / module).mkdir()
    (site / "fake_first" / "__init__.py").write_text(PLUGIN)
    (site / "fake_second" / "__init__.py").write_text(CRASHES)
    (site / "fake_first" / "bad.py").write_text(CRASHES)
    (site / "fake_first" / "good.py").write_text(SOLVER.format(name="fake.good").replace("@register", ""))
    return site


def test_a_plugin_that_crashes_costs_its_own_solvers_only(folder: Path, site: Path) -> None:
    Path("run.toml").write_text(solvers("fake.bad", "fake.good", "fake.lost"))
    path = os.pathsep.join(filter(None, [str(site), os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, "-m", "optiframe", "compare", "run.toml", "--quiet"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": path, "COLUMNS": "250"},
    )
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert "fake.good finished" in said
    assert "solver 'fake.bad' of fake-first does not load: the process died: segmentation fault" in said
    assert "no solver named 'fake.lost'" in said
    assert "it may be in fake_second, whose import failed: the process died: " in said


SCRIPT = """
from optiframe.comparison.plan.plan import read_plan

if __name__ == "__main__":
    print(read_plan("run.toml", modules=[__file__]).modules)
"""


def test_a_script_that_names_itself_is_not_imported_again(folder: Path) -> None:
    Path("run.toml").write_text(solvers("first.script"))
    Path("script.py").write_text(SOLVER.format(name="first.script") + SCRIPT)
    done = subprocess.run([sys.executable, "script.py"], capture_output=True, text=True, check=False)
    assert done.stdout == f"{(str(folder / 'script.py'),)}\n", done.stderr


def test_modules_are_tried_by_one_child_and_only_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started = []

    class Counted(WatchedChild):
        def __init__(self, module, task):
            started.append(task["modules"])
            super().__init__(module, task)

    monkeypatch.setattr(first_import, "WatchedChild", Counted)
    for name in ("one", "two"):
        Path(f"{name}.py").write_text(SOLVER.format(name=f"first.{name}"))
    modules = [str(folder / f"{name}.py") for name in ("one", "two")]
    for _ in range(2):
        plan = make_plan([BOWL], ["first.one", "first.two", "scipy.lbfgs"], modules=modules)
        assert plan.modules == tuple(modules)
    assert started == [modules]
