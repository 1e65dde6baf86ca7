"""Pages from templates: our own style and scripts in the page, and no other script can run."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from importlib import resources
from typing import Any

from optiframe.errors import require

_MARK = re.compile(r"(?<=\w)[._/](?=[a-z])(?![^<]*>)")  # within a name, and not within a tag
_VALUE = re.compile(r"=[^\s=,()&<>]{1,16}[),]*")  # short enough for any column; no part of an entity


class Trusted(str):
    """Text that goes into a page as it is: our own files, and JSON that `charts.embedded` made harmless."""

    def __html__(self) -> str:
        return self


def document(template: str, content: Mapping[str, Any], scripts: Mapping[str, str]) -> str:
    """The page that a template of this folder makes of the content.

    Parameters
    ----------
    template
        The file's name.
    content
        What it shows. Text is escaped, apart from `Trusted`.
    scripts
        By name in the template; the page's policy allows these, by their hashes, and those that sort tables
        and save drawings.

    Raises
    ------
    MissingPackage
        Without Jinja.
    """
    jinja = require("jinja2", "report")
    environment = jinja.Environment(
        autoescape=True,
        undefined=jinja.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=jinja.FunctionLoader(own_text),
    )
    environment.filters["breakable"] = _breakable
    environment.filters["whole"] = lambda text: Trusted(_whole(str(jinja.filters.escape(text))))
    shared = {"downloads_script": own_text("downloads.js"), "tables_script": own_text("tables.js")}
    every = {**scripts, **shared}
    text: str = environment.get_template(template).render(
        **content,
        hashes=" ".join(f"'sha256-{_digest(script)}'" for script in every.values() if script),
        style=Trusted(own_text("style.css")),
        **{name: Trusted(script) for name, script in every.items()},
    )
    return text


def own_text(name: str) -> str:
    """A file of this folder."""
    return (resources.files("optiframe.report") / name).read_text("utf-8")


def _breakable(name: str) -> str:
    """A name that may be broken after an underscore (a space without width), so that tables fit."""
    return name.replace("_", "_\u200b")


def _whole(escaped: str) -> str:
    """Escaped text in which a parameter's value stays beside its bracket, and may begin a line.

    A name may be broken after its marks, `rankone.` in `rankone.pgd`, and nowhere else.
    """
    whole = _VALUE.sub(r'<wbr><span class="whole">\g<0></span>', escaped)
    return _MARK.sub(r"\g<0><wbr>", whole)


def _digest(script: str) -> str:
    """The hash by which the page's policy knows this script; no other script may run."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
