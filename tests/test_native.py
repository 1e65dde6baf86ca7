"""Compiled kernels: where they are found, what is said where they are not; none lacks a reference."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from optiframe.native import kernels_of

PLUGINS = [
    f"optiframe_{path.parent.name}" for path in Path(__file__).parents[1].glob("plugins/*/CMakeLists.txt")
]


@pytest.fixture
def fake_plugin(tmp_path: Path) -> Path:
    """A package with a reference and no extension, and one more whose extension does not load."""
    for name in ("uncompiled", "broken"):
        kernels = tmp_path / name / "kernels"
        kernels.mkdir(parents=True)
        (tmp_path / name / "__init__.py").touch()
        (kernels / "__init__.py").touch()
        (kernels / "reference.py").write_text("def double(x):\n    return 2 * x\n")
        (kernels / "doors.py").write_text(
            "from optiframe.native import native\n"
            "from . import reference\n"
            "double = native(reference.double)\n"
        )
    (tmp_path / "broken/kernels/_native.py").write_text("raise ImportError('no libstdc++.so.6')\n")
    return tmp_path


def python(folder: Path, code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "always", "-c", code],
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )


def test_there_are_plugins_with_kernels() -> None:
    assert len(PLUGINS) == 5


@pytest.mark.parametrize("plugin", PLUGINS)
def test_each_kernel_has_a_reference_of_its_name_and_each_reference_a_kernel(plugin: str) -> None:
    extension = kernels_of(plugin)
    assert isinstance(extension, ModuleType) or not os.environ.get("CI"), f"{plugin} {extension}"
    if not isinstance(extension, ModuleType):
        pytest.skip(f"the compiled part of {plugin} {extension}")
    module = import_module(f"{plugin}.kernels.reference")
    references = {
        name
        for name, one in inspect.getmembers(
            module, lambda one: inspect.isfunction(one) or inspect.isclass(one)
        )
        if one.__module__ == module.__name__ and not name.startswith("_")
    }
    assert {name for name in dir(extension) if not name.startswith("_")} == references


def test_a_missing_extension_is_said_once_a_process_with_what_to_install(fake_plugin: Path) -> None:
    ran = python(
        fake_plugin, "import uncompiled.kernels.doors as a, broken.kernels.doors; print(a.double(2))"
    )
    assert ran.stdout == "4\n"
    assert ran.stderr.count("SlowKernelsWarning") == 1
    assert "the compiled part of uncompiled was not built, so plain Python runs in its place" in ran.stderr
    assert "apt install g++ python3-dev" in ran.stderr


def test_an_extension_that_does_not_load_says_why(fake_plugin: Path) -> None:
    ran = python(fake_plugin, "import broken.kernels.doors as a; print(a.double(2))")
    assert ran.stdout == "4\n"
    assert "the compiled part of broken does not load (no libstdc++.so.6)" in ran.stderr


def test_only_a_package_with_kernels_can_lack_their_extension(fake_plugin: Path) -> None:
    (fake_plugin / "plain").mkdir()
    (fake_plugin / "plain/__init__.py").touch()
    code = "from optiframe.native import kernels_of; print([kernels_of(x) for x in ('plain', 'uncompiled')])"
    assert python(fake_plugin, code).stdout == "[None, 'was not built']\n"


def test_doctor_says_which_plugin_is_slow_and_that_nothing_is_broken(fake_plugin: Path) -> None:
    (fake_plugin / "uncompiled/__init__.py").write_text(
        "from optiframe.hookspec import Description, hookimpl\n"
        "@hookimpl\n"
        "def optiframe_plugin():\n"
        "    return [Description('solver', 'slow.one', '.nowhere:One', 'A solver.')]\n"
    )
    info = fake_plugin / "uncompiled-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: uncompiled\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[optiframe]\nuncompiled = uncompiled\n")
    said = python(
        fake_plugin,
        "import sys; from optiframe.cli import main; sys.argv = ['optiframe', 'doctor', '--quick']; main()",
    ).stdout
    assert "slow: its compiled part was not built, and plain Python runs in its place" in said
