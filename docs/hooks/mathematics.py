r"""Mathematics in pages, `$x_i$` in a line and ```` ```math ```` for a block, as MathML.

Every current browser draws MathML without a script or a font of ours, so pages stay readable from disk and
without a network, and formulas can be searched and copied. Formulas are converted when the site is built.
"""

from __future__ import annotations

import html
import re
from typing import Any

from latex2mathml.converter import convert
from mkdocs.exceptions import PluginError

# What pymdownx.arithmatex leaves for a script to draw.
_FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)


def on_page_content(content: str, page: Any, **_: Any) -> str:
    """Draw the formulas of a page."""
    return drawn(content, page.file.src_uri)


def drawn(content: str, source: str) -> str:
    """The HTML of the page at `source` with each formula as MathML.

    Raises
    ------
    PluginError
        When a formula is not LaTeX that can be converted, or has an unknown command.
    """

    def mathml(match: re.Match[str]) -> str:
        formula = html.unescape(match[2]).strip()
        if formula.count("{") != formula.count("}"):
            raise PluginError(f"{source}: the formula {formula!r} has a brace without its other half")
        try:
            result = convert(formula, display="inline" if match[1] == "span" else "block")
        except Exception as error:
            raise PluginError(f"{source}: cannot convert the formula {formula!r}: {error!r}") from error
        unknown = re.search(r"\\[A-Za-z]+|<mi>&</mi>", result)
        if unknown:
            raise PluginError(f"{source}: the formula {formula!r} has {unknown[0]}, which is not converted")
        result = result.replace("<mo>&#x02016;</mo>", '<mo stretchy="false">&#x02016;</mo>')  # of a norm
        return result if match[1] == "span" else f'<div class="formula">{result}</div>'

    return _FORMULA.sub(mathml, content)
