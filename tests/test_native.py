"""Compiled kernels: where they are found, what is said where they are not; none lacks a reference."""

from __future__ import annotations

import contextlib
import inspect
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from time import sleep
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from optiframe.native import kernels_of
from optiframe.testing import check_changes_meanwhile, check_refusals

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


def reference_modules(plugin: str) -> set[ModuleType]:
    """What the doors to a plugin's kernels know as `reference`."""
    kernels = import_module(f"{plugin}.kernels")
    names = [name for _, name, _ in iter_modules(kernels.__path__) if not name.startswith("_")]
    doors = [import_module(f"{plugin}.kernels.{name}") for name in names]
    return {door.reference for door in doors if hasattr(door, "reference")}


def test_there_are_plugins_with_kernels() -> None:
    assert len(PLUGINS) == 5


@pytest.mark.parametrize("plugin", PLUGINS)
def test_each_kernel_has_a_reference_of_its_name_and_each_reference_a_kernel(plugin: str) -> None:
    extension = kernels_of(plugin)
    assert isinstance(extension, ModuleType) or not os.environ.get("CI"), f"{plugin} {extension}"
    if not isinstance(extension, ModuleType):
        pytest.skip(f"the compiled part of {plugin} {extension}")
    references = {
        name
        for module in reference_modules(plugin)
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


def test_an_extension_older_than_its_sources_says_what_to_install(fake_plugin: Path) -> None:
    (fake_plugin / "broken/kernels/_native.py").write_text("def halve(x):\n    return x / 2\n")
    code = "try:\n    import broken.kernels.doors\nexcept ImportError as error:\n    print(error)"
    said = python(fake_plugin, code).stdout
    assert "the compiled part of broken is older than its sources (it has no double)" in said
    assert "pip install --editable plugins/broken" in said


def test_only_a_package_with_kernels_can_lack_their_extension(fake_plugin: Path) -> None:
    (fake_plugin / "plain").mkdir()
    (fake_plugin / "plain/__init__.py").touch()
    code = "from optiframe.native import kernels_of; print([kernels_of(x) for x in ('plain', 'uncompiled')])"
    assert python(fake_plugin, code).stdout == "[None, 'was not built']\n"


@pytest.mark.slow
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


Check = Callable[[Any, Any, Any, Any], bool]

# What a kernel checks that adds weights to the places of codes, by the mistake that each finds.
CHECKS: dict[str, Check] = {
    "None": lambda *given: all(each is not None for each in given),
    "a dtype": lambda codes, weights, items, into: (
        [codes.dtype, weights.dtype, into.dtype] == [np.int32, np.float64, np.float64]
    ),
    "a shape": lambda codes, weights, items, into: codes.ndim == weights.ndim == into.ndim == 1,
    "a layout": lambda codes, weights, items, into: all(
        each.flags.c_contiguous for each in (codes, weights, into)
    ),
    "read-only": lambda codes, weights, items, into: bool(into.flags.writeable),
    "a length": lambda codes, weights, items, into: len(codes) == len(weights) and len(into) == items,
    "an integer": lambda codes, weights, items, into: bool(((codes >= 0) & (codes < items)).all()),
}


def reference(codes: Any, weights: Any, items: int, into: Any) -> None:
    np.add.at(into, codes, weights)


def arguments(n: int) -> dict[str, Any]:
    codes = np.arange(n, dtype=np.int32) % 5
    return {"codes": codes, "weights": np.ones(n), "items": 5, "into": np.zeros(5)}


def kernel_without(missing: str) -> Callable[..., None]:
    """The kernel, which leaves out one check and then answers wrongly."""

    def kernel(codes: Any, weights: Any, items: int, into: Any) -> None:
        for name, holds in CHECKS.items():
            with contextlib.suppress(
                AttributeError, TypeError
            ):  # of None, where that is the check that is missing
                if name != missing and not holds(codes, weights, items, into):
                    raise ValueError(f"{name} is wrong")
        with contextlib.suppress(AttributeError, TypeError, ValueError, IndexError):
            into[0] += 1

    return kernel


def use_kernel(monkeypatch: pytest.MonkeyPatch, kernel: Callable[..., None]) -> None:
    for module in ("references", "changes"):
        monkeypatch.setattr(f"optiframe.testing.kernels.{module}.native", lambda _: kernel)


def test_a_kernel_that_checks_all_its_arguments_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    use_kernel(monkeypatch, kernel_without("nothing"))
    check_refusals(reference, arguments(10))


@pytest.mark.parametrize("missing", CHECKS)
def test_a_kernel_that_leaves_out_one_check_is_found(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    use_kernel(monkeypatch, kernel_without(missing))
    with pytest.raises(AssertionError, match=f"takes wrong arguments: .* may be {missing}"):
        check_refusals(reference, arguments(10))


def test_what_may_be_anything_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    use_kernel(monkeypatch, kernel_without("an integer"))
    check_refusals(reference, arguments(10), any_number={"codes"})
    use_kernel(monkeypatch, kernel_without("a length"))
    check_refusals(reference, arguments(10), any_length={"codes", "weights", "into"}, any_number={"items"})
    use_kernel(monkeypatch, kernel_without("None"))
    check_refusals(reference, arguments(10), optional=arguments(10))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
@pytest.mark.parametrize("copies", [False, True])
def test_a_kernel_that_reads_codes_again_after_its_checks_is_found(
    monkeypatch: pytest.MonkeyPatch, copies: bool
) -> None:
    def kernel(codes: Any, weights: Any, items: int, into: Any) -> None:
        mine = codes.copy() if copies else codes
        if (mine < 0).any() or (mine >= items).any():
            raise ValueError("codes are out of range")
        sleep(0.005)
        if (mine >= items).any():  # memory that is not the kernel's
            os.kill(os.getpid(), signal.SIGSEGV)

    use_kernel(monkeypatch, kernel)
    if copies:
        check_changes_meanwhile(reference, arguments(10))
    else:
        with pytest.raises(AssertionError, match="reference ended with SIGSEGV when its arrays were changed"):
            check_changes_meanwhile(reference, arguments(10))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_kernel_that_hangs_when_its_arrays_change_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def kernel(codes: Any, weights: Any, items: int, into: Any) -> None:
        sleep(0.005)
        while codes[0] != 0:
            sleep(0.001)

    use_kernel(monkeypatch, kernel)
    monkeypatch.setattr("optiframe.testing.kernels.changes.MOST_SECONDS", 1)
    with pytest.raises(AssertionError, match="reference ended with SIGALRM"):
        check_changes_meanwhile(reference, {**arguments(10), "codes": np.zeros(10, np.int32)})
