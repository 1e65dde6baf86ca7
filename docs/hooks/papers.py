"""The section of the papers: its navigation, and a notice on each page that is older than its item's files.

`examples/papers/reproduce.py --size full` writes the pages, figures and judged numbers to docs/papers.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).parents[2]
sys.path.append(str(_ROOT / "examples" / "papers"))
from harness.digest import digest  # noqa: E402  # in the folder just named

_HEADING = re.compile(r"^## (?P<name>.*) \{ #(?P<folder>\w+) \}$", re.MULTILINE)


def on_config(config: Any) -> Any:
    """Put the pages there are into the navigation, a section for each paper."""
    pages: list[Any] = ["papers/index.md"]
    for paper, called in _papers():
        items = sorted((_pages() / paper).glob("*.md"), key=_by_number)
        if items:
            pages.append({called: [f"papers/{paper}/{path.name}" for path in items]})
    config.nav = [{"Papers": pages} if "Papers" in entry else entry for entry in config.nav]
    return config


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Say so on a page that is older than the files of its item."""
    address = page.file.src_uri
    if not address.startswith("papers/") or address == "papers/index.md":
        return markdown
    name = address.removeprefix("papers/").removesuffix(".md")
    if not outdated(name):
        return markdown
    title, _sep, rest = markdown.partition("\n")
    return f"{title}\n\n{_NOTICE}\n{rest}"


_NOTICE = """!!! warning "Older than its item's files"
    The comparison file or its modules have changed since this page was made.
"""


def outdated(name: str) -> bool:
    """Whether the files of an item, paper/item, are others than those that its page was made from."""
    judged = json.loads((_pages() / f"{name}.json").read_text(encoding="utf-8"))
    return bool(judged["origin"]["files"] != digest(_ROOT / "examples" / "papers" / f"{name}.toml"))


def _pages() -> Path:
    return _ROOT / "docs" / "papers"


def _papers() -> list[tuple[str, str]]:
    """Folder and name of each paper, from the headings of the index, in their order."""
    index = (_pages() / "index.md").read_text(encoding="utf-8")
    return [(found["folder"], found["name"]) for found in _HEADING.finditer(index)]


def _by_number(file: Path) -> tuple[str, int, str]:
    """Tables after figures, by number."""
    kind, _, rest = file.stem.partition("_")
    number, _, part = rest.partition("_")
    return kind, int(number) if number.isdigit() else 0, part
