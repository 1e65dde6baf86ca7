"""Links of pages to files outside docs/, which work where the code is read, made to work in the site.

A page may link to `../README.md` or `../CHANGELOG.md`; the site has a page for each of these, and for
nothing else outside docs/, so any other such link ends the build.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any

from mkdocs.exceptions import PluginError

_PAGES = {"README.md": "index.md", "CHANGELOG.md": "changelog.md", "CITATION.cff": "citation.md"}
_LINK = re.compile(r"(?<=\]\()(\.\.?/[^)\s#]+)(#[^)\s]*)?(?=\))")


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Rewrite links that leave docs/."""
    return rewritten(markdown, page.file.src_uri)


def rewritten(markdown: str, source: str) -> str:
    """The text with links of the page at `source` (below docs/) that leave docs/ rewritten.

    Raises
    ------
    PluginError
        When a link leads to a file that the site does not have.
    """
    folder = posixpath.dirname(posixpath.join("docs", source))

    def replaced(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(folder, match[1]))
        if target.startswith("docs/"):
            return match[0]
        if target not in _PAGES:
            raise PluginError(f"{source} links to {match[1]}, which has no page in the site")
        # A section of README.md is none of the home page's.
        anchor = "" if target == "README.md" else match[2] or ""
        return posixpath.relpath(posixpath.join("docs", _PAGES[target]), folder) + anchor

    return _LINK.sub(replaced, markdown)
