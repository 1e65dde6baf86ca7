"""What `optiframe doctor` says of the libraries that plugins need."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from optiframe.errors import MissingPackage, remedy, require

from .command_line import optiframe

INIT = """
from optiframe.hookspec import Description, hookimpl

@hookimpl
def optiframe_plugin():
    return [Description("solver", "fake." + name, f".{name}:Mine", "A solver.") for name in %r]
"""

SOLVER = """
import optiframe as of

class Mine(of.Solver[of.Minimize, object, None]):
    \"\"\"A solver.\"\"\"
    name = "fake.{name}"
    solves = of.Minimize
    requires = ("fake-{library}:{library}",)

    def iterates(self, problem, run):
        yield of.Iterate(problem.initial())
"""

ON_USE = """
    @classmethod
    def try_requires(cls):
        super().try_requires()
        import fragile
        fragile.work()
"""

LIBRARIES = {
    "sound": "print('a library that talks')",
    "outdated": "raise AttributeError('module numpy has no attribute float')",
    "crashing": "import os; os._exit(3)",
    "leaving": "raise SystemExit(4)",
    "hollow": "import nowhere_to_be_found",
    "fragile": "def work():\n    raise TypeError('not with this version\\nof that')",
}


METADATA = """Metadata-Version: 2.1
Name: fake-peers
Version: 1.0
Provides-Extra: libraries
Requires-Dist: fake-missing>=2; extra == "libraries"
Requires-Dist: numpy>=1; extra == 'libraries'
Requires-Dist: optiframework-rankone>=0.1; extra == 'libraries'
Provides-Extra: more
Requires-Dist: fake-peers[libraries]; extra == 'more'
Requires-Dist: fake-other<3; extra == "more"
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A distribution, written as pip would, whose solvers need a library each."""
    names = [*LIBRARIES, "missing"]
    info, package = tmp_path / "fake_peers-1.0.dist-info", tmp_path / "fake_peers"
    info.mkdir()
    package.mkdir()
    (info / "METADATA").write_text(METADATA)
    (info / "entry_points.txt").write_text("[optiframe]\nfake-peers = fake_peers\n")
    (package / "__init__.py").write_text(INIT % [*names, "orphan"])
    (package / "orphan.py").write_text("import optiframe_unheard_of")
    for name in names:
        solver = SOLVER.format(name=name, library=name)
        (package / f"{name}.py").write_text(solver + ON_USE * (name == "fragile"))
    for name, text in LIBRARIES.items():
        (tmp_path / f"{name}.py").write_text(text)
    return tmp_path


def doctor(site: Path, *arguments: str, brought: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    there = {**os.environ, "OPTIFRAME_PLUGINS": "fake-peers", "PYTHONPATH": str(site)}
    return optiframe(site, *brought, "doctor", *arguments, environment=there)


@pytest.mark.slow  # a process for each library
def test_a_library_that_breaks_is_shown_with_its_own_error(site: Path) -> None:
    shown = doctor(site)
    lines = shown.stdout.splitlines()
    assert shown.returncode == 1, shown.stderr
    at = lines.index("fake.outdated  broken  AttributeError: module numpy has no attribute float")
    assert lines[at + 1] == "    needs fake-outdated, which works for no name here"
    assert "fake.crashing  broken  the process ended with exit code 3 before it was done" in lines
    assert "fake.leaving  broken  SystemExit: 4" in lines
    assert "fake.hollow  broken  ModuleNotFoundError: No module named 'nowhere_to_be_found'" in lines
    assert "fake.fragile  broken  TypeError: not with this version of that" in lines
    assert "sound" not in shown.stdout
    assert "talks" not in shown.stdout
    assert "fake-missing  not installed  pip install 'fake-missing>=2'" in lines
    assert "solver fake.orphan  not installed  the package optiframe_unheard_of" in lines
    assert lines[-1] == "5 names do not run; 2 libraries are not installed (optional)"


@pytest.mark.slow
def test_one_name_that_breaks_is_no_trouble_where_its_library_works_for_others(site: Path) -> None:
    package = site / "fake_peers"
    (package / "__init__.py").write_text(INIT % ["fragile", "steady", "firm"])
    for name in ("steady", "firm"):
        (package / f"{name}.py").write_text(SOLVER.format(name=name, library="fragile"))
    shown = doctor(site)
    lines = shown.stdout.splitlines()
    assert shown.returncode == 0, shown.stdout + shown.stderr
    at = lines.index("fake.fragile  broken  TypeError: not with this version of that")
    assert lines[at + 1] == "    needs fake-fragile, which works for 2 other names"
    assert lines[-1] == "1 name does not run"


@pytest.mark.slow
def test_what_is_only_not_installed_is_no_trouble(site: Path) -> None:
    (site / "fake_peers" / "__init__.py").write_text(INIT % ["sound", "missing", "orphan"])
    shown = doctor(site)
    assert shown.returncode == 0, shown.stdout + shown.stderr
    assert "fake-missing  not installed  pip install 'fake-missing>=2'" in shown.stdout
    assert shown.stdout.endswith("nothing is broken; 2 libraries are not installed (optional)\n")


def test_what_is_not_installed_is_named_with_its_version_and_no_package_that_a_stranger_could_own(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(site)
    with pytest.raises(MissingPackage, match=r"run: pip install 'fake-missing>=2'$"):  # as doctor says
        require("fake_missing", "libraries", of="fake-peers")
    assert remedy(["fake-missing"], "fake-peers") == "pip install 'fake-missing>=2'"
    # An extra that takes in another: both; what is installed is left out.
    assert remedy([], "fake-peers", "more") == "pip install 'fake-missing>=2' 'fake-other<3'"
    assert remedy(["unheard-of"], "fake-peers") == "pip install unheard-of"
    assert remedy(["unheard-of"], "not-installed", "more") == "pip install unheard-of"
    # What is asked for is named even where something of it is there.
    assert remedy(["matplotlib"], extra="plots") == "pip install 'matplotlib>=3.9'"


@pytest.mark.slow
def test_quick_tries_no_library(site: Path) -> None:
    shown = doctor(site, "--quick")
    assert shown.returncode == 0
    assert "outdated" not in shown.stdout
    assert "missing" not in shown.stdout


@pytest.mark.slow
def test_an_import_that_breaks_is_a_finding_and_the_others_are_used(site: Path) -> None:
    broken, sound = site / "broken_import.py", site / "sound_import.py"
    broken.write_text("1 / 0")
    sound.write_text("import optiframe as of\nprint('imported')")
    brought = ("--import", str(broken), "--import", str(sound), "--import", "nowhere_at_all")
    shown = doctor(site, "--quick", brought=brought)
    lines = shown.stdout.splitlines()
    assert (shown.returncode, shown.stderr) == (1, "")
    assert f"{broken}  broken  ZeroDivisionError: division by zero" in lines
    assert "nowhere_at_all  broken  ModuleNotFoundError: No module named 'nowhere_at_all'" in lines
    assert lines[0] == "imported"
    assert any(line.startswith("fake-peers  loaded") for line in lines)
    assert lines[-1] == "something is broken: see above"


@pytest.mark.slow
def test_the_strangers_optiframe_is_reported_with_what_to_do(site: Path) -> None:
    info = site / "optiframe-0.5.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: optiframe\nVersion: 0.5.0\n")
    shown = doctor(site, "--quick")
    assert shown.returncode == 1
    assert "optiframe 0.5.0  unusable" in shown.stdout
    assert "run: pip uninstall optiframe optiframework, then install optiframework again" in shown.stdout
