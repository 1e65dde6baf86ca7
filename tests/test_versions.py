"""Which versions a result is said to come from: of the core, of NumPy, and of whoever wrote the parts."""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

import optiframe as of
from optiframe.records.record import Record
from optiframe.registry.versions import _is_loose, _owner, forget, version, versions_of

pytestmark = pytest.mark.usefixtures("fresh_registry")

COMMON = {name: metadata.version(name) for name in ("optiframework", "numpy")}
THING = "from optiframe.records.record import Record\n\nclass Thing(Record):\n    '''A thing.'''\n"
Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Writes a module, and the metadata of a distribution that it comes from where one is named."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def write(file: str, distribution: str = "") -> None:
        path = tmp_path / file
        path.parent.mkdir(exist_ok=True)
        if path.parent != tmp_path:
            (path.parent / "__init__.py").touch()
        path.write_text(THING)
        if distribution:
            info = tmp_path / f"{distribution.replace('-', '_').lower()}-1.5.dist-info"
            info.mkdir(exist_ok=True)
            (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.5\n")
            (info / "top_level.txt").write_text(f"{file.partition('/')[0].removesuffix('.py')}\n")
        importlib.invalidate_caches()
        for name in [name for name in sys.modules if name.startswith("acme_")]:
            monkeypatch.delitem(sys.modules, name)

    return write


def thing(module: str) -> Record:
    made: Record = importlib.import_module(module).Thing()
    return made


def test_a_solver_of_the_core_has_the_versions_of_what_it_requires() -> None:
    assert versions_of(of.solver("scipy.lbfgs")) == {**COMMON, "scipy": metadata.version("scipy")}


@pytest.mark.parametrize("file", ["acme_parts/inner.py", "acme_single.py"])
def test_a_class_that_no_plugin_names_has_the_version_of_its_package(install: Install, file: str) -> None:
    install(file, "Acme-Parts")
    module = file.removesuffix(".py").replace("/", ".")
    assert versions_of(thing(module)) == {**COMMON, "acme-parts": "1.5"}


@pytest.mark.parametrize("registered", [False, True])
def test_a_users_own_file_has_no_version_though_a_distribution_has_its_name(
    install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, registered: bool
) -> None:
    install("acme_parts/inner.py", "acme-parts")
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "acme_parts.py").write_text(
        "import optiframe\n\nclass Thing(optiframe.Solver[optiframe.Minimize, object, None]):\n"
        "    '''A thing.'''\n    name = 'acme.thing'\n    solves = optiframe.Minimize\n"
        "    def iterates(self, problem, run):\n        yield optiframe.Iterate(problem.initial())\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path / "own"))
    made = thing("acme_parts")
    if registered:
        of.register(type(made))
    assert versions_of(made) == COMMON


@pytest.mark.slow
def test_the_distribution_of_a_package_is_the_one_that_python_finds() -> None:
    known = sorted(metadata.packages_distributions().items())[::9]
    asked = {package: found for package, found in known if not _is_loose(package)}
    assert len(asked) > 10
    assert {package: [_owner(package)] for package in asked} == {p: found[:1] for p, found in asked.items()}


def test_a_class_of_a_module_that_is_not_loaded_has_the_common_versions() -> None:
    made = type("Thing", (Record,), {"__module__": "acme_nowhere", "__doc__": "A thing."})()
    assert versions_of(made) == COMMON


def test_what_is_not_installed_is_unknown_until_it_is_looked_for_again(install: Install) -> None:
    install("acme_parts/inner.py")
    made = thing("acme_parts.inner")
    assert versions_of(made) == COMMON
    assert version("acme-parts") == "unknown"
    install("acme_parts/inner.py", "acme-parts")
    assert versions_of(made) == COMMON  # remembered
    assert version("acme-parts") == "unknown"
    forget()
    assert versions_of(made) == {**COMMON, "acme-parts": "1.5"}


def test_what_a_script_or_a_notebook_defines_asks_no_distribution(monkeypatch: pytest.MonkeyPatch) -> None:
    class Unasked:
        """A distribution that does not say what it installed."""

        def __init__(self, real: metadata.Distribution) -> None:
            self._real = real

        def __getattr__(self, name: str) -> Any:
            return getattr(self._real, name)

        def read_text(self, file: str) -> str | None:
            assert file != "RECORD", "every cell would read again what every distribution installed"
            return self._real.read_text(file)

    forget()
    real = metadata.distributions  # of whatever class: libraries bring finders of their own
    monkeypatch.setattr(metadata, "distributions", lambda **given: map(Unasked, real(**given)))
    monkeypatch.setitem(sys.modules, "__main__", types.ModuleType("__main__"))  # it has no file
    made = type("Thing", (Record,), {"__module__": "__main__", "__doc__": "A thing."})()
    assert versions_of(made) == COMMON
    made = type("Thing", (Record,), {"__module__": "acme_nowhere", "__doc__": "A thing."})()
    with pytest.raises(AssertionError, match="read again"):
        versions_of(made)
