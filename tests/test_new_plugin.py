"""`optiframe new-plugin`: what it writes installs, is listed, passes its tests; nothing is overwritten."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from optiframe import InvalidInput
from optiframe.cli.new_plugin import valid_name, write_plugin

ROOT = Path(__file__).parent.parent
# Linters here see the written plugin as a stranger's.
BIN = Path(sys.executable).parent


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def run(*command: object, folder: Path, code: int = 0) -> str:
    """A command in a folder, without the settings of the machine's user that change what is found."""
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "OPTIFRAME_PLUGINS")}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env={**environment, "COLUMNS": "120"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("ridge", "ridge"),
        ("My_Method", "my-method"),
        ("optiframework-ridge", "ridge"),
        ("optiframe-ridge", "ridge"),
        (" l2-path ", "l2-path"),
        ("class", "class"),
    ],
)
def test_a_name_is_put_into_its_normal_form(given, name):
    assert valid_name(given) == name


@pytest.mark.parametrize(
    "given", ["", "9lives", "café", "a--b", "-a", "a-", "a/b", "../a", "a b", "a.b", "@name@"]
)
def test_what_cannot_name_a_distribution_and_a_package_is_refused(given):
    with pytest.raises(InvalidInput, match="cannot name a plugin: give lower-case letters"):
        valid_name(given)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("optiframe", "the framework's own name"),
        ("optiframework", "the framework's own name"),
        ("rankone", r"optiframework-rankone [0-9.]+ is installed"),
        ("labels", r"optiframework-rankone has the solver labels\."),
        ("synthetic", r"optiframework-\w+ has the data set synthetic\."),
        ("reference", "optiframework has a plugin 'reference'"),
    ],
)
def test_a_name_that_is_taken_is_refused_with_who_has_it(given, words):
    with pytest.raises(InvalidInput, match=words):
        valid_name(given)


def test_a_package_that_can_be_imported_takes_the_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "optiframe_own").mkdir()
    (tmp_path / "optiframe_own" / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InvalidInput, match="there is a package optiframe_own"):
        valid_name("own")


@pytest.mark.slow
def test_the_command_writes_a_plugin_and_says_what_comes_next(tmp_path: Path):
    shown = run(sys.executable, "-m", "optiframe", "new-plugin", "My_Method", folder=tmp_path)
    folder = tmp_path / "optiframework-my-method"
    assert files(folder) == {
        ".gitignore",
        "README.md",
        "compare.toml",
        "pyproject.toml",
        "optiframe_my_method/__init__.py",
        "optiframe_my_method/momentum.py",
        "optiframe_my_method/py.typed",
        "tests/test_momentum.py",
    }
    assert [name for name in files(folder) if name not in shown] == []
    assert "  optiframe check my-method.momentum\n" in shown
    assert "pypi.org" not in (folder / "README.md").read_text()  # that optiframe is another's
    project = tomllib.loads((folder / "pyproject.toml").read_text())
    assert project["project"]["name"] == "optiframework-my-method"
    assert project["project"]["entry-points"]["optiframe"] == {"my-method": "optiframe_my_method"}


def test_no_placeholder_is_left_and_every_toml_file_can_be_read(tmp_path: Path):
    for path in write_plugin("my-method", tmp_path / "new"):
        text = path.read_text(encoding="utf-8")
        assert "@name@" not in text
        assert "@package@" not in text
        if path.suffix == ".toml":
            tomllib.loads(text)


KINDS = ("solver", "problem", "objective", "set", "part")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["x", "a-rather-long-name-for-a-method"])
def test_names_short_and_long_give_clean_code(tmp_path: Path, kind: str, name: str):
    """The longest lines hold the name; a linter must not stumble over them."""
    write_plugin(name, tmp_path / "new", kind)
    run(BIN / "ruff", "check", "--no-cache", ".", folder=tmp_path / "new")
    run(BIN / "ruff", "format", "--check", "--no-cache", ".", folder=tmp_path / "new")


@pytest.mark.slow
def test_a_folder_that_holds_something_is_left_as_it_is(tmp_path: Path):
    kept = tmp_path / "taken" / "notes.txt"
    kept.parent.mkdir()
    kept.write_text("mine")
    said = run(
        sys.executable, "-m", "optiframe", "new-plugin", "ridge", "--folder", "taken", folder=tmp_path, code=2
    )
    assert "taken is not empty; give another place with --folder" in said
    assert files(tmp_path) == {"taken/notes.txt"}


def test_an_empty_folder_is_filled(tmp_path: Path):
    (tmp_path / "empty").mkdir()
    assert write_plugin("ridge", tmp_path / "empty")


def test_a_place_that_cannot_be_written_to_is_said_in_words(tmp_path: Path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(InvalidInput, match=r"file is a file; give another place"):
        write_plugin("ridge", tmp_path / "file")
    with pytest.raises(InvalidInput, match="cannot be written: Not a directory"):
        write_plugin("ridge", tmp_path / "file" / "below")


def test_the_package_itself_imports_no_numbers(tmp_path: Path):
    write_plugin("ridge", tmp_path)
    code = (
        "import sys, optiframe_ridge; print(optiframe_ridge.optiframe_plugin()[0].name); "
        "assert not {'numpy', 'pydantic'} & set(sys.modules)"
    )
    assert run(sys.executable, "-c", code, folder=tmp_path) == "ridge.momentum\n"


@pytest.mark.slow  # some seconds each
@pytest.mark.ci
@pytest.mark.parametrize(
    ("kind", "member"),
    [
        ("problem", "x"),
        ("objective", "x.soft-distance"),
        ("set", "x.monotone"),
        ("part", "regularizer.x"),
    ],
)
def test_each_starter_is_listed_and_passes_its_tests(tmp_path: Path, kind: str, member: str):
    """As if it was installed: its folder on the path, with the entry point that an installer writes."""
    shown = run(sys.executable, "-m", "optiframe", "new-plugin", "x", f"--{kind}", folder=tmp_path)
    assert f"  optiframe describe {member}\n" in shown
    plugin = tmp_path / "optiframework-x"
    record = plugin / "optiframework_x-0.1.0.dist-info"
    record.mkdir()
    (record / "METADATA").write_text("Metadata-Version: 2.1\nName: optiframework-x\nVersion: 0.1.0\n")
    (record / "entry_points.txt").write_text("[optiframe]\nx = optiframe_x\n")
    python = (sys.executable, "-c")
    on_path = f"import sys; sys.path.insert(0, {str(plugin)!r}); "
    describe = (
        on_path + f"sys.argv = ['optiframe', 'describe', {member!r}]; import optiframe.cli as c; c.main()"
    )
    assert "optiframework-x" in run(*python, describe, folder=tmp_path)
    tests = on_path + "import pytest; raise SystemExit(pytest.main(['-q', '-p', 'no:cacheprovider']))"
    assert " passed" in run(*python, tests, folder=plugin)


@pytest.mark.thorough  # minutes of downloads; docs/add-a-solver.md does most of it where we are
def test_a_new_plugin_installs_is_listed_and_passes_everything_in_a_fresh_environment(tmp_path: Path):
    """As a stranger would do it: the core from its wheel, the plugin from what was written."""
    place = tmp_path / "env" / "bin"
    run(sys.executable, "-m", "venv", tmp_path / "env", folder=tmp_path)
    install = (place / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    run(*install, ROOT, folder=tmp_path)
    run(place / "optiframe", "new-plugin", "ridge-path", folder=tmp_path)
    plugin = tmp_path / "optiframework-ridge-path"
    run(*install, ".[dev]", folder=plugin)

    listed = run(place / "optiframe", "list", "solvers", folder=tmp_path)
    assert "Projected gradient descent with momentum (optiframework-ridge-path)" in listed
    assert "nothing is broken" in run(place / "optiframe", "doctor", "--quick", folder=tmp_path)
    checked = run(place / "optiframe", "check", "ridge-path.momentum", folder=tmp_path)
    assert "16 of 16 checks passed, 1 not applicable" in checked
    assert " passed" in run(place / "python", "-m", "pytest", "-q", folder=plugin)
    run(place / "ruff", "check", "--no-cache", folder=plugin)
    run(place / "ruff", "format", "--check", "--no-cache", folder=plugin)
    assert "no issues found" in run(place / "mypy", folder=plugin)
    taken = run(place / "optiframe", "new-plugin", "ridge-path", "--folder", "again", folder=tmp_path, code=2)
    assert "optiframework-ridge-path 0.1.0 is installed" in taken
