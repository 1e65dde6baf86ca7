"""The decisions: an index that is complete, entries of one form, and references to what exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "docs" / "decisions"
PAGES = sorted(path for path in FOLDER.glob("*.md") if path.name != "index.md")
PARTS = ["Context", "Decision", "Rejected", "Consequences"]
_HEADING = re.compile(r"^## (\d+)\. (.+)$", re.MULTILINE)
_LINE = re.compile(r"^\| (\d+) \| \[(.+)\]\((.+\.md)#\S+\) \| (.+) \|$", re.MULTILINE)


def test_the_index_lists_every_decision_with_page_and_one_line() -> None:
    listed = [
        (number, title, page) for number, title, page, _ in _LINE.findall((FOLDER / "index.md").read_text())
    ]
    written = [
        (number, title, path.name) for path in PAGES for number, title in _HEADING.findall(path.read_text())
    ]
    assert sorted(listed) == sorted(written)
    assert len({number for number, _, _ in listed}) == len(listed) > 0


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_every_decision_has_its_four_parts(page: Path) -> None:
    _, *entries = re.split(r"^## ", page.read_text(), flags=re.MULTILINE)
    for entry in entries:
        found = re.findall(r"^\*\*(\w+)\.\*\*", entry, re.MULTILINE)
        assert found == PARTS, entry.partition("\n")[0]
    assert len(page.read_text().splitlines()) <= 300


@pytest.mark.parametrize("page", [*PAGES, ROOT / "docs" / "contribute.md"], ids=lambda path: path.stem)
def test_every_file_that_a_page_for_developers_names_is_there(page: Path) -> None:
    for name in re.findall(r"`([\w./]+/[\w./]+)`", page.read_text()):
        assert (ROOT / name).exists() or list(ROOT.glob(f"plugins/*/{name}")), name
