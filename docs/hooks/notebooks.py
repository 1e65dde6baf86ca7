"""Pages made from the notebooks of docs/notebooks, executed when the site is built.

A notebook is kept without outputs; a page shows what each cell gives now. A cell that raises ends the build.
Executed notebooks are kept under build/ as long as neither they nor any source of the project has changed.
"""

from __future__ import annotations

import html
import os
import re
from pathlib import Path
from typing import Any

import nbformat
from gallery import fingerprint
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

_ROOT = Path(__file__).parents[2]
_FOLDER = _ROOT / "docs" / "notebooks"
_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def on_files(files: Files, config: Any) -> Files:
    """Add a page for each notebook; the notebook itself stays beside it, to download."""
    for path in sorted(_FOLDER.glob("*.ipynb")):
        source = f"notebooks/{path.stem}.md"
        files.append(File.generated(config, source, content=_markdown(executed(path), path.name)))
    return files


def on_page_content(content: str, page: Any, **_: Any) -> str:
    """Put the outputs in, which are HTML already and no Markdown."""
    path = _FOLDER.parent / Path(page.file.src_uri).with_suffix(".ipynb")
    if not path.is_file():
        return content
    cells = executed(path).cells
    return re.sub(
        r'<div class="output" data-cell="(\d+)"></div>',
        lambda match: '<div class="output">' + "".join(map(_shown, cells[int(match[1])].outputs)) + "</div>",
        content,
    )


def executed(path: Path) -> Any:
    """The notebook with its outputs.

    Raises
    ------
    PluginError
        When a cell raises.
    """
    text = path.read_text(encoding="utf-8")
    folder = _ROOT / "build" / "notebooks" / fingerprint(text)
    stored = folder / path.name
    if not stored.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        notebook = nbformat.reads(text, 4)
        # One thread: two people who build the site see the same figures.
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        client = NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(folder)}})
        try:
            client.execute(env=environment)
        except CellExecutionError as error:
            raise PluginError(f"docs/notebooks/{path.name} fails:\n{_ANSI.sub('', str(error))}") from error
        partial = stored.with_suffix(".partial")
        nbformat.write(notebook, partial)
        partial.replace(stored)
    return nbformat.read(stored, 4)


def _markdown(notebook: Any, name: str) -> str:
    """The page: text as it is, code as code, and a place for each cell's output."""
    parts = []
    for number, cell in enumerate(notebook.cells):
        if cell.cell_type == "markdown":
            parts.append(cell.source)
        else:
            parts.append(f"```python\n{cell.source}\n```")
            if cell.outputs:
                parts.append(f'<div class="output" data-cell="{number}"></div>')
    parts.insert(1, f"*This page is a notebook: [download it]({name}) and run it yourself.*")
    return "\n\n".join(parts) + "\n"


def _shown(output: Any) -> str:
    """One output as HTML: a picture, a display of its own, or text."""
    data = output.get("data", {})
    if "text/html" in data:
        return str(data["text/html"])
    if "image/png" in data:
        picture = data["image/png"].strip()
        return f'<img alt="The figure that this cell makes" src="data:image/png;base64,{picture}">'
    text = data.get("text/plain", output.get("text", ""))
    return f"<pre>{html.escape(_ANSI.sub('', text))}</pre>"
