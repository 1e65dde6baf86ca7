"""Old addresses of pages that have moved: each leads to where the page is now."""

from __future__ import annotations

from pathlib import Path
from posixpath import dirname, relpath
from typing import Any

from mkdocs.exceptions import PluginError

MOVED = {  # old address -> new one
    "decisions.html": "decisions/index.html",
    "decisions/labels.html": "decisions/rankone.html",
    "decisions/tables.html": "decisions/core.html",
}


def on_post_build(config: Any) -> None:
    """Write a page at each old address; the build ends where the new one is not there."""
    site = Path(config["site_dir"])
    for old, new in MOVED.items():
        if (site / old).exists() or not (site / new).is_file():
            raise PluginError(f"redirects.py sends {old} to {new}: the first is a page, or the second none")
        (site / old).parent.mkdir(parents=True, exist_ok=True)
        (site / old).write_text(_page(relpath(new, dirname(old))), encoding="utf-8")


def _page(address: str) -> str:
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Moved</title>'
        f'<meta http-equiv="refresh" content="0; url={address}">'
        f'<p>This page is now at <a href="{address}">{address}</a>.</p></html>\n'
    )
