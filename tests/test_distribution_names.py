"""The `optiframe` on PyPI is another project: nothing of ours asks for it or tells a user to install it."""

from __future__ import annotations

import re
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

import optiframe
from optiframe.cli.new_plugin import write_plugin
from optiframe.errors import DISTRIBUTION

ROOT = Path(__file__).parents[1]
PROJECTS = sorted([ROOT / "pyproject.toml", *ROOT.glob("plugins/*/pyproject.toml")])
OURS = re.compile(rf"{DISTRIBUTION}(-[a-z]+)*")


def requirements(project: dict[str, Any]) -> list[str]:
    """The names of all distributions that a pyproject.toml asks for, its extras and groups included."""
    groups = [
        project["project"].get("dependencies", []),
        *project["project"].get("optional-dependencies", {}).values(),
        *project.get("dependency-groups", {}).values(),
    ]
    found = [re.match(r"[\w.-]+", line) for group in groups for line in group]
    return [name[0].lower().replace("_", "-") for name in found if name]


def check(path: Path) -> None:
    project = tomllib.loads(path.read_text(encoding="utf-8"))
    ours = [name for name in requirements(project) if name.startswith("optiframe")]
    assert OURS.fullmatch(project["project"]["name"])
    assert [name for name in ours if not OURS.fullmatch(name)] == []


def test_the_core_and_seven_plugins_are_distributions() -> None:
    assert len(PROJECTS) == 8


@pytest.mark.parametrize("path", PROJECTS, ids=lambda path: path.parent.name)
def test_no_distribution_of_ours_requires_a_stranger_of_that_name(path: Path) -> None:
    check(path)


def test_every_plugin_requires_the_core_by_its_distribution() -> None:
    for path in PROJECTS:
        if path.parent != ROOT:
            assert DISTRIBUTION in requirements(tomllib.loads(path.read_text(encoding="utf-8")))


def test_a_new_plugin_requires_the_core_by_its_distribution(tmp_path: Path) -> None:
    write_plugin("my-method", tmp_path / "new")
    check(tmp_path / "new" / "pyproject.toml")
    assert f'"{DISTRIBUTION}>=' in (tmp_path / "new" / "pyproject.toml").read_text(encoding="utf-8")


def test_the_version_is_that_of_our_distribution() -> None:
    assert optiframe.__version__ == metadata.version(DISTRIBUTION)


def test_no_page_and_no_message_installs_the_stranger() -> None:
    told = re.compile(r"pip install (?:-\S+ )*['\"]?optiframe(?!work)\b")
    pages = [
        *ROOT.glob("*.md"),
        *(
            path
            for folder in ("docs", "examples", "plugins", "optiframe")
            for path in (ROOT / folder).rglob("*")
        ),
    ]
    texts = [path for path in pages if path.suffix in {".md", ".py", ".txt", ".toml"} and path.is_file()]
    assert len(texts) > 100
    assert [str(path) for path in texts if told.search(path.read_text(encoding="utf-8"))] == []


def test_all_distributions_and_the_citation_have_one_version() -> None:
    projects = [tomllib.loads(path.read_text("utf-8"))["project"]["version"] for path in PROJECTS]
    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text("utf-8"), re.MULTILINE)
    assert cited is not None
    assert {*projects} == {cited[1]}, "run tests/release.py --set VERSION"
