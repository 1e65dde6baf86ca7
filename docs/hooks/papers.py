"""The pages of the papers' reproductions, taken over from results/papers/ where they have been made.

`examples/papers/reproduce.py` writes Markdown pages and figures to results/papers/<size>/pages; the full
size goes before the quick one. Without either the section holds one page that says how to make them.
What the pages cannot know of themselves is added here: items whose files have changed since they were judged,
and items that were not run.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

_ROOT = Path(__file__).parents[2]
_HEADING = re.compile(r"^## .*\{ #([\w-]+) \}$", re.MULTILINE)
_MISSING = """# The papers, item by item

The tables and figures of the five papers can be computed anew, each by one comparison file, and judged
against what is printed. Their pages are made by runs of minutes to hours, which this build of the site
did not have.

In a checkout, `make papers` runs them at a quick size (`make papers PAPERS=full` at the size of the papers)
and writes the pages to `results/papers/`; the next build of the site takes them from there.
"""


def found() -> Path | None:
    """The folder of the largest size that has an index."""
    folders = (_ROOT / "results" / "papers" / size / "pages" for size in ("full", "quick"))
    return next((folder for folder in folders if (folder / "index.md").is_file()), None)


def on_config(config: Any) -> Any:
    """Put the pages there are into the navigation."""
    folder = found()
    papers = sorted(folder.glob("*.md")) if folder else []
    pages: list[Any] = ["papers/index.md"]
    pages += [{_title(path): f"papers/{path.name}"} for path in papers if path.name != "index.md"]
    config.nav = [{"Papers": pages} if "Papers" in entry else entry for entry in config.nav]
    if folder is not None:
        config.watch.append(str(folder))
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the pages and their figures."""
    folder = found()
    if folder is None:
        files.append(File.generated(config, "papers/index.md", content=_MISSING))
        return files
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            name = f"papers/{path.relative_to(folder).as_posix()}"
            files.append(File.generated(config, name, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Say which items are older than their files, and, on the index, which were not run."""
    folder, address = found(), page.file.src_uri
    if folder is None or not address.startswith("papers/"):
        return markdown
    old, absent = older(folder.parent), not_run(folder.parent)
    if address == "papers/index.md":
        return markdown + _summary(old, absent)
    paper = Path(address).stem

    def marked(heading: re.Match[str]) -> str:
        day = old.get(f"{paper}/{heading[1].replace('-', '_')}")
        return heading[0] if day is None else f"{heading[0]}\n\n{_notice(day)}"

    return _HEADING.sub(marked, markdown)


def older(results: Path) -> dict[str, str]:
    """Items judged before one of their files was changed: name -> the day they were judged.

    The files of an item are its comparison file, the module of the same name, and the modules that the
    paper's items share.
    """
    days = {}
    for name, files in _items().items():
        judged = results / name / "judged.json"
        if judged.is_file() and max(file.stat().st_mtime for file in files) > judged.stat().st_mtime:
            days[name] = str(json.loads(judged.read_text(encoding="utf-8")).get("made", "an unknown day"))
    return days


def not_run(results: Path) -> list[str]:
    """Items that have no verdict at this size."""
    return [name for name in _items() if not (results / name / "judged.json").is_file()]


def _items() -> dict[str, list[Path]]:
    """Name, as paper/item, and files of every item there is."""
    items = {}
    for file in sorted((_ROOT / "examples" / "papers").glob("*/*.toml")):
        shared = [path for path in file.parent.glob("*.py") if not path.with_suffix(".toml").is_file()]
        own = file.with_suffix(".py")
        items[f"{file.parent.name}/{file.stem}"] = [file, *([own] if own.is_file() else []), *shared]
    return items


def _notice(day: str) -> str:
    return (
        f'!!! warning "Older than its item\'s files"\n'
        f"    Judged on {day}; the comparison file or its modules have changed since."
    )


def _summary(old: dict[str, str], absent: list[str]) -> str:
    text = ""
    if old:
        names = ", ".join(f"`{name}` (judged on {day})" for name, day in old.items())
        text += f"\nOlder than their items' files, which have changed since: {names}.\n"
    if absent:
        text += f"\nNot run at this size: {', '.join(f'`{name}`' for name in absent)}.\n"
    return text


def _title(path: Path) -> str:
    """The page's own title, without what follows a colon."""
    first = path.read_text(encoding="utf-8").partition("\n")[0]
    return first.removeprefix("# ").partition(":")[0]
