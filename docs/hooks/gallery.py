"""The figures of the gallery, made by the very code that its page shows.

The blocks of docs/gallery.md run one after the other in a process of their own, in a folder under build/;
each picture they save is put below the block that saved it. The folder is kept as long as neither the
page nor any source of the project has changed.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

_ROOT = Path(__file__).parents[2]
_PAGE = _ROOT / "docs" / "gallery.md"
_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SAVED = re.compile(r'\.savefig\(\s*"([\w-]+\.svg)"\s*,?\s*\)')
_TITLE = re.compile(r"^## (.+)$", re.MULTILINE)
_CALLED = re.compile(r"\bsavefig\b")
# The same run gives the same file; text stays text where it can be found and copied.
_STYLE = "import matplotlib\nmatplotlib.rcParams.update({'svg.hashsalt': 'gallery'})\n"


def on_files(files: Files, config: Any) -> Files:
    """Add the figures, made now if they are not there yet."""
    folder = figures()
    for name in _SAVED.findall(_PAGE.read_text(encoding="utf-8")):
        files.append(File.generated(config, f"gallery/{name}", abs_src_path=str(folder / name)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Show each figure below the code that made it."""
    if page.file.src_uri != "gallery.md":
        return markdown

    def shown(block: re.Match[str]) -> str:
        titles = _TITLE.findall(markdown[: block.start()])
        pictures = [
            f"![{titles[-1] if titles else name}](gallery/{name})" for name in _SAVED.findall(block[1])
        ]
        return "\n\n".join([*pictures, block[0]])

    return _BLOCK.sub(shown, markdown)


def figures() -> Path:
    """The folder with the figures of the page as it is now.

    Raises
    ------
    PluginError
        When a block of the page fails or saves no file of the name it gives, or a section has no picture.
    """
    text = _PAGE.read_text(encoding="utf-8")
    check(text)
    folder = _ROOT / "build" / "gallery" / fingerprint(text)
    wanted = _SAVED.findall(text)
    if all((folder / name).is_file() for name in wanted):
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    code = _STYLE + "\n".join(_BLOCK.findall(text))
    # One thread, and neither progress bars nor a display.
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MPLBACKEND": "agg"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise PluginError(f"the code of docs/gallery.md fails:\n{done.stderr}")
    missing = [name for name in wanted if not (folder / name).is_file()]
    if missing:
        raise PluginError(f"docs/gallery.md did not save {', '.join(missing)}")
    return folder


def check(text: str) -> None:
    """Raise PluginError when a section has no picture, or a call of savefig is not seen as one."""
    _, *parts = _TITLE.split(text)
    sections = dict(zip(parts[::2], parts[1::2], strict=True))
    without = [title for title, body in sections.items() if not _SAVED.search(body)]
    if without:
        raise PluginError(f"docs/gallery.md has no picture below {', '.join(map(repr, without))}")
    if len(_CALLED.findall(text)) != len(_SAVED.findall(text)):
        raise PluginError(
            "docs/gallery.md has a call of savefig with other than one name of an SVG file, as in "
            '.savefig("name.svg")'
        )


def fingerprint(text: str) -> str:
    """Hash of a page's text, and of every source that its figures could depend on."""
    content = hashlib.sha256((_STYLE + text).encode())
    for path in sorted([*_ROOT.glob("optiframe/**/*.py"), *_ROOT.glob("plugins/*/optiframe_*/**/*.py")]):
        content.update(path.read_bytes())
    return content.hexdigest()[:16]
