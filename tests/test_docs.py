"""Every block of every page runs, in order, as a reader would run it.

A block with a title is a file to write; other Python blocks run one after the other in one
namespace; console blocks run line by line, and what they show must be what comes out
(`...` stands for anything).
"""

from __future__ import annotations

import ast
import doctest
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from optiframe.registry.registry import registry

from .command_line import Session, optiframe

ROOT = Path(__file__).parent.parent
PAGES = sorted(
    [ROOT / "README.md", *(ROOT / "docs").glob("**/*.md"), *(ROOT / "plugins").glob("*/README.md")]
)
_GALLERY = ROOT / "docs" / "gallery.md"  # run when the site is built, in test_site.py
RUN = [page for page in PAGES if page != _GALLERY and re.search("^```", page.read_text(), re.MULTILINE)]
# Half a minute of a processor for the federation alone, which test_flower.py and test_flower_front.py start
# as well.
_LONG = {ROOT / "docs" / "methods" / "comrade-flower.md"}
_BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
_SHOWN = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.slow  # a page runs for seconds, all of them for minutes
@pytest.mark.ci
@pytest.mark.usefixtures("data_folder")
@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=[pytest.mark.thorough] * (page in _LONG)) for page in RUN],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_every_block_of_the_page_runs(page: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(site),
        # Packages of a page go to a folder of their own, built with what is installed here.
        "PIP_TARGET": str(site),
        "PIP_NO_DEPS": "1",
        "PIP_NO_BUILD_ISOLATION": "0",  # pip reads this option's variable inverted
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "COLUMNS": "120",
    }
    with Session(tmp_path, environment) as python:
        for language, title, body in _BLOCK.findall(page.read_text(encoding="utf-8")):
            if title:
                target = tmp_path / title
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(body, encoding="utf-8")
            elif language == "python":
                python.run(body)
            elif language == "console":
                for command, shown in _commands(body):
                    _check(command, shown, _run(command, tmp_path, environment))


def _run(command: str, folder: Path, environment: dict[str, str]) -> str:
    words = shlex.split(command)
    if words[0] == "optiframe" and not {"|", "||", ">"} & set(words):
        done = optiframe(folder, *words[1:], environment=environment, limit=120)
    else:
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def _commands(body: str) -> list[tuple[str, str]]:
    parts = re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]
    return [(part.partition("\n")[0], part.partition("\n")[2]) for part in parts]


def _check(command: str, shown: str, came: str) -> None:
    checker: Any = doctest.OutputChecker()
    assert checker.check_output(shown, came, _SHOWN), f"$ {command}\nshown:\n{shown}\ncame:\n{came}"


def test_the_pages_hold_blocks_of_every_kind() -> None:
    languages = {block[0] for page in PAGES for block in _BLOCK.findall(page.read_text(encoding="utf-8"))}
    assert {"python", "toml", "console"} <= languages


@pytest.mark.parametrize("plugin", ["rankone", "hodgerank", "comrade", "tvcs", "manifold"])
def test_the_pages_of_a_method_name_every_solver_of_it(plugin: str) -> None:
    entries = [e for e in registry().entries("solver") if e.distribution == f"optiframework-{plugin}"]
    wanted = {f"`{entry.name}`" for entry in entries}
    assert wanted
    pages = sorted((ROOT / "docs" / "methods").glob(f"{plugin}*.md"))
    for group in (pages, [ROOT / "plugins" / plugin / "README.md"]):
        text = "".join(page.read_text(encoding="utf-8") for page in group)
        assert sorted(name for name in wanted if name not in text) == [], group


@pytest.mark.parametrize("plugin", ["rankone", "hodgerank", "comrade", "tvcs", "manifold"])
def test_the_page_of_a_method_has_the_sections_of_all_in_their_order(plugin: str) -> None:
    page = (ROOT / "docs" / "methods" / f"{plugin}.md").read_text(encoding="utf-8")
    order = ["What it answers", "When to use it, and when not", "In ten lines", "How it works"]
    order += ["Parameters", "Findings", "Cost", "Sources"]
    found = [title for title in re.findall(r"^## (.+)$", page, re.MULTILINE) if title in order]
    assert found == order


@pytest.mark.parametrize(
    "page", sorted((ROOT / "docs" / "methods").glob("[!i]*.md")), ids=lambda page: page.stem
)
def test_which_method_to_take_is_a_link_away(page: Path) -> None:
    assert "](index.md#which-method)" in page.read_text(encoding="utf-8")


def test_the_page_of_the_peers_names_every_one_of_them() -> None:
    entries = [entry for kind in ("solver", "part") for entry in registry().entries(kind)]
    wanted = {f"`{entry.name}`" for entry in entries if entry.distribution == "optiframework-peers"}
    assert wanted
    for page in (ROOT / "docs" / "peers.md", ROOT / "plugins" / "peers" / "README.md"):
        text = page.read_text(encoding="utf-8")
        assert sorted(name for name in wanted if name not in text) == [], page


def test_every_entry_of_the_reference_is_used_by_an_example_beside_it() -> None:
    """In the same section of its page; that the examples run is tested above."""
    without = []
    for page in sorted((ROOT / "docs" / "reference").glob("*.md")):
        for section in re.split(r"^(?=##? )", page.read_text(encoding="utf-8"), flags=re.MULTILINE):
            blocks = [body for language, _, body in _BLOCK.findall(section) if language == "python"]
            nodes = [node for block in blocks for node in ast.walk(ast.parse(block))]
            used = {node.id for node in nodes if isinstance(node, ast.Name)}
            used |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
            entries = re.findall(r"^::: (\S+)$", section, re.MULTILINE)
            without += [f"{page.name}: {entry}" for entry in entries if entry.rpartition(".")[2] not in used]
    assert without == []
