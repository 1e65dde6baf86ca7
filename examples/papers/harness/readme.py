"""The counts in the README of the papers, which are those of docs/papers."""

from __future__ import annotations

from harness.items import HERE

_FILE = HERE / "README.md"
_BEGIN, _END = "<!-- counts: written by reproduce.py --size full -->\n", "<!-- end of counts -->\n"


def counts() -> str:
    """What the README says now.

    Raises
    ------
    ValueError
        When one of the two marks is missing.
    """
    text = _FILE.read_text(encoding="utf-8")
    return text[text.index(_BEGIN) + len(_BEGIN) : text.index(_END)].strip()


def write_counts(totals: str) -> None:
    """Put the counts where the README has them."""
    text = _FILE.read_text(encoding="utf-8")
    head, tail = text.partition(_BEGIN)[0], text.partition(_END)[2]
    _FILE.write_text(f"{head}{_BEGIN}\n{totals}\n\n{_END}{tail}", encoding="utf-8")
