"""Installing a plugin with kernels: with a compiler, without one, and from its source distribution."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from pathlib import Path
from shutil import which
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[1]
COMRADE = ROOT / "plugins" / "comrade"
PLUGINS = sorted(path.parent for path in ROOT.glob("plugins/*/CMakeLists.txt"))

pytestmark = pytest.mark.thorough


def build(source: Path, into: Path, **environment: str) -> Path:
    """The wheel that pip makes of a folder or a source distribution."""
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", str(into), str(source)]
    settings = ["-C", f"build-dir={into}/build"]  # nothing of an earlier build
    subprocess.run([*command, *settings], check=True, env={**os.environ, **environment}, capture_output=True)
    (wheel,) = into.glob("*.whl")
    return wheel


def names(wheel: Path) -> list[str]:
    with ZipFile(wheel) as archive:
        return archive.namelist()


@pytest.fixture
def path_without_compiler(tmp_path: Path) -> str:
    """A PATH with nothing but what pip and CMake cannot do without."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for program in ("sh", "env", "uname"):
        found = which(program)
        assert found is not None
        (folder / program).symlink_to(found)
    return str(folder)


@pytest.mark.parametrize("compiler", ["c++", "clang++"])
@pytest.mark.parametrize("plugin", PLUGINS, ids=lambda path: path.name)
def test_a_wheel_has_its_kernels_their_licences_and_no_sources(
    tmp_path: Path, plugin: Path, compiler: str
) -> None:
    if which(compiler) is None:
        pytest.skip(f"needs {compiler}")
    wheel = build(plugin, tmp_path, CXX=compiler)
    inside = names(wheel)
    assert "py3" not in wheel.name
    assert any("kernels/_native" in name for name in inside)
    assert any(name.endswith("NOTICES") for name in inside)
    assert not any(name.endswith((".cpp", ".hpp")) for name in inside)


def test_without_a_compiler_a_wheel_for_every_machine_is_made(
    tmp_path: Path, path_without_compiler: str
) -> None:
    wheel = build(COMRADE, tmp_path, PATH=path_without_compiler)
    inside = names(wheel)
    assert wheel.name.endswith("py3-none-any.whl")
    assert not any("_native" in name for name in inside)
    assert "optiframe_comrade/kernels/reference.py" in inside


def test_without_headers_a_wheel_for_every_machine_is_made(tmp_path: Path) -> None:
    hidden = "-DPython_INCLUDE_DIR=/nowhere"
    wheel = build(COMRADE, tmp_path, CMAKE_ARGS=hidden)
    assert wheel.name.endswith("py3-none-any.whl")


def source_distribution(plugin: Path, into: Path) -> Path:
    command = [sys.executable, "-m", "build", "--sdist", "--outdir", str(into), str(plugin)]
    subprocess.run(command, check=True, capture_output=True)
    (archive,) = into.glob("*.tar.gz")
    return archive


@pytest.mark.parametrize("plugin", PLUGINS, ids=lambda path: path.name)
def test_a_source_distribution_holds_all_sources(tmp_path: Path, plugin: Path) -> None:
    with tarfile.open(source_distribution(plugin, tmp_path)) as contents:
        inside = contents.getnames()
    sources = [
        *plugin.glob("native/*.?pp"),
        *plugin.glob("native/*/*.?pp"),
        *plugin.glob("native/shared/optiframe/*.?pp"),
        plugin / "CMakeLists.txt",
    ]
    for source in sources:
        assert any(name.endswith(source.relative_to(plugin).as_posix()) for name in inside), source


@pytest.mark.skipif(which("c++") is None, reason="needs a C++ compiler")
def test_a_source_distribution_builds(tmp_path: Path) -> None:
    archive = source_distribution(COMRADE, tmp_path)
    into = tmp_path / "wheel"
    into.mkdir()
    assert any("kernels/_native" in name for name in names(build(archive, into)))
