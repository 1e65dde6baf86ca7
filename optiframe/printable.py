"""Text of foreign code and foreign files, made safe to show in a terminal, on a page and in a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# C0 and C1 control characters drive terminals (colours, titles, the cursor, answers typed for the
# user); the directional ones make a line read other than it is stored. Tabs and line ends stay.
_SHOWN = {
    code: f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
    for code in (*range(32), *range(127, 160), *range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x2028, 0x2029)
    if chr(code) not in "\t\n"
}


def printable(text: str) -> str:
    """The text with every control character but tab and line end written out, as ``\\x1b``.

    A carriage return ends a line: progress bars write one for each of their states.
    """
    if text.isascii() and text.isprintable():
        return text
    return text.replace("\r\n", "\n").replace("\r", "\n").translate(_SHOWN)


def all_printable(value: Any) -> Any:
    """A document of JSON's types with `printable` done to each text in it, keys included."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, Mapping):
        return {all_printable(key): all_printable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(all_printable(item) for item in value)
    return value
