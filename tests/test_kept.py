"""What earlier versions left behind works, or gets an error that says what changed and what to do.

`kept/comparison.sql` is the dump of a comparison that was stored before the modules moved into rooms and
the distributions were renamed; `kept/compare.toml` is its file.
"""

from __future__ import annotations

import csv
import importlib
import shutil
import sqlite3
import sys
import time
from pathlib import Path

import pytest

import optiframe as of
from optiframe import BrokenPlugin
from optiframe.comparison.store.failures import StoreFailed
from optiframe.comparison.store.store import Store, load
from optiframe.registry import registry
from optiframe.registry.user_modules import import_user_module

from .command_line import run_in

KEPT = Path(__file__).parent / "kept"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the file, and its results as they were stored."""
    shutil.copy(KEPT / "compare.toml", tmp_path)
    results = tmp_path / "results" / "compare"
    results.mkdir(parents=True)
    connection = sqlite3.connect(results / "comparison.sqlite")
    connection.executescript((KEPT / "comparison.sql").read_text(encoding="utf-8"))
    connection.close()
    return tmp_path


@pytest.mark.slow
def test_a_kept_comparison_is_reported_and_exported(folder: Path) -> None:
    run_in(folder, "report", "results/compare")
    page = (folder / "results" / "compare" / "report.html").read_text(encoding="utf-8")
    assert "scipy.lbfgs" in page
    run_in(folder, "export", "results/compare", "--csv", "cells.csv")
    with (folder / "cells.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [(row["solver"], float(row["objective"])) for row in rows] == [("scipy.lbfgs", 0.25)] * 2
    assert [float(row["evaluation_time"]) > 0 for row in rows] == [True, True]


@pytest.mark.slow
def test_a_kept_comparison_is_repeated_and_the_renamed_distribution_is_named(folder: Path) -> None:
    shown = run_in(folder, "rerun", "results/compare", code=1).stdout
    assert "optiframe 0.1.0 was installed then and is not now" in shown
    assert "optiframework 0.1.0 is installed now and was not then" in shown


@pytest.mark.slow
def test_the_same_command_goes_on_with_a_kept_comparison(folder: Path) -> None:
    shown = run_in(folder, "compare", "compare.toml", "--quiet").stdout
    assert "2 converged" in shown


def kept_meta(folder: Path) -> tuple[dict[str, str], set[str]]:
    """What a store says of itself, and its tables."""
    connection = sqlite3.connect(folder / "results" / "compare" / "comparison.sqlite")
    meta = dict(connection.execute("SELECT name, value FROM meta").fetchall())
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    connection.close()
    return meta, tables


def own(folder: Path, beat: float) -> None:
    """Leave the trace of an earlier version that runs the kept comparison and was last heard of then."""
    connection = sqlite3.connect(folder / "results" / "compare" / "comparison.sqlite")
    with connection:
        connection.execute("INSERT INTO owners VALUES ('abc', 'somewhere', 17, '1', ?)", (beat,))
        connection.execute("INSERT INTO claims VALUES ('key', 'abc', '2026-11-22')")
    connection.close()


@pytest.mark.slow
def test_a_kept_store_that_is_written_to_takes_a_form_that_earlier_versions_refuse(folder: Path) -> None:
    own(folder, time.time() - 3600)  # that one was killed
    before = kept_meta(folder)
    run_in(folder, "report", "results/compare")
    assert kept_meta(folder) == before
    assert before[0]["schema"] == "1"
    Store(folder / "results" / "compare").close()
    meta, tables = kept_meta(folder)
    assert meta["schema"] == "2"
    assert before[1] - tables == {"owners", "claims"}
    assert [row.outcome is not None for row in load(folder / "results" / "compare").rows] == [True, True]


def test_a_kept_store_that_an_earlier_version_writes_to_is_refused_and_left_alone(folder: Path) -> None:
    own(folder, time.time())
    before = kept_meta(folder)
    with pytest.raises(StoreFailed, match=r"process 17 on somewhere.*run this again when it has ended"):
        Store(folder / "results" / "compare")
    assert kept_meta(folder) == before
    assert before[1] >= {"owners", "claims"}


PLUGIN = """
from optiframe.hookspec import Description, hookimpl
{contract}

@hookimpl
def optiframe_plugin():
    return [Description("solver", "kept.solver", "fake_kept.solver:Kept", "A solver.")]
"""
FORMER_HOOK = """
from optiframe.hookspec import Description, hookimpl

@hookimpl
def {hook}():
    return [Description("kept.solver", "fake_kept.solver:Kept", "A solver.")]
"""
SOLVER = """
import optiframe as of
{deep}

class Kept(of.Solver[of.Minimize, object, None]):
    '''A solver.'''
    name = "kept.solver"
    solves = of.Minimize
    def iterates(self, problem, run):
        yield of.Iterate(problem.initial())
"""


def install(folder: Path, contract: str = "", deep: str = "") -> None:
    """A third party's plugin, as pip would leave it."""
    info, package = folder / "fake_kept-1.0.dist-info", folder / "fake_kept"
    info.mkdir()
    package.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: fake-kept\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[optiframe]\nfake-kept = fake_kept\n")
    (package / "__init__.py").write_text(PLUGIN.format(contract=contract))
    (package / "solver.py").write_text(SOLVER.format(deep=deep))


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fresh_registry: None) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("fake_kept", "fake_kept.solver"):  # of another test's folder
        monkeypatch.delitem(sys.modules, name, raising=False)
    return tmp_path


def test_a_plugin_that_imports_public_names_works_as_before(site: Path) -> None:
    install(site)
    assert registry.registry().get("solver", "kept.solver").name == "kept.solver"


@pytest.mark.parametrize(
    "deep", ["from optiframe.loop import solve", "from optiframe.problems import Minimize"]
)
def test_a_plugin_that_imports_a_moved_module_is_told_what_to_import(site: Path, deep: str) -> None:
    install(site, deep=deep)
    with pytest.raises(BrokenPlugin, match=r"does not load: .*import what is public from optiframe itself"):
        registry.registry().get("solver", "kept.solver")


@pytest.mark.parametrize(
    ("hook", "kind"),
    [
        ("optiframe_problems", "problem"),
        ("optiframe_solvers", "solver"),
        ("optiframe_datasets", "data set"),
        ("optiframe_objectives", "objective"),
        ("optiframe_constraint_sets", "constraint set"),
        ("optiframe_parts", "part"),
    ],
)
def test_a_plugin_with_a_hook_for_one_kind_is_told_to_write_the_one_for_all(
    site: Path, hook: str, kind: str
) -> None:
    install(site)
    (site / "fake_kept" / "__init__.py").write_text(FORMER_HOOK.format(hook=hook))
    found = next(one for one in registry.registry().plugins if one.name == "fake-kept")
    assert found.state == "broken"
    assert found.error == (
        f"BrokenPlugin: the hook {hook} was removed: return its Descriptions from optiframe_plugin, the one "
        f'hook for all kinds, each as Description("{kind}", name, path, summary)'
    )


def test_a_solver_that_overrides_a_renamed_name_is_told_the_new_one(site: Path) -> None:
    install(site)
    solver = site / "fake_kept" / "solver.py"
    solver.write_text(solver.read_text().replace("    solves =", '    residual = "a gap"\n    solves ='))
    with pytest.raises(BrokenPlugin, match="defines `residual`, which is called `residual_meaning` now"):
        registry.registry().get("solver", "kept.solver")


@pytest.mark.parametrize("old", ["needs", "packages"])
def test_a_solver_that_names_its_libraries_by_a_former_name_is_told_the_one_name(
    site: Path, old: str
) -> None:
    install(site)
    solver = site / "fake_kept" / "solver.py"
    solver.write_text(solver.read_text().replace("    solves =", f'    {old} = ("scipy",)\n    solves ='))
    with pytest.raises(
        BrokenPlugin, match=f"defines `{old}`, which is called `requires` now; write requires = "
    ):
        registry.registry().get("solver", "kept.solver")


def test_a_plugin_for_another_contract_is_a_line_in_doctor(site: Path) -> None:
    install(site, contract="OPTIFRAME_CONTRACT = 2")
    found = next(one for one in registry.registry().plugins if one.name == "fake-kept")
    assert found.state == "broken"
    assert found.error == (
        "BrokenPlugin: it keeps version 2 of the plugin contract, and this optiframe has version 1; "
        "upgrade optiframework"
    )


def test_a_users_own_file_that_imports_a_moved_module_is_told_what_to_import(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    old = tmp_path / "old_file_of_a_user.py"
    old.write_text("from optiframe.loop import solve\n")
    with pytest.raises(of.InvalidInput, match="import what is public from optiframe itself"):
        import_user_module(str(old))


class Nested(of.Solver[of.Minimize, object, None]):
    """Calls another solver as one did before."""

    name = "kept.nested"
    solves = of.Minimize

    def iterates(self, problem: of.Minimize, run: of.Run) -> of.Iterates:
        yield run.nested(of.solver("scipy.lbfgs"), problem)


def test_former_names_of_runs_and_results_are_answered_with_todays() -> None:
    problem = of.problem("minimize", objective={"name": "squared-distance", "to": [1.0]})
    with pytest.raises(AttributeError, match=r"`nested` of a run is now called `solve`: run\.solve"):
        of.solve(problem, Nested())
    result = of.solve(problem)
    with pytest.raises(AttributeError, match=r"now called `to_tables`: result\.to_tables\(\)"):
        result.answer()
    for former, now in [("judging", "evaluation_time"), ("judged", "evaluated")]:
        with pytest.raises(AttributeError, match=f"`{former}` of a result is now called `{now}`"):
            getattr(result, former)
    assert not hasattr(result, "answers")


@pytest.mark.parametrize(
    ("package", "name", "now"),
    [
        ("rankone", "next_labels", "suggest"),
        ("rankone", "skill_intervals", "intervals"),
        ("hodgerank", "suggest_pairs", "suggest"),
        ("hodgerank", "bootstrap", "intervals"),
        ("comrade", "suspicion", "Ledger"),
        ("comrade", "Home", "Backend"),
        ("tvcs", "gains", "shadow_prices"),
        ("manifold", "suggest_pairs", "suggest"),
        ("manifold", "score_intervals", "intervals"),
    ],
)
def test_a_name_that_a_package_gave_up_is_answered_with_what_to_use(
    package: str, name: str, now: str
) -> None:
    module = importlib.import_module(f"optiframe_{package}")
    with pytest.raises(ImportError, match=f"optiframe_{package} has no {name} any more; instead: .*{now}"):
        exec(f"from optiframe_{package} import {name}")
    assert name not in module.__all__
    assert getattr(module, now)
