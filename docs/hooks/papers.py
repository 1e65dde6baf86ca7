"""The pages of the papers' reproductions, taken over from results/papers/ where they have been made.

`examples/papers/reproduce.py` writes Markdown pages and figures to results/papers/<size>/pages; the full
size goes before the quick one. Without either the section holds one page that says how to make them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

_ROOT = Path(__file__).parents[2]
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


def _title(path: Path) -> str:
    """The page's own title, without what follows a colon."""
    first = path.read_text(encoding="utf-8").partition("\n")[0]
    return first.removeprefix("# ").partition(":")[0]
