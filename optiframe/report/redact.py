"""What a page that is passed on does not say: whose machine it was."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_NAMING = frozenset({"host", "hostname", "node", "user"})
# Of paths, where homes usually are; what follows the home is kept, since it says which file.
_HOME = re.compile(
    r"(?<![\w.])(?:/home/[^/\s\"':;,]+|/Users/[^/\s\"':;,]+|/root(?=[/\s\"':;,]|$)"
    r"|[A-Za-z]:\\Users\\[^\\\s\"':;,]+)"
)


def redact(text: str) -> str:
    """The text with `~` for every home folder in it."""
    return _HOME.sub("~", text)


def anonymous(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The facts without those that name the machine; they stay in the store."""
    return {name: value for name, value in facts.items() if str(name).lower() not in _NAMING}
